"""A run folder in, a model to use out: it scores, annotates and writes text about a topic."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Unpack

from lrlm.errors import InputError
from lrlm.inference.annotate import annotate
from lrlm.inference.annotation import Annotation
from lrlm.inference.generate import generate, stream
from lrlm.inference.generated import GeneratedText, Piece
from lrlm.inference.options import Wishes, options_of
from lrlm.inference.score import Score, score
from lrlm.inference.shipped import SHIPPED
from lrlm.inference.texts import LONGEST, link_text
from lrlm.knowledge import Topic
from lrlm.training.devices import choose_device
from lrlm.training.run import Run


def load(run: Path | str | None = None, *, device: str = "auto") -> "Model":
    """Load a trained model; without a folder, the small one that comes with the package."""
    if not isinstance(run, str | Path | None):
        raise InputError(f"a run is named by its folder, not by {run!r}")
    folder = SHIPPED if run is None else Path(run)
    return Model(Run.open(folder, device=str(choose_device(device))))


class Model:
    """A trained model with all that it needs to read and to write."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __repr__(self) -> str:
        return f"Model({str(self.run.folder)!r}, kind={self.kind!r})"

    @property
    def kind(self) -> str:
        """The model: vanilla, alias, nklm or lrlm."""
        return self.run.kind

    def score(self, text: str, topic: Topic, *, longest: int = LONGEST) -> Score:
        """Say how probable a text about a topic is."""
        document = link_text(text, topic, self.run.link_options, longest=longest)
        return score(self.run, document)

    def annotate(self, text: str, topic: Topic, *, longest: int = LONGEST) -> Annotation:
        """Say for every name in a text which facts it may have come from, and how probably.

        The probabilities are exact, and are those given the whole text. Offsets count the
        characters of exactly this text.
        """
        return next(self.annotate_many([(text, topic)], longest=longest))

    def annotate_many(
        self,
        texts: Iterable[tuple[str, Topic]],
        *,
        batch_size: int | None = None,
        longest: int = LONGEST,
    ) -> Iterator[Annotation]:
        """Annotate a stream of texts in their order, some of them at a time."""
        options = self.run.link_options
        documents = (link_text(text, topic, options, longest=longest) for text, topic in texts)
        return annotate(self.run, documents, batch_size=batch_size)

    def generate(
        self,
        topic: Topic,
        *,
        samples: int = 10,
        seed: int = 0,
        **options: Unpack[Wishes],
    ) -> list[GeneratedText]:
        """Write texts about a topic, all in one batch; the most probable per token come first.

        `options` are those of `GenerationOptions`, as in `temperature=0.8, max_length=50`.
        """
        return generate(self.run, topic, options_of(options), samples=samples, seed=seed)

    def stream(self, topic: Topic, *, seed: int = 0, **options: Unpack[Wishes]) -> Iterator[Piece]:
        """Write one text about a topic, and give each piece of it as soon as it is there."""
        return stream(self.run, topic, options_of(options), seed=seed)
