"""The house's order: which module may import which, and what no module may contain."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lrlm

SOURCE = Path(lrlm.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

LAYERS = (
    "errors",
    "progress",
    "characters",
    "arrays",
    "checks",
    "plain_data",
    "whole_files",
    "artifacts",
    "parquet_lines",
    "text_files",
    "tensor_files",
    "pretrained",
    "spark_session",
    "look",
    "knowledge",
    "text",
    "corpora",
    "features",
    "batching",
    "lattice",
    "backbones",
    "heads",
    "models",
    "runs",
    "topics",
    "annotation",
    "generation",
    "checking",
    "model",
    "training",
    "evaluation",
    "report",
    "serving",
    "cli",
)
"""In the order of the flow: a module imports from its own layer and from earlier ones.

A trained model is used by the layers up to `model`, so using one imports neither training nor
evaluation.
"""

NARROW = {
    "lattice": {"errors"},
    "backbones": {"errors", "checks", "arrays", "pretrained"},
    "heads": {"errors", "arrays", "checks", "backbones"},
}
"""Layers that must know less than their place would allow: they know no knowledge graph."""

NAMES_OF_DRAWERS = {"utils", "util", "misc", "helpers", "common"}


def layer_of(module: Path) -> str:
    """`src/lrlm/corpora/linking.py` is of the layer corpora."""
    return module.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_layers(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Give the line and the layer of each import of the package's own modules, at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are written from the root"
            names = [node.module or ""]
            if node.module == "lrlm":
                names = [f"lrlm.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "lrlm":
                yield node.lineno, (*name.split("."), "")[1]


def parse(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"), filename=str(module))


def each_module() -> pytest.MarkDecorator:
    names = [str(module.relative_to(SOURCE)) for module in MODULES]
    return pytest.mark.parametrize("module", MODULES, ids=names)


def faults(layer: str, tree: ast.Module) -> list[str]:
    """Name every import that a module of a layer must not make."""
    found = []
    for line, imported in imported_layers(tree):
        if imported in ("__version__", layer):
            continue
        if imported not in LAYERS:
            found.append(f"line {line}: {imported!r} is no layer; give it a place in this test")
        elif LAYERS.index(imported) > LAYERS.index(layer):
            found.append(f"line {line}: {layer} reaches into the later layer {imported}")
        elif layer in NARROW and imported not in NARROW[layer]:
            found.append(f"line {line}: {layer} may know only {sorted(NARROW[layer])}")
    return found


@each_module()
def test_imports_only_from_earlier_layers(module: Path) -> None:
    layer = layer_of(module)
    if layer == "__init__":  # the public surface gathers from everywhere
        return
    if layer == "__main__":
        assert {name for _, name in imported_layers(parse(module))} == {"cli"}
        return
    assert layer in LAYERS, f"{module} is in no layer; give it a place in this test"
    assert not faults(layer, parse(module))


@pytest.mark.parametrize(
    ("layer", "code"),
    [
        ("text", "from lrlm.corpora import Corpus"),
        ("text", "import lrlm.cli.app"),
        ("text", "def later():\n    from lrlm.models import x"),
        ("lattice", "from lrlm.knowledge import Topic"),
        ("backbones", "from lrlm.lattice import Lattice"),
        ("corpora", "from lrlm import Topic"),
        ("annotation", "from lrlm.training import train"),
        ("generation", "from lrlm.evaluation import evaluate"),
        ("errors", "from lrlm.unheard_of import x"),
    ],
)
def test_the_walk_finds_what_it_looks_for(layer: str, code: str) -> None:
    assert faults(layer, ast.parse(code))


@pytest.mark.parametrize(
    ("layer", "code"),
    [
        ("corpora", "import json\nfrom lrlm.text import tokenise\nfrom lrlm.corpora import build"),
        ("heads", "from lrlm.backbones import lstm"),
        ("cli", "from lrlm import __version__"),
    ],
)
def test_the_walk_lets_pass_what_is_allowed(layer: str, code: str) -> None:
    assert not faults(layer, ast.parse(code))


@each_module()
def test_every_module_says_what_it_is(module: Path) -> None:
    docstring = ast.get_docstring(parse(module))
    assert docstring
    first_line = docstring.splitlines()[0]
    assert first_line[-1] in ".:?", first_line
    assert not re.search(r"\b(in|Takes)\b.*\b(out|gives)\b", first_line), "say what it is for"


@each_module()
def test_no_drawer_for_odds_and_ends(module: Path) -> None:
    assert not NAMES_OF_DRAWERS & set(module.relative_to(SOURCE).with_suffix("").parts)


THE_ONE_CONVERTER = SOURCE / "corpora/importers/plain_pickle.py"
"""Interprets pickles of others without executing them; it, too, does without `pickle` itself."""


@each_module()
def test_nothing_prints_evaluates_or_pickles(module: Path) -> None:
    pickles = {"pickle", "dill", "shelve", "marshal"}
    if module != THE_ONE_CONVERTER:
        pickles.add("pickletools")
    for node in ast.walk(parse(module)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            forbidden = {"print", "eval", "exec", "breakpoint"}
            assert node.func.id not in forbidden, f"line {node.lineno}: {node.func.id}()"
        if isinstance(node, ast.Import):
            for alias in node.names:
                assert alias.name.split(".")[0] not in pickles
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] not in pickles


def test_there_is_something_to_walk() -> None:
    assert len(MODULES) > 20


def test_all_public_names_exist() -> None:
    packages = [
        ".".join(("lrlm", *module.parent.relative_to(SOURCE).parts))
        for module in MODULES
        if module.name == "__init__.py"
    ]
    for name in packages:
        package = importlib.import_module(name)
        missing = [each for each in getattr(package, "__all__", ()) if not hasattr(package, each)]
        assert not missing, f"{name}.__all__ names what is not there: {missing}"
    assert "Topic" in lrlm.__all__


def public_types(module: Path) -> Iterator[str]:
    """Name the public classes and type aliases that a module defines."""
    for node in parse(module).body:
        names: list[str] = []
        if isinstance(node, ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        yield from (
            name for name in names if name[0].isupper() and not name.isupper() and "__" not in name
        )


def test_one_name_has_one_meaning() -> None:
    """No two public classes or type aliases have the same name, wherever they are."""
    homes: dict[str, list[str]] = {}
    for module in MODULES:
        for name in public_types(module):
            homes.setdefault(name, []).append(str(module.relative_to(SOURCE)))
    assert homes["Topic"] == ["knowledge/topic.py"]
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


PUBLIC = {
    "Annotation", "BadText", "CheckedText", "Corpus", "Evaluation", "Finding", "GeneratedText",
    "KnowledgeGraph", "LrlmError", "LstmConfig", "Model", "Pretrained", "Relation", "RunConfig",
    "Score", "Topic", "TrainedRun", "TransformerXlConfig", "__version__", "build_corpus",
    "evaluate", "load", "train", "wrap", "write_report",
}  # fmt: skip


def test_the_public_surface_is_exactly_this() -> None:
    assert set(lrlm.__all__) == PUBLIC
    assert list(lrlm.__all__) == sorted(lrlm.__all__)
    for name in lrlm.__all__:
        value = getattr(lrlm, name)
        if name != "__version__":
            assert value.__doc__, f"lrlm.{name} says nothing of itself"
    assert set(dir(lrlm)) >= PUBLIC
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lrlm.nothing  # noqa: B018


def loaded_after(code: str) -> set[str]:
    """Run code in a process of its own, and give the modules that it has loaded."""
    told = f"{code}\nimport sys\nprint(' '.join(sys.modules))"
    result = subprocess.run([sys.executable, "-c", told], capture_output=True, check=True)
    return set(result.stdout.decode().split())


@pytest.mark.parametrize("what", ["lrlm", "lrlm.corpora", "lrlm.corpora.build", "lrlm.cli"])
def test_corpora_are_made_without_loading_torch(what: str) -> None:
    assert "torch" not in loaded_after(f"import {what}")


def test_using_a_model_loads_neither_training_nor_evaluation() -> None:
    code = (
        "import lrlm\n"
        "model, topic = lrlm.load(), lrlm.Topic('Norway')\n"
        "model.annotate('Norway.', topic), model.score('Norway.', topic)\n"
        "model.generate(topic, samples=1, max_length=3)"
    )
    loaded = loaded_after(code)
    assert "lrlm.generation.generate" in loaded
    unwanted = ("lrlm.training", "lrlm.evaluation", "lrlm.report", "lrlm.cli")
    assert not [name for name in loaded if name.startswith(unwanted)]
