"""Data frames of pandas and Polars, where they are installed, and whatever else speaks Arrow."""

from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from lrlm.errors import FormatError, InputError
from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge.data_frames import table_of_frame

DAY = date(1954, 7, 31)


@pytest.fixture(params=["pandas", "polars"])
def frames(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param, reason=f"{request.param} is not installed")


@pytest.fixture
def pandas() -> Any:
    return pytest.importorskip("pandas", reason="pandas is not installed")


@pytest.fixture
def polars() -> Any:
    return pytest.importorskip("polars", reason="Polars is not installed")


def facts(frame: Any, **options: Any) -> dict[str, dict[str, str]]:
    """Give the first form of each fact, by topic and type."""
    graph = KnowledgeGraph.from_dataframe(frame, **options)
    return {topic.id: {fact.type: fact.forms[0] for fact in topic.relations}
            for topic in graph.topics()}  # fmt: skip


def test_a_row_is_an_entity(frames: Any) -> None:
    columns: dict[str, Any] = {
        "name": ["K2", "Everest"],
        "country": ["Pakistan", None],
        "height": [8611.0, float("nan")],
        "climbed": [
            datetime.fromisoformat("1954-07-31 10:30"),
            datetime.fromisoformat("1953-05-29"),
        ],
        "high": [True, True],
        "took": [timedelta(days=70), timedelta(days=60)],
    }
    assert facts(frames.DataFrame(columns)) == {
        "K2": {"country": "Pakistan", "height": "8,611", "climbed": "31 July 1954"},
        "Everest": {"climbed": "29 May 1953"},
    }


def test_columns_of_triples_are_in_any_order(frames: Any) -> None:
    columns = {"object": [8611, 2], "relation": ["height", "rank"], "subject": ["K2", "K2"]}
    assert facts(frames.DataFrame(columns)) == {"K2": {"height": "8,611", "rank": "2"}}


def test_a_list_in_a_cell_is_several_objects(frames: Any) -> None:
    frame = frames.DataFrame({"name": ["K2"], "country": [["Pakistan", "China"]]})
    (k2,) = KnowledgeGraph.from_dataframe(frame).topics()
    assert [fact.object for fact in k2.relations] == ["China", "Pakistan"]


def test_a_frame_without_rows_is_refused(frames: Any) -> None:
    with pytest.raises(InputError, match="the data frame has no rows"):
        KnowledgeGraph.from_dataframe(frames.DataFrame({"name": [], "country": []}))


def test_what_is_wrong_is_told_of_the_frame(frames: Any) -> None:
    frame = frames.DataFrame({"name": ["K2"], "photo": [b"x"]})
    with pytest.raises(FormatError, match=r"^the data frame: the column 'photo' holds bytes"):
        KnowledgeGraph.from_dataframe(frame)


# The index of pandas


def test_an_index_of_texts_are_the_ids(pandas: Any) -> None:
    for index in (["K2"], pandas.Index(["K2"], name="peak")):
        frame = pandas.DataFrame({"country": ["Pakistan"]}, index=index)
        assert facts(frame) == {"K2": {"country": "Pakistan"}}


def test_an_index_that_counts_the_rows_is_left_out(pandas: Any) -> None:
    frame = pandas.DataFrame({"name": ["K2", "Lhotse"], "country": ["Pakistan", "Nepal"]})
    assert facts(frame[frame.country == "Nepal"]) == {"Lhotse": {"country": "Nepal"}}


def test_a_column_of_ids_counts_before_the_index(pandas: Any) -> None:
    frame = pandas.DataFrame({"id": ["Q43512"], "country": ["Pakistan"]}, index=["K2"])
    assert facts(frame) == {"Q43512": {"country": "Pakistan"}}
    frame = frame.rename_axis("called")
    assert facts(frame) == {"Q43512": {"country": "Pakistan", "called": "K2"}}


def test_categories_and_missing_integers(pandas: Any) -> None:
    country = pandas.Categorical(["Pakistan", "Nepal"])
    height = pandas.array([8611, None], dtype="Int64")
    frame = pandas.DataFrame({"name": ["K2", "Lhotse"], "country": country, "height": height})
    assert facts(frame) == {
        "K2": {"country": "Pakistan", "height": "8,611"},
        "Lhotse": {"country": "Nepal"},
    }


def test_three_columns_without_names_are_triples(pandas: Any) -> None:
    assert facts(pandas.DataFrame([["K2", "country", "Pakistan"]])) == {
        "K2": {"country": "Pakistan"}
    }


@pytest.mark.parametrize("columns", [["name", "x", "x"], ["name", "x", "y"]])
def test_columns_that_cannot_be_read(pandas: Any, columns: list[str]) -> None:
    frame = pandas.DataFrame([["K2", "a", 5], ["Lhotse", 5, "a"]], columns=columns)
    with pytest.raises(InputError, match="the data frame cannot be read"):
        KnowledgeGraph.from_dataframe(frame)


# The types of Polars


def test_categories_and_decimals(polars: Any) -> None:
    frame = polars.DataFrame(
        {
            "name": ["K2"],
            "country": polars.Series(["Pakistan"], dtype=polars.Categorical),
            "side": polars.Series(["north"], dtype=polars.Enum(["north", "south"])),
            "height": polars.Series([8611], dtype=polars.Decimal(10, 0)),
            "climbed": [DAY],
        }
    )
    assert facts(frame) == {
        "K2": {
            "country": "Pakistan", "side": "north", "height": "8,611", "climbed": "31 July 1954"
        }
    }  # fmt: skip


def test_a_lazy_frame_is_to_be_collected_first(polars: Any) -> None:
    lazy = polars.LazyFrame({"name": ["K2"], "country": ["Pakistan"]})
    with pytest.raises(InputError, match=r"LazyFrame .* give what its collect\(\) gives"):
        KnowledgeGraph.from_dataframe(lazy)


# Whatever speaks Arrow


def test_categories_of_arrow() -> None:
    for values in (pa.array(["Nepal", "Nepal"]), pa.array(["Nepal", "Nepal"], pa.string_view())):
        column = values.cast(pa.string()).dictionary_encode()
        dictionary = column.dictionary.cast(values.type)
        coded = pa.DictionaryArray.from_arrays(column.indices, dictionary)
        table = table_of_frame(pa.table({"name": ["Everest", "Lhotse"], "country": coded}))
        assert table.column("country").to_pylist() == ["Nepal", "Nepal"]


def test_what_is_no_frame() -> None:
    others: list[Any] = [[], {"name": ["K2"]}, pa.array(["K2"])]
    for given in others:
        with pytest.raises(InputError, match="data frame"):
            KnowledgeGraph.from_dataframe(given)
