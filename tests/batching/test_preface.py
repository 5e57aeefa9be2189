"""What is read before a text: the start alone, names, or the topic's facts as long as they fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.batching.preface import (
    PrefaceConfig,
    facts_as_preface,
    names_as_preface,
    start_of_text,
)
from lrlm.corpora import linkable_relations
from lrlm.errors import InputError
from lrlm.knowledge import Relation, Topic
from lrlm.text import SurfaceForm
from lrlm.text.word_space import WordSpace
from tests.toy import VOCABULARY, ToySpeller

SPACE = WordSpace(VOCABULARY, ToySpeller())
TOPIC = Topic("Oslo", relations=[Relation("river", f"r{number}") for number in range(9)])
RELATIONS = linkable_relations(TOPIC)


def test_facts_are_written_as_the_template_says() -> None:
    config = PrefaceConfig(template=r"About {title}:\n{facts}.", fact="{object} ({type})")
    assert config.written("Oslo", RELATIONS[:3]) == "About Oslo:\nr0 (river); r1 (river)."


def test_what_is_filled_in_is_not_filled_in_again() -> None:
    relations = linkable_relations(Topic("x", relations=[Relation("{object}", "{title}")]))
    assert PrefaceConfig(template="{title}|{facts}").written("{facts}", relations) == (
        "{facts}|{object}: {title}"
    )


def test_a_template_needs_no_facts() -> None:
    assert PrefaceConfig(template=r"{title}\n\n").written("Oslo", RELATIONS) == "Oslo\n\n"


def test_a_fact_without_its_object_is_refused() -> None:
    with pytest.raises(InputError, match=r"must contain {object}"):
        PrefaceConfig(fact="{type}")


@given(most=st.integers(1, 60))
def test_as_many_facts_are_read_as_there_is_room_for(most: int) -> None:
    config = PrefaceConfig(most_tokens=most)
    preface = facts_as_preface(SPACE, config, "Oslo", RELATIONS)
    facts = len(RELATIONS) - 1  # the title is none
    lengths = [
        1 + len(SPACE.encode_text(config.written("Oslo", RELATIONS[: count + 1])))
        for count in range(facts + 1)
    ]
    fitting = [count for count, length in enumerate(lengths) if length <= most]
    assert preface.left_out_facts == facts - max(fitting, default=0)
    assert preface.tokens_P[0] == SPACE.start_id
    assert len(preface.tokens_P) == lengths[max(fitting, default=0)]


def test_names_are_read_one_after_the_other() -> None:
    forms = [SurfaceForm(("a", "b"), "a b"), SurfaceForm(("v",), "v")]
    a, b, v = VOCABULARY.encode(["a", "b", "v"])
    end = VOCABULARY.end_id
    assert names_as_preface(SPACE, forms).tokens_P.tolist() == [a, b, end, v, end, end]
    assert start_of_text(SPACE).tokens_P.tolist() == [end]
