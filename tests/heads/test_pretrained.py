"""The token layers of a pretrained LM against its own logits and a softmax written out in full."""

from functools import cache

import pytest
import torch
from torch import Tensor
from transformers import CohereConfig, GraniteConfig

from lrlm.backbones import LstmConfig, Pretrained, PretrainedBackbone, causal_lm
from lrlm.errors import InputError, ShapeError
from lrlm.heads import Choosing, PretrainedEmbedding, PretrainedHead, PretrainedLayersConfig
from lrlm.heads import pretrained as module
from lrlm.models import LatentRelationLM, ModelConfig, ModelSizes, VanillaLM, build_model
from tests.generators.tiny_backbones import (
    TOKENS,
    folder_of_this_process,
    save_tiny,
    save_tiny_gemma,
    save_tiny_gpt2,
    save_tiny_llama,
)

BEGINS = torch.arange(TOKENS) % 3 != 1


@cache
def saved(kind: str) -> str:
    folder = folder_of_this_process()
    sizes = {
        "vocab_size": TOKENS, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
        "num_attention_heads": 2, "num_key_value_heads": 1, "bos_token_id": 1, "eos_token_id": 1,
        "pad_token_id": 0,
    }  # fmt: skip
    match kind:
        case "gemma":
            save_tiny_gemma(folder, width=8)
        case "gpt2":
            save_tiny_gpt2(folder, width=8)
        case "granite":
            save_tiny(folder, GraniteConfig(**sizes, logits_scaling=4.0, embedding_multiplier=3.0))
        case "cohere":
            save_tiny(folder, CohereConfig(**sizes, logit_scale=0.25))
        case "untied":
            save_tiny_llama(folder, width=8, tie_word_embeddings=False)
        case _:
            save_tiny_llama(folder, width=8)
    return str(folder)


def built(kind: str = "llama", **settings: str) -> PretrainedBackbone:
    return Pretrained(saved(kind), **settings).build(8)  # type: ignore[arg-type]


def states(count: int, seed: int = 0) -> Tensor:
    return torch.randn(count, 8, generator=torch.Generator().manual_seed(seed)).double()


@pytest.fixture(params=[1 << 22, 3 * TOKENS, 1], ids=["one part", "three a part", "one a part"])
def _parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SCORES_AT_A_TIME", request.param)


KINDS = ["llama", "untied", "gpt2", "gemma", "granite", "cohere"]


@pytest.mark.usefixtures("_parts")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tuning", ["frozen", "full"])
def test_probabilities_are_the_models_own(kind: str, tuning: str) -> None:
    backbone = built(kind, tuning=tuning).double().eval()
    embedding = PretrainedEmbedding(backbone, TOKENS)
    head = PretrainedHead(backbone, TOKENS, BEGINS).double()
    ids = torch.tensor([[3, 17, 4, 4, 39, 0, 8, 21]])
    hidden, _ = backbone(embedding(ids), torch.tensor([8]), backbone.initial_state(1))
    targets = torch.tensor([17, 4, 4, 39, 0, 8, 21, 5])
    lm = backbone.files.language_model(torch.float64)
    with torch.no_grad():
        if kind == "gemma":
            lm.set_attn_implementation("eager")
        probabilities = lm(input_ids=ids).logits[0].softmax(1)
    log_probs, fresh = head.log_probs_and_fresh(hidden[0], targets)
    expected = probabilities.gather(1, targets[:, None])[:, 0].log()
    torch.testing.assert_close(log_probs, expected, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(fresh, probabilities[:, BEGINS].sum(1).log(), rtol=1e-5, atol=1e-6)
    assert torch.equal(head.log_probs(hidden[0], targets), log_probs)


@pytest.mark.usefixtures("_parts")
def test_they_sum_to_one() -> None:
    backbone = built().double()
    head = PretrainedHead(backbone, TOKENS, BEGINS).double()
    state = states(1).expand(TOKENS, -1)
    with torch.no_grad():
        log_probs, fresh = head.log_probs_and_fresh(state, torch.arange(TOKENS))
    assert float(log_probs.exp().sum()) == pytest.approx(1.0, abs=1e-12)
    torch.testing.assert_close(log_probs[BEGINS].exp().sum(), fresh[0].exp())


@pytest.mark.usefixtures("_parts")
@pytest.mark.parametrize("kind", ["llama", "gemma"])
def test_gradients_are_the_slope_and_reach_what_learns(kind: str) -> None:
    backbone = built(kind, tuning="full").double()
    head = PretrainedHead(backbone, TOKENS, BEGINS).double()
    targets = torch.tensor([3, 0, 39, 5])
    inputs = states(4).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: head.log_probs_and_fresh(x, targets), inputs)
    weight = backbone.language_model.get_output_embeddings().weight
    by_parts = torch.autograd.grad(head.log_probs(inputs, targets).sum(), weight)[0]
    whole = backbone.scores(inputs).log_softmax(1).gather(1, targets[:, None]).sum()
    torch.testing.assert_close(by_parts, torch.autograd.grad(whole, weight)[0])


