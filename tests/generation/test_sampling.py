"""The texts that are written are as frequent as they are probable, for every model."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from scipy import stats

from lrlm.generation.decoding import Rules
from lrlm.generation.options import GenerationOptions, OptionArguments
from lrlm.generation.pieces import WrittenToken
from lrlm.generation.sampler import Sampler
from lrlm.heads import Choosing
from lrlm.knowledge import Topic
from lrlm.models import NeuralKnowledgeLM, VanillaLM
from tests.models.test_normalisation import topic_window
from tests.oracles.generation import enumerate_annotated, enumerate_texts
from tests.oracles.sampling import Adjust, best, next_tokens, nucleus, plain_text, tempered
from tests.toy import LONELY, TOPIC, VOCABULARY
from tests.toy_run import toy_run

PLUS = "lrlm+named+fit+deep_fit+summary+beside_names+name_words+traits"
COUNT = 20_000
LONG = 14
"""Tokens up to which texts are written; what is compared is shorter."""


Written = tuple[str, int, int]
"""Word, form and position of a token."""


def agree(seen: Mapping[Any, int], expected: Mapping[Any, float]) -> None:
    """Check counts against probabilities; whatever is rare is taken together."""
    total = sum(seen.values())
    assert not {what for what in seen if what not in expected}
    frequent = [what for what, chance in expected.items() if chance * total >= 10]
    observed = [seen.get(what, 0) for what in frequent]
    chances = [expected[what] for what in frequent]
    observed.append(total - sum(observed))
    chances.append(1 - math.fsum(chances))
    if chances[-1] * total < 10:
        observed[-2:], chances[-2:] = [sum(observed[-2:])], [math.fsum(chances[-2:])]
    assert len(chances) > 1
    result = stats.chisquare(observed, [chance * total for chance in chances])
    assert result.pvalue > 0.001, sorted(zip(observed, chances, strict=True))[-5:]


def word_of_token(sampler: Sampler, token: WrittenToken) -> str:
    """The word of a token: of a name, of the form, spelled at random, or of the vocabulary."""
    if token.word is not None:
        return token.word
    if token.form >= 0:
        return sampler.forms[token.form].tokens[token.context][token.position]
    if token.id == VOCABULARY.unknown_id:
        assert sampler._spellings is not None
        return sampler._spellings.take()[0]
    return VOCABULARY.words[token.id]


def write(sampler: Sampler, texts: int) -> list[tuple[tuple[Written, ...], bool]]:
    """Write texts: the tokens of each with their origins, and whether it ended."""
    written: list[list[Written]] = [[] for _ in range(texts)]
    ended = [False] * texts
    with torch.inference_mode():
        for number, token in sampler.tokens(texts):
            if token is None:
                ended[number] = True
            else:
                written[number].append((word_of_token(sampler, token), token.form, token.position))
    return [(tuple(tokens), end) for tokens, end in zip(written, ended, strict=True)]


@pytest.mark.parametrize("topic", [TOPIC, LONELY], ids=lambda topic: topic.id)
@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
@pytest.mark.parametrize(
    "kind", ["vanilla", "alias", "lrlm", "lrlm+summary", "lrlm+named+told", PLUS]
)
def test_texts_are_as_frequent_as_probable(kind: str, backbone: str, topic: Topic) -> None:
    run = toy_run(kind, backbone)
    options = GenerationOptions(min_length=0, max_length=LONG)
    sampler = Sampler(run, topic, options, seed=3)
    window, forms = topic_window(topic)
    preface_1P = sampler.writer.topic.preface_P[None, :-1]
    window = replace(
        window, preface_BP=preface_1P, preface_lengths_B=torch.tensor([preface_1P.shape[1]])
    )
    assert isinstance(run.model, VanillaLM)
    with torch.no_grad():
        expected = enumerate_texts(run.model, window, forms, 3)
    seen = Counter(
        tuple(word for word, *_ in tokens) if len(tokens) <= 3 and end else "longer"
        for tokens, end in write(sampler, COUNT)
    )
    agree(seen, {**expected.texts, "longer": expected.longer})


@pytest.mark.parametrize("topic", [TOPIC, LONELY], ids=lambda topic: topic.id)
@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
def test_annotated_texts_of_nklm_are_as_frequent_as_probable(backbone: str, topic: Topic) -> None:
    run = toy_run("nklm", backbone)
    sampler = Sampler(run, topic, GenerationOptions(min_length=0, max_length=LONG), seed=3)
    window, forms = topic_window(topic)
    assert isinstance(run.model, NeuralKnowledgeLM)
    with torch.no_grad():
        found = enumerate_annotated(run.model, window, forms, 2)
    first = [sum(map(len, forms[:relation])) for relation in range(len(forms))]
    expected: dict[Any, float] = defaultdict(float, {"longer": found.longer})
    for tokens, chance in found.derivations.items():
        how = tuple(
            (token.word, first[token.relation] + token.form, token.position)
            if token.is_copy
            else (token.word, -1, 0)
            for token in tokens
        )
        expected[how] += chance
    seen = Counter(
        tokens if len(tokens) <= 2 and end else "longer" for tokens, end in write(sampler, COUNT)
    )
    agree(seen, expected)


WAYS: list[tuple[OptionArguments, Adjust]] = [
    ({}, tempered(1.0)),
    ({"temperature": 0.5}, tempered(0.5)),
    ({"temperature": 1.7}, tempered(1.7)),
    ({"top_k": 2}, best(2)),
    ({"top_p": 0.6}, nucleus(0.6)),
    ({"greedy": True}, best(1)),
]


@pytest.mark.parametrize(("wishes", "adjust"), WAYS, ids=[str(wishes) for wishes, _ in WAYS])
@pytest.mark.parametrize("kind", ["vanilla", "nklm", "lrlm"])
@torch.inference_mode()
def test_every_choice_is_made_as_asked(kind: str, wishes: OptionArguments, adjust: Adjust) -> None:
    run = toy_run(kind)
    options = replace(GenerationOptions(**wishes), min_length=0, max_length=LONG)
    sampler = Sampler(run, TOPIC, options, seed=5)
    begun = sampler.writer.begin()
    assert isinstance(run.model, VanillaLM | NeuralKnowledgeLM)
    expected: dict[Any, float] = defaultdict(float)
    for outcome, chance in next_tokens(run.model, sampler.writer.topic, begun.states_BD, adjust):
        if chance > 0:
            expected[outcome] += chance
    assert math.fsum(expected.values()) == pytest.approx(1)

    rows = torch.zeros(COUNT, dtype=torch.long)
    rules = Rules(options, sampler.relations, sampler.writer, texts=COUNT)
    written = sampler.writer.choose(
        begun.select(rows), rules.limits(0, torch.arange(COUNT)), sampler._choosing
    )
    columns = (written.token_B, written.form_B, written.position_B)
    seen = Counter(zip(*(column.tolist() for column in columns), strict=True))
    if len(expected) == 1:
        assert set(seen) == set(expected)
    else:
        agree(seen, expected)

    # What is reported is the model's own probability, however the choice was made.
    own: dict[Any, list[float]] = defaultdict(list)
    for outcome, chance in next_tokens(
        run.model, sampler.writer.topic, begun.states_BD, tempered(1.0)
    ):
        own[outcome].append(math.log(chance) if chance > 0 else -math.inf)
    for outcome, log_prob in zip(
        zip(*(column.tolist() for column in columns), strict=True),
        written.log_prob_B.tolist(),
        strict=True,
    ):
        assert min(abs(log_prob - each) for each in own[outcome]) < 1e-9


@pytest.mark.parametrize("kind", ["vanilla", "lrlm"])
def test_the_plain_loop_writes_the_same(kind: str) -> None:
    run = toy_run(kind)
    sampler = Sampler(run, TOPIC, GenerationOptions(min_length=0, max_length=LONG), seed=3)
    assert isinstance(run.model, VanillaLM)
    generator = torch.Generator().manual_seed(1)
    count = 400
    plain = Counter(
        tuple(VOCABULARY.words[word] for word, _ in text[:2])
        for text in (
            plain_text(run.model, sampler.writer.topic, length=LONG, generator=generator)
            for _ in range(count)
        )
    )

    def word_of(token: Written) -> str:
        return VOCABULARY.words[VOCABULARY.encode([token[0]])[0]]

    fast = Counter(tuple(map(word_of, tokens[:2])) for tokens, _ in write(sampler, COUNT))
    agree(plain, {what: number / COUNT for what, number in fast.items()})


@pytest.mark.parametrize(
    ("choosing", "adjust"),
    [
        (Choosing, tempered(1.0)),
        (lambda generator: Choosing(0.3, generator=generator), tempered(0.3)),
        (lambda generator: Choosing(top_k=3, generator=generator), best(3)),
        (lambda generator: Choosing(top_p=0.5, generator=generator), nucleus(0.5)),
    ],
)
def test_choices_alone(choosing: Callable[..., Choosing], adjust: Adjust) -> None:
    log_probs = torch.tensor([0.3, 0.05, 0.0, 0.2, 0.1, 0.35], dtype=torch.float64).log()
    how = choosing(generator=torch.Generator().manual_seed(2))
    chosen = how.choose(log_probs.expand(COUNT, -1))
    expected = dict(enumerate(adjust(log_probs).tolist()))
    agree(Counter(chosen.tolist()), {what: chance for what, chance in expected.items() if chance})


def test_the_impossible_is_never_chosen() -> None:
    log_probs = torch.full((1000, 7), -torch.inf)
    log_probs[:, 2] = -80.0
    for how in (Choosing(), Choosing(greedy=True), Choosing(5.0), Choosing(top_k=2, top_p=0.1)):
        assert set(how.choose(log_probs).tolist()) == {2}


def test_a_share_that_rounds_to_nothing_leaves_the_most_probable() -> None:
    log_probs_XN = torch.tensor([[0.1, 0.7, 0.2], [0.6, 0.3, 0.1]]).log()
    assert Choosing(top_p=5e-324).choose(log_probs_XN).tolist() == [1, 0]
