"""Open the input files that corpora are timed on: those of a folder, or those of miniworld."""

import argparse
import gzip
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lrlm.corpora.corpus import SPLITS
from lrlm.corpora.inputs import BuildInputs
from lrlm.corpora.miniworld import write as write_miniworld


def parser(description: str) -> argparse.ArgumentParser:
    """Give a parser with what every benchmark of corpora takes."""
    result = argparse.ArgumentParser(description=description.splitlines()[0])
    result.add_argument(
        "--data",
        type=Path,
        help="folder with triples.tsv.gz, surface_forms.tsv.gz and articles.*.jsonl.gz (default:"
        " miniworld)",
    )
    return result


@contextmanager
def inputs_in(data: Path | None, *, copies: int = 1) -> Iterator[BuildInputs]:
    """Give the files of a folder or of miniworld; each training article comes `copies` times."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        folder = Path(scratch)
        if data is not None:
            found = BuildInputs(
                data / "triples.tsv.gz",
                data / "surface_forms.tsv.gz",
                {split: data / f"articles.{split}.jsonl.gz" for split in SPLITS},
            )
            print(f"Data: {data}")
        else:
            write_miniworld(folder)
            found = BuildInputs(
                folder / "triples.tsv",
                folder / "forms.tsv",
                {split: folder / f"articles.{split}.jsonl" for split in SPLITS},
            )
            print("Data: miniworld")
        if copies > 1:
            train = folder / "copies.jsonl.gz"
            _write_copies(found.articles["train"], train, copies)
            found = BuildInputs(found.triples, found.forms, {**found.articles, "train": train})
        yield found


def _write_copies(source: Path, target: Path, copies: int) -> None:
    with gzip.open(target, "wt", encoding="utf-8", compresslevel=1) as out:
        for copy in range(copies):
            for article in read_articles(source):
                topic = article.get("topic", article["id"])
                copied = {**article, "id": f"{article['id']}~{copy}", "topic": topic}
                out.write(json.dumps(copied) + "\n")


def read_articles(path: Path) -> Iterator[dict[str, str]]:
    """Read the articles of a file, plain or compressed."""
    content = path.read_bytes()
    for line in (gzip.decompress(content) if path.suffix == ".gz" else content).splitlines():
        yield json.loads(line)
