"""A backbone and a token space from outside the package: trained, opened, used and compared."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import lrlm
from lrlm.backbones import BACKBONES
from lrlm.corpora import link
from lrlm.errors import InputError
from lrlm.lattice import log_marginal, posteriors
from lrlm.models import document_nats, lattice_of, read_documents
from lrlm.runs.config import RunConfig
from lrlm.runs.run import Run
from lrlm.runs.token_spaces import TOKEN_SPACES
from lrlm.text import SurfaceForm
from tests.outside.own_parts import (
    CharacterConfig,
    CharacterSpace,
    SimpleConfig,
)
from tests.training import tiny

SETTINGS = [each for each in tiny.SETTINGS if "backbone" not in each and "vocabulary" not in each]
TOWN = lrlm.Topic(
    "Town3",
    names=["Town 3"],
    relations=[lrlm.Relation("river", "Oder", ["Oder River", "Oder"])],
)
TEXT = "Town 3 lies on the Oder River . The Oder is long ."


def configured(config: RunConfig) -> RunConfig:
    changed = tiny.configured(*SETTINGS, "training.epochs=2", "training.window=40")(config)
    return replace(changed, vocabulary=CharacterConfig(extra="?("))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, a run with parts of our own, and one with the package's."""
    folder = tmp_path_factory.mktemp("own")
    corpus = tiny.write_corpus(folder, splits=("train", "valid", "test"))
    cache = folder / "features"
    for kind in ("lrlm", "vanilla", "nklm", "alias"):
        lrlm.train(
            corpus,
            folder / f"own-{kind}",
            model=kind,
            backbone=SimpleConfig(width=8),
            configure=configured,
            features_cache=cache,
        )
    lrlm.train(
        corpus,
        folder / "words",
        model="lrlm",
        configure=tiny.configured(*tiny.SETTINGS),
        features_cache=cache,
    )
    return folder


def test_a_run_keeps_its_own_parts(home: Path) -> None:
    run = Run.open(home / "own-lrlm")
    assert isinstance(run.space, CharacterSpace)
    assert run.config.model.backbone == SimpleConfig(width=8)
    assert run.config.vocabulary == CharacterConfig(extra="?(")
    assert run.features.speller is None
    assert (home / "own-lrlm" / "characters.txt").is_file()


def test_a_process_that_does_not_know_the_parts_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(BACKBONES, "simple")
    with pytest.raises(InputError, match=r"backbone.name must be one of .* module that registers"):
        Run.open(home / "own-lrlm")
    monkeypatch.setitem(BACKBONES, "simple", SimpleConfig)
    monkeypatch.delitem(TOKEN_SPACES, "characters")
    with pytest.raises(InputError, match=r"vocabulary\.name must be one of words"):
        Run.open(home / "own-lrlm")


def test_training_learned_something_and_resumes(home: Path) -> None:
    one, two = (
        lrlm.train(
            home / "corpus",
            home / "own-lrlm",
            resume=True,
            configure=tiny.configured(f"training.epochs={epochs}"),
            features_cache=home / "features",
        )
        for epochs in (2, 3)
    )
    assert one.perplexity is not None
    assert two.perplexity is not None
    assert two.perplexity < one.perplexity


def test_names_are_annotated(home: Path) -> None:
    model = lrlm.load(home / "own-lrlm")
    annotation = model.annotate(TEXT, TOWN)
    spans = {(span.start, span.text) for span in annotation.spans}
    assert spans == {(0, "Town 3"), (19, "Oder"), (19, "Oder River"), (36, "Oder")}
    for span in annotation.spans:
        assert sum(each.probability for each in span.explanations) == pytest.approx(1)
        assert span.text == TEXT[span.start : span.end]
    score = model.score(TEXT, TOWN)
    assert annotation.nats == pytest.approx(score.nats)
    assert (score.words, score.tokens) == (13, len(TEXT.replace(" ", "")))
    assert score.perplexity == pytest.approx(annotation.perplexity)


def test_the_sum_is_exact(home: Path) -> None:
    """Posteriors are the gradient of the log-marginal, and windows do not matter."""
    run = Run.open(home / "own-lrlm")
    encoded = [run.encoder.encode_one(link(TEXT, TOWN, run.link_options))]
    assert encoded[0].edges_E4.shape[0] == 4
    for size in (150, 7):
        setup = replace(
            run.setup,
            config=replace(run.config, training=replace(run.config.training, window=size)),
        )
        (scored,) = read_documents(run.model, setup.collator(), encoded)
        lattice = lattice_of([scored])
        nats = document_nats(run.model, setup.collator().windows(encoded))
        text_nats = float(nats.nats_B - nats.end_nats_B)
        assert -float(log_marginal(lattice)) == pytest.approx(text_nats, rel=1e-5)
        score_E = lattice.score_E.clone().requires_grad_()
        total = log_marginal(replace(lattice, score_E=score_E, checked=False))
        torch.autograd.backward(total.sum())
        assert score_E.grad is not None
        torch.testing.assert_close(score_E.grad, posteriors(lattice)[1])


