"""Names that the documentation writes in code style exist: modules, classes, settings, files."""

import ast
import importlib
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lrlm.backbones import BACKBONES
from lrlm.runs.settings import described
from lrlm.runs.sizes import CHOICES, SIZES, load_size, size_file
from tests.docs_pages import ROOT, Page, all_pages
from tests.test_layers import LAYERS, NARROW

SOURCE = ROOT / "src" / "lrlm"
REFERENCE = {
    "lrlm.md": "lrlm",
    "lattice.md": "lrlm.lattice",
    "text.md": "lrlm.text",
    "token-spaces.md": "lrlm.runs.token_spaces",
    "backbones.md": "lrlm.backbones",
}
"""The pages of the reference, each with its package or module."""
PLACEHOLDERS = ("yours",)
"""Parts of paths that stand for something of the reader's."""
INSTANCES = {
    "annotation": "Annotation",
    "match": "TopicMatch",
    "ranking": "TopicRanking",
    "checked": "CheckedText",
    "endpoint": "SparqlEndpoint",
    "finding": "Finding",
    "graph": "KnowledgeGraph",
    "model": "Model",
    "piece": "Piece",
    "run": "Run",
    "span": "Span",
    "text": "GeneratedText",
    "topic": "Topic",
}
"""What the examples call a value of a class; `text.pieces` is then an attribute of it."""
FIELDS = {"counts.left_out"}
"""Of JSON files."""
IS_A_FILE = re.compile(
    r".*\.(checks|gz|json|jsonl|md|parquet|pkl|pt|py|safetensors|sqlite|toml|tsv|txt)"
)


@all_pages()
def test_names_in_the_text_exist(page: Page) -> None:
    assert not list(name_faults(page))


def name_faults(page: Page) -> Iterator[str]:
    for line, code in page.code:
        match = re.match(r"([A-Za-z_]\w*)\.([A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)*", code)
        if match is None:
            continue
        name, first, second = match[0], match[1], match[2]
        if first == "lrlm":
            if not resolves(name):
                yield f"{page}:{line}: there is no {name}"
        elif first.islower() and name not in FIELDS and not IS_A_FILE.fullmatch(name):
            known = name in setting_keys() or resolves(f"lrlm.{name}")
            if not known and second not in classes().get(INSTANCES.get(first, ""), ()):
                yield f"{page}:{line}: {name} is neither a setting nor a name of the package"


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
def setting_keys() -> frozenset[str]:
    """Give all settings, and the sections they are in."""
    keys = set()
    for size in SIZES:
        for backbone in BACKBONES:
            keys |= {key for key, _, _ in described(load_size(size, backbone), CHOICES)}
    sections = {key.rsplit(".", count)[0] for key in keys for count in range(1, key.count(".") + 1)}
    return frozenset(keys | sections)


@all_pages()
def test_classes_in_the_text_exist(page: Page) -> None:
    assert not list(class_faults(page))


def class_faults(page: Page) -> Iterator[str]:
    for line, code in page.code:
        match = re.match(r"([A-Z][a-z]+(?:[A-Z]+[a-z]*)+)(?:\.(\w+))?", code)
        if match is None:
            continue
        name, attribute = match.groups()
        if name not in classes():
            yield f"{page}:{line}: there is no class {name}"
        elif attribute is not None and attribute not in classes()[name]:
            yield f"{page}:{line}: {name} has no {attribute}"


@cache
def classes() -> dict[str, set[str]]:
    """Give every class of the package and the tests with the names in its body."""
    found: dict[str, set[str]] = {}
    for path in [*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, set()).update(_defined(node))
    return found


def _defined(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        if isinstance(each, ast.FunctionDef):
            yield each.name
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id
        elif isinstance(each, ast.Assign):
            yield from (target.id for target in each.targets if isinstance(target, ast.Name))
    for inner in ast.walk(node):  # what __init__ sets
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            yield inner.attr


@all_pages()
def test_files_in_the_text_exist(page: Page) -> None:
    assert not list(file_faults(page))


def file_faults(page: Page) -> Iterator[str]:
    for line, code in page.code:
        paths = re.findall(r"(?:^|\s)((?:src|tests|docs|benchmarks|\.ci)/[\w./-]*)", code)
        paths += re.findall(r"^\w+/[\w/]+\.py$", code)  # written from the package's folder
        for path in paths:
            is_placeholder = any(part in path for part in PLACEHOLDERS)
            if not is_placeholder and not any((top / path).exists() for top in (ROOT, SOURCE)):
                yield f"{page}:{line}: there is no {path}"


@all_pages()
def test_extras_exist(page: Page) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = set(re.findall(r"\blrlm\[([a-z]+)\]", page.text))
    named |= set(re.findall(r'mark\.extra\("(\w+)"\)', page.text))
    assert named <= set(project["optional-dependencies"])


@pytest.mark.parametrize("page", REFERENCE)
def test_the_reference_has_every_public_name(page: str) -> None:
    package = REFERENCE[page]
    text = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    # By its whole path where a module has the name of the function in it.
    listed = re.findall(rf"^::: {re.escape(package)}\.(?:[\w.]+\.)?(\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(public_names(package) - {"__version__"})


def public_names(module: str) -> set[str]:
    """Give what a package exports, or what a module that exports nothing by name defines."""
    value = importlib.import_module(module)
    if hasattr(value, "__all__"):
        return set(value.__all__)
    defined = set()
    for node in ast.parse(Path(value.__file__ or "").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            defined.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            defined.add(node.target.id)
    return {name for name in defined if not name.startswith("_")}


def test_every_page_of_the_reference_is_known() -> None:
    there = {path.name for path in (ROOT / "docs" / "reference").glob("*.md")}
    assert there == set(REFERENCE)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("backbone", BACKBONES)
def test_sizes_explain_their_settings_as_the_code_does(size: str, backbone: str) -> None:
    file = size_file(size, backbone)
    assert file is not None
    text = file.read_text(encoding="utf-8")
    written = " ".join(line.removeprefix("# ") for line in text.splitlines())
    for key, value, explanation in described(load_size(size, backbone), CHOICES):
        assert value == "none" or " ".join(explanation.split()) in written, key


def test_the_architecture_has_a_row_for_every_package() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    listed = [(re.findall(r"`(\w+)`", row[0]), row[-1]) for row in rows]
    names = [name for packages, _ in listed for name in packages]
    there = [*SOURCE.glob("[a-z]*.py"), *(path.parent for path in SOURCE.glob("*/__init__.py"))]
    assert sorted(names) == sorted(path.stem for path in there)
    in_order = [name for name in names if name in LAYERS and (SOURCE / name).is_dir()]
    assert in_order == sorted(in_order, key=LAYERS.index)
    for packages, may_import in listed:
        for name in packages:
            assert set(re.findall(r"`(\w+)`", may_import)) == NARROW.get(name, set()), name


@pytest.mark.parametrize("name", ["lrlm.nothing", "lrlm.knowledge.Topic.nothing", "lrlm.no.thing"])
def test_names_that_do_not_exist_are_found(name: str) -> None:
    assert not resolves(name)
    assert resolves("lrlm.knowledge.Topic.star")
