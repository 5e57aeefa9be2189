"""Subword tokens of every kind: texts and forms come back, and candidates stand where they do."""

import unicodedata
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

import lrlm
from lrlm.corpora import LinkOptions, link
from lrlm.errors import InputError
from lrlm.text import (
    NO_FORM_HERE,
    NO_MENTION,
    LinkedDocument,
    Profile,
    SurfaceForm,
    WordSpan,
    split_words,
    word_span,
)
from lrlm.text.natural_text import natural_text_of
from lrlm.text.subword_space import SubwordSpace, written
from tests.generators.tiny_language_models import (
    END_OF_TEXT,
    TOKENIZER_KINDS,
    byte_level_bpe,
    tiny_tokenizer,
)
from tests.oracles import subwords as oracle

each_kind = pytest.mark.parametrize("kind", TOKENIZER_KINDS)

NAMES = [
    "Oslo", "New York", "New York City", "York", "1990", "7", "1,500", "São Paulo", "Émile Zola",
    "東京", "Łódź", "🙂 club", "D.C.", "(Oslo)", "Warner Bros.", "Bogota\u0301", "Sorry!", "km (",
]  # fmt: skip
TOPIC = lrlm.Topic(
    "topic",
    names=["Oslo"],
    relations=[
        lrlm.Relation(f"type {n}", f"object {n}", [name, NAMES[n - 1]])
        for n, name in enumerate(NAMES)
    ],
)
PIECES = st.sampled_from(
    [*NAMES, *" \n.,;()[]\"'“”‘’-–$#&", "  ", "\n\n", "\t", "the capital", "of", "isn't", "er",
     "Yorkers", "e\u0301", "\u0301", "\u200d", "👩\u200d👧", "ネット", "ไทย", "в Осло", "<0x41>",
     "</s>", "<s>", "<unk>", END_OF_TEXT, "<|im_start|>", "𒀀", "2012-13", "a"]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.just(" ") | st.text(max_size=3), max_size=14).map("".join)


@cache
def space_of(kind: str) -> SubwordSpace:
    return SubwordSpace(tiny_tokenizer(kind))


def readable(kind: str, text: str) -> str:
    """What a tokenizer of this kind can tell apart from other texts."""
    text = text.replace("▁", " ")
    if kind == "qwen":
        text = unicodedata.normalize("NFC", text)
    return text.removeprefix(" ") if kind == "mistral" else text


def form(text: str) -> SurfaceForm:
    return SurfaceForm(split_words(text), text)


def data_in_words(text: str) -> bool:
    return natural_text_of(text, linked(text).tokens) is not None


def linked(text: str) -> LinkedDocument:
    return link(text, TOPIC)


@each_kind
@given(text=TEXTS)
def test_every_text_comes_back(kind: str, text: str) -> None:
    space = space_of(kind)
    text = "".join(each for each in text if each != "▁")
    ids = space.encode_text(text)
    assert space.decode(ids) == readable(kind, text)
    assert not {space.start_id, space.end_id} & set(ids), "a text is never a special token"
    tokenizer = tiny_tokenizer(kind)
    told = tokenizer.backend_tokenizer.decode(ids, skip_special_tokens=False)
    if kind not in ("llama2", "mistral") or not text.startswith(" "):
        assert told == space.decode(ids)


@each_kind
@given(text=TEXTS)
def test_tokens_stand_where_their_bytes_are(kind: str, text: str) -> None:
    space = space_of(kind)
    text = f"x, {text}".replace("▁", "")  # with its comma, it did not come in words
    document = linked(text)
    ids = space.encode_text(text)
    places = space.places(document)
    assert len(places.starts) == len(places.ends) == len(places.words) == len(ids)
    spans = list(zip(places.starts, places.ends, strict=True))
    assert "".join(text[start:end] for start, end in spans) == "".join(text.split())
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    words = document.tokens
    for (start, end), word in zip(spans, places.words, strict=True):
        assert start <= end
        if start < end:
            assert words.starts[word] <= start < words.ends[word]
    if kind == "qwen" and not unicodedata.is_normalized("NFC", text):
        return
    position = 0
    for piece, span in zip(space.tokenizer.pieces(ids, begins_text=True), spans, strict=True):
        inside = piece.strip()
        begin = position + (piece.index(inside) if inside else len(piece))
        assert span == (begin, begin + len(inside))
        position += len(piece)
    assert position == len(text)


