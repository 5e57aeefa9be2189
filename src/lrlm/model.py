"""A trained model to use: it scores, annotates, checks and generates text about a topic."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Literal, Unpack, overload

from lrlm.annotation.annotate import annotate, annotate_texts
from lrlm.annotation.annotation import Annotation, BadText
from lrlm.annotation.score import Score, score
from lrlm.annotation.streaming import raised
from lrlm.artifacts import AnyPath
from lrlm.checking.calibration import Calibration, TrustName, calibration_of
from lrlm.checking.check import THRESHOLD, Checker
from lrlm.checking.findings import CheckedText
from lrlm.checking.fitting import fit_calibration, save_calibration
from lrlm.checking.fitting_texts import TrainingTexts
from lrlm.checking.hypotheses import KnowledgeOfTypes
from lrlm.corpora import LONGEST, Corpus, LinkedDocument
from lrlm.errors import InputError
from lrlm.generation.generate import generate, stream
from lrlm.generation.generated_text import GeneratedText, Piece
from lrlm.generation.options import OptionArguments, options_of
from lrlm.knowledge import KnowledgeGraph, Topic
from lrlm.knowledge.schema import Schema
from lrlm.runs.devices import choose_device
from lrlm.runs.pairs import open_run
from lrlm.runs.run import Run
from lrlm.runs.schemas import kept_schema, schema_for
from lrlm.runs.shipped import SHIPPED
from lrlm.runs.topics import TopicLookup, topics_for
from lrlm.topics.finding import best_of
from lrlm.topics.index import TopicIndex, TopicSource
from lrlm.topics.priors import Prior
from lrlm.topics.ranking import MOST_CANDIDATES, TopicRanking, rank_topics


def load(
    run: AnyPath | None = None,
    *,
    backward: AnyPath | None = None,
    backward_weight: float | None = None,
    device: str = "auto",
) -> "Model":
    """Load a trained model; without a folder, the small one that comes with the package.

    `run` is a folder that training wrote, or what `lrlm.train` gave back. `backward` is another
    one, of a model that reads texts backward: annotations then come from both readings together.
    `backward_weight` is how much the second counts, by default what was fitted for the two
    (`lrlm.evaluation.fit_pair`), else 1. `device` is cpu, cuda, cuda:1 …, or auto: a GPU where
    there is one.

    >>> lrlm.load()
    Model('.../miniworld', kind='lrlm')
    """
    for named in (run, backward):
        if not isinstance(named, str | PathLike | None):
            raise InputError(f"a run is named by its folder, not by {named!r}")
    folder = SHIPPED if run is None else Path(run)
    return Model(
        open_run(
            folder,
            backward=backward,
            weight=backward_weight,
            device=str(choose_device(device)),
        )
    )


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
        self._known_types: dict[Path | None, KnowledgeOfTypes] = {}
        """What is known of types of facts, by graph, once it was asked for."""
        self._last_index: tuple[object, TopicIndex] | None = None

    def __repr__(self) -> str:
        return f"Model({str(self.run.folder)!r}, kind={self.kind!r})"

    @property
    def kind(self) -> str:
        """The model: vanilla, alias, prompted, nklm, lrlm or lrlm+."""
        return self.run.kind

    @cached_property
    def _topics(self) -> TopicLookup:
        return topics_for(self.run)

    @cached_property
    def schema(self) -> Schema | None:
        """What the topics that the run was trained on have in common; None if it was not kept.

        >>> sorted(model.schema.types_like(["capital"]))[:3]
        ['anthem', 'area', 'borders']
        """
        return kept_schema(self.run)

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
        (5, 3.8, 2)
        """
        return score(self.run, self.run.link(text, topic, longest=longest))

    def annotate(
        self,
        text: str,
        topic: Topic | KnowledgeGraph | Corpus | TopicIndex,
        *,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
        copy_odds: float | str | None = None,
    ) -> Annotation:
        """Say for every name in a text which facts it may have come from, and how probably.

        The probabilities are exact, and are those given the whole text. Offsets count the
        characters of exactly this text. A text of more than `longest` characters is refused.
        Names are looked for as in the corpus of the model; `letter_case` ("exact", "variants",
        "forgiving") and `name_rules` (`lrlm.corpora.NameRule`) say otherwise. If a graph or a
        corpus is given in place of a topic, the topic is found in it as `topics` does.
        `copy_odds` are nats by which copying is more probable than in the model itself ("names": as
        names are claimed, see docs/annotate.md), where not
        those that were fitted for the run (docs/annotate.md).

        >>> annotation = model.annotate("Its capital is Oslo.", topic)
        >>> [(span.start, span.text, span.relation.fact.type) for span in annotation.mentions()]
        [(15, 'Oslo', 'capital')]
        >>> annotation = model.annotate("ITS CAPITAL IS OSLO.", topic, letter_case="variants")
        >>> [span.text for span in annotation.spans]
        ['OSLO']
        """
        document = self._link(
            text, topic, longest=longest, letter_case=letter_case, name_rules=name_rules
        )
        return next(annotate(self.run, [document], copy_odds=copy_odds))

    def topics(
        self,
        text: str,
        graph: TopicSource | Iterable[Topic] | TopicIndex,
        *,
        limit: int = 10,
        prior: Prior | None = None,
        temperature: float | None = None,
        candidates: int = MOST_CANDIDATES,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
    ) -> TopicRanking:
        """Say what a text is about: which topics of a graph, and how probably.

        `graph` is a `KnowledgeGraph`, a `Corpus` or some topics. Candidates are the topics that
        are named in the text, or names of whose objects are; so many `candidates` that the names
        speak for most are ranked by P(text | topic), which is exact, and the prior. `prior` gives
        topics weights, by id or by a function of the topic and the text; without one, the opening
        of the text and the names in it speak for topics. `prior={}` makes all topics alike.

        >>> sweden = lrlm.Topic("Sweden", relations=[lrlm.Relation("capital", "Stockholm")])
        >>> ranking = model.topics("Its capital is Stockholm.", [topic, sweden])
        >>> [(match.id, round(match.probability, 1)) for match in ranking.matches]
        [('Sweden', 1.0)]
        """
        index = self._index(graph, letter_case, name_rules)
        return rank_topics(
            self.run,
            text,
            index,
            limit=limit,
            prior=prior,
            temperature=temperature,
            candidates=candidates,
            longest=longest,
        )

    def _link(
        self,
        text: str,
        topic: Topic | KnowledgeGraph | Corpus | TopicIndex,
        *,
        longest: int,
        letter_case: str | None,
        name_rules: Iterable[str] | str | None,
    ) -> LinkedDocument:
        """Link a text with its topic, which is found in a graph where that is given."""
        link = partial(
            self.run.link, text, longest=longest, letter_case=letter_case, name_rules=name_rules
        )
        if not isinstance(topic, KnowledgeGraph | Corpus | TopicIndex):
            return link(topic)
        index = self._index(topic, letter_case, name_rules)
        match = best_of(rank_topics(self.run, text, index, limit=1, longest=longest))
        return replace(link(match.topic), topic_probability=match.probability)

    def _index(
        self,
        graph: TopicSource | Iterable[Topic] | TopicIndex,
        letter_case: str | None,
        name_rules: Iterable[str] | str | None,
    ) -> TopicIndex:
        """Give the index of a graph; that of the last one is kept."""
        options = self.run.link_options.for_raw_text()
        options = options.changed(letter_case=letter_case, name_rules=name_rules)
        known = self._last_index
        if known is None or known[0] is not graph or known[1].options != options:
            self._last_index = known = graph, TopicIndex.of(graph, options)
        return known[1]

    @overload
    def annotate_many(
        self,
        texts: Iterable[tuple[str, Topic | KnowledgeGraph | Corpus | TopicIndex]],
        *,
        batch_size: int | None = None,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
        copy_odds: float | str | None = None,
        bad_texts: Literal["report"] = "report",
    ) -> Iterator[Annotation | BadText]: ...

    @overload
    def annotate_many(
        self,
        texts: Iterable[tuple[str, Topic | KnowledgeGraph | Corpus | TopicIndex]],
        *,
        batch_size: int | None = None,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
        copy_odds: float | str | None = None,
        bad_texts: Literal["raise"],
    ) -> Iterator[Annotation]: ...

    def annotate_many(
        self,
        texts: Iterable[tuple[str, Topic | KnowledgeGraph | Corpus | TopicIndex]],
        *,
        batch_size: int | None = None,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
        copy_odds: float | str | None = None,
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
        _check_choice(bad_texts)
        link = partial(self._link, longest=longest, letter_case=letter_case, name_rules=name_rules)
        results = annotate_texts(
            self.run, texts, link=link, batch_size=batch_size, copy_odds=copy_odds
        )
        return results if bad_texts == "report" else map(raised, results)

    def check(
        self,
        text: str,
        topic: Topic | KnowledgeGraph | Corpus | TopicIndex,
        *,
        graph: KnowledgeGraph | None = None,
        threshold: float = THRESHOLD,
        trust: TrustName = "neither",
        calibration: Calibration | None = None,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
    ) -> CheckedText:
        """Say which statements of a text the graph supports or contradicts, and which are new.

        A statement is that a name in the text is the object of a fact about the topic. Which types
        of facts there are, and what their objects are like, is known from what the model was
        trained on, and from `graph` where one is given. Findings have at least the probability
        `threshold`. If a graph or a corpus is given in place of a topic, the topic is found in it.

        Where a text and the graph differ, either may be wrong. Who trusts the graph looks for
        errors of the text, who trusts the text for facts that the graph lacks: with `trust`,
        probabilities are those of that case, and what is new is not looked for in a trusted graph.

        >>> norway = model.topic("Norway")
        >>> checked = model.check("Norway is a country. Its capital is Trondheim.", norway)
        >>> (finding,) = checked.findings
        >>> str(finding.verdict), finding.triple, finding.instead[0].object
        ('contradicted', ('Norway', 'capital', 'Trondheim'), 'Oslo')
        """
        document = self._link(
            text, topic, longest=longest, letter_case=letter_case, name_rules=name_rules
        )
        if graph is None and isinstance(topic, KnowledgeGraph):
            graph = topic
        return next(self._checker(graph, threshold, trust, calibration).check([document]))

    @overload
    def check_many(
        self,
        texts: Iterable[tuple[str, Topic | KnowledgeGraph | Corpus | TopicIndex]],
        *,
        graph: KnowledgeGraph | None = None,
        threshold: float = THRESHOLD,
        trust: TrustName = "neither",
        calibration: Calibration | None = None,
        batch_size: int | None = None,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
        bad_texts: Literal["report"] = "report",
    ) -> Iterator[CheckedText | BadText]: ...

    @overload
    def check_many(
        self,
        texts: Iterable[tuple[str, Topic | KnowledgeGraph | Corpus | TopicIndex]],
        *,
        graph: KnowledgeGraph | None = None,
        threshold: float = THRESHOLD,
        trust: TrustName = "neither",
        calibration: Calibration | None = None,
        batch_size: int | None = None,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
        bad_texts: Literal["raise"],
    ) -> Iterator[CheckedText]: ...

    def check_many(
        self,
        texts: Iterable[tuple[str, Topic | KnowledgeGraph | Corpus | TopicIndex]],
        *,
        graph: KnowledgeGraph | None = None,
        threshold: float = THRESHOLD,
        trust: TrustName = "neither",
        calibration: Calibration | None = None,
        batch_size: int | None = None,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
        bad_texts: Literal["report", "raise"] = "report",
    ) -> Iterator[CheckedText | BadText]:
        """Check a stream of texts in their order, a batch of them at a time.

        Options are those of `check`, and a text that cannot be read is told as in `annotate_many`.

        >>> texts = [("Norway is a country in Asia.", norway), ("", norway)]
        >>> for checked in model.check_many(texts):
        ...     print(checked)
        CheckedText('Norway is a country in Asia.', ... findings=['Asia (continent: contradicted)'])
        BadText(number=1, error=InputError('the text is empty: there is nothing to read'))
        """
        _check_choice(bad_texts)
        link = partial(self._link, longest=longest, letter_case=letter_case, name_rules=name_rules)
        checker = self._checker(graph, threshold, trust, calibration, batch_size)
        results = checker.check_texts(texts, link=link)
        return results if bad_texts == "report" else map(raised, results)

    def calibrate(self, corpus: Corpus, *, split: str = "valid", save: bool = False) -> Calibration:
        """Fit what it takes to believe a statement that the graph does not know, for `check`.

        Facts of texts of a split are hidden, and should be found again. If the run was trained on
        this corpus, its training texts are changed so too: they are about many more topics. The
        result is an argument of `check`; with `save` it is kept in the folder of the run, where
        `check` finds it.

        >>> fitted = model.calibrate(lrlm.Corpus.open("corpus"))
        >>> 0 <= fitted.doubt <= 16
        True
        """
        known = self._checker(None, THRESHOLD, "neither", None).known
        is_trained_on = corpus.fingerprint == self.run.corpus_fingerprint
        training = TrainingTexts.of(corpus, corpus.topics()) if is_trained_on else None
        fitted = fit_calibration(self.run, known, corpus.documents(split), training=training)
        if save:
            save_calibration(self.run, fitted)
        return fitted

    def _checker(
        self,
        graph: KnowledgeGraph | None,
        threshold: float,
        trust: TrustName,
        calibration: Calibration | None,
        batch_size: int | None = None,
    ) -> Checker:
        key = None if graph is None else graph.folder
        if key not in self._known_types:
            self._known_types[key] = KnowledgeOfTypes.of(schema_for(self.run, graph))
        return Checker(
            self.run,
            self._known_types[key],
            calibration=calibration or calibration_of(self.run),
            threshold=threshold,
            trust=trust,
            batch_size=batch_size,
        )

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
        >>> (text,) = model.generate(topic, samples=1, prompt="The capital city of", greedy=True)
        >>> text.text
        'The capital city of Norway is Oslo.'
        """
        return generate(
            self.run,
            topic,
            options_of(options),
            samples=samples,
            seed=seed,
            schema=self.schema,
        )

    def stream(
        self, topic: Topic, *, seed: int = 0, **options: Unpack[OptionArguments]
    ) -> Iterator[Piece]:
        """Generate one text about a topic, and give each piece of it as soon as it is there.

        >>> options = {"prompt": "The capital city of", "greedy": True, "max_length": 4}
        >>> for piece in model.stream(topic, **options):
        ...     print(piece.text, piece.source)
        The capital city of prompt
        Norway relation
        is word
        Oslo relation
        . word
        """
        return stream(self.run, topic, options_of(options), seed=seed, schema=self.schema)


def _check_choice(bad_texts: str) -> None:
    if bad_texts not in ("report", "raise"):
        raise InputError(f"bad_texts must be 'report' or 'raise', not {bad_texts!r}")
