"""`lrlm demo`: the whole story on the embedded corpus."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lrlm.cli.console import output, progress_of
from lrlm.cli.corpus import cores
from lrlm.corpora.miniworld.corpus import build_miniworld
from lrlm.report.article import article_view
from lrlm.report.corpus_table import corpus_table


def demo(
    out: Annotated[Path, typer.Option(help="A folder for what the demo makes.")] = Path("demo"),
) -> None:
    """Build the embedded corpus and show it."""
    start = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    with progress_of("articles") as progress:
        report = build_miniworld(out / "corpus", workers=cores(), overwrite=True, progress=progress)
    seconds = time.perf_counter() - start
    folder = escape(str(report.corpus.folder))
    output.print(corpus_table(report.corpus))
    output.print()
    output.print(article_view(next(report.corpus.documents("test"))))
    output.print(
        f"Built [bold]{folder}[/] in {seconds:.1f} s. Look at more articles with:"
        f" lrlm corpus show {folder}",
        highlight=False,
        soft_wrap=True,
    )
