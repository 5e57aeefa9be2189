"""The lattice of a part of a text, to be drawn: boundaries, and words and copied names as edges."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from lrlm.annotation.annotate import check_posteriors
from lrlm.annotation.annotation import Fact, fact_of
from lrlm.errors import InputError
from lrlm.lattice import best_paths, posteriors
from lrlm.models import ScoredDocument, lattice_of, with_copy_odds
from lrlm.plain_data import json_text
from lrlm.runs.reading import read_linked
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument, TokenPlaces

FORMAT = "lrlm lattice"
VERSION = 1


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """A segment: from one boundary to another, and the characters `[start, end)` that it covers."""

    from_boundary: int
    to_boundary: int
    start: int
    end: int
    log_score: float
    posterior: float
    """The share of all segmentations of the text, by their probability, that hold this segment."""
    on_best_path: bool
    fact: Fact | None = None
    """What is copied; None for a word."""


@dataclass(frozen=True, slots=True)
class DrawnLattice:
    """The lattice of the tokens in a part of a text, which no candidate reaches out of."""

    text: str
    """The whole text; offsets count its characters."""
    start: int
    end: int
    """The part that was drawn."""
    boundaries: int
    """How many there are: one more than tokens."""
    edges: tuple[DrawnEdge, ...]
    """The words in their order, then the candidates."""

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values; an edge of a word has no fact."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "text": self.text[self.start : self.end],
            "start": self.start,
            "end": self.end,
            "boundaries": self.boundaries,
            "edges": [self._edge_to_dict(edge) for edge in self.edges],
        }

    def to_json(self) -> str:
        """Write `to_dict` as one line of JSON."""
        return json_text(self.to_dict())

    def _edge_to_dict(self, edge: DrawnEdge) -> dict[str, Any]:
        content = asdict(edge)
        content.pop("fact")
        content["text"] = self.text[edge.start : edge.end]
        if not math.isfinite(edge.log_score):  # JSON knows no infinity
            content["log_score"] = None
        return content if edge.fact is None else {**content, **edge.fact.to_dict()}


def draw_lattice(
    run: Run, document: LinkedDocument, *, start: int, end: int, longest: int
) -> DrawnLattice:
    """Read a document, and give the lattice of its characters `[start, end)`.

    The part grows until no candidate reaches out of it. One of more than `longest` tokens is
    refused.
    """
    check_posteriors(run)
    (scored,) = read_linked(run, [document])
    return lattice_of_part(
        document,
        with_copy_odds(scored, run.copy_odds),
        run.space.places(document),
        start=start,
        end=end,
        longest=longest,
    )


def lattice_of_part(
    document: LinkedDocument,
    scored: ScoredDocument,
    places: TokenPlaces,
    *,
    start: int,
    end: int,
    longest: int,
) -> DrawnLattice:
    """Give the lattice of the characters `[start, end)` of a document that was read."""
    spans = list(zip(scored.start_E.tolist(), scored.end_E.tolist(), strict=True))
    inside = [
        token
        for token, (begin, stop) in enumerate(zip(places.starts, places.ends, strict=True))
        if begin < end and stop > start
    ]
    if not inside:
        raise InputError(f"there are no words between the characters {start} and {end}")
    first, last = _without_crossing(inside[0], inside[-1] + 1, spans)
    if last - first > longest:
        raise InputError(
            f"this part of the text has {last - first:,} tokens, and a lattice of at most"
            f" {longest:,} can be drawn; choose a sentence"
        )
    lattice = lattice_of([scored])
    words_1T, shares_E = posteriors(lattice)
    _, (path,) = best_paths(lattice)
    best_words = {step.start for step in path if step.edge is None}
    best_edges = {step.edge for step in path}
    word_scores, word_shares = scored.words_N().tolist(), words_1T[0].tolist()
    edges = [
        DrawnEdge(
            token - first, token + 1 - first, places.starts[token], places.ends[token],
            word_scores[token], word_shares[token], token in best_words,
        )
        for token in range(first, last)
    ]  # fmt: skip
    edge_scores, edge_shares = scored.score_E.tolist(), shares_E.tolist()
    facts = scored.encoded.edges_E4[:, 2:].tolist()
    for number, (begin, stop) in enumerate(spans):
        if first <= begin and stop <= last:
            relation = document.relations[facts[number][0]]
            fact = fact_of(relation, facts[number][1])
            edges.append(
                DrawnEdge(
                    begin - first, stop - first, places.starts[begin], places.ends[stop - 1],
                    edge_scores[number], edge_shares[number], number in best_edges, fact,
                )
            )  # fmt: skip
    return DrawnLattice(
        text=document.text,
        start=places.starts[first],
        end=places.ends[last - 1],
        boundaries=last - first + 1,
        edges=tuple(edges),
    )


def _without_crossing(first: int, last: int, spans: list[tuple[int, int]]) -> tuple[int, int]:
    """Widen the tokens `[first, last)` until no span reaches out of them."""
    while True:
        touching = [(begin, end) for begin, end in spans if begin < last and end > first]
        wider = min([first, *(begin for begin, _ in touching)])
        further = max([last, *(end for _, end in touching)])
        if (wider, further) == (first, last):
            return first, last
        first, last = wider, further
