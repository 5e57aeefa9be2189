"""What the explorer shows: models by name, topics, examples, and what models say of texts.

Everything here is done by the same functions as in the Python API, and knows nothing of requests.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lrlm.annotation.annotate import annotate
from lrlm.annotation.annotation import Annotation, BadText
from lrlm.annotation.drawn_lattice import DrawnLattice, draw_lattice
from lrlm.annotation.score import Score, score
from lrlm.characters import visible_json
from lrlm.checking.calibration import TrustName
from lrlm.checking.findings import CheckedText
from lrlm.errors import InputError, LrlmError
from lrlm.generation.generate import generate, stream
from lrlm.generation.generated_text import GeneratedText, Piece, generated_to_json
from lrlm.generation.options import options_of
from lrlm.generation.views import generated_to_html
from lrlm.knowledge import KnowledgeGraph, Topic
from lrlm.model import Model, load
from lrlm.plain_data import parse_toml
from lrlm.serving.limits import LONGEST_LATTICE, LONGEST_TEXT, MOST_FACTS, MOST_FORMS
from lrlm.serving.topics import TopicFinder, finder_for
from lrlm.serving.turtle import ReadTurtle, read_turtle

EXAMPLES = "examples.toml"
_ENCODER = msgspec.json.Encoder()


class UnknownModelError(InputError):
    """No model goes by this name."""


class TextOfTopic(NamedTuple):
    """A text and what it is about."""

    text: str
    topic: Topic


@dataclass(frozen=True)
class Explorer:
    """The models of a server by their names, the default one first, and the topics it knows."""

    models: dict[str, Model]
    topics: TopicFinder
    graph: KnowledgeGraph | None = None
    """What checking learns types of facts from, beside what each model was trained on."""

    @classmethod
    def open(
        cls, runs: Sequence[Path] = (), *, graph: Path | None = None, device: str = "auto"
    ) -> "Explorer":
        """Load runs, or the model that comes with the package, and open a knowledge graph."""
        models: dict[str, Model] = {}
        loaded = [load(run, device=device) for run in runs] or [load(device=device)]
        for model in loaded:
            models[_new_name(model.run.folder.resolve().name, models)] = model
        finder = finder_for([model.run for model in models.values()], graph)
        return cls(models, finder, None if graph is None else KnowledgeGraph.open(graph))

    @property
    def graph_name(self) -> str | None:
        """The name of the knowledge graph, if there is one."""
        return None if self.graph is None else self.graph.folder.resolve().name

    def model(self, name: str | None) -> Model:
        """Find a model by its name; without a name, the first."""
        if name is None:
            return next(iter(self.models.values()))
        if name not in self.models:
            known = ", ".join(map(repr, self.models))
            raise UnknownModelError(f"there is no model {name!r}; there are: {known}")
        return self.models[name]

    def described(self) -> list[dict[str, Any]]:
        """Say what each model is and what it can do."""
        return [
            {
                "name": name,
                "kind": model.kind,
                "label": model.run.label,
                "backbone": model.run.config.model.backbone.label,
                "corpus": model.run.corpus_name,
                "annotates": model.run.model.has_posteriors,
                "copies": model.run.model.copies_names,
            }
            for name, model in self.models.items()
        ]

    def examples(self) -> list[dict[str, Any]]:
        """Give texts to begin with, and what they are about."""
        return [
            {
                "title": example["title"],
                "text": example["text"],
                "claims": example["claims"],
                "topic": self.topics.described(example["topic"]),
            }
            for example in _examples()
        ]

    def read_turtle(self, text: str, wanted: str | None) -> ReadTurtle:
        """Read topics in Turtle, with the relation types that the models know."""
        known = [model.run.features.relations.type_ids for model in self.models.values()]
        return read_turtle(text, wanted, frozenset[str]().union(*known))

    def topic(self, id: str) -> Topic:  # noqa: A002
        """Find a topic whose facts are few enough to work with."""
        topic = self.topics.topic(id)
        forms = sum(len(relation.forms) for relation in topic.star)
        if len(topic.relations) > MOST_FACTS or forms > MOST_FORMS:
            raise InputError(
                f"{id!r} has {len(topic.relations):,} facts with {forms:,} names, and at most"
                f" {MOST_FACTS:,} and {MOST_FORMS:,} are taken; send a topic with fewer facts"
            )
        return topic


def annotate_together(
    name: str, model: Model, texts: Sequence[TextOfTopic]
) -> list[Annotation | Exception]:
    """Annotate texts side by side; what is wrong with one of them is not the others' trouble."""
    _check_annotates(name, model)
    results: dict[int, Annotation | Exception] = {}
    documents = {}
    for number, (text, topic) in enumerate(texts):
        try:
            documents[number] = model.run.link(text, topic, longest=LONGEST_TEXT)
        except LrlmError as error:
            results[number] = error
    try:
        made = list(annotate(model.run, documents.values()))
        results |= zip(documents, made, strict=True)
    except LrlmError as error:
        if len(documents) == 1:
            results |= dict.fromkeys(documents, error)
        else:
            for number in documents:
                (results[number],) = annotate_together(name, model, [texts[number]])
    return [results[number] for number in range(len(texts))]


