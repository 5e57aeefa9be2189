"""The notes of the embedded corpus: short, true, about few facts, and apart from the articles."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from lrlm.corpora.corpus import SPLITS
from lrlm.corpora.linking import link
from lrlm.corpora.miniworld import corpus, facts, topics, write
from lrlm.corpora.miniworld.article import GeneratedArticle
from lrlm.corpora.miniworld.grammar import Dice, load_plans, slots
from lrlm.corpora.miniworld.notes import cut
from lrlm.knowledge import TITLE, Topic
from lrlm.text import tokenise

NOTES = 1200
DOMAINS = sorted(facts.domains())


@cache
def notes() -> list[GeneratedArticle]:
    return list(corpus.generate_notes("train", NOTES))


@cache
def known() -> dict[str, Topic]:
    """Give every topic that a note may be about, whole or cut."""
    few = corpus.cut_topics("train", NOTES, seed=1).values()
    return topics() | {topic.id: topic for _, topic in few}


@pytest.mark.parametrize("name", DOMAINS)
def test_every_relation_can_be_told_in_passing(name: str) -> None:
    domain, spoken = facts.domains()[name], load_plans(name)
    assert set(spoken.everyday) == set(domain.kinds)
    for type_, ways in spoken.everyday.items():
        assert len(ways) >= 4, type_
        for plan in ways:
            told = {slot.name for slot in slots(plan.sentence) if slot.is_relation}
            assert type_ in told <= set(domain.kinds), type_


def test_a_cut_topic_is_the_same_thing_with_few_facts() -> None:
    norway = topics()["Norway"]
    sizes = Counter(len(cut(norway, n, Dice(str(n))).relations) for n in range(200))
    assert set(sizes) == {1, 2, 3, 4, 5}
    few = cut(norway, 7, Dice("x"))
    assert few.id == "Norway~7"
    assert few.names == norway.names
    assert set(few.relations) < set(norway.relations)


def test_a_common_noun_may_get_a_capital() -> None:
    gold = topics()["Gold"]
    names = {cut(gold, n, Dice(str(n))).names[0] for n in range(30)}
    assert names == {"gold", "Gold"}


def test_notes_are_short_and_begin_in_many_ways() -> None:
    lengths = [len(tokenise(note.text)) for note in notes()]
    assert min(lengths) >= 4
    assert sum(lengths) / NOTES < 35
    first = Counter(note.gold[0].type for note in notes() if note.gold and not note.gold[0].start)
    assert first[TITLE] > 0.2 * NOTES
    assert first.total() - first[TITLE] > 0.08 * NOTES


def test_gold_is_what_the_linker_can_find() -> None:
    for note in notes():
        document = link(note.text, known()[note.topic])
        found = {
            (document.tokens.starts[m.start], document.tokens.ends[m.end - 1], m.relation)
            for m in document.mentions
        }
        places = {(each.type, each.object): n for n, each in enumerate(document.relations)}
        for span in note.gold:
            assert note.text[span.start : span.end] == span.form
            assert (span.start, span.end, places[span.type, span.object]) in found, note


def test_a_note_tells_only_what_is_known() -> None:
    cut_ones = [note for note in notes() if "~" in note.topic]
    assert len(cut_ones) > 0.3 * NOTES
    for note in cut_ones:
        types = {TITLE, *(fact.type for fact in known()[note.topic].relations)}
        assert {span.type for span in note.gold} <= types


def test_notes_come_after_the_articles_and_change_nothing_of_them(tmp_path: Path) -> None:
    write(tmp_path / "without", articles=(40, 8, 8))
    write(tmp_path / "with", articles=(40, 8, 8), notes=1500)
    for file in ("triples.tsv", "forms.tsv", *(f"articles.{split}.jsonl" for split in SPLITS)):
        before, after = ((tmp_path / each / file).read_text() for each in ("without", "with"))
        assert after.startswith(before)
        assert len(after) > len(before)
    lines = (tmp_path / "with" / "articles.valid.jsonl").read_text().splitlines()
    assert len(lines) == 8 + 300
    triples = (tmp_path / "with" / "triples.tsv").read_text().splitlines()
    subjects = {line.split("\t")[0] for line in triples}
    assert {json.loads(line)["topic"] for line in lines} <= subjects
