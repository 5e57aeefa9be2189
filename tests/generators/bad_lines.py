"""Makes files of lines, some of them bad in one of thirty ways, for every format that has lines."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Maker = Callable[[int], bytes]
"""Makes a line that no other number gives."""

CONTROL = {
    "a zero byte": "\0",
    "a bell": "\x07",
    "a backspace": "\x08",
    "an escape": "\x1b[2J",
    "a delete": "\x7f",
    "a control character of 8 bits": "\x9b",
    "a shift": "\x0e",
    "a unit separator": "\x1f",
}
NOT_UTF8 = {
    "a byte that is none": b"\xff",
    "half a character": b"\xc3",
    "a surrogate in UTF-8": b"\xed\xa0\x80",
    "a zero of two bytes": b"\xc0\x80",
    "a character beyond all": b"\xf4\x90\x80\x80",
    "Latin-1": "é".encode("latin-1"),
    "a mark of UTF-16": b"\xfe\xff",
}


@dataclass(frozen=True)
class LineFormat:
    """Good lines, and bad ones by what is wrong with them."""

    good: Maker
    bad: Mapping[str, Maker]
    header: bytes | None = None
    """A line that comes before all others."""


def formats() -> dict[str, LineFormat]:
    """Give all formats by name."""
    return {
        "triples": _triples(),
        "forms": _table(lambda n, name: f"Q{n}\t{name} {n}", _form_faults()),
        "titles": _table(lambda n, name: f"Q{n}\t{name} {n}", _form_faults()),
        "articles": _articles(),
        "texts": _texts(),
        "N-Triples": _ntriples(),
        "N-Triples or N-Quads": _rdf_lines(),
        "wide table": _wide(),
        "Wikidata JSON": _wikidata(),
    }


def openke_ids(count: int) -> LineFormat:
    """Give lines of names and ids: there must be `count` of them, and all must be good."""
    digits = "9" * 5000
    faults = {
        "no id": "Q{n}", "an id below zero": "Q{n}\t-{n}", "an id that is a name": "Q{n}\tQ{n}",
        "an id of 5000 digits": f"Q{{n}}\t{digits}", "an id of 21 digits": "Q{n}\t" + "1" * 21,
        "an id beyond the count": f"Q{{n}}\t{count}", "a superscript": "Q{n}\t²",
        "a fraction": "Q{n}\t{n}.5", "an id alone": "{n}", "an exponent": "Q{n}\t1e3",
        "a hexadecimal id": "Q{n}\t0x10", "an id with a comma": "Q{n}\t1,000",
        "an id with a sign": "Q{n}\t+1", "an underscore": "Q{n}\t1_0",
        "an infinite id": "Q{n}\tinf",
        "a blank id": "Q{n}\t", "a fraction of signs": "Q{n}\t½", "a circled number": "Q{n}\t①",
        "brackets": "Q{n}\t[1]", "quotes": 'Q{n}\t"1"', "an id that is none": "Q{n}\tNone",
        "a minus of another kind": "Q{n}\t−1", "an id and a dot": "Q{n}\t1.",
    }  # fmt: skip
    made: dict[str, Maker] = {
        what: lambda n, text=text: text.format(n=n).encode()  # type: ignore[misc]
        for what, text in faults.items()
    }
    for what, bytes_ in NOT_UTF8.items():
        made[what] = lambda n, bytes_=bytes_: b"Q%d%s\t%d" % (n, bytes_, n)  # type: ignore[misc]
    return LineFormat(lambda n: f"Q{n}\t{n}".encode(), made)


def _in_a_name(line: Callable[[int, str], str]) -> dict[str, Maker]:
    """Give faults that any line with a name can have: characters that no name holds."""
    made: dict[str, Maker] = {}
    for what, text in CONTROL.items():
        made[what] = lambda n, text=text: line(n, f"Os{text}lo").encode()  # type: ignore[misc]
    for what, bytes_ in NOT_UTF8.items():
        made[what] = lambda n, bytes_=bytes_: line(n, "Os*lo").encode().replace(b"*", bytes_)  # type: ignore[misc]
    return made


def _templates(**faults: str) -> dict[str, Maker]:
    return {
        what.replace("_", " "): lambda n, text=text: text.replace("{n}", str(n)).encode()  # type: ignore[misc]
        for what, text in faults.items()
    }


def _table(line: Callable[[int, str], str], faults: dict[str, Maker]) -> LineFormat:
    return LineFormat(lambda n: line(n, "Zürich").encode(), {**_in_a_name(line), **faults})


def _triples() -> LineFormat:
    faults = _templates(
        one_column="Q{n}", two_columns="Q{n}\tcountry", five_columns="Q{n}\tcountry\tQ1\tentity\tx",
        no_subject="\tcountry\tQ{n}", no_relation="Q{n}\t\tQ1", no_object="Q{n}\tcountry\t",
        spaces_for_tabs="Q{n} country Q1", commas="Q{n},country,Q1",
        other_kind="Q{n}\tcountry\tQ1\tnumber", capital_kind="Q{n}\tcountry\tQ1\tEntity",
        empty_kind="Q{n}\tcountry\tQ1\t", own_title="Q{n}\t@title\tQ1",
        invisible_relation="Q{n}\t\u200b\u200b\tQ1",
        invisible_literal="Q{n}\tarea\t\u200b\tliteral",
        form_feed_in_an_id="Q\x0c{n}\tcountry\tQ1", return_in_an_id="Q\r{n}\tcountry\tQ1",
        next_line_in_an_id="Q{n}\tcountry\tQ\x851",
    )  # fmt: skip
    return _table(lambda n, name: f"Q{n}\tcountry\t{name} {n}\tliteral", faults)


def _form_faults() -> dict[str, Maker]:
    return _templates(
        one_column="Q{n}", three_columns="Q{n}\tOslo\tKristiania", four_columns="Q{n}\ta\tb\tc",
        no_entity="\tOslo {n}", no_form="Q{n}\t", spaces_for_tabs="Q{n} Oslo",
        a_comma="Q{n},Oslo", spaces_as_form="Q{n}\t   ", invisible_form="Q{n}\t\u200b\u2060",
        soft_hyphen="Q{n}\t\u00ad", form_feed_in_an_id="Q\x0c{n}\tOslo",
        return_in_an_id="Q\r{n}\tOslo", next_line_in_an_id="Q\x85{n}\tOslo",
        vertical_tab_in_an_id="Q\x0b{n}\tOslo", a_sentence="Oslo {n} is a city.",
    )  # fmt: skip


def _json_line(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False)


_NOT_JSON = {
    "cut": '{"id": "a{n}", "text": "Oslo lies', "no quotes": "{id: a{n}}",
    "single quotes": "{'id': 'a{n}'}", "two objects": '{"id": "a{n}"} {"id": "b{n}"}',
    "a comma at the end": '{"id": "a{n}",}', "deep": "[" * 5000, "a list": '["a{n}"]',
    "a text": '"a{n}"', "a number": "{n}", "nothing": "null",
}  # fmt: skip


def _articles() -> LineFormat:
    def line(n: int, name: str) -> str:
        return _json_line({"id": f"a{n}", "topic": f"Q{n}", "text": f"{name} lies in Norway."})

    def with_(**fields: Any) -> str:
        return _json_line({"id": "a{n}", "topic": "Q{n}", "text": "Oslo lies.", **fields})

    gold = [
        [{"start": 0, "end": 99}], [{"start": -1, "end": 2}], [{"start": 3, "end": 3}],
        [{"start": "0", "end": 4}], [{"end": 4}], "Oslo", [["Oslo"]],
        [{"start": 0, "end": 4, "type": 5}],
    ]  # fmt: skip
    faults = {
        **_NOT_JSON,
        "no id": _json_line({"text": "Oslo {n}"}),
        "no text": _json_line({"id": "a{n}"}),
        "a number as id": with_(id=5),
        "a blank id": with_(id=" "),
        "a blank text": with_(text=" \n"),
        "a list as text": with_(text=["Oslo"]),
        "a line end in the id": with_(id="a\nb"),
        "an escape in the topic": with_(topic="Q\x1b"),
        "a bell in the title": with_(title="Os\x07lo"),
        "half a character in escapes": '{"id": "a{n}", "text": "\\ud83d"}',
        **{f"gold {number}": with_(gold=each) for number, each in enumerate(gold)},
    }
    return _json_format(line, faults)


def _texts() -> LineFormat:
    def topic(n: object, name: str = "Oslo") -> dict[str, Any]:
        relation = {"type": "country", "object": "Q20", "forms": ["Norway"]}
        return {"id": f"Q{n}", "names": [name], "relations": [relation]}

    def line(n: int, name: str) -> str:
        text = f"{name} lies in Norway."
        return _json_line({"id": f"a{n}", "text": text, "topic": topic(n, name)})

    def with_(**fields: Any) -> str:
        return _json_line({"id": "a{n}", "text": "Oslo lies.", "topic": topic("{n}"), **fields})

    def about(**fields: Any) -> str:
        return with_(topic={**topic("{n}"), **fields})

    faults = {
        **_NOT_JSON,
        "no text": _json_line({"id": "a{n}", "topic": "Q1"}),
        "no topic that could be found": _json_line({"id": "a{n}", "text": "Nothing."}),
        "a list as id": with_(id=["a"]),
        "a line end in the id": with_(id="a\nb"),
        "a number as text": with_(text=5),
        "an empty text": with_(text=""),
        "a number as topic": with_(topic=5),
        "an unknown topic": with_(topic="no such topic {n}"),
        "a topic without id": with_(topic={"names": ["Oslo"]}),
        "an unknown field": about(name="Oslo"),
        "a number as name": about(names=[5]),
        "an escape in the id": about(id="Q\x1b"),
        "relations that are none": about(relations="country"),
        "a relation without object": about(relations=[{"type": "country"}]),
        "its own title": about(relations=[{"type": "@title", "object": "Q1"}]),
        "half a character in escapes": '{"text": "\\ud83d", "topic": {"id": "Q{n}"}}',
    }
    return _json_format(line, faults)


def _json_format(line: Callable[[int, str], str], faults: Mapping[str, str]) -> LineFormat:
    made: dict[str, Maker] = {
        what: lambda n, text=text: text.replace("{n}", str(n)).encode()  # type: ignore[misc]
        for what, text in faults.items()
    }
    return LineFormat(lambda n: line(n, "Zürich").encode(), {**_in_a_name(line), **made})


def _ntriples() -> LineFormat:
    wikidata = "<http://www.wikidata.org"
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    subject, fact = f"{wikidata}/entity/Q{{n}}>", f"{wikidata}/prop/direct/P17>"
    country = f"{wikidata}/entity/Q39>"
    faults = _templates(
        open_subject=f"{subject[:-1]} {fact} {country} .",
        open_relation=f"{subject} {fact[:-1]} {country} .",
        open_object=f"{subject} {fact} {country[:-1]} .",
        no_object=f"{subject} {fact} .",
        no_relation=f"{subject} {country} .",
        subject_alone=f"{subject} .",
        no_stop=f"{subject} {fact} {country}",
        stop_without_a_space=f"{subject} {fact} {country}.",
        four_terms=f"{subject} {fact} {country} {country} .",
        no_brackets="Q{n} P17 Q39 .",
        open_literal=f'{subject} {label} "Zurich .',
        literal_as_subject=f'"Zurich" {label} {country} .',
        two_literals=f'{subject} {label} "a{{n}}" "b" .',
        language_without_a_name=f'{subject} {label} "a{{n}}"@ .',
        data_type_without_brackets=f'{subject} {fact} "5"^^integer .',
        unknown_escape=f'{subject} {label} "Z\\qrich"@en .',
        half_a_character_in_escapes=f'{subject} {label} "\\ud83d"@en .',
        a_character_beyond_all_in_escapes=f'{subject} {label} "\\UFFFFFFFF"@en .',
        id_of_zero=f"{wikidata}/entity/Q0{{n}}> {fact} {country} .",
        small_id=f"{wikidata}/entity/q{{n}}> {fact} {country} .",
        object_without_a_number=f"{subject} {fact} {wikidata}/entity/Q> .",
        property_without_a_number=f"{subject} {wikidata}/prop/direct/P> {country} .",
        space_in_an_address=f"{wikidata}/entity/Q {{n}}> {fact} {country} .",
        bracket_in_an_address=f"{wikidata}/entity/<Q{{n}}> {fact} {country} .",
        json='{"type": "item", "id": "Q{n}"}',
        a_table="Q{n}\tcountry\tQ39",
    )
    return _table(
        lambda n, name: f'{subject.replace("{n}", str(n))} {label} "{name} {n}"@en .', faults
    )


def _rdf_lines() -> LineFormat:
    example = "<http://example.org"
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    subject, fact = f"{example}/Q{{n}}>", f"{example}/country>"
    country, graph = f"{example}/Norway>", f"{example}/graph>"
    number = "<http://www.w3.org/2001/XMLSchema#integer>"
    faults = _templates(
        open_subject=f"{subject[:-1]} {fact} {country} .",
        open_relation=f"{subject} {fact[:-1]} {country} .",
        open_object=f"{subject} {fact} {country[:-1]} .",
        open_graph=f"{subject} {fact} {country} {graph[:-1]} .",
        no_object=f"{subject} {fact} .",
        no_relation=f"{subject} {country} .",
        subject_alone=f"{subject} .",
        no_stop=f"{subject} {fact} {country}",
        five_terms=f"{subject} {fact} {country} {graph} {graph} .",
        no_brackets="Q{n} country Norway .",
        open_literal=f'{subject} {label} "Zurich .',
        literal_as_subject=f'"Zurich {{n}}" {label} {country} .',
        literal_as_relation=f'{subject} "country" {country} .',
        literal_as_graph=f'{subject} {fact} {country} "here" .',
        blank_node_as_relation=f"{subject} _:a {country} .",
        two_literals=f'{subject} {label} "a{{n}}" "b" .',
        language_without_a_name=f'{subject} {label} "a{{n}}"@ .',
        data_type_without_brackets=f'{subject} {fact} "5"^^integer .',
        language_and_data_type=f'{subject} {fact} "5"@en^^{number} .',
        unknown_escape=f'{subject} {label} "Z\\qrich"@en .',
        half_a_character_in_escapes=f'{subject} {label} "\\ud83d"@en .',
        a_character_beyond_all_in_escapes=f'{subject} {label} "\\UFFFFFFFF"@en .',
        bell_in_escapes=f'{subject} {label} "Os\\u0007lo"@en .',
        address_that_is_not_whole=f"<Q{{n}}> {fact} {country} .",
        relation_that_is_not_whole=f"{subject} <country> {country} .",
        long_address=f"{example}/{'x' * 3000}{{n}}> {fact} {country} .",
        space_in_an_address=f"{example}/Q {{n}}> {fact} {country} .",
        bracket_in_an_address=f"{example}/<Q{{n}}> {fact} {country} .",
        prefix="@prefix : <http://example.org/> . # {n}",
        turtle=":Q{n} :country :Norway ; :area 5 .",
        json='{"@id": "Q{n}"}',
        a_table="Q{n}\tcountry\tNorway",
    )
    return _table(
        lambda n, name: f'{subject.replace("{n}", str(n))} {label} "{name} {n}"@en .', faults
    )


def _wide() -> LineFormat:
    def line(n: int, name: str) -> str:
        return f'Q{n},"{name}, called {n}",Norway,{n},1953-05-29'

    faults = _templates(
        one_cell="Q{n}", two_cells="Q{n},Oslo", four_cells="Q{n},Oslo,Norway,5",
        six_cells="Q{n},Oslo,Norway,5,1953,1954", twenty_cells="Q{n}" + ",a" * 19,
        no_id=",Oslo {n},Norway,5,1953", spaces_as_id="  ,Oslo {n},Norway,5,1953",
        tabs_for_commas="Q{n}\tOslo\tNorway\t5\t1953", semicolons="Q{n};Oslo;Norway;5;1953",
        open_quote='Q{n},"Oslo,Norway,5,1953', open_last_quote='Q{n},Oslo,Norway,5,"1953',
        more_behind_a_quote='Q{n},"Oslo"x,Norway,5,1953',
        quote_within='Q{n},"Os"lo",Norway,5,1953',
        quote_at_the_end='Q{n},"Oslo","Norway",5,"1953""',
        commas_alone=",,,,", a_number_with_a_comma="Q{n},Oslo,Norway,8,849,1953",
        form_feed_in_an_id="Q\x0c{n},Oslo,Norway,5,1953",
        vertical_tab_in_an_id="Q\x0b{n},Oslo,Norway,5,1953",
        next_line_in_an_id="Q\x85{n},Oslo,Norway,5,1953",
        json='{"id": "Q{n}", "name": "Oslo"}', a_triple="<Q{n}> <country> <Norway> .",
    )  # fmt: skip
    made = _table(line, faults)
    return LineFormat(made.good, made.bad, b"id,name,country,height,opened")


def _wikidata() -> LineFormat:
    def item(n: object, name: str = "Oslo", **fields: Any) -> str:
        country = {"snaktype": "value", "datatype": "wikibase-item",
                   "datavalue": {"value": {"id": "Q39"}, "type": "wikibase-entityid"}}  # fmt: skip
        content = {"type": "item", "id": f"Q{n}", "labels": {"en": {"value": f"{name} {n}"}},
                   "claims": {"P17": [{"mainsnak": country}]}}  # fmt: skip
        return _json_line({**content, **fields}) + ","

    def claim(property_: str, value: Any, datatype: str = "wikibase-item") -> str:
        snak = {"snaktype": "value", "datatype": datatype, "datavalue": {"value": value}}
        return item("{n}", claims={property_: [{"mainsnak": snak}]})

    faults = {
        **{what: f"{text}," for what, text in _NOT_JSON.items()},
        "an empty id": item("{n}", id=""),
        "a line end in the id": item("{n}", id="Q99\n"),
        "an id of zero": item("{n}", id="Q0"),
        "a small id": item("{n}", id="q{n}"),
        "the id of a property": item("{n}", id="P{n}"),
        "a number as id": item("{n}", id=5),
        "no id": item("{n}", id=None),
        "no type": item("{n}", type=None),
        "a type that is a tale": item("{n}", type="x" * 100),
        "a list of labels": item("{n}", labels=["Oslo"]),
        "a label that is a number": item("{n}", labels={"en": {"value": 5}}),
        "a list as claims": item("{n}", claims=["P17"]),
        "a property without a number": claim("P", {"id": "Q39"}),
        "an object that is none": claim("P17", {"id": "Q39\n"}),
        "a bell in a text": claim("P1", "Os\x07lo", "string"),
        "half a character in escapes": '{"type": "item", "id": "Q{n}", "labels":'
        ' {"en": {"value": "\\ud83d"}}},',
        "a redirect to nothing": '{"entity": "Q{n}", "redirect": ""},',
    }
    return _json_format(item, faults)
