"""`lrlm verify`: check that files are as they were written."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lrlm.artifacts import FolderCheck
from lrlm.artifacts import verify as verify_folder
from lrlm.cli.console import errors, output
from lrlm.look import counted
from lrlm.plain_data import json_text

_DAMAGED = 1
"""The exit code where a file is not as it was written."""


def verify(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH…",
            help="Folders of runs, corpora, knowledge graphs, features or annotations, or folders"
            " that hold such.",
            show_default=False,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Check every file that lrlm wrote into some folders; exit code 1 where one is damaged."""
    checks = []
    for path in paths:
        checks.append(verify_folder(path))
        if not as_json:
            _tell(checks[-1])
    if as_json:
        typer.echo(json_text([_to_dict(check) for check in checks], indent=2))
    if any(check.damaged for check in checks):
        raise typer.Exit(_DAMAGED)


def _tell(check: FolderCheck) -> None:
    what = check.format.removeprefix("lrlm ") or "folders of lrlm"
    if check.damaged:
        verdict = f"[bold red]damaged[/]: {counted(len(check.damaged), 'file')}"
    elif check.unchecked:
        verdict = "[yellow]cannot be checked[/]: version 0.1 wrote no checksums"
        if len(check.unchecked) < check.files:
            verdict += f" into {counted(len(check.unchecked), 'folder')} of it"
    else:
        verdict = f"whole, {counted(check.files, 'file')}, {check.bytes / 1e6:,.1f} MB"
    folder = escape(str(check.folder))
    output.print(f"[bold]{folder}[/] ({what}): {verdict}", highlight=False, soft_wrap=True)
    for each in check.damaged:
        errors.print(f"[red]damaged:[/] {escape(each)}", highlight=False, soft_wrap=True)


def _to_dict(check: FolderCheck) -> dict[str, object]:
    return {
        "folder": str(check.folder),
        "format": check.format,
        "files": check.files,
        "bytes": check.bytes,
        "damaged": check.damaged,
        "unchecked": check.unchecked,
    }
