"""Count how often texts about topics of few facts state a fact that is not known.

    python -m benchmarks.missing_facts [RUN] [--texts 200] [--temperature 1] [--seed 1]
        [--any-facts] [--list]

The topics are test topics of miniworld cut down to one, two or three facts. What a sentence states
is judged by the words of miniworld's sentence plans: "its highest point is", or "is the highest
point of" after a name, tells that the highest point is stated. If the topic does not have such a
fact, the text states a missing one, either with the object of another fact ("its highest point is
Oslo") or in plain words.
"""

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import lrlm
from lrlm.corpora.miniworld.corpus import topics_of
from lrlm.corpora.miniworld.grammar import Dice, DomainPlans, Slot, expand, load_plans
from lrlm.generation.generated_text import GeneratedText
from lrlm.knowledge import TITLE, Topic
from lrlm.model import Model

WIDTH = 4
_NAME = "~"
_DRAWN = 60  # expansions of each plan that are looked at
_WORDS = re.compile(r"\w+|[^\w\s]")

Unit = tuple[str, str | None]
"""A word in lower case; or the mark of a name, and the type of the relation that it is of."""


@dataclass(frozen=True)
class Statement:
    """A place where the words tell that a relation is stated, and what stands there."""

    relation: str
    written: str | None
    """The type of the fact whose object stands there; None for plain words."""


class Telling:
    """Which words before and after a name tell its relation, as the plans of a domain have it."""

    def __init__(self, plans: DomainPlans) -> None:
        before: dict[tuple[str, ...], set[str | None]] = defaultdict(set)
        after: dict[tuple[str, ...], set[str | None]] = defaultdict(set)
        for sentence in _sentences(plans):
            for place, (_, type_) in enumerate(sentence):
                before[_before(sentence, place)].add(type_)
                if type_ is not None:
                    after[_after(sentence, place)].add(type_)
        self._before = {key: types.pop() for key, types in before.items() if len(types) == 1}
        self._after = {key: types.pop() for key, types in after.items() if len(types) == 1}

    def statements(self, text: GeneratedText) -> Iterator[Statement]:
        """Find the places of a text where a fact is stated."""
        for sentence in _split(text):
            for place, (_, written) in enumerate(sentence):
                told = {self._before.get(_before(sentence, place))}
                if written is not None:
                    told.add(self._after.get(_after(sentence, place)))
                for relation in sorted(told - {None, TITLE}, key=str):
                    yield Statement(str(relation), written)


def _sentences(plans: DomainPlans) -> Iterator[list[Unit]]:
    """Give sentences that the plans can make, with names instead of slots."""
    facts = [*plans.relations.values(), *plans.everyday.values()]
    told = [plan for ways in facts for plan in ways]
    every = [*plans.openings, *plans.fillers, *plans.lookalikes, *told]
    for number, plan in enumerate(every):
        for draw in range(_DRAWN):
            units: list[Unit] = []
            for part in expand(plan.sentence, Dice(f"{number}/{draw}"), lambda _: True):
                if not isinstance(part, Slot):
                    units += _words(part)
                elif part.is_relation or part.name == TITLE:
                    units.append((_NAME, part.name))
                else:  # a pronoun or a number
                    units.append(("he" if part.name[0] == "@" else "0", None))
            yield _tidy(units)


def _split(text: GeneratedText) -> Iterator[list[Unit]]:
    """Cut a generated text into sentences."""
    sentence: list[Unit] = []
    for piece in text.pieces:
        sentence += _words(piece.text) if piece.type is None else [(_NAME, piece.type)]
        if piece.text in (".", "?", "!"):
            yield _tidy(sentence)
            sentence = []
    if sentence:
        yield _tidy(sentence)


def _words(text: str) -> list[Unit]:
    words = (word.lower() for word in _WORDS.findall(text))
    same = {"she": "he", "her": "his"}
    return [("0" if word.isdigit() else same.get(word, word), None) for word in words]


def _tidy(units: Sequence[Unit]) -> list[Unit]:
    """Leave out the article before names, which some take and others do not."""
    return [
        unit
        for unit, after in zip(units, [*units[1:], ("", None)], strict=True)
        if not (unit[0] == "the" and after[0] == _NAME)
    ]


def _before(sentence: Sequence[Unit], place: int) -> tuple[str, ...]:
    words = ["", *(word for word, _ in sentence[:place])]
    return tuple(words[-WIDTH:])


def _after(sentence: Sequence[Unit], place: int) -> tuple[str, ...]:
    return tuple(word for word, _ in sentence[place + 1 : place + 1 + WIDTH])


def few_facts(count: int, seed: int) -> Iterator[tuple[str, Topic]]:
    """Give test topics, each cut down to one, two or three of its facts, with their domains."""
    chosen, dice = topics_of("test"), random.Random(seed)
    for number in range(count):
        domain, topic = chosen[number % len(chosen)]
        kept = dice.sample(topic.relations, 1 + number % 3)
        yield domain.name, Topic(topic.id, topic.names, kept)


def count_statements(
    model: Model, texts: int, seed: int, *, temperature: float, any_facts: bool, listed: bool
) -> Counter[str]:
    """Count what the texts state, and what of it the topics do not have."""
    counts: Counter[str] = Counter()
    telling: dict[str, Telling] = {}
    for number, (domain, topic) in enumerate(few_facts(texts, seed)):
        if domain not in telling:
            telling[domain] = Telling(load_plans(domain))
        (text,) = model.generate(
            topic,
            samples=1,
            seed=seed + number,
            temperature=temperature,
            known_facts_only=not any_facts,
        )
        known = {fact.type for fact in topic.relations}
        missing: Counter[str] = Counter()
        for statement in telling[domain].statements(text):
            counts["statements"] += 1
            if statement.relation not in known:
                missing["plain words" if statement.written is None else "object"] += 1
                missing["missing"] += 1
        counts += missing
        counts["texts"] += 1
        counts["words"] += len(text.tokens)
        named = {piece.type for piece in text.pieces if piece.type} - {TITLE}
        counts["own facts"] += len(named)
        counts["told nothing"] += not named
        counts["wrong texts"] += missing["missing"] > 0
        counts["wrong texts, object"] += missing["object"] > 0
        if listed and missing:
            print(f"{sorted(known)}: {text.text}")
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", nargs="?", type=Path, help="an LRLM of miniworld; else the shipped")
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--any-facts", action="store_true", help="write no text again")
    parser.add_argument("--list", action="store_true", help="print texts that state missing facts")
    given = parser.parse_args()
    counts = count_statements(
        lrlm.load(given.run),
        given.texts,
        given.seed,
        temperature=given.temperature,
        any_facts=given.any_facts,
        listed=given.list,
    )
    print(f"texts about topics of one to three facts           {counts['texts']:6,}")
    print(f"words in all                                       {counts['words']:6,}")
    print(f"types of facts whose objects they name             {counts['own facts']:6,}")
    print(f"texts that name the object of no fact              {counts['told nothing']:6,}")
    print(f"facts that they state                              {counts['statements']:6,}")
    print(f"  of a relation that the topic does not have       {counts['missing']:6,}")
    print(f"    with the object of another fact, or the title  {counts['object']:6,}")
    print(f"    in plain words                                 {counts['plain words']:6,}")
    print(f"texts that state a missing fact                    {counts['wrong texts']:6,}")
    print(f"  with the object of another                       {counts['wrong texts, object']:6,}")


if __name__ == "__main__":
    main()
