"""Read and write text in the tokens of a pretrained language model.

The tokenizer itself comes from `transformers`. Here it is asked for what the lattice needs: the
bytes that each token stands for, where each token stands, and that a text is only ever text,
even where somebody has typed the name of a special token.
"""

import codecs
import json
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from lrlm.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

AUTO = "auto"
"""Let the tokenizer say which token it is."""

END_OF_TEXT = "<|endoftext|>"
"""What stands between two texts in the training data of many language models."""

_SPACE_MARK = "▁"
"""How SentencePiece writes a space."""

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
"""How SentencePiece writes a byte of a character that has no token."""

_SAMPLE = "Oslo (2024), “café”: it's 1,990 km²;  naïve\n\nA\tline, 東京 🙂 𒀀."
"""Some of what texts hold; a tokenizer that loses any of it cannot say how probable a text is."""


class Encoding(Protocol):
    """The tokens of one text."""

    @property
    def ids(self) -> list[int]:
        """The id of each token."""

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The characters of each token."""


class SubwordTokenizer:
    """A fast tokenizer of `transformers`, and what each of its tokens stands for."""

    def __init__(
        self,
        tokenizer: "PreTrainedTokenizerFast",
        *,
        start: str = AUTO,
        end: str = AUTO,
        size: int | None = None,
    ) -> None:
        """`start` and `end` name the tokens around every text.

        `size` is how many token ids the language model has: often more than the tokenizer names.
        """
        state = _state(tokenizer)
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        self.start_id = _start(tokenizer, vocabulary, start)
        self.end_id = _end(tokenizer, vocabulary, end, self.start_id)
        special = {self.start_id, self.end_id}
        for token in state["added_tokens"]:
            if token["special"] or token["id"] in special:
                token["special"] = True
                special.add(token["id"])
        self._tokenizer = _copy(state)
        self._normaliser = self._tokenizer.normalizer if _changes_characters(state) else None
        self.size = 1 + max(vocabulary.values()) if size is None else size
        plain = (number for number in vocabulary.values() if number not in special)
        used = 1 + max(*plain, self.start_id, self.end_id)
        if self.size < used:
            raise InputError(
                f"the tokenizer has {used:,} tokens, but its language model has {self.size:,};"
                " they do not belong together"
            )
        self.bytes_V = _bytes_of_tokens(vocabulary, special, self.size, state["decoder"])
        """What each token stands for, in UTF-8; a special token stands for nothing."""
        self.adds_space = self._joined(self.encode("a").ids) == b" a"
        """Whether a text is read as if there were a space before it."""
        self._check()

    def encode(self, text: str) -> Encoding:
        """Give the tokens of a text (`ids`), and where they begin (`offsets`).

        White space may be among their characters, and a character that takes several tokens belongs
        to each. Where they end is not to be relied on: accents may be left out.
        """
        encoding: Encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return encoding

    def decode(self, ids: Iterable[int]) -> str:
        """Give the text of some tokens; bytes that are no character become U+FFFD."""
        text = self._joined(ids).decode("utf-8", "replace")
        return text.removeprefix(" ") if self.adds_space else text

    def pieces(self, ids: Sequence[int], *, begins_text: bool) -> list[str]:
        """Give the text of each token; a character belongs to the last of its tokens."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        pieces = [decoder.decode(self.bytes_V[token]) for token in ids]
        if pieces:
            pieces[-1] += decoder.decode(b"", final=True)
            if begins_text and self.adds_space:
                pieces[0] = pieces[0].removeprefix(" ")
        return pieces

    def normalised(self, text: str) -> str:
        """Give a text as its tokens write it: some tokenizers put accents and letters together."""
        if self._normaliser is None:
            return text
        normalised: str = self._normaliser.normalize_str(text)
        return normalised

    def _joined(self, ids: Iterable[int]) -> bytes:
        bytes_V = self.bytes_V
        return b"".join([bytes_V[token] for token in ids])

    def _check(self) -> None:
        """Refuse a tokenizer that loses parts of a text, or takes text for a special token."""
        given = self.decode(self.encode(_SAMPLE).ids)
        if given != _SAMPLE:
            raise InputError(
                f"this tokenizer does not give a text back: of {_SAMPLE!r} it makes {given!r};"
                " take a language model whose tokens can write every text"
            )
        for token in {self.start_id, self.end_id}:
            name = self._tokenizer.id_to_token(token)
            if {self.start_id, self.end_id} & set(self.encode(f"{name} {name}").ids):
                raise InputError(
                    f"this tokenizer takes {name!r} in a text for the token that begins or ends"
                    " one; name another token"
                )


