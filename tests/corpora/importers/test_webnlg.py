"""WebNLG: topics, facts, gold mentions and splits, from both shapes of its files."""

import time
from pathlib import Path

import pytest

from lrlm.corpora import LinkedDocument
from lrlm.corpora.importers import SplitPolicy, WebNlg, import_corpus
from lrlm.corpora.importers.dbpedia_names import dbpedia_forms
from lrlm.corpora.importers.intake import split_by_topic
from lrlm.corpora.importers.webnlg import (
    WebNlgTriple,
    name_within,
    place_references,
    root_of,
)
from lrlm.errors import FormatError, InputError
from tests.corpora.small_world import digests

ENRICHED = """<lex comment="good" lid="Id1"><references>
<reference entity="Aarhus_Airport" number="1" type="description">The Aarhus Airport 's</reference>
<reference entity="Aarhus" number="2" type="name">Aarhus , Denmark</reference>
<reference entity="Jacob" number="3" type="name">Jacob</reference>
<reference entity="Aarhus_Airport" number="4" type="pronoun">it</reference>
<reference entity="&quot;1961-08-04&quot;" number="5" type="name">August 4 , 1961</reference>
<reference entity="Aarhus" number="6" type="name">Nowhere</reference>
</references><text>The Aarhus Airport's city is Aarhus, Denmark, led by Jacob, and it opened on
August 4, 1961.</text><template>x</template></lex>"""
OFFICIAL = """<lex comment="good" lid="Id1">{}</lex><lex comment="bad" lid="Id2">Nonsense.</lex>
<lex comment="" lid="Id3" lang="ru">Текст.</lex><lex lid="Id4"> </lex>"""


def entry(eid: str, triples: list[str], lex: str) -> str:
    inner = "".join(f"<mtriple>{triple}</mtriple>" for triple in triples)
    return (
        f'<entry category="Airport" eid="{eid}" size="{len(triples)}"><originaltripleset>'
        f"<otriple>x | y | z</otriple></originaltripleset><modifiedtripleset>{inner}"
        f"</modifiedtripleset>{lex}</entry>"
    )


def write(folder: Path, **files: list[str]) -> Path:
    """Write files by names in which two underscores part folders."""
    for name, entries in files.items():
        path = folder / f"{name.replace('__', '/')}.xml"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = f"<?xml version='1.0'?><benchmark><entries>{''.join(entries)}</entries></benchmark>"
        path.write_text(text, encoding="utf-8")
    return folder


AIRPORT = [
    "Aarhus_Airport | cityServed | Aarhus",
    "Aarhus | leaderName | Jacob",
    'Aarhus_Airport | opened | "1961-08-04"',
]


def world(folder: Path) -> Path:
    return write(
        folder,
        train__2triples__Airport=[
            entry("Id1", AIRPORT, ENRICHED),
            entry("Id2", ["Aarhus_Airport | runway | 2702.0"], OFFICIAL.format("It has 2702 .")),
            entry("Id3", ["Aarhus | country | Denmark"], OFFICIAL.format("Aarhus is Danish.")),
        ],
        dev__1triples__City=[
            entry("Id1", ["Aarhus | mayor | Jacob"], OFFICIAL.format("Jacob leads Aarhus.")),
            entry("Id2", ["Oslo | country | Norway"], OFFICIAL.format("Oslo is in Norway.")),
        ],
    )


def documents(tmp_path: Path, split: SplitPolicy = SplitPolicy.TOPIC) -> dict[str, LinkedDocument]:
    corpus = import_corpus(tmp_path / "out", WebNlg(world(tmp_path / "in"), split=split))
    return {each.id: each for name in corpus.splits for each in corpus.documents(name)}


def test_the_topic_is_the_root_of_the_tree() -> None:
    def root(*triples: str) -> str:
        return root_of([WebNlgTriple(*triple.split()) for triple in triples])

    assert root("b x c", "a x b") == "a"
    assert root("a x b", "c x b", "c x d") == "c"  # two roots
    assert root("a x b", "b x a", "b x c") == "b"  # a circle
    assert root("a x a") == "a"


def test_all_facts_of_the_topic_are_known_told_or_not(tmp_path: Path) -> None:
    document = documents(tmp_path)["train/2triples/Airport/Id1/Id1"]
    assert (document.topic, document.title) == ("Aarhus_Airport", "Aarhus Airport")
    assert [(each.type, each.object) for each in document.relations] == [
        ("@title", "Aarhus_Airport"),
        ("cityServed", "Aarhus"),
        ("opened", '"1961-08-04"'),
        ("runway", "2702.0"),
    ]


