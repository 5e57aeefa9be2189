"""`lrlm pack`: make a run small enough to share."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lrlm.cli.console import output


def pack(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder, made with 'lrlm train'.")],
    out: Annotated[Path, typer.Option(help="Folder to create for the packed run.")],
    with_backbone: Annotated[
        bool,
        typer.Option(
            "--with-backbone",
            help="Also copy the files of the pretrained language model that the run is on.",
        ),
    ] = False,
    beside: Annotated[
        Path | None,
        typer.Option(
            help="Corpus that the copy is used beside: leave out what it tells, and vectors of what"
            " does not stand in its facts."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run if the folder already holds one.")
    ] = False,
) -> None:
    """Make a small copy of a run to share: without checkpoints, weights in half precision."""
    from lrlm.runs.packing import pack as pack_run

    packed = pack_run(run, out, with_backbone=with_backbone, beside=beside, overwrite=overwrite)
    size = sum(path.stat().st_size for path in packed.folder.rglob("*") if path.is_file())
    output.print(
        f"Wrote [bold]{escape(str(out))}[/]: {size / 1e6:.1f} MB.", highlight=False, soft_wrap=True
    )
