"""Words of a topic's names in a text: found, counted and turned as a slow reader would."""

from itertools import pairwise

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from lrlm.batching import NO_WORD, NameWords, TopicWords
from lrlm.batching.name_words import MOST_NAME_WORDS, words_of_names
from lrlm.knowledge import Relation, Topic
from lrlm.text import LinkableRelation
from tests.toy import LONELY, SPACE, TOPIC, link

WORDS = st.lists(st.sampled_from(["a", "b", "u", "v", "w"]), min_size=1, max_size=12)


OTHER = Topic("other", relations=[Relation("likes", "third", ["w v", "v b a", "c d e f"])])
"""A topic with other words of names, and more of them, than the toy world's."""


def words_of(topic: Topic) -> TopicWords:
    return TopicWords.of(link("v", topic).relations, SPACE.word_ids, SPACE.unknown_id)


@given(WORDS)
def test_what_stands_before_each_place_is_counted(text: list[str]) -> None:
    topic = words_of(TOPIC)
    names = [form for relation in link("v").relations for form in relation.forms]
    pairs = {pair for form in names for pair in pairwise(form)}
    found = NameWords.of(topic, text)
    assert [topic.words[n] if n != NO_WORD else None for n in found.word_N.tolist()] == [
        word if word in topic.words else None for word in text
    ]
    follows_MK, times_MK, since_MK = found.history
    for row, place in enumerate(found.place_M.tolist()):
        before = text[:place]
        for number, word in enumerate(topic.words):
            assert times_MK[row, number] == before.count(word)
            last = [at for at, each in enumerate(before) if each == word]
            assert since_MK[row, number] == (place - last[-1] if last else 0)
            assert follows_MK[row, number] == (bool(before) and (before[-1], word) in pairs)
    for place, goes_on in enumerate(found.goes_on_N.tolist()):
        assert goes_on == (place > 0 and any(first == text[place - 1] for first, _ in pairs))


@given(WORDS)
def test_words_that_complete_a_name_are_told(text: list[str]) -> None:
    topic = words_of(TOPIC)
    names = {form for relation in link("v").relations for form in relation.forms}
    for reader, read, wanted in (
        (NameWords.of(topic, text), text, names),
        (NameWords.of(topic, text).turned(), text[::-1], {name[::-1] for name in names}),
    ):
        completes = [
            [
                any((*read[:place], word)[-len(name) :] == name for name in wanted)
                for word in reader.topic.words
            ]
            for place in range(len(read) + 1)
        ]
        assert reader.is_open_N.tolist() == [not all(row) for row in completes]
        assert reader.completes_MK.tolist() == [completes[at] for at in reader.place_M.tolist()]


def test_the_words_of_the_topic_itself_come_first_and_marks_are_none() -> None:
    topic = words_of(
        Topic("t", names=["Green Bay"], relations=[Relation("r", "x", ["Dr. No , Inc", "Bay"])])
    )
    assert topic.words[:2] == ("Green", "Bay")
    assert "," not in topic.words
    traits = dict(zip(topic.words, topic.traits_KJ.tolist(), strict=True))
    is_title, begins, ends, alone = 0, 1, 2, 3
    assert traits["Green"][is_title] == traits["Green"][begins] == 1
    assert traits["Green"][ends] == 0
    assert traits["Bay"][ends] == traits["Bay"][alone] == traits["Bay"][is_title] == 1
    assert traits["Inc"][is_title] == 0


def test_what_is_not_known_gives_no_words() -> None:
    known = LinkableRelation("r", "x", (("Oslo",),), ("Oslo",))
    open_ = LinkableRelation("s", "y", (("Bergen",),), ("Bergen",), is_open=True)
    assert TopicWords.of([known, open_], SPACE.word_ids, SPACE.unknown_id).words == ("Oslo",)


def test_a_topic_with_very_many_names_is_cut_off() -> None:
    relations = [
        LinkableRelation("r", f"{n}", ((f"n{n}",),), (f"n{n}",)) for n in range(2 * MOST_NAME_WORDS)
    ]
    assert len(TopicWords.of(relations, SPACE.word_ids, SPACE.unknown_id).words) == MOST_NAME_WORDS


@given(st.lists(st.tuples(st.sampled_from([TOPIC, OTHER, LONELY]), WORDS), min_size=1, max_size=5))
def test_the_rows_of_a_window_have_their_own_words(
    given_rows: list[tuple[Topic, list[str]]],
) -> None:
    rows = [NameWords.of(words_of(topic), text) for topic, text in given_rows]
    pieces = [(len(text) // 3, len(text) + 1) for _, text in given_rows]
    vectors = [
        np.random.default_rng(number).random((len(row.topic.words), 3), dtype=np.float32)
        for number, row in enumerate(rows)
    ]
    together = words_of_names(rows, pieces, np.concatenate(vectors))
    for number, (row, piece, own_VW) in enumerate(zip(rows, pieces, vectors, strict=True)):
        alone = words_of_names([row], [piece], own_VW)
        here_M, words = together.row_M == number, len(row.topic.words)
        for name in ("place_M", "word_M"):
            assert torch.equal(getattr(together, name)[here_M], getattr(alone, name))
        for name in ("allowed_MK", "follows_MK"):
            assert torch.equal(getattr(together, name)[here_M, :words], getattr(alone, name))
        for name in ("times", "since"):
            padded, own = (getattr(each.so_far, name) for each in (together, alone))
            assert torch.equal(padded[here_M, :words], own)
        assert not together.allowed_MK[here_M, words:].any()
        numbers_MK = together.number_MK[here_M, :words]
        assert torch.equal(together.ids_V[numbers_MK], alone.ids_V[alone.number_MK])
        assert torch.equal(together.features_VW[numbers_MK], alone.features_VW[alone.number_MK])
