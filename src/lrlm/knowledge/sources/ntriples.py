r"""The grammar of a line of N-Triples or N-Quads, and of the texts in it.

The patterns take lines as every program writes them: one space or tab between terms, ` .` at the
end. `fault` says what is wrong with a line that is none.
"""

import re
import sys

from lrlm.characters import LONE_SURROGATE, describe

_CONTROL = rb"\x00-\x08\x0e-\x1f\x7f"
_ADDRESS = rb"<[^<>\x00-\x20\x7f]*+>"  # nothing is tried twice: that is a tenth faster
_BLANK = rb"_:[^<>\"\x00-\x20\x7f]+"
_TERMS = {b"address": _ADDRESS, b"blank": _BLANK, b"control": _CONTROL}
_THREE_TERMS = (
    rb"(%(address)s|%(blank)s)[ \t]++(%(address)s)[ \t]++(?:"
    rb"(%(address)s|%(blank)s)|"
    rb'"([^"\\%(control)s]*+(?:\\[^%(control)s][^"\\%(control)s]*+)*+)"'
    rb"(?:@([A-Za-z0-9-]+)|\^\^(%(address)s))?"
    rb")" % _TERMS
)
TRIPLE = re.compile(rb"%s \." % _THREE_TERMS)
"""Subject and predicate; then an object, or a literal with its language or its data type."""
QUAD = re.compile(rb"%s(?:[ \t]+(?:%s|%s))? ?\." % (_THREE_TERMS, _ADDRESS, _BLANK))
"""The same, and after it perhaps the graph that the triple is in."""

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_PARTS = (
    (re.compile(rb"(?:%s|%s)(?=[ \t]|$)" % (_ADDRESS, _BLANK)), "subject"),
    (re.compile(rb"%s(?=[ \t]|$)" % _ADDRESS), "relation type"),
)
_FOUND_CONTROL = re.compile(rb"[%s]" % _CONTROL)


def fault(line: bytes) -> str:  # noqa: PLR0911  one for each fault
    """Say why a line is not a triple."""
    if control := _FOUND_CONTROL.search(line):
        return f"holds {describe(chr(control[0][0]))} at byte {control.start() + 1} of the line"
    if not line.startswith((b"<", b"_:")):
        return "expected a triple that begins with '<'"
    if not line.endswith(b" ."):
        return "expected a triple that ends with ' .'"
    rest = line[:-2].strip(b" \t")
    for part, name in _PARTS:
        match = part.match(rest)
        if match is None:
            what = f"the {name} is not closed with '>'" if rest else f"there is no {name}"
            return f"expected three terms between spaces: {what}"
        rest = rest[match.end() :].strip(b" \t")
    if not rest:
        return "expected three terms between spaces: there is no object"
    if rest.startswith(b'"'):
        return "a literal that is not closed, or more behind it than a language or a data type"
    return "expected three terms between spaces: the object is not closed with '>'"


def unescape(raw: bytes) -> str:
    r"""Read the text of a literal: UTF-8 with `\"`, `\n`, `\u00E9` and their like.

    Raises a ValueError where it is none.
    """
    text = raw.decode("utf-8")
    if "\\" not in text:
        return text

    def one(match: re.Match[str]) -> str:
        short, long, plain = match.groups()
        if plain is not None:
            if plain not in _ESCAPED:
                raise ValueError(f"there is no escape {match[0]!a}")
            return _ESCAPED[plain]
        code = int(short or long, 16)
        if code > sys.maxunicode:
            raise ValueError(f"there is no character {code:X}")
        character = chr(code)
        if LONE_SURROGATE.match(character):
            raise ValueError(describe(character))
        return character

    return _ESCAPE.sub(one, text)
