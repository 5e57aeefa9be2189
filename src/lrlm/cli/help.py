"""Commands whose help reads well and whose errors name the option that helps."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar

import typer
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup, TyperOption

from lrlm.errors import (
    CorpusNotFoundError,
    DamagedFileError,
    ExistsError,
    LrlmError,
    NamelessFactsError,
    StoppedError,
    TextTooLongError,
    TokenWantedError,
    TooManyBadLinesError,
    TooMuchUnknownError,
    TopicLookupError,
    TopicNotFoundError,
    WorkerError,
)

_REMEDIES: tuple[tuple[type[LrlmError], str, str], ...] = (
    (ExistsError, "--overwrite", "pass --overwrite"),
    (ExistsError, "--resume", "pass --resume"),
    (TooManyBadLinesError, "--max-bad", "allow more with --max-bad"),
    (NamelessFactsError, "--ids-as-names", "or call entities by their ids with --ids-as-names"),
    (TooMuchUnknownError, "--max-unknown", "allow more with --max-unknown"),
    (DamagedFileError, "--keep-damaged", "pass --keep-damaged"),
    (CorpusNotFoundError, "--corpus", "say where it is with --corpus DIR"),
    (TopicLookupError, "--graph", "name one with --graph KG or --corpus DIR"),
    (TopicNotFoundError, "--topic", "pass --topic ID or --topic FILE.json"),
    (TextTooLongError, "--longest", "allow more with --longest"),
    (TokenWantedError, "--token", "pass --token SECRET, or set LRLM_TOKEN"),
    (WorkerError, "--workers", "try --workers 1"),
    (StoppedError, "--resume", "the same command with --resume continues"),
)


def remedy(error: LrlmError, options: Collection[str]) -> str | None:
    """Give a hint for an error of a command that has these options; None if there is none."""
    hints = (
        hint for kind, option, hint in _REMEDIES if isinstance(error, kind) and option in options
    )
    return next(hints, None)


ListChoices = Callable[[str], Sequence[str]]
"""Lists what an option may be; asked only when a command that has it is run."""


class _Command(TyperCommand):
    """A command whose help is laid out for the terminal, not for the source."""

    choices: ClassVar[dict[str, tuple[ListChoices, tuple[str, ...]]]] = {}
    """By the name of a command: the options whose values are a table of the library."""

    def __init__(self, *arguments: Any, help: str | None = None, **options: Any) -> None:  # noqa: A002
        super().__init__(*arguments, help=help and _unwrapped(help), **options)

    def get_params(self, ctx: Any) -> list[Any]:
        """Give options and arguments."""
        parameters = _readable_parameters(super().get_params(ctx))
        list_choices, options = self.choices.get(self.name or "", (None, ()))
        for parameter in parameters:
            if list_choices is not None and parameter.name in options:
                parameter.metavar = "|".join(list_choices(parameter.name))
        return parameters

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


def choose_from(command: str, choices: ListChoices, *options: str) -> None:
    """Show in a command's help what some of its options may be, without loading it now."""
    _Command.choices[command] = choices, options


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
