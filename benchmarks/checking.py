"""Measure how well texts are checked against a graph, beside simple baselines.

    python -m benchmarks.checking [--run RUN] [--backward RUN] [--corpus DIR] [--split test]
                                  [--limit N] [--seed 1] [--hidden 0.2] [--threshold P]
                                  [--fit SPLIT] [--fit-texts N] [--rounds 1] [--no-speed]
                                  [--list N]

Texts of a corpus with gold mentions are read in three ways:

- *unchanged*, with all facts: whatever is called contradicted or new is a false alarm;
- *swapped*: one object that a text names is written as another one that facts of the same type
  have elsewhere, and the graph is unchanged. Found are span and type;
- *hidden*: facts are taken out of the topic, a share of them (--hidden 0.2) or one that the text
  states (--hidden 0). Found are the mentions of these facts, with their type.

With --rounds, each text is changed several times, mostly in other ways: where texts are few, chance
alone makes calibration errors large.

What is usual for types, and what things are called, is known from the training topics alone, so
nothing that is hidden is known. The baselines find the same names. One takes the type that objects
of that name most often have (*string*), one the most frequent type for a name of that kind
(*kind*), one the type whose name stands nearest in the sentence (*word*). Without a corpus,
miniworld is generated; without a run, the model that comes with lrlm is used. With --fit, the
calibration is fitted first, on two hundred texts of a split and six hundred training texts; where
that is the split of the cases, it is fitted on one half of its topics, and the other is checked.
"""

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import lrlm
from lrlm.annotation.annotate import annotate
from lrlm.batching.encoding import type_name
from lrlm.checking.calibration import Trust, calibration_of
from lrlm.checking.check import Checker
from lrlm.checking.fitting import fit_calibration
from lrlm.checking.fitting_texts import TrainingTexts, sample
from lrlm.checking.hypotheses import KnowledgeOfTypes
from lrlm.checking.name_spans import name_spans, span_text
from lrlm.corpora import Corpus, LinkedDocument, topic_of
from lrlm.corpora.miniworld.corpus import build_miniworld
from lrlm.knowledge import Relation, Topic
from lrlm.knowledge.schema import Schema, kind_of_name
from lrlm.runs.run import Run

BINS = 10
LEAST = 0.05
"""Less probable findings do not count in calibration errors."""


class Found(NamedTuple):
    """That characters `[start, end)` state a fact of a type that the graph does not have."""

    start: int
    end: int
    type: str


@dataclass(frozen=True)
class Case:
    """A text, what is known about its topic, and what should be found in it."""

    text: str
    topic: Topic
    expected: frozenset[Found]


@dataclass
class Quality:
    """Counts of what was found, and of what should have been."""

    right: int = 0
    found: int = 0
    expected: int = 0
    error: float | None = None
    by_chance: float = 0.0
    """The calibration error that would be expected if every probability were right."""

    def add(self, found: set[Found], expected: frozenset[Found]) -> None:
        """Count one text."""
        self.right += len(found & expected)
        self.found += len(found)
        self.expected += len(expected)

    def __str__(self) -> str:
        precision, recall = self.right / max(self.found, 1), self.right / max(self.expected, 1)
        f1 = 2 * self.right / max(self.found + self.expected, 1)
        told = f"P {precision:.3f}  R {recall:.3f}  F1 {f1:.3f}"
        return (
            told
            if self.error is None
            else (f"{told}  calibration error {self.error:.3f} ({self.by_chance:.3f} by chance)")
        )


def unchanged(documents: Iterable[LinkedDocument]) -> Iterator[Case]:
    """Give texts as they are, with everything that is known."""
    for document in documents:
        yield Case(document.text, topic_of(document), frozenset())


