"""Scores and places made by hand."""

from lrlm.evaluation.annotation_quality import Place, PlaceExplanation, Way
from lrlm.evaluation.document_scores import DocumentScore, Spelling


def document_score(
    nats: float,
    *,
    id_: str = "article",
    words: int = 10,
    relations: int = 3,
    inside_nats: float = 0.0,
    inside_words: int = 0,
    end_nats: float = 0.5,
) -> DocumentScore:
    """A document of so many nats in all, `</s>` not counted; UPP costs 1 less, oracles 2 less."""
    discount = {Spelling.OPEN: 0.0, Spelling.UPP: 1.0, Spelling.ORACLE: 2.0}
    return DocumentScore(
        id=id_,
        relations=relations,
        words=words,
        text_bytes=5 * words,
        unknown_words=1,
        inside_words=inside_words,
        outside_words=words - inside_words,
        lost_candidates=0,
        end_nats=end_nats,
        inside_nats=dict.fromkeys(Spelling, inside_nats),
        outside_nats={spelling: nats - inside_nats - less for spelling, less in discount.items()},
    )


def place(
    confidence: float = 0.9,
    *,
    is_right: bool = True,
    truth: Way = Way.RELATION,
    words: str = "a b",
    candidates: int = 1,
    is_overlapped: bool = False,
) -> Place:
    """A place whose first relation is its best explanation."""
    facts = [PlaceExplanation(Way.RELATION, (f"type {n}", "object")) for n in range(candidates)]
    probabilities = dict.fromkeys([*facts, PlaceExplanation(Way.WORDS)], 0.0)
    probabilities[facts[0]] = confidence
    return Place(
        document="article",
        start=0,
        end=2,
        words=tuple(words.split()),
        probabilities=probabilities,
        truth=truth,
        best=facts[0],
        is_right=is_right,
        is_overlapped=is_overlapped,
    )
