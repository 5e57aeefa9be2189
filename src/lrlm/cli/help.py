"""Commands in, the same commands with help that reads well out."""

from typing import Any

import typer
from typer.core import TyperCommand, TyperOption


class _Command(TyperCommand):
    """A command whose help is laid out for the terminal, not for the source."""

    def __init__(self, *arguments: Any, help: str | None = None, **options: Any) -> None:  # noqa: A002
        super().__init__(*arguments, help=help and _unwrapped(help), **options)
        for option in self.params:
            if isinstance(option, TyperOption) and option.is_flag:
                option.metavar = ""  # a flag has no value, so no type to show


def readable(app: typer.Typer) -> typer.Typer:
    """Lay out the help of every command of an app, and of the apps in it."""
    for command in app.registered_commands:
        command.cls = _Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            readable(group.typer_instance)
    return app


def _unwrapped(text: str) -> str:
    """Join the lines of each paragraph, for they break where the source does."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
