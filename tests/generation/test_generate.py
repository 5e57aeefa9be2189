"""What every model keeps to when it writes, on every backbone; and what is asked of texts."""

import math
from typing import cast

import pytest

from lrlm.errors import InputError
from lrlm.generation.generate import generate, stream
from lrlm.generation.generated_text import GeneratedText
from lrlm.generation.options import GenerationOptions, OptionArguments
from lrlm.knowledge import Relation, Topic
from lrlm.runs.run import Run
from lrlm.text import split_words
from lrlm.text.word_space import WordSpace
from tests.toy import LONELY, TOPIC, VOCABULARY, ToySpeller
from tests.toy_run import toy_run

PLUS = "lrlm+named+fit+deep_fit+summary+beside_names+name_words+traits"
KINDS = ("vanilla", "alias", "nklm", "lrlm", "lrlm+named+told", PLUS)


@pytest.fixture(
    params=[(kind, backbone) for kind in KINDS for backbone in ("lstm", "transformer-xl")]
)
def run(request: pytest.FixtureRequest) -> Run:
    return toy_run(*request.param)


def write(
    run: Run, topic: Topic = TOPIC, *, samples: int = 40, seed: int = 1, **wishes: object
) -> list[GeneratedText]:
    options = GenerationOptions(**cast("OptionArguments", wishes))
    return generate(run, topic, options, samples=samples, seed=seed)


def uses(text: GeneratedText) -> list[tuple[str | None, str | None]]:
    return [(piece.type, piece.object) for piece in text.pieces if piece.source == "relation"]


@pytest.mark.parametrize("topic", [TOPIC, LONELY], ids=lambda topic: topic.id)
def test_pieces_make_up_the_text(run: Run, topic: Topic) -> None:
    for text in write(run, topic, max_length=30):
        assert text.text == text.text.strip()
        assert tuple(split_words(text.text)) == text.tokens
        assert text.written_tokens == len(text.tokens) > 0
        end = 0
        for piece in text.pieces:
            assert text.text[end : piece.start].strip() == ""
            assert text.text[piece.start : piece.end] == piece.text
            end = piece.end
            assert (piece.type is None) == (piece.source != "relation")
            if piece.source == "word":
                assert piece.text in VOCABULARY
            if piece.source == "spelled":
                assert piece.text in "uv"
        assert end == len(text.text)
        if topic is LONELY or run.kind in ("vanilla", "alias"):
            assert not uses(text)


def test_a_seed_gives_the_same_texts(run: Run) -> None:
    first = write(run, seed=7, max_length=25)
    assert first == write(run, seed=7, max_length=25)
    assert first != write(run, seed=8, max_length=25)


def test_samples_are_written_at_once_and_ranked(run: Run) -> None:
    texts = write(run, samples=33, max_length=20)
    assert len(texts) == 33
    perplexities = [text.perplexity for text in texts]
    assert perplexities == sorted(perplexities)
    assert len({text.text for text in texts}) > 5


def test_a_stream_is_the_first_sample(run: Run) -> None:
    for seed in range(5):
        for prompt in ("", "a b u"):
            options = GenerationOptions(max_length=15, prompt=prompt)
            (whole,) = generate(run, TOPIC, options, samples=1, seed=seed)
            assert tuple(stream(run, TOPIC, options, seed=seed)) == whole.pieces


def test_the_path_is_no_more_probable_than_the_text(run: Run) -> None:
    paths = 0
    for text in write(run, max_length=20):
        assert text.log_prob == pytest.approx(sum(piece.log_prob for piece in text.pieces))
        assert text.is_joint == (run.kind == "nklm")
        if run.kind in ("vanilla", "alias"):
            assert text.log_prob == pytest.approx(text.marginal_log_prob)
        elif run.kind == "lrlm":
            assert text.log_prob <= text.marginal_log_prob + 1e-9
            paths += text.log_prob < text.marginal_log_prob - 1e-6
    assert (paths > 0) == (run.kind == "lrlm")


def test_no_name_reaches_out_of_the_prompt(run: Run) -> None:
    """Otherwise continuations of "a", with which "a b" begins, would add up to more than one."""
    options = GenerationOptions(min_length=1, max_length=1, prompt="a")
    texts = generate(run, TOPIC, options, samples=400, seed=1)
    chances = {text.text: math.exp(text.marginal_log_prob) for text in texts}
    assert len(chances) > 2
    if run.kind != "nklm":  # whose annotations may differ from text to text
        assert sum(chances.values()) <= 1 + 1e-6
    if run.kind == "lrlm":
        assert all(text.log_prob <= text.marginal_log_prob + 1e-6 for text in texts)


def test_lengths_are_kept(run: Run) -> None:
    for text in write(run, min_length=6, max_length=9):
        assert 6 <= text.written_tokens <= 9
        assert text.ended or text.written_tokens == 9
    assert {text.written_tokens for text in write(run, min_length=4, max_length=4)} == {4}
    assert any(not text.tokens for text in write(run, min_length=0, samples=300))


