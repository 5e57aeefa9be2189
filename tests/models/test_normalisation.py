"""All texts of a tiny world together have probability one, and each has what its story says."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from lrlm.batching import EncodedDocument, Window
from lrlm.batching.encoding import Copies
from lrlm.knowledge import Topic
from lrlm.models import NeuralKnowledgeLM, VanillaLM, document_nats
from lrlm.text.word_space import WordSpace
from tests.models.contract import make_model
from tests.oracles.generation import Token, Words, enumerate_annotated, enumerate_texts
from tests.toy import (
    LONELY,
    SPELLINGS,
    TOPIC,
    VOCABULARY,
    ToySpeller,
    collator,
    encode,
    encoder,
    link,
)

LIMIT = 3


def topic_window(topic: Topic) -> tuple[Window, list[list[Words]]]:
    """A window that tells the topic's relations, and their forms."""
    document = link("v", topic)
    (window,) = collator().windows(encode(document))
    forms = [list(relation.forms) for relation in document.relations]
    return window.to("cpu", torch.float64), forms


@pytest.mark.parametrize("topic", [TOPIC, LONELY], ids=lambda topic: topic.id)
@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
@pytest.mark.parametrize(
    "kind",
    [
        "vanilla",
        "lrlm",
        "lrlm+summary",
        "lrlm+named",
        "lrlm+told",
        "lrlm+told+own_types",
        "lrlm+named+told+summary",
        "lrlm+beside_names",
        "lrlm+fit",
        "lrlm+named+fit",
        "lrlm+fit+deep_fit",
        "lrlm+name_words",
        "lrlm+traits",
        "lrlm+named+told+fit+deep_fit+summary+beside_names+name_words+traits",
    ],
)
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@torch.no_grad()
def test_all_texts_sum_to_one(kind: str, backbone: str, topic: Topic, *, backward: bool) -> None:
    model = make_model(kind, backbone)
    assert isinstance(model, VanillaLM)
    window, forms = topic_window(topic)
    found = enumerate_texts(model, window, forms, LIMIT, backward=backward)
    assert found.total == pytest.approx(1, abs=1e-9)
    assert 1e-5 < found.longer < 0.9999  # longer texts have far more than what is tolerated

    texts = [text for text in found.texts if text]
    documents = replace(encoder(), backward=backward).encode(
        link(" ".join(text), topic) for text in texts
    )
    scores = document_nats(model, collator().windows(list(documents)))
    for text, nats in zip(texts, scores.nats_B.tolist(), strict=True):
        assert math.exp(-nats) == pytest.approx(found.texts[text], rel=1e-6), text


@pytest.mark.parametrize("kind", ["vanilla", "lrlm", "lrlm+named+told+summary", "lrlm+name_words"])
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@torch.no_grad()
def test_all_texts_sum_to_one_where_unknown_words_repeat(kind: str, *, backward: bool) -> None:
    model = make_model(kind, "lstm")
    assert isinstance(model, VanillaLM)
    window, forms = topic_window(TOPIC)
    found = enumerate_texts(model, window, forms, LIMIT, backward=backward, repeats=True)
    assert found.total == pytest.approx(1, abs=1e-9)

    space = WordSpace(VOCABULARY, ToySpeller(), repeats=True)
    texts = [text for text in found.texts if text]
    documents = replace(encoder(space), backward=backward).encode(
        link(" ".join(text), TOPIC) for text in texts
    )
    scores = document_nats(model, collator().windows(list(documents)))
    for text, nats in zip(texts, scores.nats_B.tolist(), strict=True):
        assert math.exp(-nats) == pytest.approx(found.texts[text], rel=1e-6), text


@pytest.mark.parametrize("topic", [TOPIC, LONELY], ids=lambda topic: topic.id)
@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
@torch.no_grad()
def test_all_annotated_texts_of_nklm_sum_to_one(backbone: str, topic: Topic) -> None:
    model = make_model("nklm", backbone)
    assert isinstance(model, NeuralKnowledgeLM)
    window, forms = topic_window(topic)
    found = enumerate_annotated(model, window, forms, 2)
    assert found.total == pytest.approx(1, abs=1e-9)

    written = [
        derivation
        for derivation in found.derivations
        if derivation and all(token.is_copy or token.relation < 0 for token in derivation)
    ]
    windows = collator(parts=model.reads).windows([as_document(each, topic) for each in written])
    scores = document_nats(model, windows)
    end_with_a_fact = 0
    for tokens, nats in zip(written, scores.nats_B.tolist(), strict=True):
        probability = found.derivations[tokens]
        # The annotation says "not a fact" for `</s>`; the story may also choose a fact there.
        assert math.exp(-nats) <= probability * (1 + 1e-6)
        end_with_a_fact += math.exp(-nats) < probability * (1 - 1e-6)
    assert (end_with_a_fact > 0) == (topic is TOPIC)


def as_document(tokens: tuple[Token, ...], topic: Topic) -> EncodedDocument:
    """Write down one annotation exactly as the story went."""
    (document,) = encode(link("v", topic))
    words = [token.word for token in tokens]
    ids = VOCABULARY.encode(words)
    spelling = [
        math.log(SPELLINGS[token.word])
        if word == VOCABULARY.unknown_id and not token.is_copy
        else 0
        for token, word in zip(tokens, ids, strict=True)
    ]
    return EncodedDocument(
        id="annotated",
        tokens_N=np.array(ids),
        spelling_N=np.array(spelling, dtype=np.float32),
        types_R=document.types_R,
        objects_R=document.objects_R,
        forms_R=document.forms_R,
        edges_E4=np.empty((0, 4), dtype=np.int64),
        mention_E=np.empty(0, dtype=np.int64),
        words=len(tokens),
        copies=Copies(
            np.array([token.relation for token in tokens]),
            np.array([token.form for token in tokens]),
            np.array([token.position for token in tokens]),
            np.array(
                [
                    len(document.forms_R[token.relation][token.form]) if token.relation >= 0 else 0
                    for token in tokens
                ]
            ),
        ),
        preface_P=document.preface_P,
    )


@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
def test_lrlm_without_relations_is_the_vanilla_model(backbone: str) -> None:
    lrlm, vanilla = make_model("lrlm", backbone), make_model("vanilla", backbone)
    shared = {name for name, _ in vanilla.named_parameters()}
    vanilla.load_state_dict(
        {name: value for name, value in lrlm.state_dict().items() if name in shared}, strict=False
    )
    batch = encode(link("a b u v a", LONELY), link("v a b", LONELY))
    left = document_nats(lrlm, collator().windows(batch))
    right = document_nats(vanilla, collator().windows(batch))
    torch.testing.assert_close(left.nats_B, right.nats_B, rtol=0, atol=1e-13)
    assert torch.equal(left.end_nats_B, right.end_nats_B)
