"""Say after training what to try next, from how it went."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lrlm.corpora import Corpus
from lrlm.look import counted
from lrlm.plain_data import parse_json
from lrlm.runs.config import RunConfig
from lrlm.training.little_data import enough_epochs, enough_updates, fitted

_FEW = 0.5
"""Of the updates that are enough; with fewer, a model has hardly begun to learn."""
_LITTLE_TEXT = 1000
"""Documents below which a model that knows its language already is worth trying."""
_STILL_IMPROVING = 0.01
"""By which the perplexity of the last epoch is lower than that of the one before."""
_OVERFITTED = 0.05
"""By which the perplexity of the last epoch is higher than the best one."""


class Advice(NamedTuple):
    """One sentence on what to try next; settings are written as `key=value`."""

    text: str
    is_warning: bool = False
    """Whether the run is hardly of use as it is."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Course:
    """How training went."""

    updates: int
    epochs: int
    """Epochs that were finished."""
    perplexities: tuple[float, ...]
    """Of every validation, in their order."""

    @classmethod
    def read(cls, metrics: Path, *, updates: int, epochs: int) -> "Course":
        """Take the validations from the metrics of a run."""
        lines = metrics.read_text(encoding="utf-8").splitlines()
        found = (parse_json(line, where=str(metrics)) for line in lines)
        valid = (line["perplexity"] for line in found if line["kind"] == "valid")
        return cls(updates, epochs, tuple(valid))


def advise(config: RunConfig, course: Course, corpus: Corpus) -> tuple[Advice, ...]:
    """Say what to try next, the most important first; there is always something."""
    found = [*_more_updates(config, course, corpus), *_better_fit(config, course, corpus)]
    return tuple(found) or tuple(_comparison(config))


def _more_updates(config: RunConfig, course: Course, corpus: Corpus) -> Iterator[Advice]:
    training = config.training
    is_cut_short = training.minutes is not None and course.epochs < training.epochs
    are_few = course.updates < _FEW * enough_updates(config)
    made = (
        f"only {counted(course.updates, 'update')} {'was' if course.updates == 1 else 'were'} made"
    )
    if are_few and is_cut_short:
        yield Advice(
            f"{made} in {training.minutes:g} minutes, and some hundred are needed: allow more time"
            " (training.minutes)",
            is_warning=True,
        )
    elif are_few and (remedy := _remedy(config, corpus)):
        yield Advice(f"{made}, and some hundred are needed: {remedy}", is_warning=True)
    elif _is_still_improving(course):
        more = f"training.epochs={2 * training.epochs}"
        yield Advice(
            "the model was still improving at the end:"
            f" {'allow more time (training.minutes)' if is_cut_short else more}"
        )


def _remedy(config: RunConfig, corpus: Corpus) -> str:
    """Name the settings that make enough updates."""
    better = fitted(config, corpus)
    epochs = max(config.training.epochs, enough_epochs(better, corpus))
    changes = {"epochs": epochs, "batch_size": better.training.batch_size}
    return " and ".join(
        f"training.{name}={value}"
        for name, value in changes.items()
        if value != getattr(config.training, name)
    )


def _better_fit(config: RunConfig, course: Course, corpus: Corpus) -> Iterator[Advice]:
    vocabulary = config.vocabulary.advice(corpus)
    if vocabulary is not None:
        yield Advice(vocabulary)
    best = min(course.perplexities, default=0.0)
    if not course.perplexities or course.perplexities[-1] <= (1 + _OVERFITTED) * best:
        return
    epoch = course.perplexities.index(best) + 1
    documents = int(corpus.statistics("train")["documents"])
    text = (
        f"validation was best after epoch {epoch} of {len(course.perplexities)}, and those weights"
        f" are kept; later ones only knew the {counted(documents, 'training text')} better. More"
        " texts would help most"
    )
    if documents < _LITTLE_TEXT and config.vocabulary.needs_spelling:
        text += "; a pretrained language model as the backbone needs fewer of them"
    yield Advice(text)


def _is_still_improving(course: Course) -> bool:
    if len(course.perplexities) < 2:
        return False
    *before, last = course.perplexities
    return last < (1 - _STILL_IMPROVING) * min(before)


def _comparison(config: RunConfig) -> Iterator[Advice]:
    other = "lrlm" if config.model.kind == "vanilla" else "vanilla"
    knows = "reads facts" if other == "lrlm" else "reads no facts"
    yield Advice(f"to see what facts are worth, train a model that {knows} ({other}) beside it")
