"""Pickles as plain values: everything that is plain comes back, everything else is refused."""

import io
import pickle
import tracemalloc
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lrlm.corpora.importers import plain_pickle
from lrlm.corpora.importers.plain_pickle import (
    PickledCall,
    PickledSymbol,
    load_plain,
    stream_plain_list,
)
from lrlm.errors import FormatError
from tests.bounded import outcomes
from tests.generators.hostile_files import HONEST, large_pickles, pickles

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
plain = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=30,
)


def load(content: bytes, **options: Any) -> Any:
    return load_plain(io.BytesIO(content), "a.pkl", **options)


def stream(tmp_path: Path, content: bytes) -> list[Any]:
    path = tmp_path / "a.pkl"
    path.write_bytes(content)
    return list(stream_plain_list(path, "a.pkl"))


@settings(max_examples=60)
@given(plain, st.sampled_from(range(6)))
def test_plain_values_come_back(value: Any, protocol: int) -> None:
    assert load(pickle.dumps(value, protocol=protocol)) == value


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, frozenset("ab"), bytearray(b"x"), 2**500])
def test_containers_of_later_protocols(value: Any) -> None:
    assert load(pickle.dumps(value, protocol=5)) == value


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(plain, max_size=20), st.sampled_from(range(6)))
def test_a_list_comes_item_by_item(tmp_path: Path, items: list[Any], protocol: int) -> None:
    shared = [*items, *items]  # the second half refers back to the first
    assert stream(tmp_path, pickle.dumps(shared, protocol=protocol)) == shared


def test_a_long_list_is_not_held_in_memory(tmp_path: Path) -> None:
    articles = [([f"word {m}" for m in range(20)], f"Q{n}") for n in range(2500)]
    content = pickle.dumps(articles)
    (tmp_path / "a.pkl").write_bytes(content)

    def peak(read: Callable[[], Any]) -> int:
        tracemalloc.start()
        try:
            read()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert list(stream_plain_list(tmp_path / "a.pkl", "a")) == articles
    whole = peak(lambda: load(content))
    streamed = peak(lambda: sum(1 for _ in stream_plain_list(tmp_path / "a.pkl", "a")))
    assert streamed < whole / 3


class Evil:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.path, "executed")


@pytest.mark.parametrize("protocol", range(6))
def test_nothing_is_executed(tmp_path: Path, protocol: int) -> None:
    content = pickle.dumps([Evil(tmp_path / "mark")], protocol=protocol)
    with pytest.raises(FormatError, match=r"a\.pkl, byte \d+: the pickle would (load|make)"):
        load(content)
    with pytest.raises(FormatError, match="would"):
        stream(tmp_path, content)
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"cos\nsystem\n(S'true'\ntR.",
        b"(S'true'\nios\nsystem\n.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
        b"(cos\nsystem\nS'true'\no.",
        b"Pstorage\n.",
        b"]Q.",
        b"\x82\x01.",
        b")\x81.",
        b"]}b.",
        b"(]Q.",
    ],
)
def test_opcodes_that_make_objects_are_refused(content: bytes) -> None:
    with pytest.raises(FormatError):
        load(content)


@pytest.mark.parametrize("value", [PurePosixPath("a"), OrderedDict(a=1), Exception, complex(1)])
def test_classes_are_refused(value: Any) -> None:
    with pytest.raises(FormatError, match="only containers, texts and numbers"):
        load(pickle.dumps([value]))


def test_names_that_are_let_pass_stay_names() -> None:
    value = load(pickle.dumps(OrderedDict()), symbols=frozenset(("collections.OrderedDict",)))
    assert value == PickledCall(PickledSymbol("collections.OrderedDict"), ())
    with pytest.raises(FormatError, match=r"would load pathlib\.PurePosixPath"):
        load(pickle.dumps(PurePosixPath("a")), symbols=frozenset(("collections.OrderedDict",)))


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_cut_pickle_is_an_error_at_every_byte(protocol: int) -> None:
    content = pickle.dumps([(["a", "b"], "Q1", [(1, 2, ["c"])]), {"d": 1.5}], protocol=protocol)
    for end in range(len(content)):
        with pytest.raises(FormatError, match="damaged"):
            load(content[:end])


