"""Read the data frames of other libraries as tables that all tables are read like.

Whatever speaks Arrow is read, and each library has its own ways: pandas has an index beside its
columns, which Arrow sees as a column like any other; Polars has columns of a few repeated texts in
a layout that Parquet cannot keep.
"""

import json
from typing import Any

import pyarrow as pa

from lrlm.errors import InputError
from lrlm.knowledge.sources.tables import INDEX_OF_PANDAS, has_ids

_OF_TRIPLES = ["subject", "relation", "object", "kind"]


def table_of_frame(frame: Any) -> pa.Table:
    """Give a data frame as a table that Parquet can keep.

    >>> import pyarrow
    >>> table_of_frame(pyarrow.table({"name": ["K2"]})).column_names
    ['name']
    """
    if not hasattr(frame, "__arrow_c_stream__"):
        hint = (
            "it is not computed yet: give what its collect() gives"
            if hasattr(frame, "collect")
            else "expected one of pandas, Polars, Arrow or another library that offers the Arrow"
            " PyCapsule interface"
        )
        raise InputError(f"a {type(frame).__name__} is not a data frame that can be read: {hint}")
    try:
        table = _plain_columns(pa.table(frame))
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = ": ".join(" ".join(str(each).split()) for each in error.args)
        raise InputError(
            f"the data frame cannot be read ({reason}); a column holds values of one type, and no"
            " two columns have one name"
        ) from None
    if not len(table):
        raise InputError("the data frame has no rows")
    return _with_names_of_triples(_with_index_as_ids(table))


def _with_names_of_triples(table: pa.Table) -> pa.Table:
    """Take three columns without names, which are numbered then, for triples."""
    columns = table.column_names
    if len(columns) in (3, 4) and columns == [str(place) for place in range(len(columns))]:
        return table.rename_columns(_OF_TRIPLES[: len(columns)])
    return table


def _plain_columns(table: pa.Table) -> pa.Table:
    """Write out columns that hold numbers of repeated values (categories)."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            chunks = [
                _written_out(chunk.dictionary).take(chunk.indices)
                for chunk in table.column(place).chunks
            ]
            column = pa.chunked_array(chunks, type=None if chunks else pa.string())
            table = table.set_column(place, field.name, column)
    return table


def _written_out(values: pa.Array) -> pa.Array:
    """Give texts in the layout that everything can work with."""
    return values.cast(pa.string()) if pa.types.is_string_view(values.type) else values


def _with_index_as_ids(table: pa.Table) -> pa.Table:
    """Take the index of a frame of pandas for the ids of its rows, unless a column has these.

    An index of numbers without a name only counts the rows, and is left out.
    """
    metadata = table.schema.metadata or {}
    known = json.loads(metadata.get(b"pandas", b"{}")).get("index_columns", [])
    names = [name for name in known if isinstance(name, str) and name in table.column_names]
    if len(names) != 1:
        return table
    (name,) = names
    others = [column for column in table.column_names if column != name]
    if name == INDEX_OF_PANDAS:
        counts_rows = pa.types.is_integer(table.schema.field(name).type)
        return table.drop_columns([name]) if counts_rows or has_ids(others) else table
    if has_ids(table.column_names):
        return table
    return table.rename_columns(
        [INDEX_OF_PANDAS if column == name else column for column in table.column_names]
    )
