"""Measure how often the topic of a text is found, beside simple ways to guess it.

    python -m benchmarks.topics miniworld [RUN]
    python -m benchmarks.topics articles RUN KG ARTICLES.jsonl.gz [--skip 0] [--texts 500]
                                         [--only-sharing 100]
    python -m benchmarks.topics redocred RUN FOLDER [--skip 180] [--texts 500]

`miniworld` takes the test articles of the embedded corpus and all of its topics, `articles` any
articles whose ids are those of topics of a graph. With --only-sharing N, the right topic is looked
for among N topics that share a word of its name. Some articles may be told twice under different
ids: they are counted as right under each, in a column of its own.

`redocred` puts all entities and facts of the documents into one graph. The topic of each document
is found in it, and the names of the topic and its objects are annotated. Beside it stands the
longest match: from left to right, the longest name of any entity, which means the one with most
facts.
"""

import argparse
import gzip
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

import lrlm
from lrlm.corpora.importers.docred import parse_document, topic_of
from lrlm.corpora.miniworld.corpus import generate
from lrlm.corpora.miniworld.facts import topics as miniworld_topics
from lrlm.model import Model
from lrlm.text import split_words
from lrlm.topics.index import TopicIndex

_CALIBRATION_BINS = 10
_USED = 180
"""On so many documents of Re-DocRED constants of `lrlm.topics` were fitted."""


class Article(NamedTuple):
    """A text, and the ids of the topics that it is about: mostly one."""

    text: str
    topic: str
    alike: frozenset[str]


Guess = Callable[[TopicIndex, str], str | None]


def first_title(index: TopicIndex, text: str) -> str | None:
    """Guess the topic whose name comes first; of several, the one with the longest name there."""
    spans = sorted(index.named(text), key=lambda span: (span.start, -span.end))
    for span in spans:
        things = [each for each in index.names.things(span.name).tolist() if index.facts_E[each]]
        if things:
            return index.id(things[0])
    return None


def most_matches(index: TopicIndex, text: str) -> str | None:
    """Guess the topic that most names in the text belong to."""
    return _most(index, text, lambda _: 1.0)


def rare_matches(index: TopicIndex, text: str) -> str | None:
    """Guess likewise, each name weighted by its inverse document frequency."""
    return _most(index, text, lambda topics: float(np.log(len(index) / topics)))


def _most(index: TopicIndex, text: str, weight: Callable[[int], float]) -> str | None:
    total: dict[int, float] = defaultdict(float)
    for name in {span.name for span in index.named(text)}:
        things = index.names.things(name).astype(np.int64)
        topics = {int(each) for each in things if index.facts_E[each]}
        for thing in things.tolist():
            topics.update(
                index.subjects_F[index.first_E1[thing] : index.first_E1[thing + 1]].tolist()
            )
        for topic in topics:
            total[topic] += weight(len(topics))
    return index.id(max(total, key=lambda topic: (total[topic], -topic))) if total else None


GUESSES: Mapping[str, Guess] = {
    "the title that occurs first": first_title,
    "the most matches": most_matches,
    "matches weighted by idf": rare_matches,
}


