"""`lrlm pack`: make a run small enough to pass on."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lrlm.cli.console import output


def pack(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder of 'lrlm train'.")],
    out: Annotated[Path, typer.Option(help="A folder for the packed run.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a run there.")] = False,
) -> None:
    """Copy what it takes to use a model, without checkpoints and in half precision."""
    from lrlm.runs.packing import pack as pack_run

    packed = pack_run(run, out, overwrite=overwrite)
    size = sum(path.stat().st_size for path in packed.folder.rglob("*") if path.is_file())
    output.print(
        f"Wrote [bold]{escape(str(out))}[/]: {size / 1e6:.1f} MB.", highlight=False, soft_wrap=True
    )