def swapped(
    documents: Iterable[LinkedDocument], world: Sequence[Topic], seed: int
) -> Iterator[Case]:
    """Write one object that each text names as another one of its kind."""
    dice = random.Random(seed)
    objects: dict[str, dict[str, Relation]] = {}
    for topic in world:
        for fact in topic.relations:
            objects.setdefault(fact.type, {})[fact.object] = fact
    for document in documents:
        topic = topic_of(document)
        names = {form for fact in topic.star for form in fact.forms}
        facts = {(fact.type, fact.object): fact for fact in topic.relations}
        stated = [gold for gold in document.gold or () if (gold.type, gold.object) in facts]
        dice.shuffle(stated)
        for gold in stated:
            assert gold.type is not None
            old = facts[gold.type, gold.object or ""]
            start, end = document.tokens.starts[gold.start], document.tokens.ends[gold.end - 1]
            written = document.text[start:end]
            others = [
                other
                for key, other in sorted(objects.get(gold.type, {}).items())
                if key != topic.id and names.isdisjoint(other.forms)
            ]
            if not others:
                continue
            new = dice.choice(others)
            place = old.forms.index(written) if written in old.forms else 0
            name = new.forms[min(place, len(new.forms) - 1)]
            if kind_of_name(name) is not kind_of_name(written):
                continue
            text = document.text[:start] + name + document.text[end:]
            yield Case(text, topic, frozenset([Found(start, start + len(name), gold.type)]))
            break


def hidden(documents: Iterable[LinkedDocument], share: float, seed: int) -> Iterator[Case]:
    """Take facts out of topics: a share of all, or where it is 0, one that the text states."""
    dice = random.Random(seed)
    for document in documents:
        topic = topic_of(document)
        stated = {(gold.type, gold.object) for gold in document.gold or ()}
        facts = [fact for fact in topic.relations if (fact.type, fact.object) in stated]
        if share:
            gone = {id(fact) for fact in topic.relations if dice.random() < share}
        else:
            gone = {id(dice.choice(facts))} if facts else set()
        if not gone:
            continue
        kept = [fact for fact in topic.relations if id(fact) not in gone]
        missing = {(fact.type, fact.object) for fact in topic.relations if id(fact) in gone}
        expected = frozenset(
            Found(document.tokens.starts[gold.start], document.tokens.ends[gold.end - 1], gold.type)
            for gold in document.gold or ()
            if gold.type is not None and (gold.type, gold.object) in missing
        )
        yield Case(document.text, Topic(topic.id, topic.names, kept), expected)


def check(
    checker: Checker, cases: Sequence[Case], threshold: float
) -> tuple[Quality, list[str], dict[str, Quality]]:
    """Check texts with a model, and tell what was missed, what is wrong, and other thresholds."""
    quality, faults = Quality(), []
    judged: list[tuple[float, bool]] = []
    documents = (checker.run.link(case.text, case.topic) for case in cases)
    for case, checked in zip(cases, checker.check(documents), strict=True):
        found = set()
        for each in checked.findings:
            if each.verdict != "supported":
                place = Found(each.start, each.end, each.fact.type)
                if each.probability >= LEAST:
                    judged.append((each.probability, place in case.expected))
                if each.probability >= threshold:
                    found.add(place)
        quality.add(found, case.expected)
        for what, places in (("missed", case.expected - found), ("wrong", found - case.expected)):
            for start, end, type_ in sorted(places):
                around = case.text[max(start - 60, 0) : end + 20].replace("\n", " ")
                faults.append(f"{what:7} {case.text[start:end]!r} {type_!r} in …{around}…")
    quality.error = calibration_error(judged)
    dice = random.Random(1)
    draws = [[(p, dice.random() < p) for p, _ in judged] for _ in range(100)]
    quality.by_chance = sum(map(calibration_error, draws)) / len(draws)
    others = {
        f"{least:.2f}": Quality(
            sum(right for probability, right in judged if probability >= least),
            sum(probability >= least for probability, _ in judged),
            quality.expected,
        )
        for least in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    }
    return quality, faults, others


