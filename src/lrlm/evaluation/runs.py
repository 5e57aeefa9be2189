"""Run folders in, runs that can stand side by side out, and the corpus to evaluate them on."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from lrlm.corpora.corpus import Corpus
from lrlm.errors import FormatError, InputError
from lrlm.training.run import Run, corpus_fingerprint
from lrlm.training.sizes import BACKBONES


def open_runs(folders: Sequence[Path | str], *, device: str = "cpu") -> list[Run]:
    """Open runs, and refuse those that cannot be compared."""
    if not folders:
        raise InputError("there is no run to evaluate: name at least one folder of 'lrlm train'")
    paths = [Path(folder) for folder in folders]
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise InputError(f"{path} is named twice")
        seen.add(path.resolve())
    runs = [Run.open(path, device=device) for path in paths]
    check_comparable(runs)
    return runs


def check_comparable(runs: Sequence[Run]) -> None:
    """Refuse runs whose perplexities would not speak about the same words."""
    for run in runs[1:]:
        one, other = runs[0], run
        if one.corpus_fingerprint != other.corpus_fingerprint:
            raise InputError(
                f"{one.folder} and {other.folder} were trained on different corpora"
                f" ({corpus_name(one)!r} and {corpus_name(other)!r}, by their content), so their"
                " perplexities cannot stand side by side; train both on the same corpus,"
                " or evaluate them one at a time"
            )
        if one.vocabulary.words != other.vocabulary.words:
            raise InputError(
                f"{one.folder} and {other.folder} have different vocabularies"
                f" ({len(one.vocabulary):,} and {len(other.vocabulary):,} words), so they spell"
                " different words and their perplexities cannot stand side by side; train both with"
                " the same vocabulary.min_count and vocabulary.size, or evaluate them one at a time"
            )


def corpus_name(run: Run) -> str:
    """Give the last name of the folder that a run was trained on."""
    return str(run.setting.manifest["corpus"].get("name", "?"))


def backbone_name(run: Run) -> str:
    """Give what a run's model reads with: lstm or transformer-xl."""
    (name,) = (
        name for name, config in BACKBONES.items() if type(run.config.model.backbone) is config
    )
    return name


def short_names(runs: Sequence[Run]) -> list[str]:
    """Give each run a name that no other has: the last of its folder, or the whole path."""
    names = [run.folder.resolve().name for run in runs]
    return [
        name if names.count(name) == 1 else str(run.folder)
        for name, run in zip(names, runs, strict=True)
    ]


def corpus_for(runs: Sequence[Run], folder: Path | str | None = None) -> Corpus:
    """Open the corpus to evaluate on: the given one, else the one that the runs were trained on.

    A run says what corpus it was trained on by name and content, not where it lies. A folder of
    that name is looked for where the command was given, beside the run and beside the run's folder.
    """
    first = runs[0]
    if folder is None:
        return next(_trained_on(first), None) or _ask_for(first)
    corpus = Corpus.open(folder)
    if corpus.options != first.link_options:
        raise InputError(
            f"{corpus.folder} was linked in another way ({corpus.options}) than the corpus that"
            f" {first.folder} was trained on ({first.link_options}); build it with the same options"
        )
    return corpus


def _trained_on(run: Run) -> Iterator[Corpus]:
    """Find folders with the name and the content of the corpus that a run was trained on."""
    home = run.folder.resolve().parent
    for place in (Path(), home, home.parent):
        try:
            corpus = Corpus.open(place / corpus_name(run))
        except FormatError:
            continue
        if corpus_fingerprint(corpus) == run.corpus_fingerprint:
            yield corpus


def _ask_for(run: Run) -> Corpus:
    raise InputError(
        f"the corpus {corpus_name(run)!r} that {run.folder} was trained on is neither here nor"
        " beside the run (or it has changed); say where it is with --corpus DIR"
    )
