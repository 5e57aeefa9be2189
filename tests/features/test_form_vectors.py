"""Form vectors: fastText's hash, means of unit words, the cache, the disk, parity with gensim."""

import hashlib
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrlm.artifacts import rewrite_manifests
from lrlm.batching import FormFeaturiser
from lrlm.errors import FormatError, InputError, MissingExtraError
from lrlm.features import HASHED, FormVectorConfig, SubwordFeaturiser
from lrlm.features.fasttext import read_fasttext, train_fasttext
from lrlm.features.form_vectors import hashed_featuriser, ngram_rows, random_signs

HASHED_CONFIG = FormVectorConfig(source=HASHED, width=24, buckets=512)
TEXTS = [
    ["the", "river", "Rhine", "flows", "through", "Köln", "and", "Basel"],
    ["the", "Rhône", "flows", "through", "Lyon", "and", "東京", "does", "not"],
    ["Basel", "and", "Lyon", "and", "Köln", "are", "the", "towns"],
] * 20
TRAINED = FormVectorConfig(width=12, buckets=300, epochs=2)


def fasttext_rows(word: str, shortest: int, longest: int, buckets: int) -> list[int]:
    """Rows of a word's n-grams, one character and one byte at a time."""
    marked = f"<{word}>"
    rows = []
    for size in range(shortest, longest + 1):
        for start in range(len(marked) - size + 1):
            if size == 1 and start in (0, len(marked) - 1):
                continue
            number = 2166136261
            for byte in marked[start : start + size].encode("utf-8", "surrogatepass"):
                signed = byte - 256 if byte > 127 else byte
                number = ((number ^ (signed % 2**32)) * 16777619) % 2**32
            rows.append(number % buckets)
    return rows


@settings(max_examples=60)
@given(
    st.lists(st.text(max_size=9), max_size=5),
    st.integers(1, 4),
    st.integers(0, 3),
    st.integers(1, 1000),
)
def test_ngrams_are_those_of_one_byte_at_a_time(
    words: list[str], shortest: int, more: int, buckets: int
) -> None:
    rows, counts = ngram_rows(words, shortest=shortest, longest=shortest + more, buckets=buckets)
    parts = np.split(rows, np.cumsum(counts)[:-1]) if words else []
    for word, part in zip(words, parts, strict=True):
        assert part.tolist() == fasttext_rows(word, shortest, shortest + more, buckets)


def test_a_form_is_the_mean_of_its_words_each_of_length_one() -> None:
    table = np.array([[3, 4], [0, -2]], dtype=np.float32)
    ngrams = np.zeros((1, 2), dtype=np.float32)
    featuriser: FormFeaturiser = SubwordFeaturiser(
        ["a", "b"], table, ngrams, shortest_ngram=3, longest_ngram=3
    )
    vectors = featuriser.vectors([("a", "b"), ("b",), ("a", "b", "b"), ("unheard", "of")])
    expected = [[0.3, -0.1], [0.0, -1.0], [0.2, -0.4], [0.0, 0.0]]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert vectors.dtype == np.float32
    assert featuriser.vectors([]).shape == (0, featuriser.width)


def forms(count: int) -> list[tuple[str, ...]]:
    return [(f"word{index}", "of", f"Köln{index % 7}")[index % 3 :] for index in range(count)]


def test_vectors_do_not_depend_on_company_or_on_the_cache() -> None:
    wanted = forms(300)
    together = hashed_featuriser(HASHED_CONFIG).vectors(wanted)
    one = hashed_featuriser(HASHED_CONFIG)
    assert np.array_equal(together, np.concatenate([one.vectors([form]) for form in wanted]))
    assert np.array_equal(together, one.vectors(wanted))
    base = hashed_featuriser(HASHED_CONFIG)
    small = SubwordFeaturiser(
        (), base.words_VW, base.ngrams_GW, shortest_ngram=3, longest_ngram=6, cache_size=40
    )
    for first in (0, 10, 30, 35, 100):
        part = small.vectors(wanted[first : first + 25])
        assert np.array_equal(part, together[first : first + 25])
        assert len(small._kept.row_of) <= 40
    assert np.array_equal(small.vectors(wanted), together)  # more forms than the cache holds
    assert len(small._kept.row_of) <= 40


def test_giving_vectors_away_does_not_give_the_cache_away() -> None:
    featuriser = hashed_featuriser(HASHED_CONFIG)
    before = featuriser.vectors(forms(3)).copy()
    featuriser.vectors(forms(3))[:] = 7
    assert np.array_equal(featuriser.vectors(forms(3)), before)


def test_random_signs_are_always_these() -> None:
    signs = random_signs(1000, 100, seed=1)
    assert signs.shape == (1000, 100)
    assert set(np.unique(signs)) == {-1, 1}
    assert abs(signs.mean()) < 0.02
    near = signs @ signs.T / 100 - np.eye(1000)
    assert abs(near).max() < 0.6
    bits = "".join("+" if sign > 0 else "-" for sign in signs[0, :16])
    assert bits == "-+---+--++---+--"
    assert not np.array_equal(signs, random_signs(1000, 100, seed=2))


