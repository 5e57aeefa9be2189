"""Give annotations as spaCy documents with the same text and the same offsets.

Its tokens are ours. White space beyond one space after a token is a token of its own, as spaCy has
it. `doc.spans["lrlm"]` holds the mentions above a threshold, `doc.ents` what the best path copied:
labels are relation types, `kb_id_` is the object.
"""

from typing import Any

from lrlm.annotation.annotation import Annotation, Fact, Segment, Span
from lrlm.errors import MissingExtraError

SPANS = "lrlm"
"""The key of the mentions in `doc.spans`."""


def to_spacy(annotation: Annotation, vocab: Any = None, *, threshold: float = 0.5) -> Any:
    """Give a `spacy.tokens.Doc`; for many of them, give the vocabulary that they share.

    The probabilities of the mentions are in `doc.spans["lrlm"].attrs["probabilities"]`.
    """
    try:
        import spacy
        from spacy.tokens import Doc, SpanGroup
    except ImportError:
        raise MissingExtraError(
            "spaCy is not installed; install it with: pip install 'lrlm[spacy]'"
        ) from None
    words, spaces = _words_and_spaces(annotation)
    if vocab is None:
        vocab = spacy.blank("xx").vocab  # of no certain language
    doc = Doc(vocab, words=words, spaces=spaces)
    assert doc.text == annotation.text
    mentions = annotation.mentions(threshold)
    doc.spans[SPANS] = SpanGroup(
        doc,
        name=SPANS,
        spans=[_span(doc, mention, mention.relation.fact) for mention in mentions],
        attrs={"probabilities": [mention.relation.probability for mention in mentions]},
    )
    doc.set_ents([_span(doc, segment, segment.fact) for segment in annotation.copied])
    return doc


def _words_and_spaces(annotation: Annotation) -> tuple[list[str], list[bool]]:
    """Cut the whole text into words, each followed by one space or by none."""
    text = annotation.text
    words: list[str] = []
    spaces: list[bool] = []
    starts = [*annotation.tokens.starts, len(text)]
    end = 0
    for number, start in enumerate(starts):
        between = text[end:start]
        if words and between.startswith(" "):
            spaces[-1] = True
            between = between[1:]
        if between:
            words.append(between)
            spaces.append(False)
        if number < len(annotation.tokens):
            end = annotation.tokens.ends[number]
            words.append(text[start:end])
            spaces.append(False)
    return words, spaces


def _span(doc: Any, place: Span | Segment, fact: Fact | None) -> Any:
    assert fact is not None, "only what was copied becomes a span"
    return doc.char_span(place.start, place.end, label=fact.type, kb_id=fact.object)
