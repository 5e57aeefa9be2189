"""No two runs of a figure look alike, and the same model always has its colour."""

from itertools import product

from lrlm.report.run_looks import run_looks
from tests.report.test_evaluation_tables import result

KINDS = ("vanilla", "alias", "prompted", "nklm", "lrlm")


def test_models_differ_in_colour_and_backbones_in_their_line() -> None:
    runs = [
        result(kind, 9.0, backbone=backbone)
        for kind, backbone in product(KINDS, ("lstm", "transformer-xl"))
    ]
    looks = run_looks(runs)
    assert len({(look.light, look.dashes) for look in looks}) == len(runs)
    assert len({(look.dark, look.dashes) for look in looks}) == len(runs)
    assert looks[0].light == looks[1].light
    assert looks[0].dashes != looks[1].dashes
    assert [look.is_hollow for look in looks[:2]] == [False, True]  # where a point is no line


def test_runs_of_the_same_kind_differ_in_colour() -> None:
    looks = run_looks([result("lrlm", 9.0, name=str(number)) for number in range(5)])
    assert len({look.light for look in looks}) == 5
    assert {look.marker for look in looks} == {"o"}


def test_very_many_runs_still_have_a_look() -> None:
    assert len(run_looks([result("lrlm", 9.0)] * 30)) == 30
