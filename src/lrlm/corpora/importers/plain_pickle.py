"""Read pickles of strangers as plain containers, texts and numbers, without executing anything.

This is the one place where pickles are read. The opcodes are interpreted here, one after the
other. Those that import something, call it or build an object do none of that: they are refused,
or, where a caller knows a few names that are harmless as words (the frame of a tensor), become
inert values. So nothing can be executed, however the bytes are arranged. Lists are given item by
item, so a pickle need not fit into memory.

A few bytes of pickle can stand for a value of astronomic size or depth, by referring to the same
thing again and again. So what is built is measured while it is built, and bounded: its depth, its
size with everything copied that is referred to twice, its integers, and the memory taken.
"""

import pickletools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from lrlm.errors import FormatError
from lrlm.text_files import reading

_CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "EMPTY_DICT": dict,
    "EMPTY_SET": set,
}
_VALUES = frozenset(
    """INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING
    UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8
    BYTEARRAY8""".split()  # noqa: SIM905
)
_LONGEST_WORD = 40
LONGEST_TEXT = 64 << 20
"""Bytes of one text."""
LARGEST_INTEGER = 1 << 1024
"""Larger ones take time with the square of their digits when they are written."""
DEEPEST = 100
"""Containers in containers; the articles of a release are five deep."""
MOST_MEMORY = 512 << 20
"""Bytes that may be taken at once, for the items that are read together and for what is kept."""
LARGEST_ITEM = 256 << 20
"""Bytes of one value, were everything copied that it refers to twice."""
MOST_REPEATED = 500
"""How often a list may hold its own size in bytes; a relation of a release, with the names of an
object that many articles refer to, holds it some 100 times."""
_LARGEST_KEY = 4096
_MOST_ODD_KEYS = 1000
"""Keys other than texts and small integers can be chosen so that all fall into one place."""
_SMALL_KEY = 1 << 60
_LONGEST_SYMBOL = 200
_MOST_WORDS = 1 << 20

# What Python takes for values and what is noted of them here, in bytes, rather too much.
_REFERENCE = 24
_NUMBER = 32
_TEXT = 128
_CONTAINER = 160
_HASHED_CONTAINER = 320
_HASHED_ITEM = 112
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_GET = frozenset(("GET", "BINGET", "LONG_BINGET"))
_PUT = frozenset(("PUT", "BINPUT", "LONG_BINPUT"))


@dataclass(frozen=True, slots=True)
class PickledSymbol:
    """The name of something that a pickle would import; here it is only a name."""

    name: str


@dataclass(frozen=True, slots=True)
class PickledCall:
    """What a pickle would call, and with what; it is not called."""

    symbol: PickledSymbol
    arguments: Any


@dataclass(frozen=True, slots=True)
class PickledReference:
    """What a pickle says of something that lies outside of it."""

    content: Any


def load_plain(stream: IO[bytes], where: str, *, symbols: frozenset[str] = frozenset()) -> Any:
    """Read one pickle and no further; names in `symbols` may be loaded, and stay mere names."""
    machine = _Machine(stream, where, symbols, kept=None)
    for _ in machine.run(streaming=False):
        pass
    return machine.result


def find_references(path: Path, where: str) -> frozenset[int]:
    """Find what a pickle refers back to: this has to be remembered while it is read."""
    with path.open("rb") as stream:
        return _Machine(stream, where, frozenset(), kept=None).find_references()


def stream_plain_list(
    path: Path, where: str, references: frozenset[int] | None = None
) -> Iterator[Any]:
    """Read a pickled list item by item.

    A pickle may refer back to anything before. To know what has to be remembered, and to forget
    the rest, the file is read twice; those who have found its `references` already give them.
    """
    kept = find_references(path, where) if references is None else references
    with path.open("rb") as stream:
        yield from _Machine(stream, where, frozenset(), kept=kept).run(streaming=True)


