"""A seed in, the embedded corpus on disk out: generated, then built like any other corpus."""

import tempfile
from pathlib import Path

from lrlm.corpora.build import BuildInputs, BuildReport, Progress, build_corpus
from lrlm.corpora.corpus import SPLITS
from lrlm.corpora.miniworld.writing import write
from lrlm.text import Profile

DEFAULT_SEED = 1


def build_miniworld(
    out: Path | str,
    *,
    seed: int = DEFAULT_SEED,
    workers: int = 1,
    overwrite: bool = False,
    progress: Progress = lambda _doing, _articles: None,
) -> BuildReport:
    """Generate the articles of miniworld and link them with its facts."""
    with tempfile.TemporaryDirectory(prefix="miniworld-") as scratch:
        folder = Path(scratch)
        progress("writing articles", 0)
        write(folder, seed=seed)
        return build_corpus(
            out,
            BuildInputs(
                folder / "triples.tsv",
                folder / "forms.tsv",
                {split: folder / f"articles.{split}.jsonl" for split in SPLITS},
            ),
            profile=Profile.RAW,
            workers=workers,
            overwrite=overwrite,
            made_by=f"lrlm corpus miniworld --seed {seed}",
            progress=progress,
        )
