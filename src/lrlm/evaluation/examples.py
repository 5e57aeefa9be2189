"""Find the documents that a model annotates best and worst, and what it gets wrong in them."""

from collections.abc import Sequence
from dataclasses import dataclass

from lrlm.annotation.annotate import annotate
from lrlm.annotation.annotation import Annotation
from lrlm.corpora import Corpus
from lrlm.evaluation.annotation_quality import Place, places_of
from lrlm.evaluation.judged import judge
from lrlm.evaluation.results import RunResult
from lrlm.evaluation.side_by_side import documents_for
from lrlm.runs.reading import read_linked
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument


@dataclass(frozen=True)
class AnnotatedExample:
    """A document as a model annotates it, and the places where its best explanation is not true."""

    document: LinkedDocument
    annotation: Annotation
    mistakes: tuple[Place, ...]
    """In the order of the text; none where the truth is not known."""


def best_to_worst(result: RunResult) -> list[int]:
    """Order documents, by their place among all; those without a candidate span are left out.

    The measure is the mean probability of the true explanations of a document's places or, where
    no truth is known, the perplexity of a document under the model.
    """
    known = result.truth_probabilities
    costs = {
        number: (
            -known[score.id] if known else 0.0,
            score.nats() / score.words,
        )
        for number, score in enumerate(result.scores)
        if score.inside_words and (not known or score.id in known)
    }
    return sorted(costs, key=costs.__getitem__)


def annotated_examples(
    run: Run, corpus: Corpus, documents: Sequence[LinkedDocument]
) -> list[AnnotatedExample]:
    """Annotate documents of a corpus, and compare with the truth where it is known.

    As in an evaluation, they are linked anew for a run whose corpus was linked in another way.
    """
    if not documents:
        return []
    linked = documents_for(corpus, documents, run)
    judged = judge(linked, read_linked(run, linked), run.space, copy_odds=run.copy_odds)
    return [
        AnnotatedExample(
            document,
            annotation,
            tuple(
                place
                for place in (places_of(document, found) if document.gold is not None else ())
                if not place.is_right
            ),
        )
        for document, found, annotation in zip(linked, judged, annotate(run, linked), strict=True)
    ]
