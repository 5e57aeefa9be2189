"""What the documentation says is true: examples run, commands parse, names exist.

A page's Python examples are run in order, as one program, in an empty folder that holds a trained
model as `runs/mine`; where a block of text follows an example directly, it is what the example
prints. Command lines are parsed, not run.
"""

import ast
import doctest
import importlib
import inspect
import re
import shutil
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from lrlm.cli.app import app
from lrlm.errors import LrlmError
from lrlm.inference.shipped import SHIPPED
from lrlm.training.settings import described
from lrlm.training.sizes import BACKBONES, SIZES, change, load_size
from tests.docs_pages import ROOT, Page, pages
from tests.test_layers import LAYERS, NARROW

PAGES = pages()
OPTIONS_OF_OTHERS = {"--constraint", "--fix", "--nproc-per-node"}
"""Of pip, ruff and torchrun."""
PLACEHOLDERS = ("yours",)
"""Parts of paths that stand for something of the reader's."""
INSTANCES = {
    "annotation": "Annotation",
    "graph": "KnowledgeGraph",
    "model": "Model",
    "piece": "Piece",
    "run": "Run",
    "span": "Span",
    "text": "GeneratedText",
    "topic": "Topic",
}
"""What the examples call a value of a class; `text.pieces` is then an attribute of it."""
IS_A_FILE = re.compile(r".*\.(json|jsonl|md|parquet|py|safetensors|sqlite|toml|tsv|txt)")


def each_page(*, with_extras: bool = False) -> pytest.MarkDecorator:
    values: list[Any] = []
    for page in PAGES:
        extras = sorted({block.needs for block, _ in page.examples if block.needs})
        if page.examples and (extras or not with_extras):
            marks = [pytest.mark.extra(name) for name in extras] if with_extras else []
            values.append(pytest.param(page, id=str(page), marks=marks))
    return pytest.mark.parametrize("page", values)


def all_pages() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", PAGES, ids=str)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where examples are run: not among the project's files, and with a cache of its own."""
    here = tmp_path / "here"
    shutil.copytree(SHIPPED, here / "runs" / "mine")
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return here


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


