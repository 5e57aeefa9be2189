"""The SQL of the join, on a database in memory, against slow and obvious ways."""

from itertools import pairwise, takewhile

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

from lrlm.knowledge.join import Subset, join_steps
from lrlm.knowledge.statements import StatementKind, Statements
from tests.knowledge.worlds import last_id

ids = st.integers(0, 12).map("Q{}".format)


def followed(redirects: dict[str, str]) -> dict[str, str]:
    """Run the steps that follow redirects."""
    out = Statements()
    out.rows += [(StatementKind.REDIRECT, old, None, new, None) for old, new in redirects.items()]
    with duckdb.connect() as database:
        database.register("statements", out.to_table(block=0))
        for name, query in takewhile(
            lambda step: step[0] != "unit_redirects", join_steps(Subset())
        ):
            database.execute(f"CREATE TABLE {name} AS {query}")
        return dict(database.execute("SELECT old, new FROM redirects").fetchall())


@settings(max_examples=30)
@given(st.dictionaries(ids, ids, max_size=13))
def test_redirects_lead_to_their_ends_or_are_dropped(redirects: dict[str, str]) -> None:
    real = {old: new for old, new in redirects.items() if old != new}
    ends = {old: last_id(old, real) for old in real}
    assert followed(redirects) == {old: end for old, end in ends.items() if old != end}


def test_sixteen_steps_are_followed() -> None:
    way = [f"Q{number}" for number in range(17)]
    assert followed(dict(pairwise(way))) == dict.fromkeys(way[:-1], way[-1])
