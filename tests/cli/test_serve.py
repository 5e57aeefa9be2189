"""`lrlm serve` says in one line why it cannot start."""

import pytest

from lrlm.cli import main


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--host", "0.0.0.0"], "others can reach 0.0.0.0: they need a token"),
        (["--host", "0.0.0.0"], "(pass --token"),
        (["--host", "0.0.0.0", "--token", "short"], "at least 16"),
        (["--host", "203.0.113.1", "--token", "a" * 16], "cannot listen on 203.0.113.1"),
        (["--port", "99999"], "'--port'"),
        (["no/such/run", "--port", "0"], "no/such/run"),
        (["--graph", "no/such/graph", "--port", "0"], "no/such/graph"),
    ],
)
def test_what_cannot_be_served_is_one_line(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *arguments]) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.count("\n") == 1
    assert told in errors


def test_the_extra_is_named_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert main(["serve"]) == 2
    assert "pip install 'lrlm[serve]'" in capsys.readouterr().err
