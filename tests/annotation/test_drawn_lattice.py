"""The lattice that is drawn: the same posteriors as those of the lattice itself."""

import json
import math

import pytest

import lrlm
from lrlm.annotation.drawn_lattice import DrawnEdge, DrawnLattice, draw_lattice
from lrlm.errors import InputError
from tests.toy import TOPIC
from tests.toy_run import toy_run

TEXT = "a b a b u a"


def drawn(start: int = 0, end: int = len(TEXT), longest: int = 100) -> DrawnLattice:
    run = toy_run("lrlm")
    return draw_lattice(run, run.link(TEXT, TOPIC), start=start, end=end, longest=longest)


def test_every_boundary_is_crossed_with_probability_one() -> None:
    lattice = drawn()
    assert lattice.boundaries == 7
    for boundary in range(lattice.boundaries - 1):
        over = [
            edge.posterior
            for edge in lattice.edges
            if edge.from_boundary <= boundary < edge.to_boundary
        ]
        assert math.fsum(over) == pytest.approx(1)


def test_the_best_path_leads_from_the_first_boundary_to_the_last() -> None:
    path = sorted(
        (edge for edge in drawn().edges if edge.on_best_path), key=lambda edge: edge.from_boundary
    )
    reached = 0
    for edge in path:
        assert edge.from_boundary == reached
        reached = edge.to_boundary
    assert reached == 6


def test_posteriors_are_those_of_the_annotation() -> None:
    run = toy_run("lrlm")
    annotation = lrlm.Model(run).annotate(TEXT, TOPIC)
    for span in annotation.spans:
        edges = [
            edge.posterior
            for edge in drawn().edges
            if edge.fact is not None and (edge.start, edge.end) == (span.start, span.end)
        ]
        assert math.fsum(edges) == pytest.approx(span.probability)


def test_a_part_grows_until_no_candidate_reaches_out_of_it() -> None:
    part = drawn(start=2, end=3)
    assert (part.start, part.end) == (0, 3)
    whole = {(edge.start, edge.end, edge.fact): edge.posterior for edge in drawn().edges}
    for edge in part.edges:
        assert whole[edge.start, edge.end, edge.fact] == pytest.approx(edge.posterior)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InputError, match="no words between"):
        drawn(start=50, end=60)
    with pytest.raises(InputError, match="choose a sentence"):
        drawn(longest=3)
    run = toy_run("vanilla")
    with pytest.raises(InputError, match="does not know where words come from"):
        draw_lattice(run, run.link(TEXT, TOPIC), start=0, end=3, longest=9)


def test_as_json() -> None:
    content = json.loads(drawn().to_json())
    assert content["text"] == TEXT
    assert content["edges"][0]["text"] == "a"
    assert "type" not in content["edges"][0]
    impossible = DrawnLattice("a", 0, 1, 2, (DrawnEdge(0, 1, 0, 1, -math.inf, 0.0, False),))
    assert impossible.to_dict()["edges"][0]["log_score"] is None
