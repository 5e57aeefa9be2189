"""What is copied stands in a generated text exactly as it was given, wherever it stands."""

from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
import pytest
import torch

import lrlm
from lrlm.arrays import Floats
from lrlm.corpora import LetterCase, Linker, LinkOptions
from lrlm.generation.generated_text import Piece
from lrlm.generation.pieces import CopiedForm, PieceWriter, WrittenToken
from lrlm.text import (
    NO_FORM_HERE,
    LinkableRelation,
    Profile,
    SurfaceForm,
    TokenSpace,
    Vocabulary,
    surface_forms,
    tokenise,
)
from lrlm.text.natural_text import came_in_words
from lrlm.text.subword_space import SubwordSpace
from lrlm.text.word_space import WordSpace
from tests.generators.tiny_language_models import tiny_tokenizer
from tests.text.awkward_names import KNOWN, awkward_names

NAMES = awkward_names(2000)
BEFORE = ("", "in", "the end .", "called (", 'said "', "it 's", "[", "cost $", "1990 ,", "he “")
AFTER = ("", ".", ", and", ") was", '" is', "'s", "is", "(", "%", "1")
WORDS = sorted({word for text in (*BEFORE, *AFTER) for word in text.split()})


class NoSpelling:
    """A speller that is never asked."""

    def log_probs(self, words: Sequence[str]) -> Floats:
        return np.zeros(len(words), dtype=np.float32)

    def sample(
        self,
        count: int,
        *,
        generator: torch.Generator,
        temperature: float = 1.0,
        capitals: bool = True,
    ) -> list[str]:
        del generator, temperature, capitals
        return ["x"] * count


@cache
def space_of(kind: str) -> TokenSpace:
    if kind == "words":
        counts = dict.fromkeys(WORDS, 1)
        return WordSpace(Vocabulary.from_counts(counts, documents=1), NoSpelling())
    return SubwordSpace(tiny_tokenizer(kind))


def forms_of(name: str, options: LinkOptions) -> list[SurfaceForm]:
    relation = lrlm.Relation("type", "object", name)
    star = Linker(lrlm.Topic("A topic", relations=[relation]), options).relations
    return [form for each in star[1:] for form in surface_forms(each)]


@lru_cache(maxsize=1)
def in_contexts(
    kind: str, form: SurfaceForm
) -> tuple[list[list[int]], tuple[tuple[str, ...], ...]]:
    """Give the tokens of a form and their texts, in every context."""
    space = space_of(kind)
    befores = [space.example_before(context) for context in range(space.contexts)]
    texts = tuple(space.form_tokens(form, before=before) for before in befores)
    return [space.encode_form(form, before=before) for before in befores], texts


@cache
def ids_of(kind: str, text: str) -> list[int]:
    space = space_of(kind)
    if isinstance(space, WordSpace):
        return space.vocabulary.encode(text.split())
    return space.encode_text(text)


@cache
def context_after(kind: str, text: str) -> int:
    space = space_of(kind)
    last = [space.start_id, *ids_of(kind, text)][-1]
    return int(space.context_after(torch.tensor([last])))


def write(
    kind: str, before: str, form: SurfaceForm, after: str, profile: Profile
) -> tuple[str, Piece] | None:
    """Write a text with a copied form in it; give it with the copied piece."""
    space = space_of(kind)
    ids_C, contexts = in_contexts(kind, form)
    relation = LinkableRelation("type", "object", (form.words,), (form.text,))
    growing = space.begin_text("", profile=profile, spellings=space.spellings(seed=0))
    writer = PieceWriter(growing, [CopiedForm(relation, form, contexts)])
    begun, context = ids_of(kind, before), context_after(kind, before)
    if context == NO_FORM_HERE:
        return None
    pieces = [piece for token in begun for piece in writer.add(WrittenToken(token, 0.0))]
    for position, token in enumerate(ids_C[context]):
        pieces += writer.add(WrittenToken(token, 0.0, 0, position, context))
    for token in ids_of(kind, after):
        pieces += writer.add(WrittenToken(token, 0.0))
    pieces += writer.finish()
    (copied,) = (piece for piece in pieces if piece.source == "relation")
    assert writer.text[copied.start : copied.end] == copied.text
    return writer.text, copied


@pytest.mark.parametrize("kind", ["words", "gpt2"])
def test_two_thousand_awkward_names_in_every_position(kind: str) -> None:
    for number, name in enumerate(NAMES):
        forms = forms_of(name, LinkOptions())
        if not forms or came_in_words(name):  # no letter or digit; "Oslo , Norway"
            continue
        (form,) = forms
        for place in range(len(BEFORE)) if number < len(KNOWN) else range(number % 5, 10, 5):
            before, after = BEFORE[place], AFTER[(place + number) % len(AFTER)]
            written = write(kind, before, form, after, Profile.RAW)
            if written is not None:
                text, piece = written
                assert piece.text == piece.form == name, text


@pytest.mark.parametrize("profile", [Profile.RAW, Profile.WIKITEXT])
def test_what_is_around_a_copied_name_can_be_cut_again(profile: Profile) -> None:
    """A written text has the words that it was written in, so it can be annotated."""
    for number, name in enumerate(NAMES[:600]):
        for form in forms_of(name, LinkOptions(profile=profile)):
            if came_in_words(name):
                continue
            before, after = BEFORE[number % 10], AFTER[number // 10 % 10]
            written = write("words", before, form, after, profile)
            assert written is not None
            words = [*before.split(), *form.words, *after.split()]
            assert tokenise(written[0], profile).words == words


@pytest.mark.parametrize("kind", ["words", "gpt2"])
def test_a_name_in_other_letter_case_keeps_its_spaces(kind: str) -> None:
    options = LinkOptions(letter_case=LetterCase.VARIANTS)
    form = next(form for form in forms_of("Rock 'n' roll", options) if form.words[0] == "ROCK")
    written = write(kind, "in", form, ".", Profile.RAW)
    assert written is not None
    assert written[0] == "in ROCK 'N' ROLL."


@pytest.mark.parametrize("kind", ["words", "gpt2"])
def test_a_name_that_came_in_words_is_put_together(kind: str) -> None:
    (form,) = forms_of("Bob ( singer )", LinkOptions())
    written = write(kind, "in", form, ".", Profile.RAW)
    assert written is not None
    assert written[0] == "in Bob (singer)."


def test_a_name_that_is_left_in_the_middle_is_written_so_far() -> None:
    (form,) = forms_of("C# 4.0", LinkOptions())
    space = space_of("words")
    growing = space.begin_text("", profile=Profile.RAW, spellings=space.spellings(seed=0))
    relation = LinkableRelation("type", "object", (form.words,), (form.text,))
    writer = PieceWriter(growing, [CopiedForm(relation, form, (form.words,))])
    writer.add(WrittenToken(0, 0.0, form=0, position=0))
    writer.add(WrittenToken(0, 0.0, form=0, position=1))
    writer.add(WrittenToken(ids_of("words", "is")[0], 0.0))
    writer.add(WrittenToken(0, 0.0, form=0, position=2))
    writer.finish()
    assert writer.text == "C# is 4.0"