def calibration_error(judged: Sequence[tuple[float, bool]]) -> float:
    """Compare probabilities with how often they were right, in bins of equal width."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for probability, is_right in judged:
        bins[min(int(probability * BINS), BINS - 1)].append((probability, is_right))
    gaps = (abs(sum(p for p, _ in each) - sum(r for _, r in each)) for each in bins)
    return sum(gaps) / max(len(judged), 1)


def one_half(documents: Iterable[LinkedDocument], seed: int) -> set[str]:
    """Draw half of the topics."""
    topics = sorted({document.topic for document in documents})
    return set(random.Random(seed).sample(topics, len(topics) // 2))


class Baselines:
    """Simple ways to say which type a name in a text is of."""

    def __init__(self, run: Run, known: KnowledgeOfTypes, world: Sequence[Topic]) -> None:
        self._run = run
        self._known = known
        of_object: dict[str, Counter[str]] = {}
        of_kind: dict[str, Counter[str]] = {}
        for topic in world:
            for fact in topic.relations:
                of_kind.setdefault(kind_of_name(fact.forms[0]), Counter())[fact.type] += 1
                for form in fact.forms:
                    of_object.setdefault(form, Counter())[fact.type] += 1
        self._of_object, self._of_kind = of_object, of_kind

    def named(self, case: Case) -> dict[str, set[Found]]:
        """Say what each baseline finds."""
        document = self._run.link(case.text, case.topic)
        taken = {n for each in document.mentions for n in range(each.start, each.end)}
        types = self._known.schema.types_like([fact.type for fact in case.topic.relations])
        found: dict[str, set[Found]] = {"string": set(), "kind": set(), "word": set()}
        spans = [
            span
            for span in name_spans(document, self._known.names)
            if taken.isdisjoint(range(span.start, span.end))
        ]
        inner = {
            (a.start, a.end)
            for a in spans
            for b in spans
            if a != b and b.start <= a.start and a.end <= b.end
        }
        for span in spans:
            if (span.start, span.end) in inner:
                continue
            text = span_text(document, span.start, span.end)
            start = document.tokens.starts[span.start]
            end = document.tokens.ends[span.end - 1]
            for name, type_ in (
                ("string", _best(self._of_object.get(text, Counter()), types)),
                ("kind", _best(self._of_kind.get(span.kind, Counter()), types)),
                ("word", _nearest(document, span.start, span.end, types)),
            ):
                if type_ is not None:
                    found[name].add(Found(start, end, type_))
        return found

    def compare(self, cases: Iterable[Case]) -> None:
        """Print what each baseline finds."""
        simple = {each: Quality() for each in ("string", "kind", "word")}
        for case in cases:
            for each, found in self.named(case).items():
                simple[each].add(found, case.expected)
        for each, result in simple.items():
            print(f"  {each:8} {result}")


def _best(counts: Counter[str], types: Sequence[str]) -> str | None:
    return next((type_ for type_, _ in counts.most_common() if type_ in types), None)


def _nearest(document: LinkedDocument, start: int, end: int, types: Sequence[str]) -> str | None:
    """Give the type one of whose words stands nearest to a name, within the sentence."""
    words = [word.lower() for word in document.tokens.words]
    first = max((n for n in range(start) if words[n] in ".!?"), default=-1)
    last = min((n for n in range(end, len(words)) if words[n] in ".!?"), default=len(words))
    best: tuple[int, str] | None = None
    for type_ in types:
        for word in type_name(type_):
            for place in range(first + 1, last):
                if words[place] == word and not start <= place < end and len(word) > 2:
                    away = start - place if place < start else place - end + 1
                    if best is None or away < best[0]:
                        best = away, type_
    return None if best is None else best[1]


def compare(checker: Checker, name: str, cases: list[Case], threshold: float, listed: int) -> None:
    """Print what the model finds."""
    quality, faults, others = check(checker, cases, threshold)
    print(
        f"{name}, {checker.trust} trusted: {len(cases):,} texts, {quality.expected:,} to find, from"
        f" {threshold}"
    )
    print(f"  check    {quality}")
    for least, other in others.items():
        print(f"    from {least} {other}")
    for fault in faults[:listed]:
        print(f"    {fault}")


def speed(checker: Checker, documents: Sequence[LinkedDocument]) -> None:
    """Print how many texts a second are annotated and checked."""
    run = checker.run
    texts = [(document.text, topic_of(document)) for document in documents]

    def linked() -> Iterator[LinkedDocument]:
        return (run.link(text, topic) for text, topic in texts)

    works: dict[str, Callable[[], list[object]]] = {
        "annotate": lambda: list(annotate(run, linked())),
        "check": lambda: list(checker.check(linked())),
    }
    seconds = {}
    for name, work in works.items():
        times = []
        for _ in range(4):
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
        seconds[name] = min(times)
    ratio = seconds["annotate"] / seconds["check"]
    per_second = {name: len(texts) / each for name, each in seconds.items()}
    print(
        f"speed: annotate {per_second['annotate']:.1f} texts/s, check {per_second['check']:.1f}"
        f" texts/s of CPU time, ratio {ratio:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, help="a run of an LRLM; else the shipped one")
    parser.add_argument("--backward", type=Path, help="a second run, which reads backward")
    parser.add_argument("--corpus", type=Path, help="a corpus with gold mentions; else miniworld")
    parser.add_argument("--split", default="test")
    parser.add_argument("--limit", type=int, help="so many texts; else all")
    parser.add_argument("--hidden", type=float, default=0.2, help="share of hidden facts; 0: one")
    parser.add_argument("--threshold", type=float, help="else the fitted one, or one half")
    parser.add_argument("--fit", help="fit the calibration on this split first")
    parser.add_argument(
        "--fit-texts",
        type=int,
        help="fit on so many texts, and on three times as many training texts",
    )
    parser.add_argument("--no-speed", action="store_true", help="do not measure how fast it is")
    parser.add_argument("--rounds", type=int, default=1, help="change each text so many times")
    parser.add_argument("--list", type=int, default=0, help="faults to show")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    run = lrlm.load(given.run, backward=given.backward).run
    with tempfile.TemporaryDirectory() as scratch:
        corpus = (
            build_miniworld(Path(scratch) / "corpus")
            if given.corpus is None
            else Corpus.open(given.corpus)
        )
        documents = list(corpus.documents(given.split))
        world = list({each.topic: topic_of(each) for each in corpus.documents("train")}.values())
        fitted_on = list(corpus.documents(given.fit)) if given.fit else []
        if given.fit == given.split:
            apart = one_half(documents, given.seed)
            fitted_on = [document for document in documents if document.topic in apart]
            documents = [document for document in documents if document.topic not in apart]
        fitted_on = sample(fitted_on, seed=given.seed)
        training = TrainingTexts.of(corpus, world, seed=given.seed) if given.fit else None
    if given.fit_texts is not None and training is not None:
        dice, most = random.Random(given.seed), given.fit_texts
        fitted_on = dice.sample(fitted_on, min(most, len(fitted_on)))
        drawn = dice.sample(training.documents, min(3 * most, len(training.documents)))
        training = TrainingTexts(drawn, training.topics)
    if given.limit is not None:
        documents = random.Random(given.seed).sample(documents, min(given.limit, len(documents)))
    known = KnowledgeOfTypes.of(Schema.of(world))  # nothing of the topics that are checked
    calibration = calibration_of(run)
    if fitted_on:
        calibration = fit_calibration(run, known, fitted_on, training=training, seed=given.seed)
        print(f"fitted on {len(fitted_on):,} texts: {calibration}")
    checkers = {
        trust: Checker(run, known, calibration=calibration, threshold=LEAST, trust=trust.value)
        for trust in Trust
    }
    thresholds = {
        Trust.NEITHER: calibration.threshold,
        Trust.GRAPH: calibration.error_threshold,
        Trust.TEXT: calibration.new_threshold,
    }
    if given.threshold is not None:
        thresholds = dict.fromkeys(Trust, given.threshold)
    baselines = Baselines(run, known, world)
    calm = list(unchanged(documents))
    for trust in (Trust.NEITHER, Trust.GRAPH):
        quality, faults, _ = check(checkers[trust], calm, thresholds[trust])
        print(
            f"unchanged, {trust} trusted: {len(calm):,} texts, {quality.found} false alarms from"
            f" {thresholds[trust]}"
        )
        for fault in faults[: given.list]:
            print(f"    {fault}")
    seeds = range(given.seed, given.seed + given.rounds)
    swaps = [case for seed in seeds for case in swapped(documents, world, seed)]
    gaps = [case for seed in seeds for case in hidden(documents, given.hidden, seed)]
    for name, cases, trusted in (("swapped", swaps, Trust.GRAPH), ("hidden", gaps, Trust.TEXT)):
        for trust in (trusted, Trust.NEITHER):
            compare(checkers[trust], name, cases, thresholds[trust], given.list)
        baselines.compare(cases)
    # Where neither is trusted either may happen to a text, so that is what probabilities mean.
    threshold = thresholds[Trust.NEITHER]
    together, _, _ = check(checkers[Trust.NEITHER], [*swaps, *gaps], threshold)
    print(f"swapped and hidden together, neither trusted, from {threshold}: {together}")
    if not given.no_speed:
        speed(checkers[Trust.NEITHER], documents[:100])


if __name__ == "__main__":
    main()
