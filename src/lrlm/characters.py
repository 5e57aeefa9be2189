r"""The rules for characters: what a name and a text may hold, and how either is shown safely.

A **name** (of a topic, an object, a relation type, an entity) is cleaned wherever it comes in, see
`clean_name`: invisible characters that pages and tables leave in names would make two names of
one, and would keep a name from being found in a text.

An **id** (of a topic or an object) is a key into files of others: it is kept exactly as given.

A **text** is kept exactly as given, for offsets point into it.

In all three a lone surrogate (half of a character that takes two in UTF-16) is refused, because
no file can hold it. A line of a file is refused, too, where a name or a text of it holds a control
character other than white space, or an id holds any: no writer means them, and what they do to a
terminal is not for a file to say. Whoever refuses a character says which one, in which field: see
`describe`.

What is **shown** obeys no such character, wherever it came from: see `printable`, `page_text` and
`visible_json`.
"""

import re

from lrlm.errors import InputError

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""What neither a name nor an id nor a text may hold."""

NOT_IN_A_TEXT = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
"""What belongs to no word: lone surrogates, and control characters other than white space."""

NOT_ON_A_LINE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""What a single line may not hold: lone surrogates and all control characters."""

_INVISIBLE = re.compile(
    "["
    "\u00ad"  # soft hyphen: where a word may be broken
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks for the direction of writing
    "\u180e\u200b\u2060\ufeff"  # of no width: separator, space, word joiner, byte order mark
    "\u2061-\u2064\u206a-\u206f\ufff9-\ufffb"  # invisible operators, marks out of use
    "]"
)
"""Removed from names. Characters that join letters or keep them apart (U+200C, U+200D) stay: a
name in Persian, Sinhala or emoji is another one without them."""

_ESCAPED_IN_JSON = re.compile(
    "[\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)
"""What JSON may hold as it is, but what a terminal or a file would not show or not hold."""

_REPLACEMENT = "\ufffd"
_TURNS_TEXT = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Embeddings, overrides and isolates: what follows them is shown in another order than it has."""

_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), " ")
_HARMLESS = dict.fromkeys((*_TURNS_TEXT, *range(0xD800, 0xE000)), _REPLACEMENT)
_IN_A_TERMINAL = _HARMLESS | {code: _CONTROL[code] for code in _CONTROL.keys() - {9, 10}}
_ON_A_PAGE = _HARMLESS | {code: _CONTROL[code] for code in _CONTROL.keys() - {*range(9, 14), 0x85}}


def clean_name(name: str) -> str:
    r"""Write a name on one line, as it is meant to be read.

    Non-breaking and other spaces, tabs, line ends and control characters become spaces; soft
    hyphens and other invisible characters are removed; runs of spaces become one, and none is
    left at the ends. What is printable and has single spaces comes back as it is.

    >>> clean_name("sub\u00addivisions of\u00a0the  Netherlands ")
    'subdivisions of the Netherlands'
    """
    if not name.isprintable():
        name = NOT_ON_A_LINE.sub(" ", _INVISIBLE.sub("", name))
    return " ".join(name.split())


def check_characters(value: str, field: str, *, refused: re.Pattern[str] = LONE_SURROGATE) -> None:
    r"""Refuse a value that holds a character it may not hold, naming the field and the character.

    >>> check_characters("Oslo\x07", "'names'", refused=NOT_IN_A_TEXT)
    Traceback (most recent call last):
    lrlm.errors.InputError: 'names' holds the control character U+0007: 'Oslo\x07'
    """
    if found := refused.search(value):
        around = value[max(0, found.start() - 30) : found.end() + 30]
        raise InputError(f"{field} holds {describe(found[0])}: {around!r}")


def refused_in(value: str, refused: re.Pattern[str]) -> str | None:
    r"""Name the first character that a value may not hold; None where there is none.

    >>> refused_in("Oslo\x07", NOT_IN_A_TEXT)
    'the control character U+0007'
    """
    if value.isprintable():  # nearly all are, and this is the fastest way to see it
        return None
    found = refused.search(value)
    return None if found is None else describe(found[0])


def describe(character: str) -> str:
    r"""Name a character that is refused.

    >>> describe("\x1b")
    'the control character U+001B'
    >>> describe("\ud800")
    'the lone surrogate U+D800 (half a character)'
    """
    code = f"U+{ord(character):04X}"
    if LONE_SURROGATE.match(character):
        return f"the lone surrogate {code} (half a character)"
    return f"the control character {code}"


def printable(text: str) -> str:
    r"""Write a text so that it can be shown: nothing in it moves, colours or reorders anything.

    Control characters that a terminal would obey become spaces. Characters that change the
    direction of what follows, with which one name can be made to look like another, and lone
    surrogates become the replacement character. Tabs and line ends stay, and every character keeps
    its place, so offsets stay right.

    >>> printable("Oslo\x1b[31m \u202eyawroN")
    'Oslo [31m \ufffdyawroN'
    """
    return text.translate(_IN_A_TERMINAL)


def visible_json(text: str) -> str:
    r"""Write JSON so that it can be shown: what a terminal would obey is escaped.

    Whoever reads the JSON gets the same strings: characters that are not ASCII stand only inside
    of strings, where an escape means the character itself.

    >>> visible_json('{"id": "Q\u202e1"}')
    '{"id": "Q\\u202e1"}'
    """
    if text.isascii() and "\x7f" not in text:
        return text  # nearly all of it, and ten times as fast as looking for each character
    return _ESCAPED_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def page_text(text: str) -> str:
    r"""Write a text so that it can stand on a page: as `printable`, but all white space stays.

    >>> page_text("a\r\n\u202eb\x00")
    'a\r\n\ufffdb '
    """
    return text.translate(_ON_A_PAGE)
