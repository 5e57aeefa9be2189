"""Give annotations in formats that others read: CoNLL columns and spaCy documents.

CoNLL has a line a token, tagged with where it was copied from:

    # id = Q1
    # topic = Q1
    Oslo    0   4   B-@title   Q1   0.9871
    is      5   7   O          _    _

Columns are separated by tabs: token, start, end, BIO tag with the relation's type, object, and the
probability of the mention. A document ends with a blank line. Comments begin with "# ".

A spaCy document has the same text and offsets, and our tokens. White space beyond one space after a
token is a token of its own, as spaCy has it. `doc.spans["lrlm"]` holds the mentions above a
threshold, `doc.ents` what the best path copied: labels are relation types, `kb_id_` is the object.
"""

import re
from collections import deque
from typing import Any

from lrlm.annotation.annotation import Annotation, Fact, Segment, Span
from lrlm.annotation.terminal import shown_spans
from lrlm.errors import MissingExtraError

_EMPTY = "_"
_WHITE_SPACE = re.compile(r"\s+")


def annotation_to_conll(annotation: Annotation, *, threshold: float = 0.5) -> str:
    """Write the tokens of a text, with its mentions above a threshold."""
    spans = deque(shown_spans(annotation, threshold))
    lines = [f"# id = {_joined(annotation.id)}", f"# topic = {_joined(annotation.topic)}"]
    tokens = annotation.tokens
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        if spans and start >= spans[0].end:
            spans.popleft()
        inside = spans[0] if spans and end > spans[0].start else None
        columns = (annotation.text[start:end], str(start), str(end), *_tag(inside, start))
        lines.append("\t".join(columns))
    return "\n".join(lines) + "\n\n"


def _tag(span: Span | None, start: int) -> tuple[str, str, str]:
    if span is None or span.relation.fact is None:
        return "O", _EMPTY, _EMPTY
    fact = span.relation.fact
    position = "B" if start <= span.start else "I"
    return f"{position}-{_joined(fact.type)}", _joined(fact.object), _share(span)


def _share(span: Span) -> str:
    return f"{span.relation.probability:.6g}"


def _joined(name: str) -> str:
    """Write a name without white space, which parts columns and lines."""
    return _WHITE_SPACE.sub("_", name.strip())


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
    copied = [_span(doc, segment, segment.fact) for segment in annotation.copied]
    doc.set_ents(spacy.util.filter_spans(copied))
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
    # A name that is only a part of a token becomes the whole token.
    return doc.char_span(
        place.start, place.end, label=fact.type, kb_id=fact.object, alignment_mode="expand"
    )