class CheckChoices(NamedTuple):
    """How texts are checked."""

    threshold: float
    trust: TrustName


def check_together(
    name: str,
    model: Model,
    texts: Sequence[TextOfTopic],
    asked: CheckChoices,
    *,
    graph: KnowledgeGraph | None,
) -> list[CheckedText | Exception]:
    """Check texts side by side; what is wrong with one of them is not the others' trouble."""
    _check_annotates(name, model)
    results = model.check_many(texts, graph=graph, longest=LONGEST_TEXT, **asked._asdict())
    return [each.error if isinstance(each, BadText) else each for each in results]


def annotation_to_json(annotation: Annotation, *, threshold: float) -> str:
    """Write what `Annotation.to_json` writes, in a tenth of the time: it is most of an answer."""
    return visible_json(_ENCODER.encode(annotation.to_dict(threshold=threshold)).decode())


def score_under(model: Model, text: TextOfTopic) -> Score:
    """Score a text under one model."""
    return score(model.run, model.run.link(text.text, text.topic, longest=LONGEST_TEXT))


def lattice_under(
    name: str, model: Model, text: TextOfTopic, *, start: int, end: int | None
) -> DrawnLattice:
    """Give the lattice of a part of a text."""
    _check_annotates(name, model)
    document = model.run.link(text.text, text.topic, longest=LONGEST_TEXT)
    stop = len(text.text) if end is None else end
    if stop <= start:
        raise InputError(f"the part of the text ends at {stop}, before it starts at {start}")
    return draw_lattice(model.run, document, start=start, end=stop, longest=LONGEST_LATTICE)


def write(
    model: Model,
    topic: Topic,
    options: dict[str, Any],
    *,
    samples: int,
    seed: int,
    check: Callable[[], None],
) -> list[GeneratedText]:
    """Generate texts; `check` may end it at any token."""
    return generate(
        model.run,
        topic,
        options_of(options),
        samples=samples,
        seed=seed,
        schema=model.schema,
        check=check,
    )


def write_piecewise(
    model: Model, topic: Topic, options: dict[str, Any], *, seed: int, check: Callable[[], None]
) -> Iterator[Piece]:
    """Generate one text, piece by piece; `check` ends work that nobody wants, by an error."""
    wished = options_of(options)
    return stream(model.run, topic, wished, seed=seed, schema=model.schema, check=check)


def written_to_dict(
    name: str, topic: Topic, options: dict[str, Any], texts: Sequence[GeneratedText], *, seed: int
) -> dict[str, Any]:
    """Give generated texts as plain values."""
    return generated_to_json(
        texts, model=name, topic=topic.id, seed=seed, options=options_of(options)
    )


def written_to_html(name: str, topic: Topic, texts: Sequence[GeneratedText], *, seed: int) -> str:
    """Write generated texts as a page in one file."""
    about = f"Written by {name}; seed {seed}."
    return generated_to_html(texts, title=topic.names[0], about=about)


def _check_annotates(name: str, model: Model) -> None:
    if not model.run.model.has_posteriors:
        raise InputError(
            f"{name!r} is a {model.run.model.label}, which does not know where words come from;"
            " choose a model that sums over segmentations, such as LRLM"
        )


def _new_name(name: str, taken: dict[str, Model]) -> str:
    """Give a model a name that no other has."""
    numbers = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(each for each in numbers if each not in taken)


@cache
def _examples() -> list[dict[str, str]]:
    text = (files("lrlm.serving") / EXAMPLES).read_text(encoding="utf-8")
    examples: list[dict[str, str]] = parse_toml(text, where=EXAMPLES)["examples"]
    return examples