def measure(
    model: Model, articles: Iterable[Article], index_of: Callable[[Article], TopicIndex]
) -> None:
    """Print how often each way finds the topic."""
    right: Counter[str] = Counter()
    alike: Counter[str] = Counter()
    sure: list[tuple[float, bool]] = []
    seconds, count = 0.0, 0
    for article in articles:
        index = index_of(article)
        count += 1
        begun = time.perf_counter()
        ranking = model.topics(article.text, index, limit=64)
        seconds += time.perf_counter() - begun
        # What `prior={}` and `temperature=1.0` put first: candidates do not depend on either.
        likely = max(ranking.matches, key=lambda match: match.log_prob, default=None)
        guessed = {
            "found": ranking.matches[0].id if ranking.matches else None,
            "found, likelihoods alone": None if likely is None else likely.id,
            **{name: guess(index, article.text) for name, guess in GUESSES.items()},
        }
        for name, found in guessed.items():
            right[name] += found == article.topic
            alike[name] += found in article.alike
        right["is a candidate"] += any(each.id == article.topic for each in ranking.matches)
        if ranking.matches:
            sure.append((ranking.matches[0].probability, guessed["found"] in article.alike))
    print(f"{count} texts, {1000 * seconds / count:.0f} ms each")
    for name in right:
        print(f"  {name:32} {right[name] / count:7.1%} {alike[name] / count:7.1%}")
    print(f"  calibration error {calibration_error(sure):.3f}")
    at_least = [is_right for probability, is_right in sure if probability >= 0.9]
    if at_least:
        share = sum(at_least) / len(at_least)
        print(f"  sure of {len(at_least) / count:.1%}, of which {share:.1%} are right")


def calibration_error(claims: Sequence[tuple[float, bool]]) -> float:
    """Give the expected calibration error in bins of equal width."""
    bins = defaultdict(list)
    for probability, is_right in claims:
        bins[min(int(probability * _CALIBRATION_BINS), _CALIBRATION_BINS - 1)].append(
            (probability, is_right)
        )
    gaps = (abs(sum(p for p, _ in each) - sum(r for _, r in each)) for each in bins.values())
    return sum(gaps) / max(len(claims), 1)


def read_articles(path: Path) -> Iterator[Article]:
    """Read articles in a fixed random order; some are the same under several ids."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    ids: dict[str, set[str]] = defaultdict(set)
    for beside in sorted(path.parent.glob("articles.*.jsonl.gz")):
        with gzip.open(beside, "rt", encoding="utf-8") as lines:
            for content in map(json.loads, lines):
                ids[content["text"]].add(content["id"])
    random.Random(1).shuffle(read)
    for content in read:
        alike = frozenset(ids[content["text"]] | {content["id"]})
        yield Article(content["text"], content["id"], alike)


class SharingNames:
    """Gives for each article an index of topics that share a word of its topic's name."""

    def __init__(self, graph: lrlm.KnowledgeGraph, model: Model, count: int) -> None:
        self._graph, self._count = graph, count
        self._options = model.run.link_options.for_raw_text()
        self._by_word: dict[str, list[str]] = defaultdict(list)
        for topic in graph.topics():
            for word in set(split_words(topic.names[0].lower())):
                self._by_word[word].append(topic.id)

    def __call__(self, article: Article) -> TopicIndex:
        """Make the index for one article."""
        words = set(split_words(self._graph.entity(article.topic).names[0].lower()))
        # Those that share the rarest words of the name come first.
        rare = sorted(words, key=lambda word: (len(self._by_word[word]), word))
        ids = dict.fromkeys([article.topic, *(id_ for word in rare for id_ in self._by_word[word])])
        topics = [self._graph.topic(id_) for id_ in islice(ids, self._count)]
        return TopicIndex.of(topics, self._options)


class Document(NamedTuple):
    """A document of Re-DocRED: its topic, and where it and its objects are mentioned."""

    text: str
    topic: str
    gold: set[tuple[int, int, str]]


def read_redocred(folder: Path) -> tuple[list[Document], lrlm.KnowledgeGraph]:
    """Read all documents, and put their entities and facts into one graph."""
    triples: dict[tuple[str, str, str, str], None] = {}
    names: dict[str, dict[str, None]] = defaultdict(dict)
    documents = []
    types = json.loads((folder / "pid2name.json").read_text())
    for record in json.loads((folder / "dev_revised.json").read_text()):
        document = parse_document(record)
        topic = topic_of(document)
        if topic is None:
            continue
        ids = [entity.id for entity in document.entities]
        ids[topic] = document.title
        for id_, entity in zip(ids, document.entities, strict=True):
            names[id_].update(dict.fromkeys(entity.names))
        objects = {topic}
        for head, type_, tail in document.relations:
            triples[ids[head], types.get(type_, [type_])[0], ids[tail], "entity"] = None
            if head == topic:
                objects.add(tail)
        starts = [0]
        for word in document.words:
            starts.append(starts[-1] + len(word) + 1)
        gold = {
            (starts[mention.start], starts[mention.end] - 1, ids[number])
            for number in objects
            for mention in document.entities[number].mentions
        }
        documents.append(Document(" ".join(document.words), ids[topic], gold))
    graph = lrlm.KnowledgeGraph.from_triples(
        triples, names={id_: list(each) for id_, each in names.items()}
    )
    return documents, graph


