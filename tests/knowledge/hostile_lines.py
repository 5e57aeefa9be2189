"""Lines that were changed at random: nothing but errors of this library, and no other line differs.

Every mutated line stands between good ones. Whatever becomes of it, its neighbours are read as if
it were not there, and it is told, or it says something well formed.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from lrlm.annotation.jsonl import TextLine, parse_line
from lrlm.characters import NOT_ON_A_LINE
from lrlm.corpora.articles import Article, parse_article
from lrlm.knowledge.sources import SourceFormat, parser_of
from lrlm.knowledge.sources.triples import parse_fact, parse_form, parse_id
from lrlm.knowledge.statements import StatementKind, Statements
from lrlm.text_files import BadLineError

_WIKIDATA = "<http://www.wikidata.org"
_XSD = "<http://www.w3.org/2001/XMLSchema#"
_TIME = f'"1961-08-04T00:00:00Z"^^{_XSD}dateTime>'


def _claim(datatype: str, value: Any) -> list[dict[str, Any]]:
    datavalue = {"value": value, "type": "?"}
    return [{"mainsnak": {"snaktype": "value", "datatype": datatype, "datavalue": datavalue}}]


_ITEM = json.dumps(
    {
        "type": "item",
        "id": "Q12",
        "labels": {"en": {"value": "Zürich"}},
        "aliases": {"en": [{"value": "Zurich \U0001f600"}]},
        "claims": {
            "P17": _claim("wikibase-item", {"id": "Q39", "numeric-id": 39}),
            "P571": _claim("time", {"time": "+1961-08-04T00:00:00Z", "precision": 11}),
            "P1082": _claim("quantity", {"amount": "+434", "unit": "http://x/Q11573"}),
            "P1448": _claim("monolingualtext", {"text": "Stadt", "language": "en"}),
            "P281": _claim("string", "8000"),
        },
    }
)
LINES: dict[SourceFormat, list[str]] = {
    SourceFormat.TRIPLES: ["Q12\tcountry\tQ39\tentity", "Q12\tarea\t87.88 km2\tliteral", "a\tb\tc"],
    SourceFormat.FORMS: ["Q12\tZürich", "Q39\tSwitzerland"],
    SourceFormat.TITLES: ["Q12\tZürich", "Switzerland\tQ39"],
    SourceFormat.WIKIDATA_JSON: [
        f"{_ITEM},",
        '{"type": "property", "id": "P17", "labels": {"en": {"value": "country"}}}',
        '{"entity": "Q13", "redirect": "Q12"}',
    ],
    SourceFormat.NTRIPLES: [
        f"{_WIKIDATA}/entity/Q12> {_WIKIDATA}/prop/direct/P17> {_WIKIDATA}/entity/Q39> .",
        f'{_WIKIDATA}/entity/Q12> <http://www.w3.org/2000/01/rdf-schema#label> "Zürich \\t"@en .',
        f"{_WIKIDATA}/entity/Q12> {_WIKIDATA}/prop/direct/P571> {_TIME} .",
        f'{_WIKIDATA}/entity/Q12> {_WIKIDATA}/prop/direct/P1> "12"^^{_XSD}decimal> .',
        f"{_WIKIDATA}/entity/Q13> <http://www.w3.org/2002/07/owl#sameAs> {_WIKIDATA}/entity/Q12> .",
    ],
}
ARTICLE = json.dumps(
    {
        "id": "Zürich",
        "topic": "Q12",
        "title": "Zürich",
        "text": "Zürich is a city.",
        "gold": [{"start": 0, "end": 6, "type": "@title", "object": "Q12"}],
    }
)
TEXT = json.dumps(
    {
        "id": "1",
        "text": "Zürich is a city in Switzerland.",
        "topic": {
            "id": "Q12",
            "names": ["Zürich"],
            "relations": [{"type": "country", "object": "Q39", "forms": ["Switzerland"]}],
        },
    }
)

_ODD = (
    *(b"", b"\x00", b"\x1b[2J", b"\x07", b"\x7f", b"\r", b"\t", b" ", b'"', b"\\"),
    *(b"{", b"}", b"[", b"]", b",", b":", b"<", b">", b" .", b'""', b"[]"),
    *(b"null", b"-1", b"1e999", b"NaN", b"true", b"Q0", b"P", b"@title", b"@", b"^^"),
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf"),
    *(b"\xc2\x9b", b"\xc2\xa0", b"\xe2\x80\xae"),
    *(b"\\ud800", b"\\udc00", b"\\u0000", b"\\u202e", b"\\n", b"\\u12", b"\\UFFFFFFFF"),
    *(b"9" * 5000, b"[" * 2000, b'{"a":' * 2000),
)


def mutated(line: bytes, chance: random.Random) -> bytes:
    """Change a line in one to three places: bytes removed, doubled, flipped or put in."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        start = chance.randrange(len(line) + 1)
        end = min(len(line), start + chance.choice((0, 0, 1, 1, 2, 8, 40)))
        match chance.randrange(5):
            case 0:
                line = line[:start] + line[end:]
            case 1:
                line = line[:end] + line[start:]
            case 2 if start < len(line):
                line = line[:start] + bytes([chance.randrange(256)]) + line[start + 1 :]
            case 3:
                line = line[:start]
            case _:
                line = line[:start] + chance.choice(_ODD) + line[end:]
    return line.replace(b"\n", b" ")