@each_kind
@settings(max_examples=60)
@given(text=TEXTS)
def test_candidates_are_those_that_brute_force_finds(kind: str, text: str) -> None:
    space = space_of(kind)
    if not text.strip():
        return
    if data_in_words(text):
        text = f"x, {text}"
    document = linked(text)
    encoded = space.encode(document)
    ids = encoded.tokens_N.tolist()
    expected = oracle.edges(space, ids, document.relations)
    assert encoded.bound_E is not None
    found = [
        (*edge, bound)
        for edge, bound in zip(encoded.edges_E4.tolist(), encoded.bound_E.tolist(), strict=True)
    ]
    assert found == expected
    places = space.places(document)
    kept = [number for number in encoded.mention_E.tolist() if number != NO_MENTION]
    assert len(set(kept)) == len(kept)
    for (start, end, relation, place), number in zip(
        encoded.edges_E4.tolist(), encoded.mention_E.tolist(), strict=True
    ):
        copied = document.relations[relation]
        writing = written(SurfaceForm(copied.forms[place], copied.texts[place]))
        tokens = ids[start:end]
        assert space.decode([*space.encode_text("x"), *tokens]).removeprefix("x").lstrip(
            " "
        ) == readable(kind, writing)
        inside = text[places.starts[start] : places.ends[end - 1]]
        assert readable(kind, inside) == readable(kind, writing)
        if number != NO_MENTION:
            mention = document.mentions[number]
            assert tuple(mention)[2:] == (relation, place)
            words = document.tokens
            assert words.starts[mention.start] == places.starts[start]
            assert words.ends[mention.end - 1] == places.ends[end - 1]


BEFORE = [
    "", "in", "lies in the (", "he said “", "line\n", "\n\n", 'called "', '("', "Oslo,", "it's",
    "[", "1990", "x )", "🙂", "東京", "a\t", "tab  ", "closed ", "‘", "-", "$",
]  # fmt: skip


@each_kind
@given(before=st.sampled_from(BEFORE), name=st.sampled_from(NAMES))
def test_forms_are_written_as_the_tokenizer_writes_them_there(
    kind: str, before: str, name: str
) -> None:
    space = space_of(kind)
    ids = space.encode_form(form(name), before=before)
    alone = space.encode_text(before)
    context = int(space.context_after(torch.tensor([alone[-1] if alone else space.start_id])))
    between = " " if context == 2 else ""
    whole = space.encode_text(before + between + name)
    if whole[: len(alone)] == alone and context != NO_FORM_HERE:
        assert whole[len(alone) :] == ids
    assert space.decode([*alone, *ids]) == readable(kind, before + between + name)
    pieces = space.form_tokens(form(name), before=before)
    assert len(pieces) == len(ids)
    assert "".join(pieces) == between + readable(kind, name)


@each_kind
def test_each_context_has_an_example(kind: str) -> None:
    space = space_of(kind)
    assert space.contexts == 3
    for context in range(3):
        tokens = space.encode_text(space.example_before(context))
        last = torch.tensor([tokens[-1] if tokens else space.start_id])
        assert space.context_after(last).tolist() == [context]


@each_kind
def test_rules_for_single_tokens(kind: str) -> None:
    space = space_of(kind)
    bytes_V = space.tokenizer.bytes_V
    context_V = space.context_after(torch.arange(space.size)).tolist()
    assert space.begins_word is not None
    for token, data in enumerate(bytes_V):
        if token == space.start_id:
            assert context_V[token] == 0
        else:
            assert context_V[token] == oracle.context_after(data)
        expected = token == space.end_id or (bool(data) and oracle.begins_word(data))
        assert space.begins_word[token] == expected
    assert {bytes_V[token] for token in space.no_form_after} == {b" "}


def test_a_name_is_whole_and_begins_behind_a_space() -> None:
    space = space_of("digits")
    for text, names in {
        "New York is big": ["New York"],
        "New Yorkers are": [],
        "the New York-based club": ["New York"],
        "born 1990.": ["1990"],
        "born 19901": [],
        "born  1990": [],
        "(New York)": ["New York"],
        "a\nNew York": ["New York"],
        "xNew York": [],
        "in 東京都": ["東京"],
    }.items():
        document = linked(text)
        places = space.places(document)
        found = {
            text[places.starts[start] : places.ends[end - 1]]
            for start, end, _, _ in space.encode(document).edges_E4.tolist()
        }
        assert {name for name in found if name != "York"} == set(names), text


