"""Compare a run that reads forward, one that reads backward, and both together.

    python -m benchmarks.both_ways FORWARD BACKWARD --corpus DIR [--split test] [--limit N]
                                   [--weight W] [--topic Norway]

Of a corpus with gold mentions: how often the most probable explanation of a candidate span is the
true one and how reliable its probability is, over all spans and over the contested ones, and F1 of
the best path. The weight of the backward run is the one that `lrlm pair` fitted, else 1.

Then sentences about a topic that gets hypothetical facts: every type of fact that it has, with the
name in the sentence as its object. Which type does the sentence state?
"""

import argparse
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from lrlm.corpora import Corpus
from lrlm.evaluation.annotation_quality import annotation_quality, places_of
from lrlm.evaluation.gold import GoldJudge, Level
from lrlm.evaluation.judged import judge
from lrlm.evaluation.side_by_side import documents_for
from lrlm.knowledge import TITLE, Relation, Topic
from lrlm.model import Model
from lrlm.models import ScoredDocument, combine
from lrlm.runs.pairs import paired
from lrlm.runs.reading import read_linked, read_over
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument

SENTENCES = (
    ("The largest city is Bergen.", "Bergen", "largest city"),
    ("Its capital is Trondheim.", "Trondheim", "capital"),
    ("The currency is the euro.", "euro", "currency"),
    ("Its highest point is Snowdon.", "Snowdon", "highest point"),
    ("Snowdon is the highest point of the country.", "Snowdon", "highest point"),
    ("Snowdon is its highest mountain.", "Snowdon", "highest point"),
    ("Bergen is the largest city of the country.", "Bergen", "largest city"),
    ("Trondheim is the capital of the country.", "Trondheim", "capital"),
    ("Danish is the official language of the country.", "Danish", "official language"),
    ("The euro is its currency.", "euro", "currency"),
)


def show_quality(
    name: str, run: Run, documents: Sequence[LinkedDocument], scored: Sequence[ScoredDocument]
) -> None:
    """Print one row of the table."""
    judged = judge(documents, scored, run.space)
    places = [
        place
        for document, found in zip(documents, judged, strict=True)
        if document.gold is not None
        for place in places_of(document, found)
    ]
    gold = GoldJudge(documents)
    for document, found in zip(documents, judged, strict=True):
        gold.add(document, found)
    quality = annotation_quality(places, unlinked=0)
    verdicts = (
        f"{each.places:6,} {each.accuracy or 0.0:8.2%} {each.calibration_error:8.4f}"
        for each in (quality.overall, quality.contested)
    )
    best_path = gold.quality().best_path
    f1 = (best_path[level].f1 or 0.0 for level in (Level.OBJECT, Level.RELATION))
    print(f"{name:16}", *verdicts, *(f"{each:8.4f}" for each in f1))


def show_sentences(names: Sequence[str], runs: Sequence[Run], topic: Topic) -> None:
    """Print the most probable type of each sentence, and how probable the true one is."""
    own = {(fact.type, fact.object) for fact in topic.relations}
    types = dict.fromkeys(fact.type for fact in topic.relations if fact.type != TITLE)
    for text, name, true in SENTENCES:
        supposed = [Relation(each, name) for each in types if (each, name) not in own]
        known = Topic(topic.id, topic.names, [*topic.relations, *supposed])
        print(f"{text}")
        for label, run in zip(names, runs, strict=True):
            spans = Model(run).annotate(text, known).spans
            (span,) = (each for each in spans if each.text == name)
            ways = [
                (each.steps[0].fact.type if each.steps[0].fact else "words", each.probability)
                for each in span.explanations
                if len(each.steps) == 1
            ]
            best, probability = ways[0]
            told = sum(share for type_, share in ways if type_ == true)
            print(f"    {label:16} {best} {probability:.3f}; {true} {told:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("forward", type=Path)
    parser.add_argument("backward", type=Path)
    parser.add_argument("--corpus", type=Path, required=True, help="a corpus with gold mentions")
    parser.add_argument("--split", default="test")
    parser.add_argument("--limit", type=int, help="so many texts; else all")
    parser.add_argument("--weight", type=float, help="of the backward run; else as it was fitted")
    parser.add_argument("--topic", help="a topic of the corpus to suppose facts about")
    given = parser.parse_args()
    first, second = Run.open(given.forward), Run.open(given.backward)
    pair = paired(first, second, weight=given.weight)
    assert pair.partner is not None
    weight = pair.partner.weight
    corpus = Corpus.open(given.corpus)
    documents = documents_for(corpus, islice(corpus.documents(given.split), given.limit), first)
    left = read_linked(first, documents)
    right = read_over(second, first, documents, left)
    names = ("forward", "backward", f"both, w = {weight:g}")
    head = ("spans", "right", "error", "contested", "right", "error", "object", "relation")
    print(f"{'':16} {head[0]:>6} {head[1]:>8} {head[2]:>8} {head[3]:>6}", *head[4:])
    for name, scored in zip(names, (left, right, combine(left, right, weight)), strict=True):
        show_quality(name, first, documents, scored)
    if given.topic is not None:
        show_sentences(names, (first, second, pair), corpus.topic(given.topic))


if __name__ == "__main__":
    main()
