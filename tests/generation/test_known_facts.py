"""Texts that are kept name known facts only, and are as frequent as an open world has them."""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import lrlm
from lrlm.corpora import Linker
from lrlm.corpora.open_relations import lacking_relations
from lrlm.generation import drafts
from lrlm.generation.drafts import Beginning, Draft
from lrlm.generation.generate import generate, stream
from lrlm.generation.options import GenerationOptions
from lrlm.generation.pieces import PieceWriter, WrittenToken
from lrlm.generation.sampler import Sampler
from lrlm.heads import Choosing
from lrlm.knowledge import Relation, Topic
from lrlm.knowledge.schema import Schema
from lrlm.models import LatentRelationLM
from lrlm.runs.run import Run
from lrlm.text import Profile
from tests.generation.test_sampling import WAYS, agree
from tests.models.subword_world import TOPIC as SUBWORD_TOPIC
from tests.models.subword_world import subword_run
from tests.models.test_normalisation import topic_window
from tests.oracles.generation import enumerate_texts
from tests.oracles.sampling import Adjust
from tests.oracles.subword_texts import SubwordTexts
from tests.toy import OBJECTS, TYPES, VOCABULARY
from tests.toy_run import toy_run

POOR = Topic("poor", names=["a b"], relations=[Relation("never seen", "somebody", ["u", "b a"])])
"""What it likes is not known, although such topics usually like something."""
SCHEMA = Schema.of(
    [
        Topic(str(number), relations=[Relation("never seen", "x"), Relation("likes", liked)])
        for number, liked in enumerate(("first", "first", "second"))
    ]
)
LACKING = (torch.tensor([TYPES["likes"]] * 2), torch.tensor([OBJECTS["first"], OBJECTS["second"]]))
SHORT = 3
COUNT = 3_000


def conditional(chances: Mapping[Any, float]) -> dict[Any, float]:
    """Give the probabilities given that one of them comes true."""
    total = math.fsum(chances.values())
    return {what: chance / total for what, chance in chances.items()}


def texts_of(run: Run, topic: Topic, count: int, **wishes: Any) -> Counter[Any]:
    """Count the short texts among many."""
    options = GenerationOptions(min_length=0, max_length=6, **wishes)
    sampler = Sampler(run, topic, options, seed=3, schema=SCHEMA)
    assert sampler.may_reject
    with torch.inference_mode():
        written = drafts.write_texts(sampler, options, count, check=lambda: None)
    return Counter(
        tuple(each.text.tokens) for each in written if each.ended and len(each.tokens) <= SHORT
    )


@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
@pytest.mark.parametrize("kind", ["lrlm", "lrlm+summary", "lrlm+named+told"])
def test_texts_are_those_of_an_open_world_without_open_relations(
    kind: str, backbone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "MOST_TEXTS", 10_000)
    run = toy_run(kind, backbone)
    assert isinstance(run.model, LatentRelationLM)
    window, forms = topic_window(POOR)
    with torch.no_grad():
        closed = enumerate_texts(run.model, window, forms, SHORT)
        known = enumerate_texts(run.model, window, forms, SHORT, lacking=LACKING)
    assert known.total < 0.95 < closed.total  # so rejecting changes much
    agree(texts_of(run, POOR, COUNT), conditional(known.texts))


