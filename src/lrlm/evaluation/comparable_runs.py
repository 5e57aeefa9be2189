"""Open runs that are to stand side by side, and the corpus to evaluate them on."""

from collections.abc import Sequence
from pathlib import Path

from lrlm.corpora import Corpus
from lrlm.errors import CorpusNotFoundError, InputError
from lrlm.runs.run import Run
from lrlm.runs.topics import training_corpus


def open_runs(folders: Sequence[Path | str], *, device: str = "cpu") -> list[Run]:
    """Open runs; the same one twice is refused.

    Perplexity is per word of the corpus that is evaluated on, and every word has a probability
    under every run (unknown ones are spelled), so runs with different vocabularies, tokens or
    training corpora can stand in one table.
    """
    if not folders:
        raise InputError("there is no run to evaluate: name at least one folder of a trained model")
    paths = [Path(folder) for folder in folders]
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise InputError(f"{path} is named twice")
        seen.add(path.resolve())
    return [Run.open(path, device=device) for path in paths]


def corpus_for(runs: Sequence[Run], corpus: Corpus | Path | str | None = None) -> Corpus:
    """Open the corpus to evaluate on: the given one, else the one that the runs were trained on."""
    if isinstance(corpus, Corpus):
        return corpus
    if corpus is not None:
        return Corpus.open(corpus)
    first = runs[0]
    for run in runs[1:]:
        if run.corpus_fingerprint != first.corpus_fingerprint:
            raise CorpusNotFoundError(
                f"{first.folder} and {run.folder} were trained on different corpora"
                f" ({first.corpus_name!r} and {run.corpus_name!r}, by their content); say on which"
                " corpus to evaluate them"
            )
    return training_corpus(first)


def short_names(runs: Sequence[Run]) -> list[str]:
    """Give each run a name that no other has: the last of its folder, or the whole path."""
    names = [run.folder.resolve().name for run in runs]
    return [
        name if names.count(name) == 1 else str(run.folder)
        for name, run in zip(names, runs, strict=True)
    ]
