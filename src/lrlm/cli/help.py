"""Commands in, the same commands with help that reads well out."""

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption


class _Command(TyperCommand):
    """A command whose help is laid out for the terminal, not for the source."""

    def __init__(self, *arguments: Any, help: str | None = None, **options: Any) -> None:  # noqa: A002
        super().__init__(*arguments, help=help and _unwrapped(help), **options)

    def get_params(self, ctx: Any) -> list[Any]:
        """Give options and arguments."""
        return _without_types_of_flags(super().get_params(ctx))


class _Group(TyperGroup):
    """A group of commands, likewise."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Give options."""
        return _without_types_of_flags(super().get_params(ctx))


def readable(app: typer.Typer) -> typer.Typer:
    """Lay out the help of every command of an app, and of the apps in it."""
    app.info.cls = _Group
    for command in app.registered_commands:
        command.cls = _Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            readable(group.typer_instance)
    return app


def _without_types_of_flags(parameters: list[Any]) -> list[Any]:
    """A flag has no value, so no type to show."""
    for parameter in parameters:
        if isinstance(parameter, TyperOption) and parameter.is_flag:
            parameter.metavar = ""
    return parameters


def _unwrapped(text: str) -> str:
    """Join the lines of each paragraph, for they break where the source does."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