@each_page()
def test_examples_run(page: Page, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(page, capsys, with_extras=False)


@each_page(with_extras=True)
def test_examples_run_with_extras(
    page: Page, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(page, capsys, with_extras=True)


def documented() -> Iterator[tuple[str, str]]:
    """Give the docstrings of all public classes and functions, with their names."""
    for package in ("lrlm", "lrlm.lattice"):
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            members = vars(value) if inspect.isclass(value) else {}
            public = {key: each for key, each in members.items() if not key.startswith("_")}
            for key, each in {"": value, **public}.items():
                if callable(each) or isinstance(each, property | classmethod | staticmethod):
                    yield f"{package}.{name}{key and '.'}{key}", inspect.getdoc(each) or ""


def docstring_examples() -> list[Any]:
    """Give the code of every example in a docstring, written as a block or with `>>>`."""
    found = []
    for name, text in documented():
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        lines = doctest.DocTestParser().get_examples(text)
        code = "".join(blocks) + "".join(each.source for each in lines)
        if code:
            found.append(pytest.param(code, id=name))
    return found


@pytest.mark.parametrize("code", docstring_examples())
def test_examples_in_docstrings_run(code: str, folder: Path) -> None:
    exec(compile(code, "docstring", "exec"), {"__name__": "__main__"})


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


def check_command(arguments: list[str]) -> None:
    command, rest = command_of(arguments)
    assert not hasattr(command, "commands"), f"there is no command {' '.join(arguments)!r}"
    command.make_context("lrlm", list(rest))
    chosen = dict(pairwise(rest))
    settings = [value for key, value in pairwise(rest) if key == "--set"]
    change(load_size(chosen.get("--size", "mini"), chosen.get("--backbone", "lstm")), settings)


@all_pages()
def test_command_lines_parse(page: Page) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for line, words in page.commands:
        where = f"{page}:{line}: {' '.join(words)}"
        arguments = arguments_of(words)
        try:
            if arguments is not None:
                check_command(arguments)
        except (typer.TyperException, LrlmError) as error:
            pytest.fail(f"{where}: {error}")
        if words[0] == "make":
            assert set(words[1:]) <= targets, where
        check_benchmark(" ".join(words), where)


def check_benchmark(command: str, where: str) -> None:
    """A benchmark is a module of the project and has the options that are named."""
    if match := re.match(r"python -m (benchmarks\.\w+)", command):
        source = ROOT / f"{match[1].replace('.', '/')}.py"
        assert source.exists(), where
        for option in re.findall(r"--[a-z-]+", command):
            assert f'"{option}"' in source.read_text(encoding="utf-8"), where


def options_of(command: Any) -> set[str]:
    own = {"--help"} | {
        name for each in command.params for name in (*each.opts, *each.secondary_opts)
    }
    return own.union(*map(options_of, getattr(command, "commands", {}).values()))


@all_pages()
def test_options_in_the_text_exist(page: Page) -> None:
    for line, code in page.code:
        if code.startswith("python "):
            check_benchmark(code, f"{page}:{line}: `{code}`")
            continue
        command, rest = command_of(code.split()[1:] if code.startswith("lrlm ") else [])
        known = options_of(command) | OPTIONS_OF_OTHERS
        unknown = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", code)) - known
        assert not unknown, f"{page}:{line}: `{code}`: no such option: {unknown}"
        if code.startswith("lrlm ") and hasattr(command, "commands") and rest:
            is_placeholder = rest[0].isupper() or rest[0].startswith("-")
            assert is_placeholder, f"{page}:{line}: `{code}`: there is no such command"


def extras() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"])


@all_pages()
def test_extras_exist(page: Page) -> None:
    named = set(re.findall(r"\blrlm\[([a-z]+)\]", page.text))
    named |= set(re.findall(r'mark\.extra\("(\w+)"\)', page.text))
    assert named <= extras()


@cache
def setting_keys() -> frozenset[str]:
    keys = set()
    for size in SIZES:
        for backbone in BACKBONES:
            keys |= {key for key, _, _ in described(load_size(size, backbone), BACKBONES)}
    sections = {key.rsplit(".", count)[0] for key in keys for count in range(1, key.count(".") + 1)}
    return frozenset(keys | sections)


def resolves(name: str) -> bool:
    """Tell whether a dotted name leads to a module of the package or to something in one."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for place, attribute in enumerate(parts[count:], start=count):
            if not hasattr(value, attribute):
                # A field of a dataclass without a default is only in its annotations.
                fields = getattr(value, "__annotations__", {})
                return attribute in fields and place == len(parts) - 1
            value = getattr(value, attribute)
        return True
    return False


@cache
def rooms() -> frozenset[str]:
    return frozenset(path.parent.name for path in (ROOT / "src/lrlm").glob("*/__init__.py"))


@all_pages()
def test_names_in_the_text_exist(page: Page) -> None:
    for line, code in page.code:
        match = re.match(r"([A-Za-z_]\w*)\.([A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)*", code)
        if match is None or IS_A_FILE.fullmatch(match[0]):
            continue
        name, first, second = match[0], match[1], match[2]
        if first == "lrlm":
            assert resolves(name), f"{page}:{line}: there is no {name}"
        elif first in rooms() | {"vocabulary"} | set(INSTANCES):
            known = name in setting_keys() or resolves(f"lrlm.{name}")
            known = known or second in classes().get(INSTANCES.get(first, ""), ())
            assert known, f"{page}:{line}: {name} is neither a setting nor a name of the package"


@cache
def classes() -> dict[str, set[str]]:
    """Give every class of the package and the tests with the names in its body."""
    found: dict[str, set[str]] = {}
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                names = found.setdefault(node.name, set())
                for each in node.body:
                    if isinstance(each, ast.FunctionDef):
                        names.add(each.name)
                    elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                        names.add(each.target.id)
                    elif isinstance(each, ast.Assign):
                        names |= {each_.id for each_ in each.targets if isinstance(each_, ast.Name)}
    return found


@all_pages()
def test_classes_in_the_text_exist(page: Page) -> None:
    for line, code in page.code:
        match = re.match(r"([A-Z][a-z]+(?:[A-Z]+[a-z]*)+)(?:\.(\w+))?", code)
        if match is None:
            continue
        name, attribute = match.groups()
        assert name in classes(), f"{page}:{line}: there is no class {name}"
        if attribute is not None:
            assert attribute in classes()[name], f"{page}:{line}: {name} has no {attribute}"


@all_pages()
def test_files_in_the_text_exist(page: Page) -> None:
    for line, code in page.code:
        for path in re.findall(r"(?:^|\s)((?:src|tests|docs|benchmarks|\.ci)/[\w./-]*)", code):
            if not any(part in path for part in PLACEHOLDERS):
                assert (ROOT / path).exists(), f"{page}:{line}: there is no {path}"


@pytest.mark.parametrize(("page", "package"), [("lrlm.md", "lrlm"), ("lattice.md", "lrlm.lattice")])
def test_the_reference_has_every_public_name(page: str, package: str) -> None:
    text = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    listed = re.findall(rf"^::: {re.escape(package)}\.(\w+)$", text, re.MULTILINE)
    public = set(importlib.import_module(package).__all__) - {"__version__"}
    assert sorted(listed) == sorted(public)


def test_the_architecture_has_a_row_for_every_package() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    packages = [re.findall(r"`(\w+)`", row[0]) for row in rows]
    source = ROOT / "src" / "lrlm"
    there = [
        layer for layer in LAYERS if (source / layer).is_dir() or (source / f"{layer}.py").is_file()
    ]
    assert [name for names in packages for name in names] == there
    for names, row in zip(packages, rows, strict=True):
        may_import = set(re.findall(r"`(\w+)`", row[-1]))
        for name in names:
            assert may_import == NARROW.get(name, set()), name


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
    with pytest.raises((AssertionError, typer.TyperException, LrlmError)):
        check_command(arguments)


@pytest.mark.parametrize("name", ["lrlm.nothing", "lrlm.knowledge.Topic.nothing", "lrlm.no.thing"])
def test_names_that_do_not_exist_are_found(name: str) -> None:
    assert not resolves(name)
    assert resolves("lrlm.knowledge.Topic.star")


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