def read(format_: SourceFormat, lines: list[bytes]) -> Statements:
    out = Statements()
    parser_of(format_, "en")(lines, out)
    return out


def faults_of_source(format_: SourceFormat, count: int, seed: int) -> Iterator[str]:
    """Change so many lines of a source of knowledge; give what is wrong with how they are read."""
    chance = random.Random(f"{seed} lines of {format_}")
    good = [line.encode() for line in LINES[format_]]
    before, behind = read(format_, good), read(format_, good[::-1])
    assert not before.bad
    told = 0
    for _ in range(count):
        line = mutated(chance.choice(good), chance)
        try:
            told += _check_block(format_, good, line, before, behind)
        except Exception as error:  # noqa: BLE001  it is given
            yield f"{line[:200]!r}: {type(error).__name__} {str(error)[:200]}"
    if told <= count // 5:
        yield f"only {told} of {count} lines were told"


def _check_block(
    format_: SourceFormat, good: list[bytes], line: bytes, before: Statements, behind: Statements
) -> bool:
    """Check how a line between good ones is read; give whether it is a bad one."""
    found = read(format_, [*good, line, *good[::-1]])
    assert found.rows[: len(before.rows)] == before.rows, "lines before are read otherwise"
    rest = len(found.rows) - len(behind.rows)
    assert found.rows[rest:] == behind.rows, "lines behind are read otherwise"
    own = found.rows[len(before.rows) : rest]
    assert [number for number, _ in found.bad] in ([], [len(good)]), "another line is told"
    assert not (found.bad and own), "told, but used"
    if found.bad:
        assert found.counts == before.counts + behind.counts, "told, but counted"
        _check_reason(found.bad[0][1])
    for row in own:
        check_row(row, format_)
    bad = bool(found.bad)
    found.to_table(block=0)  # all of it can be written
    return bad


def _check_reason(reason: str) -> None:
    assert not NOT_ON_A_LINE.search(reason), "the reason cannot be shown"
    assert len(reason) < 300, "the reason is long"


def check_row(row: tuple[Any, ...], format_: SourceFormat) -> None:
    """Whatever was read is well formed: nothing that no source could mean."""
    kind, subject, type_, object_, unit = row
    for value in (subject, type_, object_, unit):
        assert value is None or (value.strip() and not NOT_ON_A_LINE.search(value)), row
    if format_ in (SourceFormat.NTRIPLES, SourceFormat.WIKIDATA_JSON):
        assert re.fullmatch(r"[A-Z][1-9][0-9]*(-[A-Z][1-9][0-9]*)?", subject), row
        assert type_ is None or re.fullmatch(r"P[1-9][0-9]*", type_), row
        if kind in (StatementKind.ENTITY, StatementKind.REDIRECT):
            assert re.fullmatch(r"[A-Z][1-9][0-9]*(-[A-Z][1-9][0-9]*)?", object_), row
        if kind is StatementKind.DATE:
            assert re.fullmatch(r"-?\d{4}(-\d\d(-\d\d)?)?", object_, re.ASCII), row


PARSERS: dict[Callable[[str], Any], list[str]] = {
    parse_article: [ARTICLE],
    parse_fact: LINES[SourceFormat.TRIPLES],
    parse_form: LINES[SourceFormat.FORMS],
    parse_id: [*LINES[SourceFormat.TITLES], "Q12"],
    parse_line: [TEXT],
}
"""What reads single lines, and good lines for it."""


def faults_of_lines(parse: Callable[[str], Any], count: int, seed: int) -> Iterator[str]:
    """Change so many lines of a corpus; give what is wrong with how they are read."""
    chance = random.Random(f"{seed} lines for {parse.__name__}")
    good = PARSERS[parse]
    told = 0
    for _ in range(count):
        line = mutated(chance.choice(good).encode(), chance).decode(errors="surrogateescape")
        try:
            told += _check_line(parse, line)
        except Exception as error:  # noqa: BLE001  it is given
            yield f"{line[:200]!a}: {type(error).__name__} {str(error)[:200]}"
    if told <= count // 10:
        yield f"only {told} of {count} lines were told"


def _check_line(parse: Callable[[str], Any], line: str) -> bool:
    """Check how a line is read; give whether it is a bad one."""
    try:
        found = parse(line)
    except BadLineError as error:
        _check_reason(str(error))
        return True
    if isinstance(found, Article):
        keys: tuple[str, ...] = (found.id, found.topic)
        assert all(0 <= span.start < span.end <= len(found.text) for span in found.gold or ())
        assert all(text.encode() and text.strip() for text in (found.title, found.text))
    elif isinstance(found, TextLine):
        keys = (found.id,)
    else:
        keys = (found,) if isinstance(found, str) else found[:3]
    assert not any(NOT_ON_A_LINE.search(key) for key in keys), keys
    return False
