"""The embedded corpus: what it holds, that its gold is true, and that its riddles can be solved."""

import collections
import json
import re
from collections import Counter
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from lrlm.corpora.corpus import SPLITS
from lrlm.corpora.linking import Matcher, linkable_relations
from lrlm.corpora.miniworld import corpus, facts, topics, write
from lrlm.corpora.miniworld.article import GeneratedArticle
from lrlm.corpora.miniworld.facts import follows_an
from lrlm.corpora.miniworld.grammar import (
    Choice,
    Dice,
    DomainPlans,
    Phrasing,
    SentencePlan,
    Slot,
    applicable,
    expand,
    load_plans,
    parse,
    parse_list,
    slots,
)
from lrlm.errors import FormatError
from lrlm.knowledge import TITLE
from lrlm.knowledge.literals import literal_forms
from lrlm.text import tokenise

FEW = (900, 120, 120)
DOMAINS = sorted(facts.domains())


@cache
def articles(split: str) -> list[GeneratedArticle]:
    return list(corpus.generate(split, dict(zip(SPLITS, FEW, strict=True))[split]))


def all_articles() -> list[GeneratedArticle]:
    return [article for split in SPLITS for article in articles(split)]


@cache
def home() -> dict[str, str]:
    return {topic: domain.name for domain in facts.domains().values() for topic in domain.topics}


@cache
def candidates(
    article: GeneratedArticle,
) -> tuple[tuple[int, int, frozenset[tuple[str, str]]], ...]:
    """Every span that some form matches, in characters, with what it may stand for."""
    relations = linkable_relations(topics()[article.topic])
    tokens = tokenise(article.text)
    found: dict[tuple[int, int], set[tuple[str, str]]] = {}
    for mention in Matcher(relations).find(tokens.words):
        span = tokens.starts[mention.start], tokens.ends[mention.end - 1]
        relation = relations[mention.relation]
        found.setdefault(span, set()).add((relation.type, relation.object))
    return tuple((*span, frozenset(meanings)) for span, meanings in found.items())


# -- the facts -------------------------------------------------------------------------------------


def test_there_are_enough_topics_of_enough_kinds() -> None:
    assert len(DOMAINS) >= 5
    assert len(topics()) >= 500


def test_every_topic_has_six_to_fifteen_facts() -> None:
    off = {t.id: len(t.relations) for t in topics().values() if not 6 <= len(t.relations) <= 15}
    assert not off


def test_no_form_carries_its_article() -> None:
    forms = {form for topic in topics().values() for fact in topic.star for form in fact.forms}
    assert not [form for form in forms if form.startswith(("the ", "a ", "an "))]


@pytest.mark.parametrize(
    ("table", "names", "message"),
    [
        ("id\n", "", "first line"),
        ("id\tcapital\nX\tY\n", "", "line 1: 'capital' is not"),
        ("id\tcapital:place\nX\tY\n", "", "line 1: 'capital:place' is not"),
        ("id\tcapital:entity\nX\n", "", "line 2: 1 cells"),
        ("id\tcapital:entity\nX\tY\nX\tZ\n", "", "line 3: 'X' is not a new id"),
        ("id\tcapital:entity\nX\tNew York\n", "", "line 2: capital: 'New York'"),
        ("id\tcapital:entity\nX\tY | Y\n", "", "without repeats"),
        ("id\tborn:date\nX\t4 May 1900\n", "", "line 2: born: '4 May 1900' is not a date"),
        ("id\tcapital:entity\nX\tY\n", "Y\n", "places.names.tsv, line 1"),
    ],
)
def test_a_bad_table_is_named_with_its_line(
    tmp_path: Path, table: str, names: str, message: str
) -> None:
    (tmp_path / "places.tsv").write_text(table)
    (tmp_path / "places.names.tsv").write_text(names)
    with pytest.raises(FormatError, match="places") as caught:
        facts.domains(tmp_path)
    assert message in str(caught.value)


def test_names_are_merged_and_the_article_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("id\tmouth:entity\tlength:quantity\nX_(a)\tSea\t12 km\n")
    (tmp_path / "a.names.tsv").write_text("Sea\tthe Big Sea\nSea\tBig Sea\n")
    (tmp_path / "b.names.tsv").write_text("Sea\tBig Sea\nSea\tSalt Water\n")
    topic = facts.domains(tmp_path)["a"].topics["X_(a)"]
    assert topic.names == ("X",)
    assert topic.relations[0].forms == ("Big Sea", "Salt Water")
    assert topic.relations[1].forms == literal_forms("12 km")


# -- the grammar -----------------------------------------------------------------------------------