@pytest.mark.parametrize("kind", ["lrlm", "vanilla", "nklm", "alias"])
def test_texts_are_generated(home: Path, kind: str) -> None:
    model = lrlm.load(home / f"own-{kind}")
    texts = model.generate(TOWN, samples=30, seed=2, max_length=60, prompt="Town 3")
    copied = 0
    for text in texts:
        assert text.text.startswith("Town 3")
        assert "".join(text.tokens).strip() == text.text
        end = 0
        for piece in text.pieces:
            assert text.text[piece.start : piece.end] == piece.text
            assert text.text[end : piece.start].strip() == ""
            end = piece.end
            if piece.source == "relation":
                copied += 1
                assert piece.form is not None
                assert piece.text in piece.form
                assert piece.is_partial or piece.text == piece.form
        assert text.written_tokens <= 60
        assert math.isfinite(text.marginal_log_prob)
    assert (copied > 0) == (kind in ("lrlm", "nklm"))


def test_a_copied_name_has_its_space(home: Path) -> None:
    """As a form stands at that place: with a space behind a word, with none at the start."""
    model = lrlm.load(home / "own-lrlm")
    for prompt, before in (("lies on the", " "), ("(", "")):
        texts = model.generate(
            TOWN, samples=20, seed=1, max_length=12, prompt=prompt, must_use=["river"]
        )
        first = [text for text in texts if text.pieces[1].source == "relation"]
        for text in first:
            assert text.text.startswith(f"{prompt}{before}{text.pieces[1].text}")


def test_all_runs_stand_in_one_table(home: Path) -> None:
    """Perplexity is per word of the corpus, whatever the tokens are."""
    runs = [home / "own-vanilla", home / "own-nklm", home / "own-lrlm", home / "words"]
    evaluation = lrlm.evaluate(runs, corpus=home / "corpus")
    words = {sum(score.units() for score in run.scores) for run in evaluation.runs}
    assert len(words) == 1
    labels = [run.backbone_label for run in evaluation.runs]
    assert labels == ["Simple RNN", "Simple RNN", "Simple RNN", "LSTM"]
    for run in evaluation.runs:
        figures = evaluation.perplexities(run)
        assert figures["perplexity"] is not None
        assert run.bits_per_byte is not None
        assert 0.1 < run.bits_per_byte < 10
    assert evaluation.runs[0].unknown_words == 0
    assert evaluation.perplexities(evaluation.runs[0])["upp"] == pytest.approx(
        evaluation.perplexities(evaluation.runs[0])["perplexity"]
    )


def test_forms_and_ids_come_back_as_text() -> None:
    space = CharacterSpace("abO.()")
    form = SurfaceForm(("a", "b"), "a b")
    assert space.decode(space.encode_form(form)) == "a b"
    assert space.form_tokens(form) == ("a", " b")
    assert [space.texts[i] for i in space.encode_form(form, before="O")] == [" a", " b"]
    assert [space.texts[i] for i in space.encode_form(form, before="O (")] == ["a", " b"]
    after = space.context_after(torch.tensor([space.end_id, *space.encode_form(form)]))
    assert after.tolist() == [0, 1, 1]


def test_a_whole_configuration_may_hold_parts_of_ones_own(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(RunConfig.of_size("mini", backbone=SimpleConfig(width=8)))
    monkeypatch.delitem(BACKBONES, "simple")
    monkeypatch.delitem(TOKEN_SPACES, "characters")
    cache = home / "features"
    lrlm.train(home / "corpus", tmp_path / "run", config=config, features_cache=cache)
    monkeypatch.delitem(BACKBONES, "simple")  # as in another process
    monkeypatch.delitem(TOKEN_SPACES, "characters")
    again = lrlm.train(
        home / "corpus", tmp_path / "run", config=config, resume=True, features_cache=cache
    )
    assert isinstance(lrlm.load(again).run.space, CharacterSpace)
    alone = lrlm.evaluate(again, corpus=home / "corpus")
    assert len(alone.runs) == 1
