"""`lrlm corpus` and `lrlm demo`, as a user runs them."""

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from lrlm.cli import main
from lrlm.corpora import USUAL_RULES, LinkOptions, miniworld
from lrlm.corpora.build import build_from
from lrlm.corpora.corpus import Corpus
from tests.corpora import small_world
from tests.corpora.small_world import TRIPLES, as_arguments, digests

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")  # colours and progress bars are made of these


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return build_from(tmp_path / "rivers", small_world.write(tmp_path / "in")).folder


def test_build_says_what_it_built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs = small_world.write(tmp_path / "in")
    assert main([*as_arguments(inputs, tmp_path / "out"), "--workers", "1"]) == 0
    output, errors = capsys.readouterr()
    assert re.fullmatch(r"Wrote .*/out: 3 articles, 5 facts, .*'raw', in [\d.]+ s\.\n", output)
    assert re.match(r"left out: facts .* \(1\)\nwarning: 1 of 6 facts lead to an object ", errors)
    assert Corpus.open(tmp_path / "out").splits == ("train", "test")


def test_the_command_builds_what_the_function_builds(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in")
    build_from(tmp_path / "function", inputs, options=LinkOptions(name_rules=USUAL_RULES))
    assert main([*as_arguments(inputs, tmp_path / "command"), "--workers", "1"]) == 0
    assert digests(tmp_path / "command") == digests(tmp_path / "function")


def test_options_reach_the_build(tmp_path: Path) -> None:
    inputs = small_world.write(tmp_path / "in")
    options = ["--tokens", "wikitext", "--letter-case", "variants", "--stop-words", "--limit", "1"]
    options += ["--name-rules", "accents, plurals"]
    assert main([*as_arguments(inputs, tmp_path / "out"), *options, "--workers", "1"]) == 0
    manifest = Corpus.open(tmp_path / "out").manifest
    assert manifest["options"] == {
        "profile": "wikitext",
        "letter_case": "variants",
        "stop_words": True,
        "name_rules": ["accents", "plurals"],
    }
    assert manifest["limit"] == 1


def test_rules_for_names_that_do_not_exist(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = small_world.write(tmp_path / "in")
    assert main([*as_arguments(inputs, tmp_path / "out"), "--name-rules", "case"]) == 2
    assert "name_rules must be one of 'characters', 'punctuation'" in capsys.readouterr().err


def test_bad_lines_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = "a\tb\tc\t[/bold]"  # not a closing colour
    inputs = small_world.write(tmp_path / "in[bold]", triples=[*TRIPLES, odd])
    arguments = [*as_arguments(inputs, tmp_path / "out[bold]"), "--workers", "1"]
    assert main(arguments) == 2
    refused = capsys.readouterr().err
    assert "in[bold]/triples.tsv:9: the fourth column must be entity or literal" in refused
    assert refused.count("\n") == 1
    assert not (tmp_path / "out[bold]").exists()
    assert main([*arguments, "--max-bad", "0.2"]) == 0
    output, errors = capsys.readouterr()
    assert "out[bold]: 3 articles" in output
    assert "skipped" in errors
    assert (
        "in[bold]/triples.tsv:9: the fourth column must be entity or literal, not '[/bold]'"
        in errors
    )
    assert "1 malformed line skipped\n" in errors


def test_misplaced_gold_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = [{"id": "Rhine", "text": "The Rhine.", "gold": [{"start": 5, "end": 9}]}]
    inputs = small_world.write(tmp_path / "in", train=train)
    assert main([*as_arguments(inputs, tmp_path / "out"), "--workers", "1"]) == 0
    assert re.search(r"left out: gold mentions .* \(1\)\n", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--train", "gone.jsonl"], "gone.jsonl: there is no such file"),
        (["--limit", "0"], "--limit"),
        (["--max-bad", "1"], "--max-bad"),
        (["--workers", "0"], "--workers"),
        (["--tokens", "klingon"], "klingon"),
    ],
)
def test_bad_arguments_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: list[str], message: str
) -> None:
    arguments = as_arguments(small_world.write(tmp_path / "in"), tmp_path / "out")
    assert main([*arguments, *change]) == 2
    output, errors = capsys.readouterr()
    assert (output, errors.count("\n")) == ("", 1)
    assert message in errors
    assert not (tmp_path / "out").exists()


def test_articles_are_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs = small_world.write(tmp_path / "in")
    arguments = as_arguments(inputs, tmp_path / "out")
    assert main(arguments[: arguments.index("--train")]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert all(option in errors for option in ("no articles", "--train", "--valid", "--test"))


def test_overwriting_must_be_asked_for(
    tmp_path: Path, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*as_arguments(small_world.write(tmp_path / "in"), corpus), "--workers", "1"]
    before = digests(corpus)
    assert main([*arguments, "--limit", "1"]) == 2
    assert "pass --overwrite" in capsys.readouterr().err
    assert digests(corpus) == before
    assert main([*arguments, "--limit", "1", "--overwrite"]) == 0
    assert digests(corpus) != before


def test_stats_as_a_table(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "stats", str(corpus)]) == 0
    output = capsys.readouterr().out
    rows = [line.split() for line in output.splitlines()]
    assert rows[0] == ["rivers", "in", "numbers"]
    assert rows[1] == ["train", "test"]
    assert ["documents", "2", "1"] in rows
    assert ["relations", "per", "topic", "2.50", "0.00"] in rows
    assert ["tokens", "covered", "33.3%", "16.7%"] in rows


