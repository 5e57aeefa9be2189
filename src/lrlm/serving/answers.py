"""What the API answers, described for OpenAPI.

Answers are written as they are given by the library (`to_dict` of an annotation, a score …); these
descriptions are for readers and programs, and the tests hold the answers against them.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Answer(BaseModel):
    """What all answers have in common: nothing is in them that is not described."""

    model_config = ConfigDict(extra="forbid")


class ErrorAnswer(_Answer):
    """Why a request was refused."""

    status: int
    error: str = Field(description="A sentence for people.")


class HealthAnswer(_Answer):
    """That the server is there."""

    status: Literal["ok"]
    version: str = Field(description="Of lrlm.")
    waiting: int = Field(description="Requests that wait or are being worked on.")


class ModelAnswer(_Answer):
    """A model that can be asked."""

    name: str
    kind: str = Field(description="lrlm, lrlm+, nklm, alias, vanilla or prompted.")
    label: str
    backbone: str
    corpus: str = Field(description="Name of the corpus that it was trained on.")
    annotates: bool = Field(description="Whether it knows where words come from.")
    copies: bool = Field(description="Whether it writes names from the facts.")


class ModelsAnswer(_Answer):
    """All models, the one that is used by default first."""

    models: list[ModelAnswer]
    graph: str | None = Field(description="Name of the knowledge graph, if there is one.")


class FoundTopicAnswer(_Answer):
    """A topic that a search has found."""

    id: str
    name: str
    facts: int | None
    collection: str = Field(description="Graph or corpus that it comes from.")
    likeness: float = Field(description="From 0 to 1.")


class TopicsAnswer(_Answer):
    """What a search has found, the most alike first."""

    topics: list[FoundTopicAnswer]


class FactAnswer(_Answer):
    """One fact of a topic."""

    type: str
    label: str
    object: str
    forms: list[str]


class TopicAnswer(_Answer):
    """A topic with all its facts."""

    id: str
    names: list[str]
    relations: list[FactAnswer]
    collection: str | None = None


class TurtleAnswer(_Answer):
    """What stands in a text in Turtle."""

    topic: TopicAnswer
    topics: list[FoundTopicAnswer] = Field(description="All of them, those with most facts first.")


class ExampleAnswer(_Answer):
    """A text to begin with, and its topic."""

    title: str
    text: str
    claims: str = Field(description="A text to check: not all of it is so.")
    topic: TopicAnswer


class ExamplesAnswer(_Answer):
    """Texts to begin with."""

    examples: list[ExampleAnswer]


class SegmentAnswer(_Answer):
    """A piece of a path; a word has neither type nor object nor form."""

    start: int
    end: int
    text: str
    type: str | None = None
    label: str | None = Field(default=None, description="Of a type that is not its own name.")
    object: str | None = None
    form: str | None = None


class ExplanationAnswer(_Answer):
    """One way in which a span came about."""

    kind: Literal["relation", "words", "mixture", "crossing"]
    probability: float
    steps: list[SegmentAnswer]


class SpanAnswer(_Answer):
    """A candidate span; the probabilities of its explanations sum to one."""

    start: int
    end: int
    text: str
    explanations: list[ExplanationAnswer]


class AnnotationAnswer(_Answer):
    """An annotated text; docs/annotate.md describes every field."""

    format: str
    version: int
    id: str
    topic: str
    text: str
    tokens: list[tuple[int, int]]
    nats: float
    end_nats: float
    perplexity: float
    threshold: float
    spans: list[SpanAnswer]
    best: list[SegmentAnswer]


class AnnotationsAnswer(_Answer):
    """Annotated texts, in the order of the request."""

    annotations: list[AnnotationAnswer]


class ObjectAnswer(_Answer):
    """What a graph says instead."""

    object: str
    name: str


class FindingAnswer(_Answer):
    """A statement of a text, and what is known of it."""

    start: int
    end: int
    text: str
    verdict: Literal["supported", "contradicted", "new"]
    probability: float = Field(description="That the text states this here.")
    type: str
    object: str
    triple: tuple[str, str, str] = Field(description="Ids of the topic, the type and the object.")
    instead: list[ObjectAnswer] | None = None


class ConflictAnswer(_Answer):
    """Facts of a topic that cannot all be true."""

    type: str
    objects: list[str]


class CheckAnswer(_Answer):
    """A checked text; docs/check.md describes every field."""

    format: str
    version: int
    id: str
    topic: str
    title: str
    text: str
    findings: list[FindingAnswer]
    conflicts: list[ConflictAnswer]


class ChecksAnswer(_Answer):
    """Checked texts, in the order of the request."""

    checks: list[CheckAnswer]


class PieceAnswer(_Answer):
    """A piece of a generated text, and where it came from."""

    start: int
    end: int
    text: str
    source: Literal["word", "spelled", "name word", "relation", "prompt"]
    log_prob: float | None
    type: str | None = None
    label: str | None = Field(default=None, description="Of a type that is not its own name.")
    object: str | None = None
    form: str | None = None
    is_partial: bool | None = None


class SampleAnswer(_Answer):
    """A generated text."""

    text: str
    tokens: list[str]
    written_tokens: int
    log_prob: float | None
    marginal_log_prob: float | None
    is_joint: bool
    perplexity: float | None
    ended: bool
    pieces: list[PieceAnswer]


class GenerationAnswer(_Answer):
    """Generated texts, the most probable per token first; docs/generate.md has every field."""

    format: str
    version: int
    model: str
    topic: str
    seed: int
    options: dict[str, object]
    samples: list[SampleAnswer]


class StreamedLine(_Answer):
    """One line of a stream: a piece, or the end, or why it ended early."""

    piece: PieceAnswer | None = None
    end: bool | None = None
    error: str | None = None


class ScoredPieceAnswer(_Answer):
    """The smallest piece of a text that has a cost of its own."""

    start: int
    end: int
    tokens: int
    nats: float


class ScoreAnswer(_Answer):
    """−log P of a text under one model, in all and piece by piece."""

    model: str
    format: str
    version: int
    nats: float
    tokens: int
    words: int
    text: str
    end_nats: float
    is_joint: bool
    pieces: list[ScoredPieceAnswer]
    bytes: int
    perplexity: float
    bits_per_byte: float


class ScoresAnswer(_Answer):
    """Scores in the order of the models."""

    scores: list[ScoreAnswer]


class LatticeEdgeAnswer(_Answer):
    """A word, or a name that may have been copied: then with its fact."""

    from_boundary: int
    to_boundary: int
    start: int
    end: int
    text: str
    log_score: float | None
    posterior: float
    on_best_path: bool
    type: str | None = None
    label: str | None = Field(default=None, description="Of a type that is not its own name.")
    object: str | None = None
    form: str | None = None


class LatticeAnswer(_Answer):
    """The lattice of a part of a text."""

    format: str
    version: int
    text: str
    start: int
    end: int
    boundaries: int
    edges: list[LatticeEdgeAnswer]