def test_lost_mentions_and_candidates_that_are_none_are_told() -> None:
    space = space_of("digits")
    document = linked("The Oslo-based club paid $7 in 1990.")
    words, encoded, places = document.tokens, space.encode(document), space.places(document)
    assert {words.words[mention.start] for mention in document.mentions} == {"7", "1990"}
    for (start, end, _, _), number in zip(
        encoded.edges_E4.tolist(), encoded.mention_E.tolist(), strict=True
    ):
        span = word_span(words, places, start, end)
        name = document.text[places.starts[start] : places.ends[end - 1]]
        if number == NO_MENTION:  # the tokeniser keeps "Oslo-based" together
            assert (name, span) == ("Oslo", WordSpan(1, 2, is_whole=False))
        else:  # "$7" begins no form, so "7" is lost
            mention = document.mentions[number]
            assert (name, span) == ("1990", WordSpan(mention.start, mention.end, is_whole=True))
    assert (encoded.mention_E == NO_MENTION).any()
    assert (encoded.mention_E != NO_MENTION).any()


def test_text_that_came_in_words_is_put_together_and_counts_its_own_characters() -> None:
    text = "Oslo ( 1990 ) , the co @-@ owned city 's name , is São Paulo ."
    document = link(text, TOPIC, LinkOptions(profile=Profile.SPACES))
    for kind in TOKENIZER_KINDS:
        space = space_of(kind)
        encoded = space.encode(document)
        ids = encoded.tokens_N.tolist()
        assert space.decode(ids) == "Oslo (1990), the co-owned city's name, is São Paulo."
        assert set(encoded.mention_E.tolist()) >= set(range(len(document.mentions)))
        places = space.places(document)
        pieces = space.tokenizer.pieces(ids, begins_text=True)
        for piece, start, end, word in zip(
            pieces, places.starts, places.ends, places.words, strict=True
        ):
            if piece.strip() == "-":
                assert text[start:end] == "@-@"
            elif piece.strip() and len(piece.strip()) == end - start:
                assert text[start:end] == piece.strip()
                assert document.tokens.starts[word] <= start


@each_kind
@given(data=st.data())
def test_a_growing_text_is_what_its_tokens_decode_to(kind: str, data: st.DataObject) -> None:
    space = space_of(kind)
    prompt = data.draw(st.sampled_from(["", "Oslo", "The city of", "Émile (", "Oslo , a city ."]))
    text = data.draw(TEXTS.map(space.encode_text))
    noise = data.draw(st.lists(st.integers(0, space.size - 1), max_size=8))
    growing = space.begin_text(prompt, profile=Profile.RAW, spellings=None)
    assert growing.text == prompt
    assert len(growing.tokens) == len(growing.places) == space.encode(linked(prompt)).tokens_N.size
    before = len(growing.tokens)
    for token in [*text, *noise]:
        growing.add(token)
        assert len(growing.places) <= len(growing.tokens)
        assert all(end <= len(growing.text) for _, end in growing.places)
    growing.finish()
    added = space.decode([*space.encode_text("x"), *text, *noise]).removeprefix("x")
    if not prompt:
        added = space.decode([*text, *noise])
    assert growing.text == prompt + added
    assert "".join(growing.tokens[before:]) == added
    assert len(growing.places) == len(growing.tokens)
    inside = "".join(growing.text[start:end] for start, end in growing.places[before:])
    assert "".join(inside.split()) == "".join(added.split())


def test_a_part_of_a_character_waits_for_the_rest() -> None:
    space = space_of("gpt2")
    growing = space.begin_text("in", profile=Profile.RAW, spellings=None)
    ids = space.encode_text(" 𒀀 a")
    assert len(ids) > 4
    seen = []
    for token in ids:
        growing.add(token)
        seen.append((growing.text, len(growing.places)))
    assert seen[:4] == [("in ", 2)] * 4  # the space has its place, the character has none
    assert "\ufffd" not in "".join(text for text, _ in seen)
    assert growing.text == "in 𒀀 a"
    assert [growing.text[start:end] for start, end in growing.places if start < end] == [
        "in", "𒀀", "a"
    ]  # fmt: skip


def test_a_copied_form_is_written_exactly() -> None:
    for kind in TOKENIZER_KINDS:
        space = space_of(kind)
        growing = space.begin_text("He lives in", profile=Profile.RAW, spellings=None)
        name = form("São Paulo")
        pieces = space.form_tokens(name, before="in")
        for token, piece in zip(space.encode_form(name, before="in"), pieces, strict=True):
            growing.add(token, copied=piece)
        assert growing.text == "He lives in São Paulo"
        assert growing.written(name) == "São Paulo"
        assert growing.words(Profile.RAW).words == ["He", "lives", "in", "São", "Paulo"]