def test_stats_as_json(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "stats", str(corpus), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert list(figures) == ["train", "test"]
    assert figures["train"]["documents"] == 2
    assert figures == {
        split: Corpus.open(corpus).statistics(split) for split in Corpus.open(corpus).splits
    }


def test_show_names_every_candidate(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "show", str(corpus), "Danube"]) == 0
    output = capsys.readouterr().out
    assert "The Danube ends in the Black Sea, not in the Black Seas." in output
    assert "mouth → Black_Sea  or  words" in output


def test_show_takes_the_first_articles_of_a_split(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["corpus", "show", str(corpus)]) == 0
    shown = capsys.readouterr().out
    assert shown.index("Rhine (river)") < shown.index("Danube")
    assert main(["corpus", "show", str(corpus), "-n", "1"]) == 0
    assert "Danube" not in capsys.readouterr().out
    assert main(["corpus", "show", str(corpus), "--split", "test"]) == 0
    assert "The Oder is a river." in capsys.readouterr().out


def test_show_says_what_is_not_there(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "show", str(corpus), "Nile"]) == 2
    assert capsys.readouterr().err == f"lrlm: {corpus} has no article 'Nile'\n"
    assert main(["corpus", "show", str(corpus), "--split", "dev"]) == 2
    assert "no split 'dev'; it has: train, test" in capsys.readouterr().err


@pytest.fixture
def small_miniworld(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the embedded corpus have fifty articles."""
    few = partial(miniworld.write, articles=(40, 5, 5))
    monkeypatch.setattr("lrlm.corpora.miniworld.corpus.write", few)


@pytest.mark.usefixtures("small_miniworld")
def test_miniworld_follows_its_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, seed in (("one", "1"), ("again", "1"), ("two", "2")):
        out = str(tmp_path / name)
        assert main(["corpus", "miniworld", "--out", out, "--seed", seed, "--workers", "1"]) == 0
        assert re.match(r"Wrote .*: 50 articles, [\d,]+ facts", capsys.readouterr().out)
    assert digests(tmp_path / "one") == digests(tmp_path / "again")
    assert digests(tmp_path / "one") != digests(tmp_path / "two")


@pytest.mark.usefixtures("small_miniworld")
def test_the_demo_builds_and_shows_the_embedded_corpus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):  # it may be run again
        assert main(["demo", "--out", str(tmp_path / "new" / "demo"), "--epochs", "0"]) == 0
        output = capsys.readouterr().out
        assert "tokens per document" in output
        assert "may come from" in output
        assert re.search(r"Built .*/demo/corpus in [\d.]+ s", output)
        assert not CONTROL.search(output)


@pytest.mark.usefixtures("small_miniworld")
def test_the_demo_touches_no_folder_but_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs" / "lrlm").mkdir(parents=True)
    assert main(["demo", "--out", str(tmp_path), "--epochs", "0"]) == 2
    assert "is not an lrlm demo" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


@pytest.mark.usefixtures("small_miniworld")
def test_the_demo_trains_and_compares_three_models(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--out", str(tmp_path / "demo"), "--epochs", "1"]) == 0
    output = capsys.readouterr().out
    for model in ("Vanilla LM", "NKLM", "LRLM"):
        assert model in output
    assert re.search(r"All of it took [\d.]+ minutes", output)
    assert re.search(r"The report is .*/demo/report/index.html: open it", output)
    page = (tmp_path / "demo" / "report" / "index.html").read_text()
    assert "Three models of miniworld" in page
    assert 'class="nothing"' not in page
    runs = sorted(path.name for path in (tmp_path / "demo" / "runs").iterdir())
    assert [name for name in runs if not name.startswith(".")] == ["lrlm", "nklm", "vanilla"]


def test_nothing_but_text_goes_into_a_pipe(tmp_path: Path, corpus: Path) -> None:
    build = as_arguments(small_world.write_large(tmp_path / "large", 1000), tmp_path / "out")
    for arguments in (
        build,
        ["corpus", "show", str(corpus)],
        ["corpus", "stats", str(corpus)],
        ["corpus", "stats", str(corpus), "--json"],
        ["corpus", "build", "--help"],
        ["corpus", "show", "nowhere"],
    ):
        command = [sys.executable, "-m", "lrlm", *arguments]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.stdout or result.stderr
        assert not CONTROL.search(result.stdout + result.stderr)
