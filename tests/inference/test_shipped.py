"""The model that comes with the package: small, safe files, and it does what the README shows."""

import pytest

import lrlm
from lrlm.inference.model import Model
from lrlm.inference.shipped import SHIPPED
from lrlm.inference.topics import MiniworldTopics


@pytest.fixture(scope="module")
def model() -> Model:
    return lrlm.load()


def test_it_is_small_and_holds_no_code() -> None:
    files = [path for path in SHIPPED.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 4_000_000
    assert {path.suffix for path in files} == {".json", ".toml", ".safetensors"}


def test_it_knows_where_names_come_from(model: Model) -> None:
    topic = lrlm.Topic("Norway", relations=[
        lrlm.Relation("capital", "Oslo"),
        lrlm.Relation("highest point", "Galdhøpiggen"),
        lrlm.Relation("currency", "krone", forms=["Norwegian krone", "krone"]),
    ])  # fmt: skip
    text = "Norway is a country. Its capital is Oslo. The currency is the Norwegian krone."
    mentions = model.annotate(text, topic).mentions()
    assert [(span.text, span.relation.fact and span.relation.fact.type) for span in mentions] == [
        ("Norway", "@title"),
        ("Oslo", "capital"),
        ("Norwegian krone", "currency"),
    ]


def test_a_changed_fact_is_followed_without_training(model: Model) -> None:
    norway = MiniworldTopics().topic("Norway")
    moved = norway.replace("capital", "Oslo", "Trondheim").remove("largest city")
    texts = model.generate(moved, samples=20, seed=1)
    pieces = [piece for text in texts for piece in text.pieces if piece.type == "capital"]
    assert pieces
    assert {piece.text for piece in pieces} == {"Trondheim"}
    assert not any("Oslo" in text.text for text in texts)
    old, new = ("Its capital is Oslo.", norway), ("Its capital is Trondheim.", moved)
    assert model.score(*new).nats < 1.2 * model.score(*old).nats
    assert model.score(*new).nats < model.score(new[0], norway).nats - 3


def test_texts_are_about_the_right_kind_of_thing(model: Model) -> None:
    texts = model.generate(MiniworldTopics().topic("Norway"), samples=20, seed=1)
    assert sum("country" in text.text or "nation" in text.text for text in texts) >= 12
    assert sum("river" in text.text.split()[:8] for text in texts) <= 2
