"""A trained model to use: it scores, annotates and generates text about a topic."""

from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Literal, Unpack, overload

from lrlm.annotation.annotate import annotate, annotate_texts
from lrlm.annotation.annotation import Annotation, BadText
from lrlm.annotation.score import Score, score
from lrlm.artifacts import AnyPath
from lrlm.corpora import LONGEST
from lrlm.errors import InputError
from lrlm.generation.generate import generate, stream
from lrlm.generation.generated_text import GeneratedText, Piece
from lrlm.generation.options import OptionArguments, options_of
from lrlm.knowledge import Topic
from lrlm.runs.devices import choose_device
from lrlm.runs.run import Run
from lrlm.runs.shipped import SHIPPED
from lrlm.runs.topics import TopicLookup, topics_for


def load(run: AnyPath | None = None, *, device: str = "auto") -> "Model":
    """Load a trained model; without a folder, the small one that comes with the package.

    `run` is a folder that training wrote, or what `lrlm.train` gave back. `device` is cpu, cuda,
    cuda:1 …, or auto: a GPU where there is one.

    >>> lrlm.load()
    Model('.../miniworld', kind='lrlm')
    """
    if not isinstance(run, str | PathLike | None):
        raise InputError(f"a run is named by its folder, not by {run!r}")
    folder = SHIPPED if run is None else Path(run)
    return Model(Run.open(folder, device=str(choose_device(device))))


class Model:
    """A trained model: it scores, annotates and generates text about a topic.

    >>> model = lrlm.load()
    >>> topic = lrlm.Topic("Norway", relations=[lrlm.Relation("capital", "Oslo")])
    >>> model.kind
    'lrlm'
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        """The run that the model was opened from."""

    def __repr__(self) -> str:
        return f"Model({str(self.run.folder)!r}, kind={self.kind!r})"

    @property
    def kind(self) -> str:
        """The model: vanilla, alias, nklm or lrlm."""
        return self.run.kind

    @cached_property
    def _topics(self) -> TopicLookup:
        return topics_for(self.run)

    def topic(self, name: str) -> Topic:
        """Find a topic that the run knows: one of the corpus that it was trained on.

        `name` is its id or its name, also in other letter case. The corpus is looked for in the
        working directory, beside the run and one folder above; for other topics, see
        `KnowledgeGraph.topic` and `Corpus.topic`.

        >>> norway = model.topic("norway")
        >>> norway.id, norway.relations[0].type, norway.relations[0].object
        ('Norway', 'capital', 'Oslo')
        """
        return self._topics.topic(name)

    def score(self, text: str, topic: Topic, *, longest: int = LONGEST) -> Score:
        """Say how probable a text about a topic is, in all and piece by piece.

        A text of more than `longest` characters is refused.

        >>> score = model.score("Its capital is Oslo.", topic)
        >>> score.words, round(score.nats, 1), round(score.perplexity)
        (5, 5.8, 3)
        """
        return score(self.run, self.run.link(text, topic, longest=longest))

    def annotate(
        self,
        text: str,
        topic: Topic,
        *,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
    ) -> Annotation:
        """Say for every name in a text which facts it may have come from, and how probably.

        The probabilities are exact, and are those given the whole text. Offsets count the
        characters of exactly this text. A text of more than `longest` characters is refused.
        Names are looked for as in the corpus of the model; `letter_case` ("exact", "variants",
        "forgiving") and `name_rules` (`lrlm.corpora.NameRule`) say otherwise.

        >>> annotation = model.annotate("Its capital is Oslo.", topic)
        >>> [(span.start, span.text, span.relation.fact.type) for span in annotation.mentions()]
        [(15, 'Oslo', 'capital')]
        >>> annotation = model.annotate("ITS CAPITAL IS OSLO.", topic, letter_case="variants")
        >>> [span.text for span in annotation.spans]
        ['OSLO']
        """
        document = self.run.link(
            text, topic, longest=longest, letter_case=letter_case, name_rules=name_rules
        )
        return next(annotate(self.run, [document]))

    @overload
    def annotate_many(
        self,
        texts: Iterable[tuple[str, Topic]],
        *,
        batch_size: int | None = None,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
        bad_texts: Literal["report"] = "report",
    ) -> Iterator[Annotation | BadText]: ...

    @overload
    def annotate_many(
        self,
        texts: Iterable[tuple[str, Topic]],
        *,
        batch_size: int | None = None,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
        bad_texts: Literal["raise"],
    ) -> Iterator[Annotation]: ...

    def annotate_many(
        self,
        texts: Iterable[tuple[str, Topic]],
        *,
        batch_size: int | None = None,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
        bad_texts: Literal["report", "raise"] = "report",
    ) -> Iterator[Annotation | BadText]:
        """Annotate a stream of texts in their order, a batch of them at a time.

        In place of a text that cannot be annotated, such as an empty one, stands a `BadText` that
        says why, and the stream goes on; with `bad_texts="raise"` it ends there, with the error.

        >>> texts = [("Its capital is Oslo.", topic), ("Norway is a country.", topic)]
        >>> for annotation in model.annotate_many(texts):
        ...     print([span.text for span in annotation.mentions()])
        ['Oslo']
        ['Norway']
        """
        if bad_texts not in ("report", "raise"):
            raise InputError(f"bad_texts must be 'report' or 'raise', not {bad_texts!r}")
        link = partial(
            self.run.link, longest=longest, letter_case=letter_case, name_rules=name_rules
        )
        results = annotate_texts(self.run, texts, link=link, batch_size=batch_size)
        return results if bad_texts == "report" else map(_raised, results)

    def generate(
        self,
        topic: Topic,
        *,
        samples: int = 10,
        seed: int = 0,
        **options: Unpack[OptionArguments],
    ) -> list[GeneratedText]:
        """Generate texts about a topic, all in one batch; the most probable per token come first.

        `options` are those of `GenerationOptions`, as in `temperature=0.8, max_length=50`.

        >>> texts = model.generate(topic, samples=2, seed=1, max_length=20)
        >>> len(texts), texts[0].perplexity <= texts[1].perplexity
        (2, True)
        >>> (text,) = model.generate(topic, samples=1, prompt="The capital of", greedy=True)
        >>> text.text
        'The capital of Norway is Oslo.'
        """
        return generate(self.run, topic, options_of(options), samples=samples, seed=seed)

    def stream(
        self, topic: Topic, *, seed: int = 0, **options: Unpack[OptionArguments]
    ) -> Iterator[Piece]:
        """Generate one text about a topic, and give each piece of it as soon as it is there.

        >>> for piece in model.stream(topic, prompt="The capital of", greedy=True, max_length=4):
        ...     print(piece.text, piece.source)
        The capital of prompt
        Norway relation
        is word
        Oslo relation
        . word
        """
        return stream(self.run, topic, options_of(options), seed=seed)


def _raised(result: Annotation | BadText) -> Annotation:
    if isinstance(result, BadText):
        raise result.error
    return result