def test_each_sentence_is_one_of_an_open_world_without_open_relations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After one whole text it goes on after whole sentences; here "b" ends one."""
    monkeypatch.setattr(drafts, "_SENTENCE_ENDS", ("b",))
    monkeypatch.setattr(drafts, "MOST_TEXTS", 1)
    monkeypatch.setattr(drafts, "MOST_SENTENCES", 10_000)
    run = toy_run("lrlm+named+told")
    assert isinstance(run.model, LatentRelationLM)
    window, forms = topic_window(POOR)
    with torch.no_grad():
        known = enumerate_texts(run.model, window, forms, SHORT, lacking=LACKING)
    # Texts that end before any word "b" are one sentence, in whichever way they are written.
    expected = {text: chance for text, chance in known.texts.items() if "b" not in text}
    seen = texts_of(run, POOR, COUNT)
    seen = Counter({text: count for text, count in seen.items() if "b" not in text})
    agree(seen, conditional(expected))


@pytest.mark.parametrize(("wishes", "adjust"), WAYS, ids=[str(wishes) for wishes, _ in WAYS])
def test_relations_are_chosen_as_among_all_given_a_known_one(wishes: Any, adjust: Adjust) -> None:
    generator = torch.Generator().manual_seed(1)
    choosing = Choosing(generator=generator, **wishes)
    log_probs = torch.tensor([0.3, 0.1, 0.05, 0.35, 0.2], dtype=torch.float64).log()
    chances = adjust(log_probs)
    chosen, log_known = choosing.choose_first(log_probs.expand(4_000, -1), 3)
    share = float(chances[:3].sum())
    assert log_known.exp().tolist() == pytest.approx([share] * 4_000)
    if share == 0:
        assert set(chosen.tolist()) == {0}
        return
    expected = {n: float(chances[n]) / share for n in range(3) if chances[n] > 0}
    seen = Counter(chosen.tolist())
    assert set(seen) == set(expected)
    if len(expected) > 1:
        agree(seen, expected)


def test_where_only_open_relations_are_possible_the_best_known_one_is_given() -> None:
    log_probs = torch.tensor([[0.0, 0.1, 0.2, 0.7], [0.0, 0.6, 0.0, 0.4]]).log()
    chosen, log_known = Choosing(top_k=1).choose_first(log_probs, 3)
    assert chosen.tolist() == [2, 1]
    assert log_known.exp().tolist() == [0.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lrlm", "lrlm+named"])
def test_texts_of_subwords_are_those_of_an_open_world(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "MOST_TEXTS", 10_000)
    kind, _, named = kind.partition("+")
    run = subword_run(tmp_path, monkeypatch, kind=kind, named=bool(named))
    types = {relation.type for relation in SUBWORD_TOPIC.relations}
    facts = [Relation(type_, "x") for type_ in types]
    schema = Schema.of([Topic("other", relations=[*facts, Relation("lacking", "b a")])])
    linker = Linker(SUBWORD_TOPIC, run.link_options.for_raw_text())
    lacking = lacking_relations(linker.relations, schema)
    assert [each.type for each in lacking] == ["lacking"]
    known = SubwordTexts(run, SUBWORD_TOPIC, lacking=lacking).up_to(2)
    options = GenerationOptions(min_length=0, max_length=6)
    sampler = Sampler(run, SUBWORD_TOPIC, options, seed=3, schema=schema)
    with torch.inference_mode():
        written = drafts.write_texts(
            sampler, options, 8_000 if named else 2_000, check=lambda: None
        )
    ids = [tuple(token.id for token in each.tokens) for each in written if each.ended]
    assert math.fsum(known.texts.values()) + known.longer < 0.99
    agree(Counter(each for each in ids if len(each) <= 2), conditional(known.texts))


def some(run: Run, *, samples: int = 40, seed: int = 1, **wishes: Any) -> list[lrlm.GeneratedText]:
    options = GenerationOptions(**{"max_length": 5, **wishes})
    return generate(run, POOR, options, samples=samples, seed=seed, schema=SCHEMA)


def test_drafts_are_those_of_the_model_itself() -> None:
    """So a text that is not rejected is the one that the model would have written anyway."""
    run = toy_run("lrlm+named+told")
    written = []
    for schema in (SCHEMA, None):
        sampler = Sampler(run, POOR, GenerationOptions(max_length=20), seed=4, schema=schema)
        with torch.inference_mode():
            written.append(list(sampler.tokens(50)))
    numbers, tokens = zip(*written[0], strict=True)
    assert any(token.log_known < 0 for token in tokens if token is not None)
    assert numbers == tuple(number for number, _ in written[1])
    for token, (_, plain) in zip(tokens, written[1], strict=True):
        assert (token is None) == (plain is None)
        if token is not None and plain is not None:
            assert token.row() == plain.row()
            assert token.log_prob == pytest.approx(plain.log_prob)


def test_log_probabilities_are_those_of_the_model_itself() -> None:
    run = toy_run("lrlm")
    for text in some(run, temperature=0.7):
        assert text.log_prob <= text.marginal_log_prob + 1e-9
        score = lrlm.Model(run).score(text.text, POOR)
        assert -score.nats == pytest.approx(text.marginal_log_prob, abs=1e-6)


def test_a_seed_gives_the_same_texts() -> None:
    run = toy_run("lrlm+named+told")
    assert some(run, seed=7) == some(run, seed=7)
    assert some(run, seed=7) != some(run, seed=8)


def test_a_type_that_the_topic_has_is_never_lacking() -> None:
    run = toy_run("lrlm")
    rich = Topic("rich", names=["a b"], relations=[*POOR.relations, Relation("likes", "first")])
    assert not Sampler(run, rich, GenerationOptions(), 1, schema=SCHEMA).may_reject
    assert Sampler(run, POOR, GenerationOptions(), 1, schema=SCHEMA).may_reject
    any_facts = GenerationOptions(known_facts_only=False)
    assert not Sampler(run, POOR, any_facts, 1, schema=SCHEMA).may_reject
    assert not Sampler(run, POOR, GenerationOptions(), 1).may_reject


@pytest.mark.parametrize("kind", ["vanilla", "alias", "nklm"])
def test_models_that_choose_no_relations_write_as_before(kind: str) -> None:
    run = toy_run(kind)
    assert not Sampler(run, POOR, GenerationOptions(), 1, schema=SCHEMA).may_reject
    assert some(run) == some(run, known_facts_only=False)


def test_a_stream_is_the_first_sample() -> None:
    run = toy_run("lrlm+named+told")
    for seed in range(8):
        for prompt in ("", "a b u"):
            options = GenerationOptions(max_length=10, prompt=prompt)
            (whole,) = generate(run, POOR, options, samples=1, seed=seed, schema=SCHEMA)
            assert tuple(stream(run, POOR, options, seed=seed, schema=SCHEMA)) == whole.pieces


@pytest.mark.parametrize("known_facts_only", [True, False])
def test_a_stream_that_nobody_wants_ends(*, known_facts_only: bool) -> None:
    asked = 0

    def check() -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise TimeoutError

    options = GenerationOptions(known_facts_only=known_facts_only, min_length=20)
    with pytest.raises(TimeoutError):
        list(stream(toy_run("lrlm"), POOR, options, seed=1, schema=SCHEMA, check=check))
    assert asked == 3


class Scripted:
    """Writes drafts of which it is known what will be rejected."""

    rewrites_sentences = False

    def __init__(self, run: Run, scripts: Sequence[str]) -> None:
        """In a script, "!" stands for a name that is not known; an end is written as "$"."""
        self._run = run
        self.scripts = list(scripts)
        self.begun: list[tuple[int, bool]] = []

    def begin_text(self, kept: Beginning | None = None, *, is_trusted: bool = False) -> Draft:
        kept = kept or Beginning()
        self.begun.append((len(kept.tokens), is_trusted))
        spellings = self._run.space.spellings(seed=1)
        growing = self._run.space.begin_text("", profile=Profile.RAW, spellings=spellings)
        luck = random.Random(1)
        return Draft(PieceWriter(growing, []), None, kept, luck=luck, is_trusted=is_trusted)

    def tokens(
        self, texts: int, *, kept: Any = None, wanted: Any = None
    ) -> Iterator[tuple[int, WrittenToken | None]]:
        going = dict(enumerate(self.scripts[:texts]))
        del self.scripts[:texts], kept
        while going:
            for number, script in list(going.items()):
                if not script:
                    del going[number]
                    continue
                going[number] = script[1:]
                if script[0] == "$":
                    yield number, None
                elif script[0] == "!":
                    yield number, WrittenToken(VOCABULARY.encode(["a"])[0], 0.0, log_known=-1e9)
                else:
                    yield number, WrittenToken(VOCABULARY.encode([script[0]])[0], 0.0)
            on = wanted(list(going)) if wanted is not None else [True] * len(going)
            going = {n: script for (n, script), keep in zip(going.items(), on, strict=True) if keep}


@pytest.mark.parametrize(
    ("scripts", "wishes", "text", "begun"),
    [
        (["aa$"], {}, "a a", [(0, False)]),
        # the second draft of a text is kept, in its order and not in that of their ends
        (["a!b$", "a!", "aaaaa$", "a$"], {}, "a a a a a", [(0, False)] * 9),
        # the most probable choices are the same again: the text ends after its last sentence
        (["ab!a$"], {"greedy": True}, "a b", [(0, False), (2, False)]),
        # there is none, or the text may not end yet: the sentence is kept as it comes
        (["a!ab$", "a!abaa$"], {"greedy": True}, "a a a b a a", [(0, False), (0, True)]),
        (
            ["ab!ab$", "!abab!ba$"],
            {"greedy": True, "min_length": 5},
            "a b a a b a b",
            [(0, False), (2, True), (7, False)],
        ),
    ],
)
def test_what_is_rejected_is_written_again(
    scripts: list[str],
    wishes: dict[str, Any],
    text: str,
    begun: list[tuple[int, bool]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drafts, "_SENTENCE_ENDS", ("b",))
    source = Scripted(toy_run("lrlm"), scripts + ["!"] * 5)
    options = GenerationOptions(**wishes)
    (draft,) = drafts.write_texts(source, options, 1, check=lambda: None)
    assert draft.text.text == text
    assert source.begun == begun


def test_after_so_many_texts_sentences_are_written_again_and_then_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drafts, "_SENTENCE_ENDS", ("b",))
    monkeypatch.setattr(drafts, "SIDE_BY_SIDE", 1)
    whole = ["ab!"] * drafts.MOST_TEXTS
    sentence = ["a!"] * (drafts.MOST_SENTENCES - 1)
    source = Scripted(toy_run("lrlm"), [*whole, *sentence[:-1], "ab!", *sentence])
    (draft,) = drafts.write_texts(source, GenerationOptions(), 1, check=lambda: None)
    assert draft.text.text == "a b a b"
    assert not draft.ended
    assert not source.scripts
    starts = [start for start, _ in source.begun]
    assert starts == [0] * len(whole) + [2] * len(sentence) + [4] * (len(sentence) + 1)


def test_the_shipped_model_names_the_capital_only_where_it_is_known() -> None:
    model = lrlm.load()
    topic = Topic("Norway", relations=[Relation("currency", "krone")])
    texts = model.generate(topic, samples=40, seed=1, max_length=60)
    capital = [text.text for text in texts if "capital is" in text.text]
    assert not capital
    assert any("krone" in text.text for text in texts)
    greedy = model.generate(topic, samples=3, greedy=True)
    assert len({text.text for text in greedy}) == 1
    assert "capital" not in greedy[0].text
    pieces = list(model.stream(topic, seed=5))
    assert "".join(piece.text for piece in pieces)
    free = model.generate(topic, samples=40, seed=1, max_length=60, known_facts_only=False)
    assert any("capital is" in text.text for text in free)
