"""The examples in the docstrings of the public surface run, and show what really comes out.

The examples of a group are run one after the other in one namespace, as a reader of its page in
the reference would: a class before its methods, so that they can use what the class's example has
made. `lrlm`, its public names and those of the group's package are taken for imported. The folder
in which they run holds a knowledge graph `kg`, a corpus `corpus`, a pretrained language model
`language-model` and the runs `runs/vanilla` and `runs/lrlm`.
"""

import doctest
import inspect
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import lrlm
from lrlm.backbones import BACKBONES
from lrlm.runs.token_spaces import TOKEN_SPACES
from tests.generators.tiny_backbones import save_tiny_llama
from tests.generators.tiny_language_models import byte_level_bpe
from tests.knowledge.worlds import write_example_graph
from tests.training import tiny

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

GROUPS: dict[str, Sequence[str]] = {
    "lrlm": [""],
    "lrlm.errors": ["LrlmError"],
    "lrlm.model": ["load", "Model"],
    "lrlm.annotation.annotation": ["Annotation", "BadText"],
    "lrlm.annotation.score": ["Score"],
    "lrlm.checking.findings": ["CheckedText", "Finding"],
    "lrlm.generation.generated_text": ["GeneratedText"],
    "lrlm.runs.config": ["RunConfig"],
    "lrlm.training.train": ["TrainedRun", "train"],
    "lrlm.training.wrapping": ["wrap"],
    "lrlm.evaluation": ["evaluate", "Evaluation", "fit_pair"],
    "lrlm.report.writing": ["write_report"],
    "lrlm.backbones": ["LstmConfig", "TransformerXlConfig", "Pretrained", "register_backbone"],
    "lrlm.text": ["tokenise", "TokenSpace", "perplexity_per_word", "bits_per_byte"],
    "lrlm.runs.token_spaces": ["register_token_space", "VocabularyConfig"],
    "lrlm.lattice": [
        "Lattice", "log_marginal", "posteriors", "block_sums", "explain", "best_paths",
        "sample_paths",
    ],
}  # fmt: skip
"""What is run: the names of a module, in the order of the reference; the empty one is itself."""

RUN_ELSEWHERE = {"Corpus", "KnowledgeGraph", "Relation", "Topic", "build_corpus"}
"""By tests/knowledge/test_examples.py and tests/corpora/test_examples.py."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the examples are run, with what they open and a cache of its own."""
    here = tmp_path_factory.mktemp("examples")
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("XDG_CACHE_HOME", str(here / "cache"))
        tiny.train_briefly(changed)
        write_example_graph(here)
        save_tiny_llama(here / "language-model", byte_level_bpe(), width=16, spread=0.1)
        corpus = tiny.write_corpus(here, splits=("train", "valid", "test"))
        for model in ("vanilla", "lrlm"):
            lrlm.train(corpus, here / "runs" / model, model=model)
        yield here


@pytest.mark.parametrize("module", GROUPS)
def test_examples(module: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names = namespace(import_module(module))
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    # Other tests register parts of their own, and what an example registers is forgotten.
    own_backbones = {name: BACKBONES[name] for name in ("lstm", "transformer-xl", "pretrained")}
    own_spaces = {name: TOKEN_SPACES[name] for name in ("words", "subwords")}
    with (
        patch.dict(BACKBONES, own_backbones, clear=True),
        patch.dict(TOKEN_SPACES, own_spaces, clear=True),
    ):
        for name in GROUPS[module]:
            found = examples(module, name, names)
            assert found, f"{module}.{name} has no example"
            for each in found:
                runner.run(each, clear_globs=False)
    result = runner.summarize(verbose=False)
    assert result.failed == 0


def namespace(module: Any) -> dict[str, Any]:
    """Give what an example may use without importing it."""
    own = getattr(module, "__all__", [name for name in vars(module) if name[0].isupper()])
    public = {name: getattr(lrlm, name) for name in lrlm.__all__}
    return {**public, **{name: getattr(module, name) for name in own}, "lrlm": lrlm}


def examples(module: str, name: str, names: dict[str, Any]) -> list[doctest.DocTest]:
    """Find the examples of a class and its methods, or of a function, in the order of the code."""
    value = import_module(module)
    if name:
        value = getattr(value, name)
    finder = doctest.DocTestFinder(exclude_empty=True, recurse=inspect.isclass(value))
    found = finder.find(value, f"{module}.{name}".strip("."), inspect.getmodule(value), globs=names)
    for each in found:
        each.globs = names  # one namespace for all
    return sorted((each for each in found if each.examples), key=lambda each: each.lineno or 0)


def test_every_public_name_has_an_example_that_is_run() -> None:
    run = {name for group in GROUPS.values() for name in group} | RUN_ELSEWHERE
    assert set(lrlm.__all__) - {"__version__"} <= run


@pytest.mark.parametrize("kind", [lrlm.Annotation, lrlm.Corpus, lrlm.Evaluation, lrlm.Model])
def test_every_public_method_says_what_it_does(kind: type) -> None:
    public = [value for name, value in inspect.getmembers(kind) if not name.startswith("_")]
    assert not [value for value in public if callable(value) and not value.__doc__]
