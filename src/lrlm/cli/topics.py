"""`lrlm topics`: say what a text is about."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lrlm.cli.console import as_plain_text, errors, output, progress_of
from lrlm.cli.options import (
    Device,
    MaxBad,
    OutputFile,
    TopicCorpus,
    TopicGraph,
    name_rules_given,
)
from lrlm.cli.outputs import STREAM, check_writable, is_stream, tell_bad_lines, write_out
from lrlm.cli.texts import (
    LetterCaseOfNames,
    Longest,
    Places,
    RulesOfNames,
    opened,
    read_text,
    sort_out,
    stream_to,
)
from lrlm.look import counted
from lrlm.text_files import BadLines, raw_lines, stream_lines

if TYPE_CHECKING:
    from lrlm.topics.finding import TopicRanker
    from lrlm.topics.ranking import TopicRanking


class RankingFormat(StrEnum):
    """How a ranking of topics is written."""

    TEXT = "text"
    JSON = "json"


def topics(
    places: Places = None,
    graph: TopicGraph = None,
    corpus: TopicCorpus = None,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="Topics to show.")] = 10,
    format_: Annotated[
        RankingFormat, typer.Option("--format", help="Output format.")
    ] = RankingFormat.TEXT,
    out: OutputFile = None,
    jsonl: Annotated[
        str | None,
        typer.Option(
            metavar="IN.jsonl|-",
            help="Many texts: a file (or standard input) with one JSON object per line,"
            ' {"id": …, "text": …}; one line of JSON is written for each.',
            show_default=False,
        ),
    ] = None,
    max_bad: MaxBad = 0.001,
    longest: Longest = None,
    letter_case: LetterCaseOfNames = None,
    name_rules: RulesOfNames = None,
    device: Device = "auto",
) -> None:
    """Say what a text is about: which topics of a graph or a corpus, and how probably.

    Candidates are topics that are named in the text, or whose facts are. They are ranked by how
    probable the model finds the text about each of them, and by how the text opens.
    """
    run, text_place = sort_out(places or [], has_lines=jsonl is not None, command="topics")
    if out is not None and not is_stream(out):
        check_writable([out])

    from lrlm.corpora import LONGEST
    from lrlm.model import load
    from lrlm.runs.topics import topics_for
    from lrlm.topics.finding import TopicRanker

    most = longest or LONGEST
    text = ""
    if text_place is not None:
        with opened(text_place) as source:
            text = read_text(source, where=text_place, longest=most)
    with progress_of("texts") as progress:
        progress("loading the model", 0, 0)
        model = load(run, device=device)
        finder = TopicRanker(
            model.run,
            topics_for(model.run, graph=graph, corpus=corpus),
            longest=most,
            letter_case=letter_case,
            name_rules=None if name_rules is None else name_rules_given(name_rules),
            progress=progress,
        )
        if jsonl is None:
            progress("comparing topics", 0, 0)
            ranking = finder.rank(text, limit=limit)
    if jsonl is None:
        _write(ranking, format_, out)
    else:
        _rank_lines(finder, jsonl, out, limit, max_bad)


def _write(ranking: "TopicRanking", format_: RankingFormat, out: Path | None) -> None:
    from lrlm.topics.terminal import ranking_view

    if format_ is RankingFormat.JSON:
        write_out(ranking.to_json() + "\n", out)
    elif is_stream(out):
        output.print(ranking_view(ranking))
    else:
        write_out(as_plain_text(ranking_view(ranking)), out)


def _rank_lines(
    finder: "TopicRanker", source: str, out: Path | None, limit: int, max_bad: float
) -> None:
    from lrlm.annotation.jsonl import rank_lines

    where = Path("standard input" if source == STREAM else source)
    lines = stream_lines(sys.stdin.buffer, where) if source == STREAM else raw_lines(where)
    bad_lines = BadLines(max_share=max_bad)
    done = 0
    with stream_to(out) as stream, progress_of("texts") as progress:
        ranked = rank_lines(lines, finder, bad_lines, where=where, limit=limit)
        for done, line in enumerate(ranked, start=1):
            stream.write(f"{line}\n".encode())
            progress("comparing topics", done, 0)
    errors.print(f"Found the topics of {counted(done, 'text')}.", highlight=False)
    tell_bad_lines(bad_lines.examples, bad_lines.count)
