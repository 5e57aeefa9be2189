"""Commands whose help reads well and whose errors name the option that helps."""

from typing import Any

import typer
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup, TyperOption

from lrlm.cli.remedies import remedy
from lrlm.errors import LrlmError


class _Command(TyperCommand):
    """A command whose help is laid out for the terminal, not for the source."""

    def __init__(self, *arguments: Any, help: str | None = None, **options: Any) -> None:  # noqa: A002
        super().__init__(*arguments, help=help and _unwrapped(help), **options)

    def get_params(self, ctx: Any) -> list[Any]:
        """Give options and arguments."""
        return _readable_parameters(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a hint for an error becomes a note of it."""
        try:
            return super().invoke(ctx)
        except LrlmError as error:
            options = {option for parameter in self.params for option in parameter.opts}
            if hint := remedy(error, options):
                error.add_note(hint)
            raise


class _Group(TyperGroup):
    """A group of commands, likewise."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Give options."""
        return _readable_parameters(super().get_params(ctx))


def readable(app: typer.Typer) -> typer.Typer:
    """Lay out the help of every command of an app, and of the apps in it."""
    app.info.cls = _Group
    for command in app.registered_commands:
        command.cls = _Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            readable(group.typer_instance)
    return app


def _readable_parameters(parameters: list[Any]) -> list[Any]:
    """Show no type of flags, which have no value, and described defaults like all others."""
    for parameter in parameters:
        if isinstance(parameter, TyperOption) and parameter.is_flag:
            parameter.metavar = ""
        if isinstance(parameter, TyperOption) and isinstance(parameter.show_default, str):
            default = escape(f"[default: {parameter.show_default}]")
            parameter.help = f"{parameter.help} [dim]{default}[/dim]"
            parameter.show_default = False
    return parameters


def _unwrapped(text: str) -> str:
    """Join the lines of each paragraph, for they break where the source does."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
