"""Names as people write them: what is found by which rule, and what is not."""

import unicodedata
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.corpora import (
    USUAL_RULES,
    LetterCase,
    LinkedDocument,
    LinkOptions,
    NameRule,
    link,
    relink,
)
from lrlm.errors import InputError
from lrlm.knowledge import Relation, Topic
from lrlm.text import Profile, surface_forms

NAMES = [
    "United States", "4 August 1961", "18.0 g", "J. P. McManus", "bread, garlic, oil",
    "Castle (novel)",
    "Oslo", "New York", "Côte d'Ivoire", "Alsace–Lorraine", "Rolls-Royce", "bacon sandwich",
    "William & Mary", "Łódź", "Madrid", "Madrid-Barajas Airport", "city", "Al Asad Airbase",
]  # fmt: skip
TOPIC = Topic("Norway", relations=[Relation(f"r{n}", name) for n, name in enumerate(NAMES)])


def found(text: str, *rules: NameRule, case: LetterCase = LetterCase.EXACT) -> set[str]:
    document = link(text, TOPIC, LinkOptions(letter_case=case, name_rules=frozenset(rules)))
    return written_mentions(document)


def written_mentions(document: LinkedDocument) -> set[str]:
    tokens = document.tokens
    return {
        document.text[tokens.starts[each.start] : tokens.ends[each.end - 1]]
        for each in document.mentions
    }


@pytest.mark.parametrize(
    ("rule", "text", "names"),
    [
        (NameRule.PUNCTUATION, "in Côte d’Ivoire and Alsace-Lorraine", 2),
        (NameRule.PUNCTUATION, "William and Mary", 1),
        (NameRule.ACCENTS, "from Lodz to Cote d'Ivoire", 2),
        (NameRule.CHARACTERS, unicodedata.normalize("NFD", "from Łódź to Côte d'Ivoire"), 2),
        (NameRule.PLURALS, "bacon sandwiches of cities", 2),
        (NameRule.COMPOUNDS, "Oslo-based", 1),
        (NameRule.COMPOUNDS, "Europe/Oslo", 1),
        (NameRule.COMPOUNDS, "a New York-based and non-New York firm", 1),
        (NameRule.COMPOUNDS, "Rolls-Royce-powered", 1),
    ],
)
def test_a_rule_finds_what_is_not_found_without_it(rule: NameRule, text: str, names: int) -> None:
    assert found(text) == set()
    assert len(found(text, rule)) == names


@pytest.mark.parametrize(
    ("rule", "name", "writing"),
    [
        (NameRule.NOUNS, "Dessert", "desserts"),
        (NameRule.NOUNS, "Sweet potato", "sweet potatoes"),
        (NameRule.NOUNS, "Berry", "berries"),
        (NameRule.MARKS, "Arem-arem", "Arem arem"),
        (NameRule.MARKS, "Wheeler, Texas", "Wheeler Texas"),
        (NameRule.MARKS, "Edwin E. Aldrin, Jr.", "Edwin E. Aldrin Jr."),
        (NameRule.MARKS, "J. P. McManus", "JP McManus"),
        (NameRule.MARKS, "J. P. McManus", "J.P. McManus"),
        (NameRule.MARKS, "Dead Man's Plack", "Dead Mans Plack"),
        (NameRule.MARKS, "Admin. Sci. Q.", "Admin. Sci. Q"),
        (NameRule.QUALIFIERS, "Ardmore Airport (New Zealand)", "Ardmore Airport in New Zealand"),
        (NameRule.QUALIFIERS, "Abilene, Texas", "Abilene in Texas"),
        (NameRule.QUALIFIERS, "Castle (novel)", "novel Castle"),
        (NameRule.LISTS, "bread, garlic, oil", "bread, garlic and oil"),
        (NameRule.LISTS, "bread, garlic, oil", "bread, garlic, or oil"),
        (NameRule.LISTS, "Singapore and Indonesia", "Indonesia and Singapore"),
        (NameRule.DATES, "4 August 1961", "Aug 4, 1961"),
        (NameRule.DATES, "August 4, 1961", "4th of August 1961"),
        (NameRule.DATES, "4 August", "August 4th"),
        (NameRule.DATES, "September 1961", "Sept 1961"),
        (NameRule.DATES, "4 August 1961", "04/08/1961"),
        (NameRule.NUMBERS, "1533.0", "1,533"),
        (NameRule.NUMBERS, "18.0 g", "18g"),
        (NameRule.COUNTRIES, "United Kingdom", "British"),
        (NameRule.COUNTRIES, "United States", "U.S."),
        (NameRule.COUNTRIES, "United States Air Force", "US Air Force"),
        (NameRule.COUNTRIES, "Americans", "American"),
        (NameRule.COUNTRIES, "Andalusia", "Andalusian"),
    ],
)
def test_everyday_writings(rule: NameRule, name: str, writing: str) -> None:
    topic = Topic("T", relations=[Relation("r", name)])
    text = f"so {writing} it is"
    exact = link(text, topic)
    document = link(text, topic, LinkOptions(name_rules=frozenset([rule])))
    assert writing not in written_mentions(exact)
    assert writing in written_mentions(document)
    assert writing in [form.text for form in surface_forms(document.relations[1])]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("United States", "they told us so"),  # "US" has one letter case
        ("10 Downing Street", "10 of them"),
        ("8848.86 m", "8849 m or 8,849 metres"),  # a rounded number is another one
        ("1634: The Ram Rebellion", "in 1634"),
        ("Oslo", "Olso"),
        ("Alan Shepard", "Shepard"),
        ("Norway", "Norways"),
        ("4 August 1961", "5 Aug 1962"),
    ],
)
def test_what_no_everyday_rule_finds(name: str, text: str) -> None:
    rules = frozenset(NameRule) - {NameRule.NOUNS}
    topic = Topic("T", relations=[Relation("r", name)])
    assert not link(
        text, topic, LinkOptions(letter_case=LetterCase.FORGIVING, name_rules=rules)
    ).mentions


