"""Let a model explain 200 everyday sentences whose true explanation is known.

    python -m benchmarks.everyday [RUN] [--backward RUN] [--wrong] [--corpus CORPUS]

The sentences (benchmarks/data/everyday.toml) were written by hand, with topics of one to four
facts, and are not trained on. A name is explained rightly if its most probable explanation is the
true one: copied through that relation, or plain words. A sentence is right if all its names are.
Without RUN, the model that comes with the package is measured; with --backward, together with a
run that reads backward. With --wrong, what was not right is
listed. With --corpus, sentences that the articles of that corpus have, but for the names, are told
apart from those that they do not have.
"""

import argparse
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import lrlm
from lrlm.corpora import Corpus, LinkedDocument, link
from lrlm.evaluation.annotation_quality import Place, annotation_quality, places_of
from lrlm.evaluation.judged import judge
from lrlm.knowledge import TITLE, Relation, Topic
from lrlm.model import Model
from lrlm.runs.reading import read_linked
from lrlm.text.document import GoldSpan

SENTENCES = Path(__file__).parent / "data" / "everyday.toml"
_NAME = re.compile(r"\{([^{}|]+)\|([^{}|]+)\}")
_SENTENCE_END = re.compile(r"(?<=[.!])\s+(?=\S)")


@dataclass(frozen=True)
class Sentence:
    """A sentence about a topic, and the names in it that were copied."""

    text: str
    topic: Topic
    gold: tuple[GoldSpan, ...]


def read_sentences(path: Path = SENTENCES) -> list[Sentence]:
    """Read topics and the sentences about them, in which names are marked {form|relation type}."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return [
        _sentence(marked, topic)
        for entry in content["topics"]
        for topic in [_topic(entry)]
        for marked in entry["sentences"]
    ]


def _topic(entry: dict[str, object]) -> Topic:
    name, facts = entry["name"], entry["facts"]
    assert isinstance(name, str)
    assert isinstance(facts, list)
    names = entry.get("names", [name])
    assert isinstance(names, list)
    relations = [Relation(type_, forms[0], forms) for type_, *forms in facts]
    return Topic(name, names, relations)


def _sentence(marked: str, topic: Topic) -> Sentence:
    text, end = "", 0
    gold: list[GoldSpan] = []
    for match in _NAME.finditer(marked):
        form, type_ = match.groups()
        facts = [fact for fact in topic.star if fact.type == type_ and form in fact.forms]
        if len(facts) != 1:
            raise ValueError(f"{topic.id}: {match[0]} is the name of {len(facts)} facts: {marked}")
        text += marked[end : match.start()]
        gold.append(GoldSpan(len(text), len(text) + len(form), type_, facts[0].object))
        text += form
        end = match.end()
    return Sentence(text + marked[end:], topic, tuple(gold))


def explain(model: Model, sentences: Sequence[Sentence]) -> list[list[Place]]:
    """Give, for each sentence, every name in it with its explanations and what is true of it."""
    run = model.run
    options = run.link_options.for_raw_text()
    documents = [link(each.text, each.topic, options, gold=each.gold) for each in sentences]
    judged = judge(documents, read_linked(run, documents), run.space)
    for sentence, document in zip(sentences, documents, strict=True):
        if len(document.gold or ()) != len(sentence.gold):
            raise ValueError(f"a name does not begin and end where words do: {sentence.text}")
    return [places_of(*each) for each in zip(documents, judged, strict=True)]


def skeletons(corpus: Corpus) -> set[str]:
    """Give every sentence of the training articles with its names blotted out."""
    return {
        skeleton
        for document in corpus.documents("train")
        for skeleton in _SENTENCE_END.split(_blotted(document))
    }


def _blotted(document: LinkedDocument) -> str:
    tokens = document.tokens
    spans = [(tokens.starts[g.start], tokens.ends[g.end - 1]) for g in document.gold or ()]
    return _without_names(document.text, spans)


def _without_names(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Write one mark for every name, and leave out "the" before it."""
    pieces, end = [], 0
    for start, stop in spans:
        pieces.append(text[end:start])
        end = stop
    blotted = "~".join([*pieces, text[end:]])
    return re.sub(r"\b[Tt]he ~", "~", blotted)


def show(title: str, explained: Sequence[Sequence[Place]]) -> None:
    """Print how many sentences and names were explained rightly."""
    places = [place for sentence in explained for place in sentence]
    right = sum(all(place.is_right for place in sentence) for sentence in explained)
    names = sum(place.is_right for place in places)
    print(
        f"{title:42} {right:4} of {len(explained):4} sentences ({right / len(explained):6.1%}),"
        f" {names:4} of {len(places):4} names ({names / len(places):6.1%})"
    )


def groups(sentences: Sequence[Sentence]) -> Iterator[tuple[str, list[int]]]:
    """Put sentences into groups by what stands first in them, and by the size of the topic."""
    first = [
        min(each.gold).type if each.gold and min(each.gold).start <= len("The ") else None
        for each in sentences
    ]
    everywhere = range(len(sentences))
    yield "all", list(everywhere)
    yield "a fact's object first", [n for n in everywhere if first[n] not in (None, TITLE)]
    yield "the topic's name first", [n for n in everywhere if first[n] == TITLE]
    yield "other words first", [n for n in everywhere if first[n] is None]
    for size in (1, 2, 3):
        chosen = [n for n in everywhere if len(sentences[n].topic.relations) == size]
        yield f"topics of {size} fact{'s'[: size > 1]}", chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", nargs="?", type=Path, help="an LRLM; else the shipped one")
    parser.add_argument("--backward", type=Path, help="a second run, which reads backward")
    parser.add_argument("--wrong", action="store_true", help="list what was not right")
    parser.add_argument("--corpus", type=Path, help="tell its sentences apart from others")
    given = parser.parse_args()
    sentences = read_sentences()
    explained = explain(lrlm.load(given.run, backward=given.backward), sentences)
    for title, chosen in groups(sentences):
        show(title, [explained[n] for n in chosen])
    if given.corpus:
        known = skeletons(Corpus.open(given.corpus))
        is_known = [
            _without_names(each.text, [(g.start, g.end) for g in each.gold]) in known
            for each in sentences
        ]
        for title, wanted in (
            ("wording in the corpus", True),
            ("wording not in the corpus", False),
        ):
            chosen = [n for n, each in enumerate(is_known) if each is wanted]
            show(title, [explained[n] for n in chosen])
    quality = annotation_quality([place for each in explained for place in each])
    print(f"\ncalibration error {quality.overall.calibration_error:.3f}")
    print("probability   names   mean   right")
    for each in quality.reliability:
        if each.places:
            print(
                f"{each.low:.1f} to {each.high:.1f}  {each.places:7,}  {each.confidence:.3f}"
                f"  {each.accuracy:.3f}"
            )
    if given.wrong:
        print()
        for sentence, places in zip(sentences, explained, strict=True):
            for place in places:
                if not place.is_right:
                    name, fact = " ".join(place.words), place.best.fact
                    print(
                        f"{name}: {fact[0] if fact else place.best.way} {place.confidence:.2f}"
                        f" in: {sentence.text}"
                    )


if __name__ == "__main__":
    main()
