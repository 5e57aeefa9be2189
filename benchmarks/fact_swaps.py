"""Swap facts of test topics and see whether texts follow the graph, without any training.

    python -m benchmarks.fact_swaps [--run RUN] [--samples 2] [--topics N] [--seed 1] [--unseen]
                                    [--corpus DIR] [--facts N] [--max-length N]

For every test topic of miniworld, or of another corpus, and every relation that it has, the object
becomes another one that the same relation has elsewhere. With --unseen it also gets an id that no
vector was trained for. Then

- the gold texts that express the fact are scored again with the new name in the old one's place,
  given the new topic: what do they cost beside the old texts given the old topic?
- texts are generated about the new topic. A text expresses the relation if it names the new or
  the old object and, given a topic that has both facts, the posterior says that this is where the
  name came from. Which of the two does it name?
"""

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import lrlm
from lrlm.annotation.annotation import Annotation
from lrlm.corpora import Corpus, LinkedDocument, topic_of
from lrlm.corpora.miniworld.corpus import build_miniworld
from lrlm.knowledge import Relation, Topic
from lrlm.model import Model

CERTAIN = 0.5


@dataclass(frozen=True)
class Swap:
    """A topic before and after one of its facts has changed."""

    before: Topic
    old: Relation
    new: Relation

    @property
    def after(self) -> Topic:
        """The topic that says the new fact instead of the old one."""
        return self.before.replace(self.old.type, self.old.object, self.new)


@dataclass
class Counts:
    """What was seen in generated texts."""

    swaps: int = 0
    texts: int = 0
    expressing: int = 0
    naming_new: int = 0
    naming_old: int = 0
    old_as_words: int = 0
    """Texts in which the old name stands anywhere, also where nothing relates it to the topic."""


def swaps(
    topics: Sequence[Topic],
    world: Sequence[Topic],
    seed: int,
    *,
    unseen: bool = False,
    facts: int | None = None,
) -> Iterator[Swap]:
    """Give each fact of each topic another object that the same relation has elsewhere.

    With `facts`, only so many of each topic.
    """
    dice = random.Random(seed)
    objects: dict[str, dict[str, Relation]] = {}
    for topic in world:
        for fact in topic.relations:
            objects.setdefault(fact.type, {})[fact.object] = fact
    for topic in topics:
        names = {form for fact in topic.star for form in fact.forms}
        for fact in topic.relations[:facts]:
            others = [
                other
                for key, other in sorted(objects[fact.type].items())
                if key != topic.id and names.isdisjoint(other.forms)
            ]
            if others:
                new = dice.choice(others)
                id_ = f"{new.object} (unseen)" if unseen else new.object
                yield Swap(topic, fact, Relation(new.type, id_, new.forms))


def swap_text(document: LinkedDocument, swap: Swap) -> str | None:
    """Write the new name wherever the text expresses the old fact; nothing if it does not."""
    pieces, end = [], 0
    for gold in document.gold or ():
        if (gold.type, gold.object) == (swap.old.type, swap.old.object):
            start = document.tokens.starts[gold.start]
            pieces.append(document.text[end:start])
            end = document.tokens.ends[gold.end - 1]
            written = document.text[start:end]
            place = swap.old.forms.index(written) if written in swap.old.forms else 0
            pieces.append(swap.new.forms[min(place, len(swap.new.forms) - 1)])
    return "".join((*pieces, document.text[end:])) if pieces else None


def compare_gold(model: Model, documents: Sequence[LinkedDocument], all_swaps: list[Swap]) -> None:
    """Print what swapped gold texts cost beside the texts they were made of."""
    by_topic: dict[str, list[LinkedDocument]] = {}
    for document in documents:
        by_topic.setdefault(document.topic, []).append(document)
    old_nats = new_nats = 0.0
    texts = 0
    before: dict[str, float] = {}
    for swap in all_swaps:
        for document in by_topic.get(swap.before.id, ()):
            text = swap_text(document, swap)
            if text is not None:
                if document.id not in before:
                    before[document.id] = model.score(document.text, swap.before).nats
                texts += 1
                old_nats += before[document.id]
                new_nats += model.score(text, swap.after).nats
    if not texts:
        return  # nobody says what the texts of this corpus express
    print(f"gold texts with one fact swapped           {texts:9,}")
    print(f"nats of the old texts                      {old_nats:9,.0f}")
    print(f"nats of the swapped texts                  {new_nats:9,.0f}")
    print(f"swapped / old (goal: at most 1.05)         {new_nats / old_nats:9.4f}")


def compare_generated(
    model: Model, all_swaps: list[Swap], samples: int, seed: int, max_length: int
) -> None:
    """Print which of the two objects generated texts name."""
    counts = Counts()
    for number, swap in enumerate(all_swaps):
        counts.swaps += 1
        both = swap.after.add(swap.old)
        written = model.generate(
            swap.after, samples=samples, seed=seed + number, max_length=max_length
        )
        texts = ((each.text, both) for each in written)
        for annotation in model.annotate_many(texts, bad_texts="raise"):
            counts.texts += 1
            new, old = (expresses(annotation, fact) for fact in (swap.new, swap.old))
            counts.expressing += new or old
            counts.naming_new += new
            counts.naming_old += old
            counts.old_as_words += any(
                each.fact is not None and each.fact.object == swap.old.object
                for span in annotation.spans
                for each in span.explanations
            )
    share = 1 / max(counts.expressing, 1)
    print(f"facts swapped, texts generated             {counts.swaps:9,} {counts.texts:9,}")
    print(f"texts that express the relation            {counts.expressing:9,}")
    print(f"  that name the new object (goal: 95 %)    {counts.naming_new * share:9.2%}")
    print(f"  that name the old object (goal: 0 %)     {counts.naming_old * share:9.2%}")
    print(f"texts with the old name anywhere           {counts.old_as_words:9,}")


def expresses(annotation: Annotation, fact: Relation) -> bool:
    """Say whether a text names an object, and the posterior says that it does so for this fact."""
    return any(
        each.fact is not None
        and (each.fact.type, each.fact.object) == (fact.type, fact.object)
        and each.probability >= CERTAIN
        for span in annotation.spans
        for each in span.explanations
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, help="an LRLM of miniworld; else the shipped one")
    parser.add_argument("--samples", type=int, default=2, help="texts for each swapped fact")
    parser.add_argument("--topics", type=int, help="so many test topics; else all")
    parser.add_argument("--facts", type=int, help="so many facts of each topic; else all")
    parser.add_argument("--corpus", type=Path, help="a corpus with a test split; else miniworld")
    parser.add_argument("--max-length", type=int, default=200, help="tokens of a generated text")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unseen", action="store_true", help="objects without a vector")
    given = parser.parse_args()
    model = lrlm.load(given.run)
    with tempfile.TemporaryDirectory() as scratch:
        corpus = (
            build_miniworld(Path(scratch) / "corpus", workers=2)
            if given.corpus is None
            else Corpus.open(given.corpus)
        )
        documents = list(corpus.documents("test"))
        topics = {document.topic: topic_of(document) for document in documents}
        world = dict(topics)
        for document in corpus.documents("train"):
            if document.topic not in world:
                world[document.topic] = topic_of(document)
    chosen = list(topics.values())[: given.topics]
    world_topics = list(world.values())
    all_swaps = list(
        swaps(chosen, world_topics, given.seed, unseen=given.unseen, facts=given.facts)
    )
    compare_gold(model, documents, all_swaps)
    compare_generated(model, all_swaps, given.samples, given.seed, given.max_length)


if __name__ == "__main__":
    main()
