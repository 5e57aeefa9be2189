"""What all commands have in common: help, versions, mistakes, pipes."""

import subprocess
import sys

import pytest
from typer.main import get_command

import lrlm
from lrlm.cli import main
from lrlm.cli.app import app


def commands() -> list[tuple[str, ...]]:
    """List every command of the program, as one would type it."""
    found: list[tuple[str, ...]] = []

    def walk(command: object, path: tuple[str, ...]) -> None:
        found.append(path)
        for name, each in getattr(command, "commands", {}).items():
            walk(each, (*path, name))

    walk(get_command(app), ())
    return found


def test_the_walk_finds_the_commands() -> None:
    assert {(), ("demo",), ("corpus",), ("corpus", "stats")} <= set(commands())


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_help_shows_an_example(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--help"]) == 0
    output, errors = capsys.readouterr()
    assert " ".join(("Usage: lrlm", *command)) in output
    assert " ".join(("Example: lrlm", *command)) in output
    assert "<bool>" not in output  # a flag has no value
    assert errors == ""


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"lrlm {lrlm.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bogus"], "No such command 'bogus'"),
        (["--bogus"], "No such option: --bogus"),
        (["corpus", "bogus"], "No such command 'bogus'"),
        (["corpus", "stats", "--bogus", "x"], "No such option: --bogus"),
        (["corpus", "build"], "Missing option '--out'"),
        (["corpus", "stats"], "Missing argument 'CORPUS'"),
        (["corpus", "show", "x", "-n", "0"], "'-n'"),
        (["corpus", "show", "x", "-n", "many"], "'-n'"),
        (["corpus", "stats", "no/such/folder"], "no/such/folder is not an lrlm corpus"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith("lrlm: ")
    assert errors.count("\n") == 1
    assert message in errors


@pytest.mark.parametrize("arguments", [[], ["corpus"]])
def test_without_a_command_help_is_shown(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    output, errors = capsys.readouterr()
    assert "Usage: lrlm" in output
    assert errors == ""


def test_messages_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Brackets are colours to the library that prints; in a path they are brackets."""
    assert main(["corpus", "stats", "a[/b]\\[bold]c"]) == 2
    assert "a[/b]\\[bold]c is not" in capsys.readouterr().err


def test_python_dash_m_is_the_same_program() -> None:
    command = [sys.executable, "-m", "lrlm", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == f"lrlm {lrlm.__version__}\n"


def test_a_reader_may_stop_reading() -> None:
    code = """if True:
        import sys
        from lrlm.cli import main
        from lrlm.cli.app import app
        from lrlm.cli.console import output

        @app.command()
        def flood():
            for _ in range(100_000):
                output.print("much text")

        sys.exit(main(["flood"]))
    """
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "much text\n"
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 0