def longest_match(index: TopicIndex, text: str) -> set[tuple[int, int, str]]:
    """Claim, from left to right, the longest name, as that of the entity with most facts."""
    claims = set()
    end = 0
    for span in sorted(index.named(text), key=lambda span: (span.start, -span.end)):
        if span.start >= end:
            things = index.names.things(span.name).tolist()
            known = max(things, key=lambda each: (int(index.facts_E[each]), -each))
            claims.add((span.start, span.end, index.id(known)))
            end = span.end
    return claims


def annotate_redocred(model: Model, folder: Path, skip: int, texts: int) -> None:
    """Print how well names are annotated in documents whose topics are not given."""
    documents, graph = read_redocred(folder)
    index = TopicIndex.of(graph, model.run.link_options.for_raw_text())
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    right = 0
    for document in documents[skip : skip + texts]:
        annotation = model.annotate(document.text, index)
        right += annotation.topic == document.topic
        given = model.annotate(document.text, graph.topic(document.topic))
        claimed = {
            "found topic": annotation,
            "given topic": given,
        }
        claims = {
            name: {
                (span.start, span.end, span.relation.fact.object)
                for span in each.mentions()
                if span.relation.fact is not None
            }
            for name, each in claimed.items()
        }
        claims["longest match over all names"] = longest_match(index, document.text)
        for name, each in claims.items():
            counts[name]["claimed"] += len(each)
            counts[name]["right"] += len(each & document.gold)
            counts[name]["gold"] += len(document.gold)
    read = len(documents[skip : skip + texts])
    print(f"{read} documents, {len(graph):,} entities; topic found {right / read:.1%}")
    for name, count in counts.items():
        precision, recall = count["right"] / count["claimed"], count["right"] / count["gold"]
        f1 = 2 * count["right"] / (count["claimed"] + count["gold"])
        print(f"  {name:32} P {precision:6.1%}  R {recall:6.1%}  F1 {f1:6.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("miniworld", "articles", "redocred"))
    parser.add_argument("run", nargs="?")
    parser.add_argument("places", nargs="*", type=Path)
    parser.add_argument("--texts", type=int, default=500)
    parser.add_argument("--skip", type=int, help="texts that are left out")
    parser.add_argument("--only-sharing", type=int, metavar="N")
    arguments = parser.parse_args()
    model = lrlm.load(arguments.run)
    if arguments.what == "redocred":
        skip = _USED if arguments.skip is None else arguments.skip
        annotate_redocred(model, arguments.places[0], skip, arguments.texts)
        return
    skip = arguments.skip or 0
    if arguments.what == "miniworld":
        index = TopicIndex.of(miniworld_topics().values(), model.run.link_options.for_raw_text())
        articles: Iterable[Article] = (
            Article(each.text, each.topic, frozenset([each.topic]))
            for each in islice(generate("test", skip + arguments.texts), skip, None)
        )
        measure(model, articles, lambda _: index)
        return
    graph = lrlm.KnowledgeGraph.open(arguments.places[0])
    articles = islice(read_articles(arguments.places[1]), skip, skip + arguments.texts)
    if arguments.only_sharing:
        measure(model, articles, SharingNames(graph, model, arguments.only_sharing))
    else:
        whole = TopicIndex.of(graph, model.run.link_options.for_raw_text())
        measure(model, articles, lambda _: whole)


if __name__ == "__main__":
    main()
