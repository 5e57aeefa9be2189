"""Errors of the library get a hint from the command line, if the command has the option."""

from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from lrlm.cli import main
from lrlm.cli.app import app
from lrlm.cli.help import _REMEDIES, remedy
from lrlm.errors import ExistsError, InputError, TooManyBadLinesError


def options_of(command: Any) -> list[set[str]]:
    """Give the options of each command of the program."""
    own = {option for parameter in command.params for option in parameter.opts}
    inner = getattr(command, "commands", {}).values()
    return [own, *(options for each in inner for options in options_of(each))]


def test_every_option_that_is_recommended_exists() -> None:
    known = set().union(*options_of(get_command(app)))
    for _, option, hint in _REMEDIES:
        assert option in known
        assert option in hint


def test_the_hint_is_for_an_option_of_the_command() -> None:
    error = ExistsError("runs/lrlm exists already")
    assert "--overwrite" in str(remedy(error, {"--out", "--overwrite"}))
    assert "--resume" in str(remedy(error, {"--out", "--resume"}))
    assert remedy(error, {"--out"}) is None
    assert "--max-bad" in str(remedy(TooManyBadLinesError("x"), {"--max-bad"}))
    assert remedy(InputError("x"), {"--overwrite"}) is None


def test_the_hint_stands_on_the_same_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise ExistsError("out exists already")

    monkeypatch.setattr("lrlm.cli.corpus.build_miniworld", fail)
    assert main(["corpus", "miniworld", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == ("lrlm: out exists already (pass --overwrite)\n")