def test_a_plan_expands_to_what_can_be_filled() -> None:
    lists = {"stone": parse_list("stone", "granite, slate", {}, "test")}
    weight, plan = parse("3: It has <stone>, <stone>[ and {ore}] \\(see (a|{map})\\).", lists, "t")
    assert weight == 3
    texts = {"".join(map(str, expand(plan, Dice(str(n)), lambda _: False))) for n in range(50)}
    assert texts == {"It has granite, slate (see a).", "It has slate, granite (see a)."}


def test_a_plan_that_needs_a_slot_is_not_applicable_without_it() -> None:
    _, plan = parse("It has ({ore}|{use}).", {}, "test")
    assert not applicable(plan, lambda _: False)
    assert applicable(plan, lambda slot: slot.name == "use")


@pytest.mark.parametrize("plan", ["a (b", "a b)", "a [b)", "a|b", "{", "<nothing>", "{a:b:c}"])
def test_a_broken_plan_is_refused_with_its_place(plan: str) -> None:
    with pytest.raises(FormatError, match="plans/x"):
        parse(plan, {}, "plans/x")


def test_a_or_an() -> None:
    with_an = ["arid", "early", "Italian", "honest", "11", "FBI"]
    with_a = ["novel", "European", "united", "one-way", "German", "UK"]
    assert [text for text in with_an + with_a if follows_an(text)] == with_an


def all_plans(spoken: DomainPlans) -> list[SentencePlan]:
    told = (plan for plans in spoken.relations.values() for plan in plans)
    return [*spoken.openings, *told, *spoken.fillers, *spoken.lookalikes]


def relations_in(plan: SentencePlan) -> set[str]:
    return {slot.name for slot in slots(plan.sentence) if slot.is_relation}


def left_contexts(plan: Phrasing, width: int) -> set[tuple[str, tuple[str, ...]]]:
    """Give every slot and every list with each sequence of words that can stand before it.

    Slots are named as in `{capital}`, lists as in `<stone>`, here and in the contexts. A context
    has at most `width` words; an empty word is the start of the sentence.
    """
    found: set[tuple[str, tuple[str, ...]]] = set()
    _contexts(plan, {("",)}, width, found)
    return found


def _contexts(
    plan: Phrasing,
    before: set[tuple[str, ...]],
    width: int,
    found: set[tuple[str, tuple[str, ...]]],
) -> set[tuple[str, ...]]:
    """Add the contexts within the plan to `found`; give those after it."""
    for part in plan.parts:
        if isinstance(part, Choice) and part.name is None:
            ways = [_contexts(way, before, width, found) for way in part.alternatives]
            before = set().union(*ways)
            continue
        if isinstance(part, str):
            words = re.findall(r"\w+|[^\w\s]", part.lower())
        else:
            words = [f"{{{part.name}}}" if isinstance(part, Slot) else f"<{part.name}>"]
            found |= {(words[0], context) for context in before}
        before = {(*context, *words)[-width:] for context in before}
    return before


@pytest.mark.parametrize("name", DOMAINS)
def test_every_relation_has_at_least_four_plans_and_every_slot_a_relation(name: str) -> None:
    domain, spoken = facts.domains()[name], load_plans(name)
    assert set(spoken.relations) == set(domain.kinds)
    for type_, ways in spoken.relations.items():
        assert len(ways) >= 4, type_
        assert all(type_ in relations_in(plan) for plan in ways), type_
    assert all(relations_in(plan) <= set(domain.kinds) for plan in all_plans(spoken))
    assert not any(relations_in(plan) for plan in (*spoken.fillers, *spoken.lookalikes))


@pytest.mark.parametrize("name", DOMAINS)
def test_the_words_before_a_mention_tell_its_relation(name: str) -> None:
    domain, spoken = facts.domains()[name], load_plans(name)
    contexts: dict[str, set[tuple[str, ...]]] = collections.defaultdict(set)
    for plan in all_plans(spoken):
        for label, context in left_contexts(plan.sentence, 4):
            if label in ("<it>", "<its>", "<he>", "<his>", "<him>"):
                contexts[TITLE].add(context)
            elif label.startswith("{"):
                contexts[label[1:-1]].add(context)
    shared = {
        (one.type, other.type)
        for topic in domain.topics.values()
        for one, other in combinations(topic.star, 2)
        if one.type != other.type and set(one.forms) & set(other.forms)
    }
    assert shared
    for one, other in sorted(shared):
        assert not contexts[one] & contexts[other], (one, other)
    for plan in spoken.lookalikes:
        for label, context in left_contexts(plan.sentence, 4):
            clash = [type_ for type_ in domain.kinds if context in contexts[type_]]
            assert not clash, (label, context)