class _Source:
    """A stream that gives no more at once than the longest text, and knows where it is."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._read, self._readline = stream.read, stream.readline
        self._place = 0

    def read(self, size: int) -> bytes:
        if size > LONGEST_TEXT:
            raise ValueError(f"a text of {size:,} bytes")
        content = self._read(size)
        self._place += len(content)
        return content

    def readline(self) -> bytes:
        content = self._readline(LONGEST_TEXT + 1)
        if len(content) > LONGEST_TEXT:
            raise ValueError(f"a text of more than {LONGEST_TEXT:,} bytes")
        self._place += len(content)
        return content

    def tell(self) -> int:
        return self._place


class _Extent:
    """How large and how deep a value is, everything counted as often as it is referred to.

    A container that lies in another is finished: it cannot be changed any more, so that what was
    counted stays true, and nothing can contain itself. Honest pickles are written in this order.
    """

    __slots__ = ("depth", "is_finished", "size")

    def __init__(self, size: int, depth: int = 0) -> None:
        self.size, self.depth = size, depth
        self.is_finished = False

    def add(self, items: Iterable["_Extent"], each: int = _REFERENCE) -> None:
        """Count items that are put into the container."""
        for item in items:
            item.is_finished = True
            self.size += item.size + each
            if item.depth >= self.depth:
                self.depth = item.depth + 1


_NUMBER_EXTENT = _Extent(_NUMBER)


class _Machine:
    """The stack and the memory of one pickle; see `pickletools` for what the opcodes mean."""

    def __init__(
        self, stream: IO[bytes], where: str, symbols: frozenset[str], kept: frozenset[int] | None
    ) -> None:
        self.result: Any = None
        self._stream = _Source(stream)
        self._where = where
        self._symbols = symbols
        self._kept = kept
        self._stack: list[Any] = []
        self._extents: list[_Extent] = []
        """Of the values on the stack."""
        self._below: list[tuple[list[Any], list[_Extent]]] = []
        """The parts of the stack under each mark."""
        self._memory: dict[int, tuple[Any, _Extent]] = {}
        self._memorised = 0
        self._words: dict[str, tuple[str, _Extent]] = {}
        self._newly_kept: list[_Extent] = []
        """Of what is remembered from the items that are being read."""
        self._odd_keys = 0
        self._for_good = 0
        """Bytes of memory taken by what is kept to the end."""
        self._taken = 0
        """Bytes of memory taken altogether; what a list gives away item by item is given back."""
        self._given = 0
        """Bytes of the items given away, were everything copied that they refer to."""

    def find_references(self) -> frozenset[int]:
        """Read all opcodes and give the places of the memory that are asked for."""
        found = set()
        for name, arg, place in self._opcodes():
            if name in _GET and arg not in found:
                self._take_for_good(_HASHED_ITEM, place)
                found.add(arg)
        return frozenset(found)

    def run(self, *, streaming: bool) -> Iterator[Any]:
        """Interpret the pickle; with `streaming`, give the items of the outermost list."""
        for name, arg, place in self._opcodes():
            try:
                if name in ("APPEND", "APPENDS"):
                    items, extents = self._pop(1) if name == "APPEND" else self._pop_mark()
                    target = self._stack[-1]
                    if not isinstance(target, list):
                        raise self._broken(place)
                    if streaming and len(self._stack) == 1 and not self._below:
                        self._give_away(extents, place)
                        yield from items
                        self._give_back()
                    else:
                        self._grow(self._extents[-1], extents, place)
                        target.extend(items)
                elif name == "STOP":
                    (self.result,), _ = self._pop(1)
                else:
                    self._step(name, arg, place)
            except (IndexError, KeyError, TypeError):
                raise self._broken(place) from None
        if streaming:
            if not isinstance(self.result, list):
                raise FormatError(f"{self._where} holds no list of articles")
            yield from self.result  # of a pickle that makes its list at the end

    def _opcodes(self) -> Iterator[tuple[str, Any, int]]:
        with reading(self._where, "a pickle"):
            for opcode, arg, place in pickletools.genops(cast("IO[bytes]", self._stream)):
                yield opcode.name, arg, place or 0

    def _step(self, name: str, arg: Any, place: int) -> None:
        if name in _VALUES:
            self._push_value(arg, place)
        elif name in _PUT:
            self._remember(arg, place)
        elif name == "MEMOIZE":
            self._remember(self._memorised, place)
        elif name in _GET:
            self._push(*self._memory[arg], _REFERENCE, place)
        elif name == "MARK":
            self._take(2 * _CONTAINER, place)
            self._below.append((self._stack, self._extents))
            self._stack, self._extents = [], []
        elif name in _TUPLES:
            self._make(tuple, *self._pop(_TUPLES[name]), place)
        elif name in _EMPTY:
            size = _HASHED_CONTAINER if name == "EMPTY_SET" else _CONTAINER
            self._push(_EMPTY[name](), _Extent(size), size, place)
        elif name in _CONSTANTS:
            self._push(_CONSTANTS[name], _NUMBER_EXTENT, _REFERENCE, place)
        elif name not in ("PROTO", "FRAME"):
            self._seldom_step(name, arg, place)

    def _seldom_step(self, name: str, arg: Any, place: int) -> None:
        match name:
            case "TUPLE" | "LIST":
                self._make(tuple if name == "TUPLE" else list, *self._pop_mark(), place)
            case "DICT" | "FROZENSET":
                items, extents = self._pop_mark()
                empty: dict[Any, Any] | set[Any] = {} if name == "DICT" else set()
                extent = _Extent(_HASHED_CONTAINER)
                self._push(empty, extent, _HASHED_CONTAINER, place)
                self._fill(items, extents, place)
                if name == "FROZENSET":
                    self._stack[-1] = frozenset(self._stack[-1])
            case "SETITEMS" | "ADDITEMS":
                self._fill(*self._pop_mark(), place)
            case "SETITEM":
                self._fill(*self._pop(2), place)
            case "POP" if self._stack:
                self._pop(1)
            case "POP" | "POP_MARK":
                self._pop_mark()
            case "DUP":
                self._push(self._stack[-1], self._extents[-1], _REFERENCE, place)
            case _:
                self._step_of_an_object(name, arg, place)

    def _step_of_an_object(self, name: str, arg: Any, place: int) -> None:
        match name:
            case "GLOBAL":
                self._push_symbol(str(arg).replace(" ", "."), place)
            case "STACK_GLOBAL":
                names, _ = self._pop(2)
                if not all(isinstance(each, str) for each in names):
                    raise self._broken(place)
                self._push_symbol(".".join(each[:_LONGEST_SYMBOL] for each in names), place)
            case "REDUCE" if self._symbols:
                (symbol, arguments), extents = self._pop(2)
                if not isinstance(symbol, PickledSymbol):
                    raise self._broken(place)
                self._wrap(PickledCall(symbol, arguments), extents, place)
            case "BINPERSID" if self._symbols:
                (content,), extents = self._pop(1)
                self._wrap(PickledReference(content), extents, place)
            case _:
                raise FormatError(
                    f"{self._where}, byte {place}: the pickle would make an object ({name});"
                    " only containers, texts and numbers are read"
                )

    def _push(self, value: Any, extent: _Extent, taken: int, place: int) -> None:
        """Put a value on the stack for which so many bytes of memory are taken."""
        self._take(taken, place)
        self._stack.append(value)
        self._extents.append(extent)

    def _push_value(self, value: Any, place: int) -> None:
        if type(value) is str and len(value) <= _LONGEST_WORD:
            # Words are the same again and again: one copy of each will do.
            word = self._words.get(value)
            if word is None:
                size = _text_size(value)
                word = value, _Extent(size)
                if len(self._words) < _MOST_WORDS:
                    self._take_for_good(_HASHED_ITEM + _REFERENCE + size, place)
                    self._words[value] = word
                else:
                    self._take(size, place)
            self._push(*word, _REFERENCE, place)
        elif isinstance(value, str | bytes | bytearray):
            size = _text_size(value)
            self._push(value, _Extent(size), size, place)
        else:
            if isinstance(value, int) and not -LARGEST_INTEGER < value < LARGEST_INTEGER:
                raise FormatError(f"{self._where}, byte {place}: an integer beyond measure")
            self._push(value, _NUMBER_EXTENT, _REFERENCE + _NUMBER, place)

    def _push_symbol(self, name: str, place: int) -> None:
        if name not in self._symbols:
            raise FormatError(
                f"{self._where}, byte {place}: the pickle would load {_shown(name)};"
                " only containers, texts and numbers are read"
            )
        self._push(PickledSymbol(name), _Extent(_TEXT + len(name)), _CONTAINER, place)

    def _make(
        self,
        kind: type[list[Any]] | type[tuple[Any, ...]],
        items: list[Any],
        extents: list[_Extent],
        place: int,
    ) -> None:
        extent = _Extent(_CONTAINER)
        self._grow(extent, extents, place)
        self._push(kind(items), extent, _CONTAINER + 8 * len(items), place)

    def _wrap(self, value: Any, extents: list[_Extent], place: int) -> None:
        extent = _Extent(_CONTAINER)
        self._grow(extent, extents, place)
        self._push(value, extent, _CONTAINER, place)

    def _fill(self, items: list[Any], extents: list[_Extent], place: int) -> None:
        """Put items into the dictionary or set on top of the stack."""
        target = self._stack[-1]
        is_dict = isinstance(target, dict)
        if not isinstance(target, dict | set) or (is_dict and len(items) % 2):
            raise self._broken(place)
        step = 2 if is_dict else 1
        for key, extent in zip(items[::step], extents[::step], strict=True):
            self._check_key(key, extent, place)
        self._take(_HASHED_ITEM * len(items), place)
        self._grow(self._extents[-1], extents, place, each=_HASHED_ITEM)
        if isinstance(target, dict):
            target.update(zip(items[::2], items[1::2], strict=True))
        else:
            target.update(items)

    def _check_key(self, key: Any, extent: _Extent, place: int) -> None:
        """Let nothing be hashed that takes long to hash, and little whose place can be chosen."""
        if isinstance(key, str | bytes) or (type(key) is int and -_SMALL_KEY < key < _SMALL_KEY):
            return
        self._odd_keys += 1
        is_plain = key is None or isinstance(key, bool | int | float | tuple | frozenset)
        if not is_plain or extent.size > _LARGEST_KEY or self._odd_keys > _MOST_ODD_KEYS:
            raise FormatError(
                f"{self._where}, byte {place}: the keys of the pickle are not texts and numbers"
            )

    def _grow(
        self, extent: _Extent, items: list[_Extent], place: int, *, each: int = _REFERENCE
    ) -> None:
        """Count what is put into a container, before it is put there."""
        extent.add(items, each)
        if extent.is_finished:
            raise FormatError(f"{self._where}, byte {place}: the pickle changes what is finished")
        if extent.depth > DEEPEST:
            raise FormatError(
                f"{self._where}, byte {place}: containers in containers, more than {DEEPEST} deep"
            )
        if extent.size > LARGEST_ITEM:
            raise FormatError(
                f"{self._where}, byte {place}: one value of more than {LARGEST_ITEM >> 20} MiB"
            )

    def _give_away(self, extents: list[_Extent], place: int) -> None:
        """Count items before they are given away.

        They are many values, not one, so there is no bound to their size altogether. But there is
        one to how often the same bytes of a file may come: whoever reads takes time with the size.
        """
        for extent in extents:
            self._grow(_Extent(0), [extent], place)
            self._given += extent.size
        if self._given > LARGEST_ITEM + MOST_REPEATED * place:
            raise FormatError(
                f"{self._where}, byte {place}: the pickle repeats itself, so that it is more than"
                f" {MOST_REPEATED} times as large as its bytes"
            )

    def _take(self, size: int, place: int) -> None:
        self._taken += size
        if self._taken > MOST_MEMORY:
            raise FormatError(
                f"{self._where}, byte {place}: the pickle takes more than"
                f" {MOST_MEMORY >> 20} MiB of memory at once"
            )

    def _take_for_good(self, size: int, place: int) -> None:
        self._for_good += size
        self._take(size, place)

    def _give_back(self) -> None:
        """Forget what was taken for items that are given away, but for what is remembered."""
        self._for_good += sum(extent.size for extent in self._newly_kept)
        self._newly_kept.clear()
        self._taken = self._for_good

    def _remember(self, index: int, place: int) -> None:
        self._memorised += 1
        if self._kept is None or index in self._kept:
            self._take_for_good(_HASHED_ITEM + _CONTAINER, place)
            self._memory[index] = self._stack[-1], self._extents[-1]
            self._newly_kept.append(self._extents[-1])

    def _pop(self, size: int) -> tuple[list[Any], list[_Extent]]:
        items, extents = self._stack[-size:], self._extents[-size:]
        if len(items) < size:
            raise IndexError
        del self._stack[-size:], self._extents[-size:]
        return items, extents

    def _pop_mark(self) -> tuple[list[Any], list[_Extent]]:
        items, extents = self._stack, self._extents
        self._stack, self._extents = self._below.pop()
        return items, extents

    def _broken(self, place: int) -> FormatError:
        return FormatError(f"{self._where}, byte {place}: the pickle is damaged")


def _text_size(text: str | bytes | bytearray) -> int:
    is_narrow = isinstance(text, bytes | bytearray) or text.isascii()
    return _TEXT + len(text) * (1 if is_narrow else 4)


def _shown(name: str) -> str:
    return ascii(name[:_LONGEST_SYMBOL])[1:-1]
