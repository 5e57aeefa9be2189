"""What the API is asked: the body of each request, with its bounds and an example."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from lrlm.checking.calibration import TrustName
from lrlm.checking.check import THRESHOLD
from lrlm.knowledge import Topic
from lrlm.serving import limits

NameText = Annotated[str, StringConstraints(min_length=1, max_length=limits.LONGEST_NAME)]
NameTexts = Annotated[list[NameText], Field(max_length=limits.MOST_NAMES)]
TextToRead = Annotated[str, StringConstraints(min_length=1, max_length=limits.LONGEST_TEXT)]
ModelName = Annotated[
    NameText | None,
    Field(description="Name of a model, as /api/v1/models lists them; the first if left out."),
]

NORWAY = {
    "id": "Norway",
    "names": ["Norway"],
    "relations": [
        {"type": "capital", "object": "Oslo", "forms": ["Oslo", "Kristiania"]},
        {"type": "borders", "object": "Sweden", "forms": ["Sweden"]},
    ],
}
_TEXT = "Norway is a country in Europe. The capital of Norway is Oslo."
_CLAIM = "Norway is a country in Europe. The capital of Norway is Bergen."


def _example(**content: Any) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [content]})


class FactBody(BaseModel):
    """One fact of a topic."""

    model_config = _example(type="capital", object="Oslo", forms=["Oslo", "Kristiania"])

    type: NameText = Field(description="Type of the relation.")
    object: NameText = Field(description="Id of the object: the same thing has the same id.")
    forms: NameTexts = Field(
        default=[], description="Names of the object in texts, the usual one first; else its id."
    )
    label: NameText | None = Field(
        default=None, description="What people call the type; else the type itself."
    )


class TopicBody(BaseModel):
    """A topic with all its facts, as `lrlm.Topic.from_json` reads it."""

    model_config = _example(**NORWAY)

    id: NameText
    names: NameTexts = Field(default=[], description="The usual name first; without any, the id.")
    relations: Annotated[list[FactBody], Field(max_length=limits.MOST_FACTS)] = []

    @model_validator(mode="after")
    def _few_enough_names(self) -> Self:
        names = len(self.names) + sum(len(fact.forms) for fact in self.relations)
        if names > limits.MOST_FORMS:
            raise ValueError(f"a topic has at most {limits.MOST_FORMS:,} names in all")
        return self

    def to_topic(self) -> Topic:
        """Make the topic; what it may not hold is an error."""
        return Topic.from_json(self.model_dump(exclude_none=True))


class TurtleRequest(BaseModel):
    """Topics in Turtle, of which one is wanted."""

    model_config = _example(
        turtle="@prefix : <http://example.org/> . :Norway :capital :Oslo ; :borders :Sweden ."
    )

    turtle: Annotated[str, StringConstraints(min_length=1, max_length=limits.LONGEST_TURTLE)]
    id: NameText | None = Field(
        default=None, description="Address of the topic; without it, the one with most facts."
    )


TopicGiven = Annotated[
    NameText | TopicBody,
    Field(description="The id of a topic that the server knows, or a whole topic."),
]


class AnnotateRequest(BaseModel):
    """A text to annotate."""

    model_config = _example(text=_TEXT, topic="Norway")

    model: ModelName = None
    text: TextToRead
    topic: TopicGiven
    threshold: float = Field(
        default=0.0,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="Leave out spans that are less probably copied than this.",
    )
    format: Literal["json", "html"] = Field(
        default="json", description="html: a page in one file, to be kept."
    )


class TextAboutTopic(BaseModel):
    """One of several texts."""

    model_config = _example(text=_TEXT, topic="Norway")

    text: TextToRead
    topic: TopicGiven


class ManyTextsRequest(BaseModel):
    """Several texts to read, each about its own topic."""

    model: ModelName = None
    texts: Annotated[list[TextAboutTopic], Field(min_length=1, max_length=limits.MOST_TEXTS)]

    @model_validator(mode="after")
    def _few_enough_characters(self) -> Self:
        if sum(len(each.text) for each in self.texts) > limits.MOST_CHARACTERS:
            raise ValueError(
                f"the texts of one request have at most {limits.MOST_CHARACTERS:,} characters"
            )
        return self


class AnnotateManyRequest(ManyTextsRequest):
    """Several texts to annotate."""

    model_config = _example(
        texts=[{"text": _TEXT, "topic": "Norway"}, {"text": "Oslo is a city.", "topic": NORWAY}]
    )

    threshold: float = Field(default=0.0, ge=0, le=1, allow_inf_nan=False)


TrustChoice = Annotated[
    TrustName, Field(description="Which side is right where the text and the graph differ.")
]


class CheckRequest(BaseModel):
    """A text to check against what is known about its topic."""

    model_config = _example(text=_CLAIM, topic="Norway")

    model: ModelName = None
    text: TextToRead
    topic: TopicGiven
    threshold: float = Field(
        default=THRESHOLD,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="Leave out what the text states less probably than this.",
    )
    trust: TrustChoice = "neither"
    format: Literal["json", "html"] = Field(
        default="json", description="html: a page in one file, to be kept."
    )


class CheckManyRequest(ManyTextsRequest):
    """Several texts to check."""

    model_config = _example(texts=[{"text": _CLAIM, "topic": "Norway"}])

    threshold: float = Field(default=THRESHOLD, ge=0, le=1, allow_inf_nan=False)
    trust: TrustChoice = "neither"


class WritingRequest(BaseModel):
    """How a text is written; as the options of `lrlm generate`."""

    model: ModelName = None
    topic: TopicGiven
    seed: int = Field(default=0, ge=0, le=limits.LARGEST_SEED)
    temperature: float = Field(default=1.0, ge=1e-6, le=100, allow_inf_nan=False)
    top_k: int | None = Field(default=None, ge=1, le=10**9)
    top_p: float | None = Field(default=None, gt=0, le=1, allow_inf_nan=False)
    greedy: bool = False
    min_length: int = Field(default=1, ge=0, le=limits.MOST_TOKENS)
    max_length: int = Field(default=200, ge=1, le=limits.MOST_TOKENS)
    prompt: Annotated[str, StringConstraints(max_length=limits.LONGEST_PROMPT)] = ""
    max_uses: int | None = Field(default=None, ge=1, le=10**9)
    only_known_names: bool = False
    known_facts_only: bool = True
    repetition_cost: float | None = Field(default=None, ge=0, le=100, allow_inf_nan=False)
    must_use: Annotated[
        list[NameText | tuple[NameText, NameText]],
        Field(max_length=20, description="Relation types, or pairs of a type and an object."),
    ] = []

    def options(self) -> dict[str, Any]:
        """Give the options of generation alone."""
        return self.model_dump(exclude={"model", "topic", "seed", "samples", "format"})


class StreamRequest(WritingRequest):
    """A text to write, piece by piece."""

    model_config = _example(topic="Norway", seed=1, max_length=60)


class GenerateRequest(WritingRequest):
    """Texts to write."""

    model_config = _example(topic="Norway", samples=2, seed=1, max_length=60)

    samples: int = Field(default=1, ge=1, le=limits.MOST_SAMPLES)
    format: Literal["json", "html"] = Field(
        default="json", description="html: a page in one file, to be kept."
    )

    @model_validator(mode="after")
    def _few_enough_tokens(self) -> Self:
        if self.samples * self.max_length > limits.MOST_TOKENS_IN_ALL:
            raise ValueError(
                f"samples × max_length is at most {limits.MOST_TOKENS_IN_ALL:,} in one request"
            )
        return self


class ScoreRequest(BaseModel):
    """A text to score, under one or several models."""

    model_config = _example(text=_TEXT, topic="Norway")

    models: Annotated[
        list[NameText],
        Field(max_length=limits.MOST_MODELS, description="All of them, where none is named."),
    ] = []
    text: TextToRead
    topic: TopicGiven


class LatticeRequest(BaseModel):
    """A part of a text whose lattice is wanted."""

    model_config = _example(text=_TEXT, topic="Norway", start=31, end=61)

    model: ModelName = None
    text: TextToRead
    topic: TopicGiven
    start: int = Field(default=0, ge=0, le=limits.LONGEST_TEXT, description="First character.")
    end: int | None = Field(
        default=None, ge=1, le=limits.LONGEST_TEXT, description="After the last character."
    )
