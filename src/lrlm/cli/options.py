"""Options that several commands have, so that they mean and say the same everywhere."""

import os
from pathlib import Path
from typing import Annotated

import typer

Device = Annotated[
    str,
    typer.Option(
        help="Device to compute on: cpu, cuda, cuda:1, …; auto uses a GPU if there is one."
    ),
]
MaxBad = Annotated[
    float,
    typer.Option(
        min=0, max=0.999, help="Largest share of malformed lines or records; they are skipped."
    ),
]
MaxUnknown = Annotated[
    float,
    typer.Option(
        min=0,
        max=1,
        help="Largest share of facts without a name for their object, or of articles without"
        " facts about their topic; fewer are a warning.",
    ),
]
Workers = Annotated[int, typer.Option(min=1, help="Number of processes.", show_default="all cores")]
NameRules = Annotated[
    str,
    typer.Option(
        metavar="RULES",
        help="What else may differ between names and texts, with commas between: characters,"
        " punctuation, accents, plurals, compounds, nouns, marks, qualifiers, lists, dates,"
        " numbers, countries; usual (the first two and compounds), everyday (all but compounds)"
        " or none.",
    ),
]
TopicGraph = Annotated[
    Path | None, typer.Option(metavar="KG", help="Knowledge graph in which topics are looked up.")
]
TopicEndpoint = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="SPARQL endpoint in which topics are looked up: its address, or 'wikidata'.",
    ),
]
TopicCorpus = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Corpus in which topics are looked up.",
        show_default="the training corpus, if it is here or beside the run",
    ),
]
CopyOdds = Annotated[
    float | None,
    typer.Option(
        metavar="NATS",
        help="Explain names as if copying them were more probable by so much.",
        show_default="what was fitted for the run, else 0",
    ),
]
CopyOddsOfNames = Annotated[
    str | None,
    typer.Option(
        metavar="NATS",
        help="Explain names as if copying them were more probable by so much; 'names': as names"
        " are claimed, by what stands around them as well.",
        show_default="what was fitted for the run, else 0",
    ),
]
Backward = Annotated[
    Path | None,
    typer.Option(
        metavar="RUN",
        help="A second run, trained with --direction backward: annotations come from both readings"
        " together.",
        show_default=False,
    ),
]
BackwardWeight = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="How much the backward run counts.",
        show_default="as 'lrlm pair' has fitted it, else 1",
    ),
]
OutputFile = Annotated[
    Path | None, typer.Option(metavar="F", help="Output file.", show_default="standard output")
]


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def copy_odds_given(odds: str | None) -> float | str | None:
    """Take the value of --copy-odds: a number, or a name of odds."""
    try:
        return None if odds is None else float(odds)
    except ValueError:
        return odds


def name_rules_given(rules: str) -> tuple[str, ...]:
    """Take the value of --name-rules apart."""
    from lrlm.corpora import EVERYDAY_RULES, USUAL_RULES

    groups = {"usual": sorted(USUAL_RULES), "everyday": sorted(EVERYDAY_RULES)}
    named = [part.strip() for part in rules.split(",") if part.strip()]
    if named == ["none"]:
        return ()
    return tuple(rule for part in named for rule in groups.get(part, [part]))
