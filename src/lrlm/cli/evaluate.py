"""`lrlm evaluate`: compare trained models on a corpus."""

from pathlib import Path
from typing import Annotated

import typer

from lrlm.cli.console import output, progress_of
from lrlm.cli.options import Backward, BackwardWeight, CopyOdds, Device
from lrlm.cli.outputs import check_writable, tell_written
from lrlm.errors import InputError
from lrlm.plain_data import json_text
from lrlm.whole_files import replace_file


def evaluate(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Run folders, made with 'lrlm train'.")
    ],
    split: Annotated[str, typer.Option(help="Split of the corpus to evaluate on.")] = "test",
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Corpus to evaluate on.",
            show_default="the training corpus, if it is here or beside the run",
        ),
    ] = None,
    documents: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Evaluate on the first N documents of the split only.",
            show_default="all of them",
        ),
    ] = None,
    gold: Annotated[
        bool,
        typer.Option(
            "--gold",
            help="Also compare the models' annotations, and string matching, with the corpus's"
            " gold mentions.",
        ),
    ] = False,
    copy_odds: CopyOdds = None,
    fit_copy_odds: Annotated[
        bool,
        typer.Option(
            "--fit-copy-odds",
            help="Choose the odds of copying that agree best with the gold mentions, and keep them"
            " in the runs.",
        ),
    ] = False,
    unknown_words: Annotated[
        Path | None,
        typer.Option(
            metavar="F",
            help="Tab-separated file of unknown words with log-probabilities, used instead of"
            " the run's spelling model.",
        ),
    ] = None,
    mentions: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Also generate texts about N topics with NKLM and LRLM, and count the mentions"
            " in them.",
            show_default=False,
        ),
    ] = None,
    samples: Annotated[int, typer.Option(help="Number of texts per topic for --mentions.")] = 10,
    fit_repetitions: Annotated[
        bool,
        typer.Option(
            "--fit-repetitions",
            help="With --mentions: choose what a repeated name costs generated texts so that they"
            " repeat as much as the articles do, and keep it in the runs.",
        ),
    ] = False,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="F", help="Write all results to this file as JSON."),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="F", help="Write the tables to this file in Markdown.")
    ] = None,
    latex: Annotated[
        Path | None, typer.Option(metavar="F", help="Write the tables to this file in LaTeX.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="F",
            help="Plot log-probability by number of relations to this file (.png, .svg, .pdf).",
        ),
    ] = None,
    count_end: Annotated[
        bool, typer.Option("--count-end", help="Count the end of each document (</s>) as a token.")
    ] = False,
    backward: Backward = None,
    backward_weight: BackwardWeight = None,
    device: Device = "auto",
) -> None:
    """Compare trained models: perplexity, significance, and quality of their annotations.

    Perplexity is per word of the corpus, so runs with different vocabularies or tokens stand in one
    table. A run whose training corpus was linked in another way reads the texts linked anew. With
    --backward, annotations are those of each run together with the backward one.
    """
    from lrlm.evaluation.mentions import mention_statistics
    from lrlm.evaluation.side_by_side import evaluate as run_evaluation
    from lrlm.report.evaluation_tables import evaluation_sheets, mention_sheet
    from lrlm.report.plots import check_plot, draw_relation_plot
    from lrlm.report.sheet import to_latex, to_markdown, to_terminal

    if copy_odds is not None and fit_copy_odds:
        raise InputError("--copy-odds and --fit-copy-odds exclude each other: leave one out")
    if fit_repetitions and mentions is None:
        raise InputError(
            "--fit-repetitions counts names in generated texts: also give --mentions N, the number"
            " of topics to write about"
        )
    if plot is not None:
        check_plot(plot)
    files = [path for path in (json_file, markdown, latex, plot) if path is not None]
    check_writable(files)
    with progress_of("documents") as progress:
        named = (
            None
            if mentions is None
            else mention_statistics(
                runs,
                topics=mentions,
                samples=samples,
                split=split,
                corpus=corpus,
                fit_repetitions=fit_repetitions,
                device=device,
                progress=progress,
            )
        )
        evaluation = run_evaluation(
            runs,
            split=split,
            corpus=corpus,
            backward=backward,
            backward_weight=backward_weight,
            documents=documents,
            count_end=count_end,
            gold=gold,
            copy_odds=copy_odds,
            fit_copy_odds=fit_copy_odds,
            published_words=unknown_words,
            device=device,
            progress=progress,
        )
    tables = evaluation_sheets(evaluation)
    if named is not None:
        tables = [*tables, mention_sheet(named)]
    if json_file is not None:
        content = evaluation.to_dict()
        if named is not None:
            content["mentions"] = named.to_dict()
        text = json_text(content, indent=1)
        replace_file(json_file, f"{text}\n".encode())
    if markdown is not None:
        replace_file(markdown, "\n".join(map(to_markdown, tables)).encode())
    if latex is not None:
        replace_file(latex, "\n".join(map(to_latex, tables)).encode())
    if plot is not None:
        replace_file(plot, draw_relation_plot(evaluation, plot.suffix.lower()))
    # After the files, for a reader such as `head` may stop reading.
    for number, sheet in enumerate(tables):
        if number:
            output.print()
        output.print(to_terminal(sheet))
    for path in files:
        tell_written(path)