def test_the_table_of_countries_is_in_order() -> None:
    lines = (files("lrlm.corpora") / "countries.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    assert all(len(row) == 2 and all(row) for row in rows)
    names = [row[0].split("|")[0] for row in rows]
    assert len(set(names)) == len(names)


def test_possessives_need_no_rule() -> None:
    assert found("Norway's, Norway’s and the Madrid' s") == {"Norway", "Madrid"}


def test_letter_case() -> None:
    text = "NEW YORK and al asad airbase, the Al Asad airbase"
    assert found(text) == set()
    assert found(text, case=LetterCase.VARIANTS) == {"NEW YORK", "al asad airbase"}
    assert found(text, case=LetterCase.FORGIVING) == {
        "NEW YORK", "al asad airbase", "Al Asad airbase",
    }  # fmt: skip


def test_a_compound_that_belongs_to_a_name_stays_whole() -> None:
    assert found("Madrid-Barajas Airport", NameRule.COMPOUNDS) == {"Madrid-Barajas Airport"}
    assert found("the Madrid-Barajas site", NameRule.COMPOUNDS) == {"Madrid"}
    assert found("New Yorkers, Osloite, co-op, Oslo2-x", *NameRule) == set()


def test_a_compound_is_cut_only_where_a_name_stands() -> None:
    rules = frozenset([NameRule.COMPOUNDS])
    document = link("a co-op, Oslo-based", TOPIC, LinkOptions(name_rules=rules))
    assert document.tokens.words == ["a", "co-op", ",", "Oslo", "@-@", "based"]
    assert document.tokens.starts[3:] == [9, 13, 14]


@given(
    st.lists(st.sampled_from([*NAMES, "-", "/", " ", "based", "’", "é", "s"]), max_size=8),
    st.frozensets(st.sampled_from(NameRule)),
    st.sampled_from(LetterCase),
)
def test_forms_stay_distinct_and_mentions_are_their_words(
    parts: list[str], rules: frozenset[NameRule], case: LetterCase
) -> None:
    options = LinkOptions(letter_case=case, name_rules=rules)
    document = link("".join(parts), TOPIC, options)
    assert relink(document, options) == document
    for relation in document.relations:
        assert len(set(relation.forms)) == len(relation.forms)
        writings = [form.text for form in surface_forms(relation)]
        assert len(set(writings)) == len(writings)
    for mention in document.mentions:
        copied = document.relations[mention.relation].forms[mention.form]
        assert tuple(document.tokens.words[mention.start : mention.end]) == copied


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("東京都は日本の首都です。", {"東京都", "日本"}),
        ("ประเทศไทยมีกรุงเทพเป็นเมืองหลวง", {"ไทย", "กรุงเทพ"}),
        ("中国的首都是北京。", {"北京"}),
    ],
)
def test_names_are_found_within_scripts_without_spaces(text: str, names: set[str]) -> None:
    known = ("日本", "ไทย", "กรุงเทพ", "北京")
    topic = Topic("東京都", relations=[Relation("r", name) for name in known])
    assert written_mentions(link(text, topic, LinkOptions(Profile.UNSPACED))) == names


def test_older_corpora_have_no_rules() -> None:
    old = {"profile": "raw", "letter_case": "exact", "stop_words": False}
    assert LinkOptions.from_dict(old) == LinkOptions()
    assert LinkOptions().to_dict() == old
    assert not LinkOptions().name_rules
    assert frozenset(NameRule) > USUAL_RULES


def test_rules_are_chosen_by_name() -> None:
    changed = LinkOptions().changed(letter_case="variants", name_rules="accents")
    assert changed == LinkOptions(
        letter_case=LetterCase.VARIANTS, name_rules=frozenset([NameRule.ACCENTS])
    )
    with pytest.raises(InputError, match="name_rules must be one of"):
        LinkOptions().changed(name_rules=["typos"])
