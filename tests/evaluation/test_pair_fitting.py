"""What the weight of a pair is fitted on where no truth is given: facts with rivals."""

import pytest

from lrlm.corpora import link
from lrlm.evaluation.pair_fitting import MOST_RIVALS, with_rivals
from lrlm.knowledge import Relation, Topic
from lrlm.text import LinkedDocument

TOPIC = Topic(
    "Norway",
    names=["Norway"],
    relations=[
        Relation("capital", "Oslo"),
        Relation("largest city", "Oslo"),
        Relation("currency", "krone", ["krone", "Norwegian krone"]),
        Relation("continent", "Europe"),
        Relation("highest point", "Galdhøpiggen"),
    ],
)
TEXT = "Oslo is a city of Norway. The Norwegian krone is used, not in all of Europe."


def facts_at(document: LinkedDocument, text: str) -> set[str]:
    """Give the types that a name may have been copied through."""
    return {
        document.relations[mention.relation].type
        for mention in document.mentions
        if " ".join(document.tokens.words[mention.start : mention.end]) == text
    }


def test_sure_names_get_rivals_and_others_none() -> None:
    document = link(TEXT, TOPIC)
    changed, facts = with_rivals(document)
    assert facts_at(changed, "Oslo") == {"capital", "largest city"}
    assert facts_at(changed, "Norway") == {"@title"}
    assert facts_at(changed, "Europe") == {"continent", "currency", "highest point", "largest city"}
    assert len(facts_at(changed, "Norwegian krone")) == 1 + MOST_RIVALS
    assert set(facts.values()) == {("continent", "Europe"), ("currency", "krone")}
    words = document.tokens.words
    assert {words[start:end][-1] for start, end in facts} == {"krone", "Europe"}


def test_the_document_stays_as_it_was_but_for_them() -> None:
    document = link(TEXT, TOPIC)
    changed, _ = with_rivals(document)
    assert changed.relations[: len(document.relations)] == document.relations
    assert set(document.mentions) <= set(changed.mentions)
    assert list(changed.mentions) == sorted(changed.mentions)
    own = {(relation.type, relation.object) for relation in document.relations}
    added = changed.relations[len(document.relations) :]
    assert not own & {(relation.type, relation.object) for relation in added}


def test_a_rival_is_called_by_its_own_type() -> None:
    named = Topic(
        "Norway",
        names=["Norway"],
        relations=[
            Relation("P38", "krone", label="currency"),
            Relation("P30", "Europe", label="continent"),
        ],
    )
    changed, facts = with_rivals(link("Norway is in Europe and has the krone.", named))
    assert len(facts) == 2
    labels = {"P38": "currency", "P30": "continent", "@title": "@title"}
    assert len(changed.relations) == 5
    assert all(each.label == labels[each.type] for each in changed.relations)


@pytest.mark.parametrize("text", ["Nothing is named here.", "Norway is Norway.", "Oslo."])
def test_a_text_without_sure_names_has_no_contest(text: str) -> None:
    document = link(text, TOPIC)
    changed, facts = with_rivals(document)
    assert not facts
    assert changed.relations == document.relations