def test_references_become_gold_mentions(tmp_path: Path) -> None:
    found = documents(tmp_path)
    document = found["train/2triples/Airport/Id1/Id1"]
    assert document.gold is not None
    words = document.tokens.words
    assert [
        (" ".join(words[each.start : each.end]), each.type, each.object) for each in document.gold
    ] == [
        ("Aarhus Airport", "@title", "Aarhus_Airport"),
        ("Aarhus , Denmark", "cityServed", "Aarhus"),
        ("August 4 , 1961", "opened", '"1961-08-04"'),
    ]
    assert found["dev/1triples/City/Id1/Id1"].gold is None  # the official files have none


def test_texts_that_are_left_out_are_counted(tmp_path: Path) -> None:
    corpus = import_corpus(tmp_path / "out", WebNlg(world(tmp_path / "in")))
    assert corpus.report.left_out == {
        "articles whose topic is in a later split": 0,
        "references that are no names": 1,
        "references that are not in the text": 1,
        "references to what is not in the topic's facts": 1,
        "texts in another language": 4,
        "texts that are blank": 4,
        "texts that their annotators called bad": 4,
    }


def test_topics_are_split_anew(tmp_path: Path) -> None:
    corpus = import_corpus(tmp_path / "out", WebNlg(world(tmp_path / "in")))
    for split in corpus.splits:
        for document in corpus.documents(split):
            assert split_by_topic(document.topic) == split


def test_the_official_split_loses_the_topics_that_it_shares(tmp_path: Path) -> None:
    official = WebNlg(world(tmp_path / "in"), split=SplitPolicy.OFFICIAL)
    corpus = import_corpus(tmp_path / "out", official)
    assert corpus.report.left_out["articles whose topic is in a later split"] == 1
    train, valid = ([*corpus.documents(name)] for name in ("train", "valid"))
    assert {each.topic for each in train} == {"Aarhus_Airport"}
    aarhus = next(each for each in valid if each.topic == "Aarhus")
    assert [each.type for each in aarhus.relations] == ["@title", "mayor"]  # not those of train


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    source = WebNlg(world(tmp_path / "in"))
    one, two = (import_corpus(tmp_path / name, source).folder for name in "ab")
    assert digests(one) == digests(two)


def test_mentions_are_placed_in_order() -> None:
    text = "Italy's unit with it: Rome, Italy. It is 5m."
    listed = [("I", "Italy 's"), ("u", "it"), ("R", "Rome , Italy"), ("x", "Mars"), ("u", "It")]
    placed = place_references(text, listed)
    assert [each and text[each.start : each.end] for each in placed] == [
        "Italy's",
        "it",
        "Rome, Italy",
        None,
        "It",
    ]
    assert placed[1] is not None
    assert text[placed[1].start - 5 : placed[1].start] == "with "
    assert place_references(text, [("x", "")]) == [None]


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ('The book "Ice" sold.', "The book `` Ice ''", 'The book "Ice"'),
        ("In Akita, Akita Japan.", ", Akita Japan", ", Akita Japan"),
        ("In the U.S. it rains.", "the U.S", "the U.S."),
        ("In Washington, D.C.", "Washington , D.C .", "Washington, D.C."),
        ("It is in Rome.", "Rome", "Rome"),
        ("Romeo", "Rome", None),
    ],
)
def test_references_are_found_however_they_are_cut(
    text: str, words: str, found: str | None
) -> None:
    (placed,) = place_references(text, [("x", words)])
    assert (placed and text[placed.start : placed.end]) == found


@pytest.mark.parametrize(
    ("text", "forms", "name"),
    [
        ("the United States", (), "United States"),
        ("Denmark's", (), "Denmark"),
        ("A Wizard of Mars", ("A Wizard of Mars",), "A Wizard of Mars"),
        ("olive oil", ("Olive oil",), "olive oil"),
        ("12", (), "12"),
        ("the city", ("Luanda",), None),
        ("It", ("Bakso",), None),
        ("its crew", ("Apollo 8",), None),
        ("the airport", ("Aarhus Airport",), None),
        ("architect, John Madin,", ("John Madin",), "John Madin"),
        ("the reference number 80002709", ("80002709",), "80002709"),
        ('the book "A Fortress"', ("A Fortress",), "A Fortress"),
        ("the book The Secret Scripture", ("The Secret Scripture",), "The Secret Scripture"),
        ("McDonald's, a firm", ("McDonald's",), "McDonald's"),
        ("HIV virus", ("HIV",), "HIV"),
        ("Bacon sandwiches", ("Bacon sandwich",), "Bacon sandwiches"),
        ("sweet potatoes", ("Sweet potato",), "sweet potatoes"),
        ("the historic districts", ("Historic districts in the United States",), None),
        ("Frank de Boer", ("Frank de Boer",), "Frank de Boer"),
        ("Aarhus, Denmark", ("Aarhus",), "Aarhus, Denmark"),
        ("the", ("United States",), None),
    ],
)
def test_names_within_mentions(text: str, forms: tuple[str, ...], name: str | None) -> None:
    found = name_within(text, 0, len(text), forms)
    assert (found and text[found[0] : found[1]]) == name


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("Aarhus_Airport", ("Aarhus Airport",)),
        ("Sorry_(Madonna_song)", ("Sorry", "Sorry (Madonna song)")),
        ("Auburn,_Alabama", ("Auburn, Alabama", "Auburn")),
        ("René_Goscinny", ("René Goscinny", "Rene Goscinny")),
        ("Olive_oil", ("Olive oil", "olive oil")),
        ('"Retired"', ("Retired", "retired")),
        ("2702.0", ("2,702", "2702", "2,702.0", "2702.0")),
        ("1.8 (metres)", ("1.8 metres", "1.8")),
        ('"13.0"(minutes)', ("13 minutes", "13.0 minutes", "13", "13.0")),
        ('"120 million (dollars)"', ("120 million dollars", "120 million")),
        ('"Adams, Union"', ("Adams, Union",)),
        ('"text"@en', ("text",)),
        ("A.F.C._Fylde", ("A.F.C. Fylde", "AFC Fylde")),
        ("1634:_The_Ram_Rebellion", ("1634: The Ram Rebellion", "1634 The Ram Rebellion")),
        ("2014–15_Eredivisie", ("2014–15 Eredivisie", "2014-15 Eredivisie")),
        ("English_language", ("English language", "English")),
        ("5.5", ("5.5",)),
        ('""', ()),
    ],
)
def test_forms_of_names(name: str, forms: tuple[str, ...]) -> None:
    assert dbpedia_forms(name) == forms