def test_words_that_share_ngrams_are_near() -> None:
    featuriser = hashed_featuriser(FormVectorConfig(source=HASHED, width=256, buckets=4096))
    rhine, rhines, tokyo = featuriser.vectors([("Rhineland",), ("Rhinelander",), ("Tokyo",)])
    assert rhine @ rhines > 0.5
    assert abs(rhine @ tokyo) < 0.3


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    featuriser = SubwordFeaturiser(
        ["Köln", "\u2028", '"'],
        np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32),
        np.random.default_rng(1).normal(size=(64, 5)).astype(np.float32),
        shortest_ngram=2,
        longest_ngram=4,
    )
    featuriser.save(tmp_path / "forms", note="kept")
    loaded = SubwordFeaturiser.open(tmp_path / "forms")
    wanted = [("Köln",), ("\u2028", "new"), ('"',), ("東京",)]
    assert np.array_equal(loaded.vectors(wanted), featuriser.vectors(wanted))
    (tmp_path / "forms" / "words.json").write_text('["a"]', encoding="utf-8")
    with pytest.raises(FormatError, match=r"words\.json: cannot be read \(it has 5 bytes, not"):
        SubwordFeaturiser.open(tmp_path / "forms")
    rewrite_manifests(tmp_path)
    with pytest.raises(FormatError, match="holds 1 names, but there are 3 vectors"):
        SubwordFeaturiser.open(tmp_path / "forms")


def test_without_gensim_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lrlm\[fasttext\]'.*'hashed'"):
        train_fasttext(lambda: TEXTS, TRAINED)


def gensim_models() -> Any:
    return pytest.importorskip("gensim.models", reason="the extra fasttext is not installed")


def test_trained_vectors_are_those_of_gensim_for_any_word() -> None:
    models = gensim_models()
    ours = train_fasttext(lambda: TEXTS, TRAINED)
    theirs = models.FastText(
        sentences=TEXTS, vector_size=12, alpha=0.05, min_count=2, min_n=3, max_n=6, bucket=300,
        sg=1, sample=1e-4, seed=1, workers=1, epochs=2,
    )  # fmt: skip
    words = ["the", "Köln", "東京", "Kölner", "Baselland", "東京都", "a", "naïveté", "𝄞𝄞"]
    expected = np.stack([theirs.wv[word] for word in words])
    np.testing.assert_allclose(ours.word_vectors(words), expected, rtol=1e-5, atol=1e-7)
    assert set(ours.words) == {word for text in TEXTS for word in text}
    assert abs(ours.word_vectors(["the"])).max() > 0


def test_training_tells_how_many_words_it_has_read() -> None:
    gensim_models()
    told: list[tuple[str, int, int]] = []
    train_fasttext(lambda: TEXTS, TRAINED, progress=lambda *step: told.append(step))
    words = sum(map(len, TEXTS))
    counting, training = told[: len(TEXTS)], told[len(TEXTS) :]
    assert counting[-1] == ("making form vectors", words, 0)
    assert training[0] == ("making form vectors", len(TEXTS[0]), 2 * words)
    assert training[-1] == ("making form vectors", 2 * words, 2 * words)


def test_texts_without_frequent_words_are_refused() -> None:
    gensim_models()
    with pytest.raises(InputError, match=r"features\.forms\.min_count"):
        train_fasttext(lambda: [["a", "b"]], TRAINED)


def digest(made: SubwordFeaturiser) -> str:
    tables = made.words_VW.tobytes() + made.ngrams_GW.tobytes() + " ".join(made.words).encode()
    return hashlib.sha256(tables).hexdigest()


def test_another_process_trains_the_same_vectors() -> None:
    gensim_models()
    code = (
        "import hashlib\n"
        "from lrlm.features.config import FormVectorConfig\n"
        "from lrlm.features.fasttext import train_fasttext\n"
        "from lrlm.features.form_vectors import SubwordFeaturiser\n"
        f"{inspect.getsource(digest)}\n"
        f"print(digest(train_fasttext(lambda: {TEXTS!r}, {TRAINED!r})), end='')\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    there = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True
    )
    assert there.stdout.decode() == digest(train_fasttext(lambda: TEXTS, TRAINED))


def test_a_published_file_is_read_and_cut_to_what_is_needed(tmp_path: Path) -> None:
    models = gensim_models()
    theirs = models.FastText(
        sentences=TEXTS, vector_size=12, min_count=1, bucket=200, seed=3, workers=1, epochs=1
    )
    path = tmp_path / "published.bin"
    models.fasttext.save_facebook_model(theirs, str(path))
    ours = read_fasttext(path, TRAINED, {"Köln", "Basel", "unheard"})
    assert set(ours.words) == {"Köln", "Basel"}
    words = ["Köln", "Basel", "Kölner"]
    expected = np.stack([theirs.wv[word] for word in words])
    np.testing.assert_allclose(ours.word_vectors(words), expected, rtol=1e-5, atol=1e-7)
    with pytest.raises(InputError, match=r"width 12, but features\.forms\.width is 100"):
        read_fasttext(path, FormVectorConfig(), set())
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(FormatError, match=r"published\.bin: not a fastText \.bin file"):
        read_fasttext(path, TRAINED, set())
    path.write_bytes(b"something else")
    with pytest.raises(FormatError, match=r"published\.bin: not a fastText \.bin file"):
        read_fasttext(path, TRAINED, set())
    with pytest.raises(InputError, match="no such file"):
        read_fasttext(tmp_path / "nowhere.bin", TRAINED, set())
