"""The report of a study as one page: tables, figures, and texts with their sources marked.

Whatever users gave (names of runs, relations, texts) stays text. A section without data says so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lrlm.annotation.html import SCRIPT as ANNOTATION_SCRIPT
from lrlm.annotation.html import STYLE as ANNOTATION_STYLE
from lrlm.evaluation.document_scores import Spelling
from lrlm.evaluation.results import RunResult
from lrlm.generation.views import STYLE as GENERATION_STYLE
from lrlm.look import counted, html_text, page, percent
from lrlm.report.evaluation_tables import (
    annotation_sheet,
    bins_sheet,
    gold_sheets,
    labels,
    marks_explained,
    mention_sheet,
    perplexity_sheet,
    reliability_sheet,
)
from lrlm.report.page_figures import page_figure, run_colour, run_colours_style, run_key
from lrlm.report.plots import loss_lines, relation_lines, reliability_lines, validation_lines
from lrlm.report.run_looks import RunLook, run_looks
from lrlm.report.sheet import to_html
from lrlm.report.study import Study
from lrlm.report.study_style import SCRIPT, STYLE
from lrlm.report.study_tables import runs_sheet, training_sheet, validation_sheet
from lrlm.report.study_texts import examples_html, samples_html

_FEW_RUNS = 3
"""Runs whose columns fit beside a figure."""


@dataclass(frozen=True)
class _Section:
    """A part of the page; without a body, `nothing` says why in one line."""

    id: str
    title: str
    lead: str
    body: str | None
    nothing: str = ""


def study_page(study: Study, *, title: str | None = None) -> str:
    """Write the whole page; without a title, it is named after its runs."""
    names = labels(study.evaluation.runs)
    if title is None:
        title = names[0] if len(names) == 1 else f"{len(names)} language models compared"
    looks = run_looks(study.evaluation.runs)
    sections = list(_sections(study, looks))
    links = "".join(f'<li><a href="#{each.id}">{each.title}</a></li>' for each in sections)
    body = (
        f'<p class="summary">{html_text(_about(study))}</p>\n'
        f"{_findings(study)}"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n'
        + "".join(map(_section, sections))
        + '<p class="end">Made with lrlm. All numbers are also in results.json, beside this'
        " page.</p>\n"
    )
    style = STYLE + run_colours_style(looks) + ANNOTATION_STYLE + GENERATION_STYLE
    return page(html_text(title), body, style=style, script=ANNOTATION_SCRIPT + SCRIPT)


def _sections(study: Study, looks: Sequence[RunLook]) -> Iterator[_Section]:
    evaluation = study.evaluation
    yield _Section(
        "corpus",
        "The corpus",
        "How long the articles are, how many facts are known of their topics, and how often a name"
        " in them may come from one of these facts.",
        to_html(study.corpus) if study.corpus.rows else None,
        "The corpus has no documents.",
    )
    yield _Section(
        "runs",
        "The models",
        "What was trained, and what it has learned with.",
        to_html(runs_sheet(study)),
    )
    yield _Section(
        "perplexity",
        "Perplexity",
        "How surprised a model is by a word of a text that it has not seen: lower is better.",
        to_html(perplexity_sheet(evaluation)),
    )
    yield _Section(
        "learning",
        "Learning curves",
        "How the loss on the training texts and the perplexity of the validation texts fell.",
        _learning(study, looks),
        "No run has kept the metrics of its training; a packed run has none.",
    )
    yield _Section(
        "relations",
        "By number of relations",
        "The mean log-probability of a word, for articles whose topics have few or many facts:"
        " higher is better.",
        _relations(study, looks),
        "There are no documents to compare.",
    )
    yield _Section(
        "calibration",
        "Annotation and calibration",
        "How often the most probable explanation of a name is the true one. A model is well"
        " calibrated if, of the explanations that it gives a probability of 80 %, 80 % are true.",
        _calibration(study, looks),
        "No run can be judged: that takes a model which sums over segmentations, such as LRLM, and"
        " documents whose true mentions are known.",
    )
    yield _Section(
        "mentions",
        "Mentions in generated texts",
        "What models name in the texts that they write, beside what articles about the same topics"
        " name.",
        None if study.mentions is None else to_html(mention_sheet(study.mentions)),
        "No mentions were counted: no run copies names, or it was not asked for.",
    )
    yield _Section(
        "samples",
        "Samples side by side",
        "What each model writes about the same topics. Copied names are marked with the relation"
        " that they came through; those copied only in part have a dashed line below. Words that"
        " were spelled letter by letter are in italics.",
        samples_html(study) if study.samples else None,
        "No texts were written: it was not asked for.",
    )
    yield _Section(
        "examples",
        "Annotated examples",
        "The texts that the best annotating model explains best, and those that it explains worst."
        " Point at a name, or go to it with the Tab key, to see all its explanations.",
        None if study.examples is None else examples_html(study.examples),
        "No run annotates: that takes a model which sums over segmentations, such as LRLM.",
    )


def _section(section: _Section) -> str:
    body = section.body
    if body is None:
        body = f'<p class="nothing">{section.nothing}</p>\n'
    return (
        f'<section id="{section.id}" aria-labelledby="{section.id}-title">\n'
        f'<h2 id="{section.id}-title">{section.title}</h2>\n'
        f'<p class="lead">{section.lead}</p>\n{body}</section>\n'
    )


def _about(study: Study) -> str:
    evaluation = study.evaluation
    documents = counted(len(evaluation.runs[0].scores), "document")
    words = counted(sum(score.words for score in evaluation.runs[0].scores), "word")
    return (
        f"{evaluation.corpus}, {evaluation.split} · {documents} · {words} ·"
        f" {counted(len(evaluation.runs), 'run')}"
    )


def _findings(study: Study) -> str:
    """Say what came out, before all details."""
    evaluation = study.evaluation
    perplexities = [evaluation.perplexities(run)["perplexity"] for run in evaluation.runs]
    known = [value for value in perplexities if value is not None]
    if not known:
        return ""
    number = perplexities.index(min(known))
    best, names = evaluation.runs[number], labels(evaluation.runs)
    tiles = [(f"{min(known):,.2f}", "lowest perplexity", names[number])]
    tiles += [each for each in (_advantage(study, best), _contested(study, names)) if each]
    notes = "".join(f"<li>{html_text(note)}</li>" for note in marks_explained([best]))
    return (
        '<dl class="tiles">'
        + "".join(
            f"<div><dt>{html_text(what)}</dt><dd><b>{html_text(value)}</b>"
            f"<small>{html_text(whose)}</small></dd></div>"
            for value, what, whose in tiles
        )
        + "</dl>\n"
        + (f'<ul class="notes">{notes}</ul>\n' if notes else "")
    )


def _advantage(study: Study, best: RunResult) -> tuple[str, str, str] | None:
    """Say how much better the best run is than the better baseline on its backbone."""
    evaluation = study.evaluation
    found = best.significance.get(Spelling.OPEN)
    if found is None:
        return None
    (baseline,) = (run for run in evaluation.runs if run.name == found.baseline)
    own, other = (evaluation.perplexities(run)["perplexity"] for run in (best, baseline))
    if own is None or other is None or own >= other:
        return None
    p = "p < 0.0001" if found.p < 0.0001 else f"p = {found.p:.4f}"
    name = labels(evaluation.runs)[evaluation.runs.index(baseline)]
    return f"−{100 * (1 - own / other):.1f} %", f"perplexity against {name}", p


def _contested(study: Study, names: Sequence[str]) -> tuple[str, str, str] | None:
    """Say how often the best annotating run finds the source of a contested name."""
    judged = [
        (run.annotation.contested.accuracy, name)
        for run, name in zip(study.evaluation.runs, names, strict=True)
        if run.annotation is not None and run.annotation.contested.accuracy is not None
    ]
    if not judged:
        return None
    accuracy, name = max(judged)
    return percent(accuracy), "of contested names explained rightly", name


def _learning(study: Study, looks: Sequence[RunLook]) -> str | None:
    curves = [summary.curve for summary in study.summaries]
    if not any(curves):
        return None
    colours = [run_colour(number) for number in range(len(looks))]
    loss = page_figure(
        loss_lines(curves, looks, colours),
        name="loss",
        title="The loss of training over time, a line for each run; the numbers are below.",
    )
    validation = page_figure(
        validation_lines(curves, looks, colours),
        name="validation",
        title="The perplexity of validation over time, a line for each run; the numbers are below.",
    )
    return (
        _legend(study, looks)
        + f'<div class="figures"><figure>{loss}</figure><figure>{validation}</figure></div>\n'
        + to_html(training_sheet(study))
        + _more("Every validation", to_html(validation_sheet(study)))
    )


def _relations(study: Study, looks: Sequence[RunLook]) -> str | None:
    evaluation = study.evaluation
    if not evaluation.bins:
        return None
    drawn = page_figure(
        relation_lines(
            evaluation.bins,
            [evaluation.log_probs(run) for run in evaluation.runs],
            looks,
            [run_colour(number) for number in range(len(looks))],
        ),
        name="relations",
        title="Mean log-probability of a word by number of relations, a line for each run; the"
        " numbers are below.",
    )
    table = to_html(bins_sheet(evaluation))
    beside, below = (table, "") if len(looks) <= _FEW_RUNS else ("", table)
    return (
        _legend(study, looks)
        + f'<div class="figures"><figure>{drawn}</figure><div>{beside}</div></div>\n{below}'
    )


def _calibration(study: Study, looks: Sequence[RunLook]) -> str | None:
    evaluation = study.evaluation
    judged = [
        (number, run, run.annotation)
        for number, run in enumerate(evaluation.runs)
        if run.annotation is not None
    ]
    gold = "".join(map(to_html, gold_sheets(evaluation)))
    if not judged:
        return gold or None
    drawn = page_figure(
        reliability_lines(
            [quality.reliability for _, _, quality in judged],
            [looks[number] for number, _, _ in judged],
            [run_colour(number) for number, _, _ in judged],
        ),
        name="reliability",
        title="Share of true explanations by their probability, a line for each run, beside the"
        " diagonal of perfect calibration; the numbers are below.",
    )
    tables = "".join(to_html(reliability_sheet(run, evaluation)) for _, run, _ in judged)
    return (
        to_html(annotation_sheet([run for _, run, _ in judged], evaluation))
        + _legend(study, looks, only=[number for number, _, _ in judged])
        + f'<div class="figures"><figure>{drawn}<figcaption>On the thin line, confidence is'
        " exactly how often a model is right. Larger marks stand for more"
        f" names.</figcaption></figure><div>{tables}</div></div>\n" + gold
    )


def _legend(study: Study, looks: Sequence[RunLook], *, only: Sequence[int] | None = None) -> str:
    names = labels(study.evaluation.runs)
    shown = range(len(looks)) if only is None else only
    return (
        '<ul class="legend" aria-label="Lines of the figure">'
        + "".join(
            f"<li>{run_key(number, looks[number])}{html_text(names[number])}</li>"
            for number in shown
        )
        + "</ul>\n"
    )


def _more(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>\n{body}</details>\n"
