"""The documentation's examples run, and its command lines parse.

A page's Python examples are run in order, as one program, in an empty folder that holds a trained
model as `runs/mine` and a tiny pretrained one as `language-model`; where a block of text follows an
example directly, it is what the example prints. Command lines are parsed, not run.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

import lrlm
from lrlm.cli.app import app
from lrlm.corpora.miniworld.corpus import write
from lrlm.errors import LrlmError
from lrlm.progress import Progress
from lrlm.runs.shipped import SHIPPED
from lrlm.runs.sizes import change, load_size
from lrlm.training import wrapping
from tests.docs_pages import ROOT, Page, all_pages, pages
from tests.generators.tiny_backbones import save_tiny_llama
from tests.generators.tiny_language_models import byte_level_bpe

OPTIONS_OF_OTHERS = {"--constraint", "--fix", "--nproc-per-node"}
"""Of pip, ruff and torchrun."""


def pages_with_examples(*, with_extras: bool) -> pytest.MarkDecorator:
    values: list[Any] = []
    for page in pages():
        extras = sorted({block.needs for block, _ in page.examples if block.needs})
        if page.examples and (extras or not with_extras):
            marks = [pytest.mark.extra(name) for name in extras] if with_extras else []
            values.append(pytest.param(page, id=str(page), marks=marks))
    return pytest.mark.parametrize("page", values)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where examples are run: not among the project's files, and with a cache of its own."""
    here = tmp_path / "here"
    shutil.copytree(SHIPPED, here / "runs" / "mine")
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    save_tiny_llama(here / "language-model", byte_level_bpe(), width=16, spread=0.1)
    monkeypatch.setattr(wrapping, "build_miniworld", few_articles)
    return here


def few_articles(out: Path, *, progress: Progress) -> None:
    """Build a miniworld of some articles, for the whole one takes a while to read."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder)
        write(raw, articles=(40, 8, 8))
        lrlm.build_corpus(
            out,
            triples=raw / "triples.tsv",
            forms=raw / "forms.tsv",
            train=raw / "articles.train.jsonl",
            valid=raw / "articles.valid.jsonl",
            test=raw / "articles.test.jsonl",
            progress=progress,
        )


def run(page: Page, capsys: pytest.CaptureFixture[str], *, with_extras: bool) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    for block, shown in page.examples:
        if block.needs and not with_extras:
            continue
        capsys.readouterr()
        code = "\n" * (block.line - 1) + block.content  # so that errors name the page's line
        exec(compile(code, str(page.path), "exec"), names)
        if shown is not None:
            assert capsys.readouterr().out == shown


@pages_with_examples(with_extras=False)
def test_examples_run(page: Page, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(page, capsys, with_extras=False)


@pages_with_examples(with_extras=True)
def test_examples_run_with_extras(
    page: Page, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(page, capsys, with_extras=True)


@cache
def root() -> Any:
    return get_command(app)


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """Follow the names of commands; give the command and the words behind its name."""
    command, rest = root(), list(words)
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    return command, rest


def arguments_of(words: list[str]) -> list[str] | None:
    """Give what `lrlm` is called with, if it is."""
    if words[0] == "lrlm":
        return words[1:]
    for place, pair in enumerate(pairwise(words)):
        if pair == ("-m", "lrlm"):
            return words[place + 2 :]
    return None


def fault_of(arguments: list[str]) -> str | None:
    """Say why a command line cannot work, also because of a setting that does not exist."""
    command, rest = command_of(arguments)
    if hasattr(command, "commands"):
        return "there is no such command"
    chosen = dict(pairwise(rest))
    settings = [value for key, value in pairwise(rest) if key == "--set"]
    try:
        command.make_context("lrlm", list(rest))
        change(load_size(chosen.get("--size", "mini"), chosen.get("--backbone", "lstm")), settings)
    except (typer.TyperException, LrlmError) as error:
        return str(error)
    return None


@all_pages()
def test_command_lines_parse(page: Page) -> None:
    assert not list(command_faults(page))


def command_faults(page: Page) -> Iterator[str]:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for line, words in page.commands:
        where = f"{page}:{line}: {' '.join(words)}"
        arguments = arguments_of(words)
        if arguments is not None and (fault := fault_of(arguments)):
            yield f"{where}: {fault}"
        if words[0] == "make" and not set(words[1:]) <= targets:
            yield f"{where}: there is no such target"
        yield from benchmark_faults(" ".join(words), where)


def benchmark_faults(command: str, where: str) -> Iterator[str]:
    """A benchmark is a module of the project and has the options that are named."""
    if match := re.match(r"python -m (benchmarks\.\w+)", command):
        place = ROOT / match[1].replace(".", "/")
        source = place / "__main__.py" if place.is_dir() else place.with_suffix(".py")
        if not source.exists():
            yield f"{where}: there is no such module"
            return
        for option in re.findall(r"--[a-z-]+", command):
            if f'"{option}"' not in source.read_text(encoding="utf-8"):
                yield f"{where}: {source.name} has no {option}"


def options_of(command: Any) -> set[str]:
    """Give the options of a command, or of all commands of a group."""
    own = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    others = map(options_of, getattr(command, "commands", {}).values())
    return {"--help"}.union(own, *others)


@all_pages()
def test_commands_and_options_in_the_text_exist(page: Page) -> None:
    assert not list(option_faults(page))


def option_faults(page: Page) -> Iterator[str]:
    for line, code in page.code:
        where = f"{page}:{line}: `{code}`"
        if code.startswith("python "):
            yield from benchmark_faults(code, where)
            continue
        command, rest = command_of(code.split()[1:] if code.startswith("lrlm ") else [])
        known = options_of(command) | OPTIONS_OF_OTHERS
        for option in set(re.findall(r"(?<![\w-])--[a-z][\w-]*", code)) - known:
            yield f"{where}: there is no option {option}"
        is_group = code.startswith("lrlm ") and hasattr(command, "commands")
        if is_group and rest and not (rest[0].isupper() or rest[0].startswith("-")):
            yield f"{where}: there is no such command"


@pytest.mark.parametrize(
    "line",
    [
        "lrlm trian corpus --out run",
        "lrlm train corpus --out run --sise mini",
        "lrlm train corpus --out run --size huge",
        "lrlm train corpus --out run --set training.no_such_setting=1",
        "lrlm corpus stats",
        "torchrun -m lrlm train corpus --out run --backbone none",
    ],
)
def test_commands_that_cannot_work_are_found(line: str) -> None:
    arguments = arguments_of(line.split())
    assert arguments is not None
    assert fault_of(arguments)


def test_blocks_and_commands_are_read_as_a_reader_would(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(
        "Text with `code`.\n\n```sh\necho a | lrlm one - # why\nfor x in 1 2; do lrlm two $x \\\n"
        "    --out o > f; done\n```\n\n<!-- needs: spacy -->\n```python\nprint(1)\n```\n\n"
        "```text\n1\n```\n",
        encoding="utf-8",
    )
    page = Page(path)
    assert page.code == [(1, "code")]
    assert [words for _, words in page.commands if words[0] == "lrlm"] == [
        ["lrlm", "one", "-"],
        ["lrlm", "two", "1", "--out", "o"],
        ["lrlm", "two", "2", "--out", "o"],
    ]
    ((example, shown),) = page.examples
    assert (example.needs, example.line, shown) == ("spacy", 11, "1\n")