def test_forms_are_written_as_people_do() -> None:
    assert written(form("Panic! at the Disco")) == "Panic! at the Disco"
    assert written(SurfaceForm(("(", "Oslo", ")"), "( Oslo )")) == "(Oslo)"
    assert written(SurfaceForm(("co", "@-@", "op"), "co-op")) == "co-op"
    assert written(SurfaceForm(("C", "+", "+"), "C++")) == "C++"
    assert written(SurfaceForm(("OSLO", "'S"), "OSLO'S")) == "OSLO'S"


@each_kind
def test_threads_may_share_a_space(kind: str) -> None:
    texts = [f"Oslo and New York, {number} (São Paulo)" for number in range(60)]
    documents = [linked(text) for text in texts]
    expected = [space_of(kind).encode(document) for document in documents]
    shared = SubwordSpace(tiny_tokenizer(kind))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(shared.encode, documents))
    for one, other in zip(expected, found, strict=True):
        assert one.tokens_N.tolist() == other.tokens_N.tolist()
        assert one.edges_E4.tolist() == other.edges_E4.tolist()


def test_which_tokens_stand_around_a_text() -> None:
    gpt2, llama2 = tiny_tokenizer("gpt2"), tiny_tokenizer("llama2")
    space = SubwordSpace(gpt2)
    assert space.start_id == space.end_id == gpt2.get_vocab()[END_OF_TEXT]  # not its bos token
    space = SubwordSpace(llama2)
    assert (space.start_id, space.end_id) == (1, 2)
    space = SubwordSpace(gpt2, start="<|im_start|>", end=END_OF_TEXT)
    assert (space.start_id, space.end_id) == (1, 0)
    assert space.encode_text(f"<|im_start|>{END_OF_TEXT}") != [1, 0]
    assert space.size == len(gpt2)
    with pytest.raises(InputError, match="no token 'nothing'"):
        SubwordSpace(gpt2, start="nothing")


def test_the_language_model_may_have_more_tokens_than_the_tokenizer() -> None:
    tokenizer = tiny_tokenizer("gpt2")
    space = SubwordSpace(tokenizer, size=len(tokenizer) + 8)
    assert space.begins_word is not None
    assert len(space.begins_word) == space.size == len(tokenizer) + 8
    assert not space.begins_word[len(tokenizer) :].any()
    assert space.decode([len(tokenizer) + 3]) == ""
    with pytest.raises(InputError, match="do not belong together"):
        SubwordSpace(tokenizer, size=300)


def changed(tokenizer: PreTrainedTokenizerFast, normalizer: Any) -> PreTrainedTokenizerFast:
    made = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    made.normalizer = normalizer
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token=END_OF_TEXT)


def test_tokenizers_that_will_not_do_are_refused() -> None:
    with pytest.raises(InputError, match="does not give a text back"):
        SubwordSpace(changed(tiny_tokenizer("gpt2"), normalizers.Lowercase()))
    words = Tokenizer(models.WordLevel({"<unk>": 0, "a": 1, "</s>": 2}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    with pytest.raises(InputError, match="does not give a text back"):
        SubwordSpace(PreTrainedTokenizerFast(tokenizer_object=words, eos_token="</s>"))
    with pytest.raises(InputError, match="no token that could stand before"):
        SubwordSpace(PreTrainedTokenizerFast(tokenizer_object=words))
    with pytest.raises(InputError, match="str is not a fast tokenizer"):
        SubwordSpace("gpt2")  # type: ignore[arg-type, unused-ignore]


def test_a_form_without_tokens_is_named() -> None:
    tokenizer = changed(byte_level_bpe(), normalizers.Replace("~", ""))
    space = SubwordSpace(tokenizer)
    with pytest.raises(InputError, match=r"the form '~~' has no tokens"):
        space.encode_form(form("~~"))
    document = linked("Oslo")
    relations = (replace(document.relations[0], forms=(("~~",),), texts=("~~",)),)
    with pytest.raises(InputError, match=r"the form '~~' has no tokens"):
        space.encode(replace(document, relations=relations, mentions=()))


def test_letters_and_accents_may_be_put_together() -> None:
    """Qwen's tokenizers write "a" and an accent as one character; places are in the given text."""
    space = space_of("qwen")
    for text in ("in Bogotá, a", "in Bogota\u0301, a"):
        document = linked(text)
        encoded = space.encode(document)
        places = space.places(document)
        found = {
            text[places.starts[start] : places.ends[end - 1]]
            for start, end, _, _ in encoded.edges_E4.tolist()
        }
        assert found == {text[3 : text.index(",")]}