# -- the articles ----------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        write(tmp_path / folder, seed=seed, articles=(60, 12, 12))
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == [
        "articles.test.jsonl",
        "articles.train.jsonl",
        "articles.valid.jsonl",
        "forms.tsv",
        "triples.tsv",
    ]
    for file in files:
        first, again, other = ((tmp_path / f / file).read_bytes() for f in "abc")
        assert first == again
        assert (first == other) == file.endswith(".tsv")


def test_the_files_hold_every_fact_every_name_and_the_articles(tmp_path: Path) -> None:
    write(tmp_path, articles=(30, 6, 6))
    triples = [line.split("\t") for line in (tmp_path / "triples.tsv").read_text().splitlines()]
    assert len(triples) == sum(len(topic.relations) for topic in topics().values())
    names: dict[str, list[str]] = {}
    for line in (tmp_path / "forms.tsv").read_text().splitlines():
        entity, form = line.split("\t")
        names.setdefault(entity, []).append(form)
    forms = {
        (t.id, fact.type, fact.object): fact.forms for t in topics().values() for fact in t.star
    }
    for subject, type_, object_, kind in triples:
        assert kind in ("entity", "literal")
        written = names[object_] if kind == "entity" else literal_forms(object_)
        assert tuple(written) == forms[subject, type_, object_]
    assert all(tuple(names[topic.id]) == topic.names for topic in topics().values())
    for split, count in zip(SPLITS, (30, 6, 6), strict=True):
        lines = (tmp_path / f"articles.{split}.jsonl").read_text().splitlines()
        assert len(lines) == count
        for line in lines:
            record = json.loads(line)
            assert record["id"].startswith(record["topic"] + ".")
            assert record["title"] == topics()[record["topic"]].names[0]
            assert set(record) == {"id", "topic", "title", "text", "gold"}
            assert all(set(m) == {"start", "end", "type", "object"} for m in record["gold"])


def test_splits_share_no_topic_and_each_has_every_domain() -> None:
    chosen = {split: [t.id for _, t in corpus.topics_of(split)] for split in SPLITS}
    assert sorted(id_ for ids in chosen.values() for id_ in ids) == sorted(topics())
    for ids in chosen.values():
        assert {home()[topic] for topic in ids} == set(DOMAINS)
    assert len(chosen["valid"]) >= 0.08 * len(topics()) <= len(chosen["test"])


def test_articles_are_numbered_and_of_the_right_length() -> None:
    everything = all_articles()
    assert len(everything) == sum(FEW) == len({article.id for article in everything})
    lengths = [len(tokenise(article.text)) for article in everything]
    assert min(lengths) >= 40
    assert max(lengths) <= 120
    assert max(lengths) - min(lengths) > 40


def test_gold_is_what_the_linker_can_find() -> None:
    for article in all_articles():
        found = {(start, end): meanings for start, end, meanings in candidates(article)}
        end = 0
        for span in article.gold:
            assert span.start >= end, article.id
            end = span.end
            assert article.text[span.start : span.end] == span.form
            assert (span.type, span.object) in found[span.start, span.end], (article.id, span)


def test_every_article_mentions_its_title_and_leaves_facts_out() -> None:
    for article in all_articles():
        told = {(span.type, span.object) for span in article.gold}
        assert (TITLE, article.topic) in told
        assert len(told) - 1 < len(topics()[article.topic].relations), article.id


def test_every_relation_is_told_in_several_wordings() -> None:
    told = Counter(
        (home()[article.topic], span.type) for article in all_articles() for span in article.gold
    )
    for name, domain in facts.domains().items():
        assert all(told[name, type_] >= 3 for type_ in domain.kinds), name


def test_some_mentions_can_be_read_in_two_ways_and_some_are_only_words() -> None:
    mentions = competing = only_words = 0
    for article in all_articles():
        gold = {(span.start, span.end) for span in article.gold}
        for start, end, meanings in candidates(article):
            if (start, end) in gold:
                mentions += 1
                competing += len({type_ for type_, _ in meanings}) > 1
            else:
                only_words += all(end <= low or start >= high for low, high in gold)
    assert competing / mentions > 0.08
    assert 0.025 < only_words / (mentions + only_words) < 0.06


def test_the_text_reads_like_english() -> None:
    for article in all_articles():
        words = f" {article.text} "
        for blunder in (
            "  ",
            " ,",
            " .",
            "..",
            " the the ",
            " a the ",
            " The the ",
            "( ",
            "{",
            "<",
        ):
            assert blunder not in words[1:-1], (blunder, article.text)
        assert article.text[0].isupper()
        assert article.text[-1] in ".!", article.text