def test_layers_of_a_frozen_model_learn_nothing_and_hold_nothing() -> None:
    backbone = built()
    embedding = PretrainedEmbedding(backbone, TOKENS)
    head = PretrainedHead(backbone, TOKENS, BEGINS)
    assert not list(embedding.parameters()) + list(head.parameters())
    assert not {**embedding.state_dict(), **head.state_dict()}
    assert embedding(torch.tensor([[1, 2, 3]])).shape == (1, 3, 8)
    assert torch.equal(embedding.step(torch.tensor([7])), embedding(torch.tensor([7])))


def test_rows_that_stand_for_nothing_keep_their_probability() -> None:
    backbone = built().double()
    head = PretrainedHead(backbone, 30, BEGINS[:30]).double()
    with torch.no_grad():
        log_probs, fresh = head.log_probs_and_fresh(states(1).expand(30, -1), torch.arange(30))
    assert float(log_probs.exp().sum()) < 1
    assert float(fresh[0].exp()) == pytest.approx(float(log_probs[BEGINS[:30]].exp().sum()))


def test_without_a_mask_every_token_begins_a_word() -> None:
    head = PretrainedHead(built().double(), TOKENS).double()
    with torch.no_grad():
        _, fresh = head.log_probs_and_fresh(states(3), torch.arange(3))
    torch.testing.assert_close(fresh, torch.zeros(3).double())


