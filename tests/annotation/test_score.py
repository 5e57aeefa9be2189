"""Scores of a text: the same as evaluation's, and the sum of its pieces."""

import json
import math
import re
from pathlib import Path

import pytest

import lrlm
from lrlm.annotation.score import score
from lrlm.corpora.corpus import Corpus
from lrlm.models import document_nats
from lrlm.runs.run import Run
from lrlm.training.train import train
from tests.training import tiny


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_corpus(tmp_path_factory.mktemp("score"))


@pytest.mark.parametrize("kind", ["vanilla", "alias", "nklm", "lrlm"])
def test_pieces_add_up_to_the_whole(corpus: Path, kind: str, tmp_path: Path) -> None:
    settings = (*tiny.SETTINGS, "training.epochs=1")
    train(
        corpus,
        tmp_path / "run",
        model=kind,
        configure=tiny.configured(*settings),
        features_cache=corpus.parent / "features",
    )
    run = Run.open(tmp_path / "run")
    for document in Corpus.open(corpus).documents("valid"):
        found = score(run, document)
        encoded = list(run.encoder.encode([document]))
        whole = document_nats(run.model, run.collator.windows(encoded))
        assert found.nats + found.end_nats == pytest.approx(float(whole.nats_B), rel=1e-5)
        assert found.end_nats == pytest.approx(float(whole.end_nats_B), rel=1e-5)
        assert sum(piece.nats for piece in found.pieces) == pytest.approx(found.nats)
        assert sum(piece.tokens for piece in found.pieces) == found.tokens == len(document.tokens)
        assert found.perplexity == pytest.approx(math.exp(found.nats / found.tokens))
        assert found.is_joint == (kind == "nklm")
        texts = [document.text[piece.start : piece.end] for piece in found.pieces]
        assert " ".join(texts).split() == document.text.split()
        river = next(text for text in texts if text.endswith("River"))
        assert (" " in river) == (kind == "lrlm")


def test_a_score_shows_itself_in_a_notebook() -> None:
    model = lrlm.load()
    text = "Its <b>capital</b> is Oslo & more."
    score = model.score(text, lrlm.Topic("Norway", relations=[lrlm.Relation("capital", "Oslo")]))
    shown = score._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;" in re.sub(r"</?span[^>]*>", "", shown)
    assert "nats" in shown
    assert json.loads(score.to_json())["bytes"] == len(text.encode())
