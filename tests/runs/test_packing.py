"""Packed runs: smaller, without checkpoints, and still a distribution."""

from pathlib import Path

import numpy as np
import pytest

from lrlm.corpora.corpus import Corpus
from lrlm.errors import InputError
from lrlm.features import UnknownWordSpeller
from lrlm.models import document_nats
from lrlm.runs.packing import pack
from lrlm.runs.run import Run
from lrlm.text.word_space import WordSpace
from lrlm.training.train import train
from tests.training import tiny


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_corpus(tmp_path_factory.mktemp("packing"))


@pytest.fixture(scope="module")
def run(corpus: Path) -> Run:
    train(
        corpus,
        corpus.parent / "run",
        configure=tiny.configured(*tiny.SETTINGS),
        features_cache=corpus.parent / "features",
    )
    return Run.open(corpus.parent / "run")


def tensors_size(run: Run) -> int:
    return sum(
        path.stat().st_size
        for path in run.folder.rglob("*.safetensors")
        if "checkpoints" not in path.parts
    )


def test_a_packed_run_scores_nearly_the_same(run: Run, corpus: Path, tmp_path: Path) -> None:
    packed = pack(run.folder, tmp_path / "packed")
    assert not (packed.folder / "checkpoints").exists()
    assert tensors_size(packed) < 0.6 * tensors_size(run)
    nats = []
    for each in (run, packed):
        documents = list(each.encoder.encode(Corpus.open(corpus).documents("valid")))
        nats.append(document_nats(each.model, each.collator.windows(documents)).nats_B)
    assert nats[1].tolist() == pytest.approx(nats[0].tolist(), rel=2e-3)
    assert nats[1].tolist() != nats[0].tolist()


def test_beside_a_corpus_what_it_tells_is_left_out(run: Run, corpus: Path, tmp_path: Path) -> None:
    packed, lean = pack(run.folder, tmp_path / "p"), pack(run.folder, tmp_path / "l", beside=corpus)
    assert (packed.folder / "schema.json").exists()
    assert not (lean.folder / "schema.json").exists()
    nats = []
    for each in (packed, lean):
        documents = list(each.encoder.encode(Corpus.open(corpus).documents("valid")))
        nats.append(document_nats(each.model, each.collator.windows(documents)).nats_B.tolist())
    assert nats[0] == nats[1]


def test_beside_a_smaller_corpus_fewer_things_have_vectors(run: Run, tmp_path: Path) -> None:
    small = tiny.write_corpus(tmp_path, train=8)
    lean = pack(run.folder, tmp_path / "lean", beside=small)
    objects = set(lean.features.relations.objects)
    assert {"Town3", "Rhine", "1203"} <= objects < set(run.features.relations.objects)
    assert "Town19" not in objects
    assert lean.setup.manifest["counts"]["objects"] == len(objects)


def test_spelling_stays_a_distribution(run: Run, tmp_path: Path) -> None:
    packed = pack(run.folder, tmp_path / "packed")
    assert isinstance(packed.space, WordSpace)
    assert isinstance(packed.space.speller, UnknownWordSpeller)
    assert packed.features.speller is not None
    vocabulary = packed.space.vocabulary
    words = [word for word in vocabulary.words if word in vocabulary]
    known = np.exp(packed.features.speller.log_probs(words).astype(np.float64)).sum()
    assert np.log1p(-known) == pytest.approx(packed.space.speller.log_unknown, abs=1e-12)


def test_packing_again_changes_nothing(run: Run, tmp_path: Path) -> None:
    once = pack(run.folder, tmp_path / "once")
    twice = pack(once.folder, tmp_path / "twice")
    for path in sorted(once.folder.rglob("*")):
        if path.is_file():
            assert (twice.folder / path.relative_to(once.folder)).read_bytes() == path.read_bytes()


def test_a_folder_that_exists_is_refused(run: Run, tmp_path: Path) -> None:
    pack(run.folder, tmp_path / "packed")
    with pytest.raises(InputError, match="exists already"):
        pack(run.folder, tmp_path / "packed")
    pack(run.folder, tmp_path / "packed", overwrite=True)