@given(st.binary(max_size=60), st.integers(0, 80), st.sampled_from((0, 2, 4)))
def test_damaged_pickles_give_a_value_or_the_one_error(
    noise: bytes, place: int, protocol: int
) -> None:
    content = pickle.dumps([(["a"], "Q1", [(1, -2, ["c"])]), {"d": None}], protocol=protocol)
    with suppress(FormatError):
        load(content[:place] + noise + content[place + len(noise) :])


def test_hostile_pickles_are_refused_within_bounds() -> None:
    told = dict(outcomes("pickles", pickles()))
    assert [name for name, text in told.items() if not text] == []
    assert "more than 100 deep" in told["deep-tuple-as-key"]
    assert "one value of more than 256 MiB" in told["doubled-tuple-as-key"]


@pytest.mark.slow
def test_pickles_larger_than_their_bytes_are_refused_within_bounds() -> None:
    files = ((name, text) for name, text in large_pickles(4_000_000) if name not in HONEST)
    told = dict(outcomes("pickles", files))
    assert all("512 MiB of memory at once" in text for text in told.values())


def test_memory_is_counted_while_it_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain_pickle, "MOST_MEMORY", 1 << 20)
    for name, content in large_pickles(50_000):
        with pytest.raises(FormatError, match="memory at once"):
            load(content)
        if "remembered" in name:
            continue  # nothing refers to it, so a list read item by item does not remember it
        with pytest.raises(FormatError, match="memory at once"):
            stream(tmp_path, content)
    articles = [[f"word {n} {m}" for m in range(100)] for n in range(1500)]
    with pytest.raises(FormatError, match="memory at once"):
        load(pickle.dumps(articles))


def test_memory_of_items_that_are_given_away_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = [[number] * 100 for number in range(5000)]
    monkeypatch.setattr(plain_pickle, "MOST_MEMORY", 8 << 20)
    assert stream(tmp_path, pickle.dumps(batches)) == batches
    with pytest.raises(FormatError, match="memory at once"):
        stream(tmp_path, pickle.dumps([*batches, *batches]))  # all are remembered


def test_a_batch_of_items_is_not_one_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's pickler puts a thousand articles into a list at once."""
    articles = [[f"word{number % 50}"] * 200 for number in range(1000)]
    monkeypatch.setattr(plain_pickle, "LARGEST_ITEM", 1 << 20)
    content = pickle.dumps(articles, protocol=3)
    assert stream(tmp_path, content) == articles
    with pytest.raises(FormatError, match="one value of more than 1 MiB"):
        load(content)


def test_a_file_that_repeats_itself_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain_pickle, "LARGEST_ITEM", 1 << 20)
    article = ["word"] * 1000
    for protocol in (0, 2, 4):
        with pytest.raises(FormatError, match="repeats itself"):
            stream(tmp_path, pickle.dumps([article] * 5000, protocol=protocol))
    forms = [f"form {number}" for number in range(10)]  # of an entity that all articles name
    honest = [[(type_, number, forms) for type_ in range(20)] for number in range(2000)]
    assert stream(tmp_path, pickle.dumps(honest)) == honest


def test_keys_are_bounded() -> None:
    many = {(number, "a"): None for number in range(900)}
    assert load(pickle.dumps(many)) == many
    for key in (tuple(range(1000)), (("a",) * 30,) * 30):
        with pytest.raises(FormatError, match="keys of the pickle"):
            load(pickle.dumps({key: 1}))


def test_a_list_is_expected(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="holds no list"):
        stream(tmp_path, pickle.dumps({"a": 1}))


def test_one_pickle_is_read_and_no_further() -> None:
    both = io.BytesIO(pickle.dumps("first") + pickle.dumps("second"))
    assert [load_plain(both, "a"), load_plain(both, "a")] == ["first", "second"]
