"""Annotations as spaCy documents: the same text, the same offsets."""

import sys

import pytest

from lrlm.annotation.exports import to_spacy
from lrlm.errors import MissingExtraError
from tests.annotation.made import TEXT, annotation


def test_without_spacy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lrlm\[spacy\]'"):
        to_spacy(annotation())


@pytest.mark.extra("spacy")
@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\r\n", "   "), TEXT.rstrip(), TEXT + "  \n "])
def test_spans_and_entities_keep_their_places(text: str) -> None:
    made = annotation(text)
    doc = to_spacy(made, threshold=0.4)
    assert doc.text == text
    ours = list(zip(made.tokens.starts, made.tokens.ends, strict=True))
    theirs = [(token.idx, token.idx + len(token)) for token in doc if not token.is_space]
    assert theirs == ours
    group = doc.spans["lrlm"]
    assert [(span.start_char, span.end_char) for span in group] == [
        (span.start, span.end) for span in made.mentions(0.4)
    ]
    assert [(span.text, span.label_, span.kb_id_) for span in group] == [
        ("United States", "country", "Q30"),
        ("Bo\u0308b", 'ty<pe> "x"', "Q<1>"),
    ]
    assert list(group.attrs["probabilities"]) == [0.6, 0.45]
    assert [(entity.text, entity.label_, entity.kb_id_) for entity in doc.ents] == [
        ("United States", "country", "Q30")
    ]


@pytest.mark.extra("spacy")
def test_a_vocabulary_can_be_shared() -> None:
    import spacy

    vocab = spacy.blank("en").vocab
    assert to_spacy(annotation(), vocab).vocab is vocab
