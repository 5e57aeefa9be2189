"""The examples in docstrings do what they show."""

import doctest
from pathlib import Path
from types import ModuleType

import pytest

from lrlm.corpora import build, corpus, linking
from lrlm.corpora.build import build_from
from lrlm.corpora.importers import intake, release
from lrlm.knowledge.build import build_graph
from tests.corpora import small_world
from tests.corpora.importers import test_webnlg
from tests.generators.archives import write_release


@pytest.mark.parametrize("module", [linking, corpus, build, intake, release])
def test_examples(module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = small_world.write(tmp_path)
    assert inputs.triples is not None
    assert inputs.forms is not None
    build_graph(tmp_path / "kg", [inputs.triples, inputs.forms])
    build_from(tmp_path / "rivers", inputs)
    test_webnlg.world(tmp_path / "data" / "webnlg")
    write_release(tmp_path / "data" / "release")
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