@pytest.mark.parametrize(("count", "part"), [(4000, 1 << 22), (50, 3 * TOKENS)])
def test_choices_follow_the_probabilities(
    count: int, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SCORES_AT_A_TIME", part)
    backbone = built().double()
    head = PretrainedHead(backbone, TOKENS, BEGINS).double()
    chooser = head.chooser(end_id=6)
    many = states(1).expand(count, -1)
    choosing = Choosing(generator=torch.Generator().manual_seed(1))
    yes, no = torch.ones(count, dtype=torch.bool), torch.zeros(count, dtype=torch.bool)
    with torch.no_grad():
        expected = head.log_probs(states(1).expand(TOKENS, -1), torch.arange(TOKENS))
        for may_end, fresh in ((yes, None), (no, None), (yes, yes), (no, yes), (yes, no)):
            tokens, log_probs = chooser.choose(many, may_end, choosing, fresh_X=fresh)
            torch.testing.assert_close(log_probs, expected[tokens])
            possible = torch.ones(TOKENS, dtype=torch.bool)
            if fresh is yes:
                possible &= BEGINS
            if may_end is no:
                possible[6] = False
            chances = expected.exp() * possible
            found = torch.bincount(tokens, minlength=TOKENS) / count
            wanted = (chances / chances.sum()).float()
            torch.testing.assert_close(found, wanted, rtol=0, atol=2.5 / count**0.5)
            assert not (found[~possible] > 0).any()
        greedy = chooser.choose(many[:1], yes[:1], Choosing(greedy=True))[0]
        assert int(greedy) == int(expected.argmax())
        torch.testing.assert_close(
            chooser.log_fresh(many[:5]), head.log_probs_and_fresh(many[:5], torch.arange(5))[1]
        )


def test_nothing_to_score_or_choose() -> None:
    backbone = built().double()
    head = PretrainedHead(backbone, TOKENS, BEGINS).double()
    none = torch.empty(0, dtype=torch.long)
    log_probs, fresh = head.log_probs_and_fresh(states(0), none)
    assert log_probs.shape == fresh.shape == (0,)
    chooser = head.chooser(end_id=6)
    tokens, log_probs = chooser.choose(states(0), none.bool(), Choosing(), fresh_X=none.bool())
    assert tokens.shape == log_probs.shape == chooser.log_fresh(states(0)).shape == (0,)


def test_bfloat16_scores_are_given_in_the_type_of_the_states() -> None:
    exact, low = built(), built(precision="bfloat16")
    results = []
    for backbone in (exact, low):
        head = PretrainedHead(backbone, TOKENS, BEGINS)
        with torch.no_grad():
            found = head.log_probs_and_fresh(states(6).float(), torch.arange(6))
        assert found[0].dtype == found[1].dtype == torch.float32
        results.append(torch.cat(found))
    torch.testing.assert_close(*results, rtol=0.1, atol=0.1)


def test_wrong_input_is_refused_by_name() -> None:
    backbone = built()
    head = PretrainedHead(backbone, TOKENS)
    with pytest.raises(ShapeError, match="states_XD"):
        head.log_probs(torch.zeros(2, 7), torch.tensor([0, 0]))
    with pytest.raises(ShapeError, match="targets_X"):
        head.log_probs(torch.zeros(2, 8), torch.tensor([0]))
    with pytest.raises(ShapeError, match="begins_word_V"):
        PretrainedHead(backbone, TOKENS, BEGINS[1:])
    for layer in (PretrainedEmbedding, PretrainedHead):
        with pytest.raises(InputError, match="they do not belong together"):
            layer(backbone, TOKENS + 1)
    layers = PretrainedLayersConfig()
    lstm = LstmConfig(layers=1, hidden_size=4).build(8)
    with pytest.raises(InputError, match="goes with the backbone 'pretrained' only"):
        layers.embedding(TOKENS, backbone=lstm)
    with pytest.raises(InputError, match="goes with the backbone 'pretrained' only"):
        layers.embedding(TOKENS)
    with pytest.raises(InputError, match="states of width 8, not in states of width 9"):
        layers.head(9, TOKENS, embedding=PretrainedEmbedding(backbone, 9), backbone=backbone)


SIZES = ModelSizes(tokens=TOKENS, types=2, form_features=2, begins_word=BEGINS)


@pytest.mark.parametrize("kind", ["vanilla", "alias", "lrlm"])
def test_models_are_built_around_it(kind: str) -> None:
    config = ModelConfig(kind, Pretrained(saved("llama")), PretrainedLayersConfig())
    model = build_model(config, SIZES)
    assert isinstance(model, VanillaLM)
    assert isinstance(model.words, PretrainedHead)
    assert torch.equal(model.words.begins_V, BEGINS)
    assert model.embedding(torch.tensor([1])).shape == (1, 8)
    names = {name for name, _ in model.named_parameters()}
    assert bool(names) == isinstance(model, LatentRelationLM)
    learned = {name for name in names if not name.startswith("words.tuned.")}
    assert not any(name.startswith(("backbone", "embedding", "words")) for name in learned)
    tuned = build_model(
        ModelConfig(kind, Pretrained(saved("llama"), tuning="full"), PretrainedLayersConfig()),
        SIZES,
    )
    found = [name for name, _ in tuned.named_parameters() if name not in names]
    assert found
    assert all(name.startswith("backbone.language_model.") for name in found)


def test_models_that_do_not_fit_say_which_do() -> None:
    config = ModelConfig("nklm", Pretrained(saved("llama")), PretrainedLayersConfig())
    with pytest.raises(InputError, match="that fit it are: vanilla, alias, prompted, lrlm"):
        build_model(config, SIZES)
    with pytest.raises(InputError, match=r"set model\.words\.name to 'pretrained'"):
        build_model(ModelConfig("vanilla", Pretrained(saved("llama"))), SIZES)


def tuned_head(backbone: PretrainedBackbone, *, tokens: int = 128) -> PretrainedHead:
    """A head whose map of states has learned something."""
    head = PretrainedHead(backbone, TOKENS, BEGINS, tuned_rank=4, tuned_tokens=tokens).double()
    torch.manual_seed(5)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return head


def test_before_it_has_learned_the_words_are_the_models_own() -> None:
    backbone = built().double().eval()
    plain = PretrainedHead(backbone, TOKENS, BEGINS).double()
    tuned = PretrainedHead(backbone, TOKENS, BEGINS, tuned_rank=4).double()
    targets = torch.tensor([1, 4, 9, 0, 39])
    for one, other in zip(
        plain.log_probs_and_fresh(states(5), targets),
        tuned.log_probs_and_fresh(states(5), targets),
        strict=True,
    ):
        assert one.tolist() == other.tolist()


@pytest.mark.usefixtures("_parts")
def test_changed_states_go_through_the_same_softmax() -> None:
    backbone = built().double().eval()
    head = tuned_head(backbone)
    assert head.tuned is not None
    targets = torch.tensor([1, 4, 9, 0, 39])
    weight = backbone.files.language_model(torch.float64).get_output_embeddings().weight
    all_XV = (head.tuned(states(5)) @ weight.T).log_softmax(1)
    token_X, fresh_X = head.log_probs_and_fresh(states(5), targets)
    torch.testing.assert_close(token_X, all_XV[torch.arange(5), targets])
    torch.testing.assert_close(fresh_X, all_XV[:, BEGINS].logsumexp(1))
    chosen_X, log_prob_X = head.chooser(end_id=0).choose(
        states(5), torch.ones(5, dtype=torch.bool), Choosing(greedy=True)
    )
    torch.testing.assert_close(log_prob_X, all_XV.amax(1).detach())
    assert chosen_X.tolist() == all_XV.argmax(1).tolist()
    torch.testing.assert_close(head.chooser(end_id=0).log_fresh(states(5)), fresh_X.detach())


def test_what_was_read_does_not_depend_on_what_was_learned() -> None:
    backbone = built().double().eval()
    targets = torch.tensor([1, 4, 9, 0, 39])
    as_read = tuned_head(backbone).log_probs_as_read(states(5), targets)
    own = PretrainedHead(backbone, TOKENS, BEGINS).double().log_probs_and_fresh(states(5), targets)
    for one, other in zip(as_read, own, strict=True):
        torch.testing.assert_close(one, other)


def test_words_of_texts_that_were_read_before() -> None:
    backbone = built().double().eval()
    targets = torch.arange(20) % TOKENS
    head = tuned_head(backbone, tokens=6)
    kept = head.log_probs_as_read(states(20), targets)
    new = head.log_probs_and_fresh(states(20), targets)
    head.eval()
    for one, other in zip(head.log_probs_of_read(states(20), targets, *kept), new, strict=True):
        torch.testing.assert_close(one, other)
    head.train()
    token_X, _ = head.log_probs_of_read(states(20), targets, *kept)
    is_new_X = token_X != kept[0]
    assert int(is_new_X.sum()) == 6  # the others are as they were kept
    torch.testing.assert_close(token_X[is_new_X], new[0][is_new_X])
    plain = PretrainedHead(backbone, TOKENS, BEGINS).double()
    assert plain.log_probs_of_read(states(20), targets, *kept) == kept


def test_the_gradient_of_some_tokens_stands_for_that_of_all() -> None:
    backbone = built().double().eval()
    targets = torch.arange(20) % TOKENS
    head = tuned_head(backbone, tokens=6)
    assert head.tuned is not None
    kept = head.log_probs_as_read(states(20), targets)

    def gradient(draws: int) -> Tensor:
        assert head.tuned is not None
        head.zero_grad()
        for _ in range(draws):
            torch.autograd.backward(head.log_probs_of_read(states(20), targets, *kept)[0].mean())
        assert head.tuned.up.weight.grad is not None
        return head.tuned.up.weight.grad / draws

    head.eval()
    whole = gradient(1)
    head.train()
    torch.manual_seed(0)
    sampled = gradient(2000)
    torch.testing.assert_close(sampled, whole, atol=0.1 * float(whole.abs().max()), rtol=0)


def test_rough_scores_are_almost_the_models_own() -> None:
    backbone = built().eval()
    given_XD = states(30).float().requires_grad_()
    exact_XV, rough_XV = backbone.scores(given_XD), backbone.rough_scores(given_XD)
    assert rough_XV.dtype == torch.float32
    largest = float(exact_XV.detach().abs().max())
    torch.testing.assert_close(rough_XV, exact_XV, atol=0.02 * largest, rtol=0)
    exact_XD, rough_XD = (
        torch.autograd.grad(scores_XV.log_softmax(1)[:, 3].sum(), given_XD)[0]
        for scores_XV in (exact_XV, rough_XV)
    )
    assert float(torch.cosine_similarity(exact_XD, rough_XD).min()) > 0.99


def test_without_bfloat16_rough_scores_are_the_models_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causal_lm, "is_made_for_bfloat16", lambda: False)
    monkeypatch.setattr(causal_lm, "_SHARED", {})
    backbone = built().eval()
    assert torch.equal(backbone.rough_scores(states(3).float()), backbone.scores(states(3).float()))


@pytest.mark.parametrize(("rank", "beside_heads", "fitted"), [
    (None, True, 32), (None, False, 0), (0, True, 0), (7, False, 7),
])  # fmt: skip
def test_words_learn_where_heads_do(rank: int | None, beside_heads: bool, fitted: int) -> None:
    config = PretrainedLayersConfig(tuned_rank=rank)
    chosen = config.fitted(None, beside_heads=beside_heads)
    assert chosen.tuned_rank == fitted
    assert PretrainedLayersConfig().as_fitted(chosen).tuned_rank == fitted


def test_a_rank_below_zero_is_refused() -> None:
    with pytest.raises(InputError, match=r"model\.words\.tuned_rank"):
        PretrainedLayersConfig(tuned_rank=-1)