@pytest.mark.parametrize("name", ['"1961-08-04"', "1961-08-04^^xsd:date", '"1961-08-04"@date'])
def test_dates_are_written_as_people_do(name: str) -> None:
    forms = dbpedia_forms(name)
    assert forms[:2] == ("4 August 1961", "August 4, 1961")
    assert {"4th August 1961", "August 4th, 1961", "1961-08-04"} <= set(forms)


@pytest.mark.parametrize(
    ("day", "written"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (13, "13th"), (22, "22nd")],
)
def test_days_are_counted(day: int, written: str) -> None:
    assert f"May {written}, 1961" in dbpedia_forms(f'"1961-05-{day:02}"')


def test_bad_entries_are_counted(tmp_path: Path) -> None:
    bad = [entry("Id7", ["a | b"], ""), entry("Id8", [], "")]
    good = entry("Id1", AIRPORT, ENRICHED)
    corpus = import_corpus(
        tmp_path / "out", WebNlg(write(tmp_path / "in", train=[good, *bad])), max_bad=0.9
    )
    assert corpus.report.bad_lines == 2
    assert "train/Id7: not subject | relation | object" in corpus.report.examples[0]


def test_what_cannot_be_used_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        WebNlg(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match=r"holds no \.xml"):
        import_corpus(tmp_path / "out", WebNlg(tmp_path / "empty"))
    nameless = WebNlg(
        write(tmp_path / "in", a=[entry("Id1", AIRPORT, ENRICHED)]), split=SplitPolicy.OFFICIAL
    )
    with pytest.raises(InputError, match="split the topics anew"):
        import_corpus(tmp_path / "out", nameless)
    bomb = tmp_path / "bomb.xml"
    bomb.write_text('<!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>')
    with pytest.raises(FormatError, match="document type or entities"):
        import_corpus(tmp_path / "out", WebNlg(bomb))
    assert not (tmp_path / "out").exists()


def test_long_names_take_no_time_and_are_told(tmp_path: Path) -> None:
    hostile = [f"A | b | {'^^ ' * 20_000}", f"A | b | {'( ' * 40_000}", f"A | b | {'9' * 5000}"]
    entries = [entry(f"Id{n}", [each], OFFICIAL.format("A .")) for n, each in enumerate(hostile)]
    spaces = " " * 100_000
    references = f'<references><reference entity="A">a {spaces} b</reference></references>'
    lex = f'<lex lid="Id1">{references}<text>a{spaces}b</text></lex>'
    entries.append(entry("Id9", ["A | b | C"], lex))
    source = WebNlg(write(tmp_path / "in", train__1triples__X=entries))
    start = time.process_time()
    corpus = import_corpus(tmp_path / "out", source, max_bad=0.9)
    assert time.process_time() - start < 10
    assert corpus.report.bad_lines == 3
    assert corpus.report.left_out["references that are no names"] == 1


@pytest.mark.parametrize("encoding", ["foo", "utf-7", "utf-32", "zlib", "big5"])
def test_odd_encodings_are_named(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.xml").write_bytes(f"<?xml version='1.0' encoding='{encoding}'?><a/>".encode())
    with pytest.raises(FormatError, match=r"a\.xml:1: not XML in an encoding that is read"):
        import_corpus(tmp_path / "out", WebNlg(tmp_path / "a.xml"))
