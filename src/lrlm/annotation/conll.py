"""Write an annotation in the CoNLL format: a line a token, tagged with where it was copied from.

    # id = Q1
    # topic = Q1
    Oslo    0   4   B-@title   Q1   0.9871
    is      5   7   O          _    _

Columns are separated by tabs: token, start, end, BIO tag with the relation's type, object, and the
probability of the mention. A document ends with a blank line. Comments begin with "# ".
"""

import re
from collections import deque

from lrlm.annotation.annotation import Annotation, Span
from lrlm.annotation.terminal import shown_spans

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
        inside = spans[0] if spans and start >= spans[0].start else None
        columns = (annotation.text[start:end], str(start), str(end), *_tag(inside, start))
        lines.append("\t".join(columns))
    return "\n".join(lines) + "\n\n"


def _tag(span: Span | None, start: int) -> tuple[str, str, str]:
    if span is None or span.relation.fact is None:
        return "O", _EMPTY, _EMPTY
    fact = span.relation.fact
    position = "B" if start == span.start else "I"
    return f"{position}-{_joined(fact.type)}", _joined(fact.object), _share(span)


def _share(span: Span) -> str:
    return f"{span.relation.probability:.6g}"


def _joined(name: str) -> str:
    """Write a name without white space, which parts columns and lines."""
    return _WHITE_SPACE.sub("_", name.strip())
