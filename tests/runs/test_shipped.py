"""The model that comes with the package: small, safe files, and it does what the README shows."""

from collections.abc import Callable
from typing import Any

import pytest

import lrlm
from lrlm.errors import InputError
from lrlm.model import Model
from lrlm.runs.shipped import SHIPPED
from lrlm.runs.topics import MiniworldTopics


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, t: m.annotate("hi", "Norway"), "a topic must be an lrlm.Topic, not 'Norway'"),
        (lambda m, t: m.generate("Norway"), "a topic must be an lrlm.Topic, not 'Norway'"),
        (lambda m, t: m.generate(t, samples=True), "whole number from 1 to 10,000, not True"),
        (lambda m, t: m.generate(t, samples=10**9), "whole number from 1 to 10,000"),
        (lambda m, t: m.generate(t, temperature="hot"), "a number above 0, not 'hot'"),
        (lambda m, t: m.generate(t, temperature=float("inf")), "a number above 0, not inf"),
        (lambda m, t: m.generate(t, prompt=5), "the prompt must be a text, not 5"),
        (lambda m, t: m.generate(t, greedy="no"), "greedy must be True or False"),
        (lambda m, t: m.generate(t, max_lenght=5), r"no option 'max_lenght'; did you mean"),
        (lambda m, t: m.stream(t, samples=2), "no option 'samples'"),
        (lambda m, t: m.annotate("Norway.", t).mentions(2), "from 0 to 1, not 2"),
        (lambda m, t: t.add("x"), "only a Relation can be added"),
        (lambda m, t: lrlm.load(5), "named by its folder"),  # type: ignore[arg-type]
        (lambda m, t: lrlm.load(__file__), r"test_shipped.py is a file, not the folder of an lrlm"),
    ],
)
def test_mistakes_in_python_are_one_line(
    model: Model, call: Callable[[Any, Any], object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        call(model, lrlm.Topic("Norway"))
