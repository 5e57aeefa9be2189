"""The program `lrlm`: its commands, and one clear line with exit code 2 when one fails."""

import warnings
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape

from lrlm import __version__
from lrlm.characters import printable
from lrlm.cli import (
    STOPPED,
    annotate,
    check,
    corpus,
    corpus_import,
    demo,
    evaluate,
    generate,
    kg,
    pack,
    pair,
    report,
    serve,
    topics,
    train,
    verify,
)
from lrlm.cli.console import errors, output
from lrlm.cli.help import choose_from, readable
from lrlm.cli.outputs import flush_output, give_up_output, keep_output_whole
from lrlm.errors import KnowledgeWarning, LrlmError
from lrlm.whole_files import is_disk_full

_AFTER_CTRL_C = 130
"""The exit code that typer gives in place of a KeyboardInterrupt."""

app = typer.Typer(
    name="lrlm",
    help="Language models that read and write text with the facts of a knowledge graph.",
    epilog="Example: lrlm generate --topic Norway",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("demo", epilog="Example: lrlm demo --out demo")(demo.demo)
app.add_typer(kg.app, name="kg")
corpus.app.add_typer(corpus_import.app, name="import")
app.add_typer(corpus.app, name="corpus")
app.command(
    "train", epilog="Example: lrlm train miniworld --out runs/lrlm --model lrlm --size mini"
)(train.train)
app.command("evaluate", epilog="Example: lrlm evaluate runs/vanilla runs/lrlm --plot bins.png")(
    evaluate.evaluate
)
app.command("pair", epilog="Example: lrlm pair runs/lrlm runs/backward")(pair.pair)
app.command("report", epilog="Example: lrlm report runs/vanilla runs/lrlm --out report")(
    report.report
)
app.command("annotate", epilog="Example: lrlm annotate article.txt --topic Norway --format html")(
    annotate.annotate
)
app.command("check", epilog="Example: lrlm check article.txt --topic Norway --format html")(
    check.check
)
app.command("topics", epilog="Example: lrlm topics runs/lrlm article.txt --graph kg")(topics.topics)
app.command("generate", epilog="Example: lrlm generate --topic Norway -n 3 --temperature 0.7")(
    generate.generate
)
app.command("serve", epilog="Example: lrlm serve runs/vanilla runs/lrlm --port 8000")(serve.serve)
app.command("pack", epilog="Example: lrlm pack runs/lrlm --out lrlm-small")(pack.pack)
app.command("verify", epilog="Example: lrlm verify runs/lrlm miniworld")(verify.verify)
readable(app)
choose_from("train", train.choices, "model", "backbone", "size", "direction")


def _print_version(wanted: bool) -> None:
    if wanted:
        output.print(f"lrlm {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options that stand before the command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; an expected error is one line on standard error, and the exit code 2."""
    code = 0
    keep_output_whole()
    try:
        code = _run(arguments)
        flush_output()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        give_up_output()
    except OSError as error:
        give_up_output()
        return code or _fail(_told(error))
    return code


def _run(arguments: Sequence[str] | None) -> int:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KnowledgeWarning)  # commands tell them in their way
            code = app(args=arguments, prog_name="lrlm", standalone_mode=False)
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.TyperException as error:
        message = error.format_message()
        if type(error).__name__ == "NoArgsIsHelpError":
            output.print(message, markup=False, highlight=False)
            return 2
        return _fail(f"{message} (try --help)")
    except LrlmError as error:
        hints = "; ".join(getattr(error, "__notes__", ()))
        return _fail(f"{error} ({hints})" if hints else str(error))
    except (KeyboardInterrupt, typer.Abort):
        return _fail(STOPPED)
    return _fail(STOPPED) if code == _AFTER_CTRL_C else int(code or 0)


def _told(error: OSError) -> str:
    """Say what the system refused; where no file is named, it was standard output."""
    file = error.filename2 or error.filename  # of two files, the one that is written
    if is_disk_full(error):
        return f"the disk is full: there is no room left to write {file or 'standard output'}"
    where = f"{file}: " if file else ""
    return f"{where}{error.strerror or error}"


def _fail(message: str) -> int:
    one_line = printable(" ".join(message.split()))
    errors.print(f"[bold red]lrlm:[/] {escape(one_line)}", highlight=False, soft_wrap=True)
    return 2
