"""On subwords every sum is exact: all texts sum to one, whatever the windows and batches are."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from lrlm.corpora import Linker
from lrlm.generation.options import GenerationOptions
from lrlm.generation.sampler import Sampler
from lrlm.knowledge import Topic
from lrlm.lattice import log_marginal, posteriors
from lrlm.models import document_nats, lattice_of, read_documents
from lrlm.runs.run import Run
from lrlm.text import Profile
from tests.generation.test_sampling import agree
from tests.models.subword_world import LONELY, TOPIC, subword_run
from tests.oracles.subword_texts import Ids, SubwordTexts

KINDS = [
    ("vanilla", False),
    ("prompted", False),
    ("lrlm", False),
    ("lrlm", True),
    ("lrlm+named", False),
]
LONGEST = 3


def world_of(folder: Path, patch: pytest.MonkeyPatch, kind: str, facts: bool) -> Run:
    """A run of one kind; "lrlm+named" knows which names stand in the text already."""
    kind, _, named = kind.partition("+")
    return subword_run(folder, patch, kind=kind, facts_in_context=facts, named=bool(named))


def log_probs(run: Run, topic: Topic, texts: Sequence[Ids]) -> list[float]:
    """log P of texts with just these tokens, and then the end."""
    linker = Linker(topic, run.link_options.for_raw_text())
    documents = []
    for ids in texts:
        growing = run.space.begin_text("", profile=Profile.RAW, spellings=None)
        for token in ids:
            growing.add(token)
        growing.finish()
        linked = linker.link(growing.text)
        encoded = run.space.encode_written(linked, growing)
        documents.append(run.encoder.encode_tokens(linked, encoded))
    found = document_nats(run.model, run.collator.windows(documents))
    values: list[float] = (-found.nats_B).tolist()
    return values


@pytest.mark.parametrize("topic", [TOPIC, LONELY], ids=lambda topic: topic.id)
@pytest.mark.parametrize(("kind", "facts"), KINDS)
def test_all_texts_sum_to_one(
    kind: str, facts: bool, topic: Topic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = world_of(tmp_path, monkeypatch, kind, facts)
    found = SubwordTexts(run, topic).up_to(LONGEST)
    assert math.fsum(found.texts.values()) + found.longer == pytest.approx(1, abs=1e-12)
    texts = list(found.texts)
    assert len(texts) == sum(9**length for length in range(LONGEST + 1))
    expected = [math.log(found.texts[ids]) for ids in texts]
    assert log_probs(run, topic, texts) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("kind", "facts"), KINDS)
def test_texts_are_as_frequent_as_probable(
    kind: str, facts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = world_of(tmp_path, monkeypatch, kind, facts)
    expected = SubwordTexts(run, TOPIC).up_to(2)
    sampler = Sampler(run, TOPIC, GenerationOptions(min_length=0, max_length=8), seed=3)
    written: list[list[int]] = [[] for _ in range(4000)]
    ended: set[int] = set()
    with torch.inference_mode():
        for number, token in sampler.tokens(len(written)):
            if token is None:
                ended.add(number)
            else:
                written[number].append(token.id)
    seen = Counter(
        tuple(ids) if number in ended and len(ids) <= 2 else "longer"
        for number, ids in enumerate(written)
    )
    agree(seen, {**expected.texts, "longer": expected.longer})


TEXTS = [
    "ab ab (a b) a-b ab a(b a( ab-a a b b b(ab (ab) ab",
    "a b a b",
    "ab",
    "b(a b-ab a b ab ab ab ab (a(a b)",
]


@pytest.mark.parametrize(("facts", "named"), [(False, False), (True, False), (False, True)])
def test_nothing_depends_on_windows_or_batches(
    facts: bool, named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = subword_run(tmp_path, monkeypatch, facts_in_context=facts, context=1024, named=named)
    documents = [run.encoder.encode_one(run.link(text, TOPIC)) for text in TEXTS]
    assert all(len(document.edges_E4) for document in documents)

    def nats(window: int, batches: Sequence[Sequence[int]]) -> list[float]:
        training = replace(run.config.training, window=window)
        setup = replace(run.setup, config=replace(run.config, training=training))
        collator = setup.collator()
        values: dict[int, float] = {}
        for batch in batches:
            windows = collator.windows([documents[number] for number in batch])
            found = document_nats(run.model, windows)
            values.update(zip(batch, found.nats_B.tolist(), strict=True))
        return [values[number] for number in range(len(documents))]

    whole = nats(1000, [[number] for number in range(len(documents))])
    for window in (1, 2, 5, 1000):
        for batches in ([[0, 1, 2, 3]], [[3, 0], [2, 1]], [[0], [1], [2], [3]]):
            assert nats(window, batches) == pytest.approx(whole, abs=1e-9)


def test_posteriors_are_the_gradient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = subword_run(tmp_path, monkeypatch)
    documents = [run.encoder.encode_one(run.link(text, TOPIC)) for text in TEXTS]
    lattice = lattice_of(read_documents(run.model, run.collator, documents))
    words_BT = lattice.words_BT.clone().requires_grad_()
    score_E = lattice.score_E.clone().requires_grad_()
    total = log_marginal(replace(lattice, words_BT=words_BT, score_E=score_E)).sum()
    torch.autograd.backward(total)
    word_BT, edge_E = posteriors(lattice)
    assert words_BT.grad is not None
    assert score_E.grad is not None
    torch.testing.assert_close(words_BT.grad, word_BT, atol=1e-10, rtol=0)
    torch.testing.assert_close(score_E.grad, edge_E, atol=1e-10, rtol=0)


def test_a_name_is_copied_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = subword_run(tmp_path, monkeypatch)
    inside = run.encoder.encode_one(run.link("(bab", TOPIC))  # "b" within the word "bab"
    assert not len(inside.edges_E4)
    behind = run.encoder.encode_one(run.link("(b-ab", TOPIC))
    assert [(start, end) for start, end, *_ in behind.edges_E4.tolist()] == [(1, 2)]


def test_facts_in_context_change_states_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = subword_run(tmp_path, monkeypatch)
    told = subword_run(tmp_path, monkeypatch, facts_in_context=True)
    document = plain.link(TEXTS[0], TOPIC)
    one, other = plain.encoder.encode_one(document), told.encoder.encode_one(document)
    assert one.tokens_N.tolist() == other.tokens_N.tolist()
    assert one.edges_E4.tolist() == other.edges_E4.tolist()
    assert len(one.preface_P) == 1 < len(other.preface_P)
