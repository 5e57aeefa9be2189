"""Read pickles of strangers as plain containers, texts and numbers, without executing anything.

This is the one place where pickles are read. The opcodes are interpreted here, one after the
other. Those that import something, call it or build an object do none of that: they are refused,
or, where a caller knows a few names that are harmless as words (the frame of a tensor), become
inert values. So nothing can be executed, however the bytes are arranged. Lists are given item by
item, so a pickle need not fit into memory.
"""

import pickletools
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from lrlm.errors import FormatError

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


def stream_plain_list(path: Path, where: str, *, in_one_pass: bool = False) -> Iterator[Any]:
    """Read a pickled list item by item.

    A pickle may refer back to anything before. To know what has to be remembered, and to forget
    the rest, the file is read twice; `in_one_pass` remembers all, for those who want little.
    """
    with path.open("rb") as stream:
        kept = None
        if not in_one_pass:
            kept = _Machine(stream, where, frozenset(), kept=None).find_references()
            stream.seek(0)
        yield from _Machine(stream, where, frozenset(), kept=kept).run(streaming=True)


class _Machine:
    """The stack and the memory of one pickle; see `pickletools` for what the opcodes mean."""

    def __init__(
        self, stream: IO[bytes], where: str, symbols: frozenset[str], kept: frozenset[int] | None
    ) -> None:
        self.result: Any = None
        self._stream = stream
        self._where = where
        self._symbols = symbols
        self._kept = kept
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []
        """The parts of the stack under each mark."""
        self._memory: dict[int, Any] = {}
        self._memorised = 0
        self._words: dict[str, str] = {}

    def find_references(self) -> frozenset[int]:
        """Read all opcodes and give the places of the memory that are asked for."""
        return frozenset(arg for name, arg, _ in self._opcodes() if name in _GET)

    def run(self, *, streaming: bool) -> Iterator[Any]:
        """Interpret the pickle; with `streaming`, give the items of the outermost list."""
        for name, arg, place in self._opcodes():
            try:
                if name in ("APPEND", "APPENDS"):
                    items = [self._stack.pop()] if name == "APPEND" else self._pop_mark()
                    target = self._stack[-1]
                    if not isinstance(target, list):
                        raise self._broken(place)
                    if streaming and len(self._stack) == 1 and not self._below:
                        yield from items
                    else:
                        target.extend(items)
                elif name == "STOP":
                    self.result = self._stack.pop()
                else:
                    self._step(name, arg, place)
            except (IndexError, KeyError, TypeError):
                raise self._broken(place) from None
        if streaming:
            if not isinstance(self.result, list):
                raise FormatError(f"{self._where} holds no list of articles")
            yield from self.result  # of a pickle that makes its list at the end

    def _opcodes(self) -> Iterator[tuple[str, Any, int]]:
        try:
            for opcode, arg, place in pickletools.genops(self._stream):
                yield opcode.name, arg, place or 0
        except (ValueError, struct.error, EOFError, OverflowError) as error:
            raise FormatError(f"{self._where}: not a pickle, or damaged ({error})") from None

    def _step(self, name: str, arg: Any, place: int) -> None:
        stack = self._stack
        if name in _VALUES:
            # Words are the same again and again: one copy of each will do.
            is_word = type(arg) is str and len(arg) <= _LONGEST_WORD
            stack.append(self._words.setdefault(arg, arg) if is_word else arg)
        elif name in _PUT:
            self._remember(arg)
        elif name == "MEMOIZE":
            self._remember(self._memorised)
        elif name in _GET:
            stack.append(self._memory[arg])
        elif name == "MARK":
            self._below.append(stack)
            self._stack = []
        elif name in _TUPLES:
            size = _TUPLES[name]
            items = tuple(stack[-size:])
            if len(items) < size:
                raise self._broken(place)
            stack[-size:] = [items]
        elif name in _EMPTY:
            stack.append(_EMPTY[name]())
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name not in ("PROTO", "FRAME"):
            self._seldom_step(name, arg, place)

    def _seldom_step(self, name: str, arg: Any, place: int) -> None:
        match name:
            case "TUPLE" | "LIST" | "DICT" | "FROZENSET" | "SETITEMS" | "ADDITEMS" | "POP_MARK":
                items = self._pop_mark()
                self._gather(name, items, place)
            case "SETITEM":
                value, key = self._stack.pop(), self._stack.pop()
                self._gather("SETITEMS", [key, value], place)
            case "POP":
                self._stack.pop()
            case "DUP":
                self._stack.append(self._stack[-1])
            case "GLOBAL":
                self._stack.append(self._symbol(str(arg).replace(" ", "."), place))
            case "STACK_GLOBAL":
                attribute, module = self._stack.pop(), self._stack.pop()
                self._stack.append(self._symbol(f"{module}.{attribute}", place))
            case "REDUCE" if self._symbols:
                arguments, symbol = self._stack.pop(), self._stack.pop()
                if not isinstance(symbol, PickledSymbol):
                    raise self._broken(place)
                self._stack.append(PickledCall(symbol, arguments))
            case "BINPERSID" if self._symbols:
                self._stack.append(PickledReference(self._stack.pop()))
            case _:
                raise FormatError(
                    f"{self._where}, byte {place}: the pickle would make an object ({name});"
                    " only containers, texts and numbers are read"
                )

    def _gather(self, name: str, items: list[Any], place: int) -> None:
        """Make a container of items, or put them into the one on top of the stack."""
        if len(items) % 2 and name in ("DICT", "SETITEMS"):
            raise self._broken(place)
        target = self._stack[-1] if name in ("SETITEMS", "ADDITEMS") else None
        match name, target:
            case ("SETITEMS", dict()):
                target.update(zip(items[::2], items[1::2], strict=True))
            case ("ADDITEMS", set()):
                target.update(items)
            case ("SETITEMS" | "ADDITEMS", _):
                raise self._broken(place)
            case ("DICT", _):
                self._stack.append(dict(zip(items[::2], items[1::2], strict=True)))
            case ("TUPLE", _):
                self._stack.append(tuple(items))
            case ("FROZENSET", _):
                self._stack.append(frozenset(items))
            case ("LIST", _):
                self._stack.append(items)

    def _symbol(self, name: str, place: int) -> PickledSymbol:
        if name not in self._symbols:
            raise FormatError(
                f"{self._where}, byte {place}: the pickle would load {name};"
                " only containers, texts and numbers are read"
            )
        return PickledSymbol(name)

    def _remember(self, index: int) -> None:
        self._memorised += 1
        if self._kept is None or index in self._kept:
            self._memory[index] = self._stack[-1]

    def _pop_mark(self) -> list[Any]:
        items = self._stack
        self._stack = self._below.pop()
        return items

    def _broken(self, place: int) -> FormatError:
        return FormatError(f"{self._where}, byte {place}: the pickle is damaged")
