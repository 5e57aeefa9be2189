"""Names as people write them: what is found by which rule, and what is not."""

import unicodedata

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