def _state(tokenizer: Any) -> dict[str, Any]:
    """Give everything that a tokenizer knows, as plain values."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if not getattr(tokenizer, "is_fast", False) or backend is None:
        raise InputError(
            f"a {type(tokenizer).__name__} is not a fast tokenizer (tokenizer.json); only fast ones"
            " say where their tokens stand"
        )
    state: dict[str, Any] = json.loads(backend.to_str())
    return state


def _copy(state: dict[str, Any]) -> Any:
    """Make a tokenizer of its own, whatever else the given one is used for."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError(
            "tokenizers is not installed; install it with: pip install 'lrlm[pretrained]'"
        ) from None
    made = Tokenizer.from_str(json.dumps({**state, "truncation": None, "padding": None}))
    made.encode_special_tokens = True  # as the text that they are
    return made


def _start(tokenizer: Any, vocabulary: dict[str, int], name: str) -> int:
    """Find the token that stands before the first one of every text."""
    if name != AUTO:
        return _named(vocabulary, name)
    plain = tokenizer("a", add_special_tokens=False)["input_ids"]
    whole = tokenizer("a")["input_ids"]
    for place in range(1, len(whole) - len(plain) + 1):
        if whole[place : place + len(plain)] == plain:
            put: int = whole[place - 1]
            return put
    for candidate in (END_OF_TEXT, tokenizer.bos_token, tokenizer.eos_token):
        if candidate in vocabulary:
            return vocabulary[candidate]
    raise InputError(
        "this tokenizer has no token that could stand before a text; name one (start) and one that"
        " ends a text (end)"
    )


def _end(tokenizer: Any, vocabulary: dict[str, int], name: str, start: int) -> int:
    """Find the token that ends every text."""
    if name != AUTO:
        return _named(vocabulary, name)
    if vocabulary.get(END_OF_TEXT) == start:
        return start
    return vocabulary.get(tokenizer.eos_token, start)


def _named(vocabulary: dict[str, int], name: str) -> int:
    if name not in vocabulary:
        raise InputError(f"the tokenizer has no token {name!r}")
    return vocabulary[name]


def _types(part: object) -> set[str]:
    """Name the kinds of steps that a part of a tokenizer consists of."""
    if isinstance(part, dict):
        own = {part["type"]} if isinstance(part.get("type"), str) else set()
        return own.union(*map(_types, part.values()))
    if isinstance(part, list):
        return set[str]().union(*map(_types, part))
    return set()


def _changes_characters(state: dict[str, Any]) -> bool:
    """Say whether text is written with other characters before it is cut into tokens."""
    steps = state["normalizer"] or {"type": "Sequence", "normalizers": []}
    return any(
        step["type"] != "Prepend" and step.get("content") != _SPACE_MARK
        for step in steps.get("normalizers", [steps])
    )


def _bytes_of_tokens(
    vocabulary: dict[str, int], special: set[int], size: int, decoder: object
) -> list[bytes]:
    """Work out what each token stands for; unused ids stand for nothing."""
    bytes_V = [b""] * size
    is_byte_level = "ByteLevel" in _types(decoder)
    byte_of = _bytes_of_characters() if is_byte_level else {}
    for token, number in vocabulary.items():
        if number in special or number >= size:
            continue
        if not is_byte_level:
            byte = _BYTE.fullmatch(token)
            written = token.replace(_SPACE_MARK, " ").encode()
            bytes_V[number] = bytes([int(byte[1], 16)]) if byte else written
        elif all(character in byte_of for character in token):
            bytes_V[number] = bytes(byte_of[character] for character in token)
        else:  # an added token is written as it is
            bytes_V[number] = token.encode()
    return bytes_V


def _bytes_of_characters() -> dict[str, int]:
    """Say which byte each character of a byte-level token stands for.

    Bytes that are printable in Latin-1 stand for themselves, the others come after U+00FF.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    return {
        **{chr(byte): byte for byte in printable},
        **{chr(0x100 + place): byte for place, byte in enumerate(others)},
    }