def test_only_nklm_leaves_names_unfinished(run: Run) -> None:
    texts = write(run, min_length=20, max_length=20)
    partial = sum(piece.is_partial for text in texts for piece in text.pieces)
    assert (partial > 0) == (run.kind == "nklm")
    for text in texts:
        for piece in text.pieces:
            if piece.source == "relation" and not piece.is_partial:
                assert piece.text == piece.form


def test_a_prompt_is_kept_and_continued(run: Run) -> None:
    for text in write(run, prompt="  a b  u\n", max_length=10):
        assert text.text.startswith("a b  u")
        assert (text.pieces[0].source, text.pieces[0].end) == ("prompt", 6)
        assert text.tokens[:3] == ("a", "b", "u")
        assert text.written_tokens == len(text.tokens) - 3 > 0
        assert tuple(split_words(text.text)) == text.tokens
        if run.kind in ("vanilla", "alias"):
            assert text.log_prob == pytest.approx(text.marginal_log_prob)


def test_relations_are_used_no_more_than_asked(run: Run) -> None:
    most = 0
    for limit in (1, 2):
        for text in write(run, min_length=25, max_length=25, max_uses=limit):
            used = uses(text)
            assert all(used.count(each) <= limit for each in used)
            most = max(most, len(used))
    assert (most > 0) == (run.kind in ("nklm", "lrlm"))


@pytest.mark.parametrize("kind", ["nklm", "lrlm"])
@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
def test_relations_are_used_that_must_be(kind: str, backbone: str) -> None:
    run = toy_run(kind, backbone)
    wishes: list[str | tuple[str, str]] = ["never seen", ("likes", "second"), "@title"]
    wanted = {("never seen", "somebody"), ("likes", "second"), ("@title", "topic")}
    for max_length in (4, 5, 30):
        for options in ({}, {"greedy": True}, {"max_uses": 1}):
            for text in write(run, must_use=wishes, max_length=max_length, **options):
                assert wanted <= set(uses(text)), text.text
                assert text.written_tokens <= max_length
    assert any(text.ended for text in write(run, must_use=wishes, max_length=100))


def test_a_form_or_a_type_will_do_as_a_wish() -> None:
    for text in write(toy_run("lrlm"), must_use=["likes", ("likes", "u a")], max_length=4):
        assert ("likes", "first") in uses(text)


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"must_use": ["dislikes"]}, "no relation 'dislikes'.*did you mean 'likes'"),
        ({"must_use": [("likes", "third")]}, "no 'likes' named 'third'; it has: 'first', 'second'"),
        ({"must_use": ["likes", ("likes", "second")], "max_length": 2}, "takes 3 tokens at least"),
        ({"must_use": "likes"}, "must_use is a list"),
        ({"must_use": [("likes",)]}, "must_use is a list"),
        ({"temperature": -1}, "temperature must be a number above 0, not -1"),
        ({"temperature": 0}, "'greedy'"),
        ({"temperature": 1e-40}, "at least 0.000001"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_k": 0}, "top_k must be a whole number from 1 on, not 0"),
        ({"top_k": 1.5}, "top_k"),
        ({"top_p": 0.0}, "top_p must be above 0 and at most 1"),
        ({"top_p": 1.1}, "top_p"),
        ({"min_length": -1}, "min_length"),
        ({"max_length": 0}, "max_length"),
        ({"min_length": 30, "max_length": 20}, "more than max_length"),
        ({"max_uses": 0}, "max_uses"),
        ({"prompt": "a \x00"}, "control character"),
        ({"samples": 0}, "number of samples"),
        ({"seed": 2**80}, "seed"),
    ],
)
def test_what_cannot_be_is_refused(wishes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        write(toy_run("lrlm"), **wishes)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["vanilla", "alias"])
def test_models_without_relations_cannot_be_made_to_use_them(kind: str) -> None:
    with pytest.raises(InputError, match="uses no relations"):
        write(toy_run(kind), must_use=["likes"])


def test_greedy_texts_are_all_the_same(run: Run) -> None:
    assert len({text.text for text in write(run, greedy=True, max_length=10)}) == 1


def test_words_are_spelled_as_the_text_is_written() -> None:
    for wishes, asked in (
        ({}, (1.0, True)),
        ({"temperature": 0.5}, (0.5, True)),
        ({"greedy": True}, (0.0, True)),
        ({"only_known_names": True}, (1.0, False)),
    ):
        run = toy_run("vanilla")
        write(run, min_length=20, samples=50, **wishes)
        speller = cast("ToySpeller", cast("WordSpace", run.space).speller)
        assert set(speller.asked) <= {asked}
        assert speller.asked or "greedy" in wishes


def test_alias_lm_has_read_the_names_of_the_topic() -> None:
    run = toy_run("alias")
    other = Topic("topic", names=["v v"], relations=[Relation("likes", "first", ["a a"])])
    log_probs = {
        topic.names: {text.text: text.log_prob for text in write(run, topic, samples=200)}
        for topic in (TOPIC, other, LONELY)
    }
    one, two, three = log_probs.values()
    shared = one.keys() & two.keys() & three.keys()
    assert shared
    assert all(len({one[text], two[text], three[text]}) == 3 for text in shared)
