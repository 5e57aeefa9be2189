"""The texts of a report: articles, what models wrote beside them, and annotated examples."""

from collections.abc import Iterator, Mapping
from functools import partial

from lrlm.annotation.html import annotated_text
from lrlm.annotation.terminal import relation_type, shown_spans
from lrlm.corpora import prune
from lrlm.evaluation.examples import AnnotatedExample
from lrlm.generation.views import generated_pieces, summary
from lrlm.knowledge import TITLE
from lrlm.look import counted, html_text, hues, percent, shown_perplexity, shown_type
from lrlm.report.evaluation_tables import labels
from lrlm.report.sheet import to_html
from lrlm.report.study import DRAWN, SAMPLING, BestAndWorst, Study, TopicSamples
from lrlm.report.study_tables import mistakes_sheet
from lrlm.text import LinkedDocument

_THRESHOLD = 0.5
"""Mentions that are at least so probable are marked."""
_LONGEST = 1200
"""Characters of an article that are shown beside what was written about its topic."""


def samples_html(study: Study) -> str:
    """Show each topic with its article and what every run writes about it."""
    how = (
        f"Temperature {SAMPLING.temperature:g}, at most {SAMPLING.max_length} tokens; of {DRAWN}"
        " texts the most probable per token."
    )
    names = labels(study.evaluation.runs)
    return f'<p class="note">{how}</p>\n' + "".join(
        _topic(samples, names) for samples in study.samples
    )


def examples_html(examples: BestAndWorst) -> str:
    """Show what a run annotates best and worst, and which explanations are wrong."""
    (name,) = labels([examples.run])
    measure = (
        "the mean probability of the true explanation of a name"
        if examples.run.truth_probabilities
        else "the perplexity of the text, since the true mentions are not known"
    )
    show = partial(_example, truth=examples.run.truth_probabilities)
    return (
        f'<p class="note">Annotated by {html_text(name)}. Measure: {measure}. Names are marked'
        f" from a probability of {_THRESHOLD:g} on; other candidates are underlined.</p>\n"
        + "".join(show(each, "Best", f"best{n}-") for n, each in enumerate(examples.best))
        + "".join(show(each, "Worst", f"worst{n}-") for n, each in enumerate(examples.worst))
    )


def _topic(samples: TopicSamples, names: list[str]) -> str:
    document = samples.document
    types = [
        *(type_ for _, _, type_ in _mentions(document)),
        *(piece.type for text in samples.texts for piece in text.pieces if piece.type is not None),
    ]
    hue_of = hues(types)
    cards = [_card("The article", _length(document), _article(document, hue_of))]
    cards += [
        _card(name, summary(text), generated_pieces(text, hue_of))
        for name, text in zip(names, samples.texts, strict=True)
    ]
    return (
        f"<h3>{html_text(document.title)}</h3>\n{_facts(document)}"
        f'<div class="cards">{"".join(cards)}</div>\n'
    )


def _card(title: str, about: str, text: str) -> str:
    return (
        f'<article><h4>{html_text(title)}</h4><p class="summary">{html_text(about)}</p>'
        f'<p class="text">{text}</p></article>\n'
    )


def _facts(document: LinkedDocument) -> str:
    """List what is known about a topic, folded away."""
    facts = [relation for relation in document.relations if relation.type != TITLE]
    items = "".join(
        f"<li><i>{html_text(fact.label)}</i> {html_text(' · '.join(fact.texts))}</li>"
        for fact in facts
    )
    return (
        f"<details><summary>{counted(len(facts), 'fact')} known about the topic</summary>"
        f'<ul class="facts">{items}</ul></details>\n'
    )


def _length(document: LinkedDocument) -> str:
    cut = "; its beginning" if len(document.text) > _LONGEST else ""
    return f"{counted(len(document.tokens), 'token')}{cut}"


def _mentions(document: LinkedDocument) -> Iterator[tuple[int, int, str]]:
    """Give the true mentions, or else the longest candidates: characters, and their type.

    None of them overlap, and none reaches beyond what is shown of the article.
    """
    spans = (
        [(each.start, each.end, each.type or "?") for each in sorted(document.gold)]
        if document.gold is not None
        else [
            (each.start, each.end, document.relations[each.relation].type)
            for each in sorted(prune(document.mentions, document.relations))
        ]
    )
    reached = 0
    for start, end, type_ in spans:
        first, last = document.tokens.starts[start], document.tokens.ends[end - 1]
        if reached <= first and last <= _LONGEST:
            yield first, last, type_
            reached = last


def _article(document: LinkedDocument, hue_of: Mapping[str, int]) -> str:
    parts, reached = [], 0
    for start, end, type_ in _mentions(document):
        parts.append(html_text(document.text[reached:start]))
        parts.append(
            f'<span class="name" style="--hue:{hue_of[type_]}"'
            f' data-type="{html_text(shown_type(type_))}">'
            f"{html_text(document.text[start:end])}</span>"
        )
        reached = end
    rest = document.text[reached:_LONGEST].rstrip()
    ellipsis = " …" if len(document.text) > _LONGEST else ""
    return "".join(parts) + html_text(rest) + ellipsis


def _example(
    example: AnnotatedExample, verdict: str, name: str, *, truth: Mapping[str, float]
) -> str:
    annotation, document = example.annotation, example.document
    shown = shown_spans(annotation, _THRESHOLD)
    hue_of = hues(relation_type(span) for span in shown)
    about = [
        counted(len(annotation.tokens), "token"),
        f"perplexity {shown_perplexity(annotation.perplexity)}",
    ]
    if document.id in truth:
        about.insert(0, f"mean probability of the truth {percent(truth[document.id])}")
    mistakes = ""
    if example.mistakes:
        mistakes = to_html(mistakes_sheet(example.mistakes, document.title))
    elif document.id in truth:
        about.append("every most probable explanation is true")
    text = annotated_text(annotation, threshold=_THRESHOLD, hue_of=hue_of, name=name)
    return (
        f'<article class="example {verdict.lower()}"><h3><small>{verdict}</small>'
        f' {html_text(document.title)}</h3><p class="summary">{html_text(" · ".join(about))}</p>'
        f'<p class="text">{text.rstrip()}</p></article>\n{mistakes}'
    )
