"""Annotations made by hand."""

from lrlm.annotation.annotation import Annotation, Explanation, ExplanationKind, Fact, Segment, Span
from lrlm.text import tokenise

TEXT = "The United States\r\nof <b>Bo\u0308b</b> & \U0001f600  end.\n"


def explanation(
    kind: ExplanationKind, probability: float, *steps: tuple[int, int] | tuple[int, int, Fact]
) -> Explanation:
    return Explanation(kind, tuple(Segment(*step) for step in steps), probability)


COUNTRY = Fact("country", "Q30", "United States", "country")
LAND = Fact("land of birth", "Q30", "the United States", "land of birth")
MARKUP = Fact('ty<pe> "x"', "Q<1>", "Böb", 'ty<pe> "x"')


def annotation(text: str = TEXT) -> Annotation:
    """The paper's example with a nested name, and a name that looks like markup."""
    name = text.index("Bo\u0308b")
    spans = (
        Span(0, 17, text[0:17], (
            explanation(ExplanationKind.MIXTURE, 0.6, (0, 3), (4, 17, COUNTRY)),
            explanation(ExplanationKind.RELATION, 0.3, (0, 17, LAND)),
            explanation(ExplanationKind.WORDS, 0.1, (0, 3), (4, 10), (11, 17)),
        )),
        Span(4, 17, text[4:17], (
            explanation(ExplanationKind.RELATION, 0.6, (4, 17, COUNTRY)),
            explanation(ExplanationKind.CROSSING, 0.3),
            explanation(ExplanationKind.WORDS, 0.1, (4, 10), (11, 17)),
        )),
        Span(name, name + 4, "Bo\u0308b", (
            explanation(ExplanationKind.WORDS, 0.55, (name, name + 4)),
            explanation(ExplanationKind.RELATION, 0.45, (name, name + 4, MARKUP)),
        )),
    )  # fmt: skip
    return Annotation(
        id="first one",
        topic="To<pic>",
        text=text,
        tokens=tokenise(text),
        nats=12.0,
        end_nats=0.5,
        spans=spans,
        copied=(Segment(4, 17, COUNTRY),),
    )
