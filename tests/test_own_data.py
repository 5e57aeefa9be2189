"""The tutorial on one's own data works as it stands: its files, its commands, its notebook."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import lrlm
from lrlm.cli import main
from lrlm.knowledge.sources import SourceFormat
from tests.docs_pages import ROOT, Page
from tests.training import tiny

EXAMPLES = ROOT / "examples"
PAGE = Page(ROOT / "docs" / "own-data.md")
FILES = {"mountains.ttl": "turtle", "train.jsonl": "json", "valid.jsonl": "json", "new.txt": "text"}
"""In the order of the page."""

needs_turtle = pytest.mark.skipif(
    not hasattr(SourceFormat, "TURTLE"), reason="this version of lrlm does not read Turtle"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds the files of the page and nothing else."""
    for name in FILES:
        shutil.copy(EXAMPLES / "mountains" / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.train_briefly(monkeypatch)


def test_the_files_of_the_page_are_those_of_the_examples() -> None:
    blocks = [block for block in PAGE.blocks if block.language in FILES.values()]
    assert [block.language for block in blocks] == list(FILES.values())
    for block, name in zip(blocks, FILES, strict=True):
        assert block.content == (EXAMPLES / "mountains" / name).read_text(encoding="utf-8")


@needs_turtle
@pytest.mark.slow
def test_the_commands_of_the_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands = [words for _, words in PAGE.commands]
    assert len(commands) < 10
    said = []
    for program, *arguments in commands:
        assert program == "lrlm"
        capsys.readouterr()
        assert main(arguments) == 0, f"lrlm {' '.join(arguments)}"
        said.append(capsys.readouterr().out)
    annotated = said[-2]
    for name in ("Aoraki", "Southern Alps", "New Zealand", "3,724", "1894", "Tom Fyfe"):
        assert name in annotated
    assert annotated.count("%") >= 6
    with lrlm.KnowledgeGraph.open(folder / "kg") as graph:
        topic = graph.topic(graph.find("mount cook").id)
    model = lrlm.load(folder / "run")
    found = model.annotate((folder / "new.txt").read_text(encoding="utf-8"), topic).mentions(0.99)
    assert len(found) == 6


@needs_turtle
@pytest.mark.usefixtures("folder", "briefly")
def test_the_program_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = [block for block in PAGE.blocks if block.language == "py"]
    lines = [line for line in program.content.splitlines() if line.strip()]
    assert len(lines) <= 15
    exec(compile(program.content, str(PAGE.path), "exec"), {"__name__": "__main__"})
    assert "to try next" in capsys.readouterr().out


@needs_turtle
@pytest.mark.usefixtures("folder", "briefly")
def test_the_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    notebook = json.loads((EXAMPLES / "own_data.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in cells)
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
    assert isinstance(names["annotation"], lrlm.Annotation)
    assert all(isinstance(text, lrlm.GeneratedText) for text in names["written"])
    shutil.rmtree(names["work"])
