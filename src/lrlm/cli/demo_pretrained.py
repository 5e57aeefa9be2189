"""The second half of `lrlm demo`: the same corpus with a pretrained language model."""

import shutil
import time
from functools import partial
from pathlib import Path

from rich.markup import escape

from lrlm.cli.console import output, palette, progress_of
from lrlm.cli.training_display import TrainingDisplay
from lrlm.corpora.corpus import Corpus
from lrlm.knowledge import Relation, Topic

RUNS = {
    "pretrained": ("vanilla", ()),
    "pretrained-prompted": ("prompted", ()),
    "pretrained-lrlm": ("lrlm", ("model.facts_in_context=true",)),
}
"""The folders of the runs, each with its model and its settings."""

DOCUMENTS = 100
"""Test articles that are compared; a pretrained language model takes its time to read."""

TOPIC = Topic(
    "Øresund Bridge",
    names=["Øresund Bridge"],
    relations=[
        Relation("crosses", "Øresund", forms=["Øresund", "Øresund strait"]),
        Relation("connects", "Copenhagen"),
        Relation("connects", "Malmö"),
        Relation("opened", "1 July 2000", forms=["1 July 2000", "July 2000", "2000"]),
        Relation("length", "7,845 m", forms=["7,845 m", "7,845 metres"]),
        Relation("architect", "Georg Rotne"),
    ],
)
"""Written by hand, as a user would: miniworld knows no bridges."""

BEGINNING = "The Øresund Bridge is"
"""What the text about it begins with, so that the language model knows what it writes about."""

TEXT = (
    "The Øresund Bridge crosses the Øresund strait between Copenhagen and Malmö. Designed by Georg"
    " Rotne, it was opened on 1 July 2000."
)


def show_pretrained(corpus: Corpus, out: Path, source: str, minutes: float) -> None:
    """Train heads on a language model, and show what it writes, annotates, and how it compares."""
    from lrlm.annotation.terminal import annotation_view
    from lrlm.backbones import Pretrained
    from lrlm.evaluation.side_by_side import evaluate
    from lrlm.generation.views import generated_view
    from lrlm.model import load
    from lrlm.report.evaluation_tables import evaluation_sheets
    from lrlm.report.sheet import to_terminal
    from lrlm.runs.sizes import change
    from lrlm.training.environment import Reporter
    from lrlm.training.train import train

    for name, (model, settings) in RUNS.items():
        run = out / "runs" / name
        shutil.rmtree(run, ignore_errors=True)
        run.parent.mkdir(exist_ok=True)
        start = time.perf_counter()
        with TrainingDisplay() as display:
            train(
                corpus,
                run,
                model=model,
                backbone=Pretrained(source),
                configure=partial(change, settings=settings),
                minutes=minutes,
                features_cache=out / "features",
                progress=display.preparing,
                reporter=Reporter(display.status, display.message),
            )
        output.print(
            f"Made [bold]{escape(str(run))}[/] in {time.perf_counter() - start:.0f} s.",
            highlight=False,
            soft_wrap=True,
        )
    loaded = load(out / "runs" / "pretrained-lrlm")
    output.print(
        "\nA text about a topic that was written by hand; the most probable of six:",
        highlight=False,
        soft_wrap=True,
    )
    texts = loaded.generate(
        TOPIC, samples=6, seed=1, temperature=0.6, max_length=60, max_uses=1, prompt=BEGINNING
    )
    output.print(generated_view(texts[:1], palette=palette()))
    output.print("Which fact did each name come from?", highlight=False)
    output.print(annotation_view(loaded.annotate(TEXT, TOPIC), palette=palette()))
    others = [out / "runs" / name for name in ("vanilla", "nklm", "lrlm")]
    runs = [run for run in others if run.exists()] + [out / "runs" / name for name in RUNS]
    with progress_of("documents") as progress:
        evaluation = evaluate(runs, corpus=corpus, documents=DOCUMENTS, progress=progress)
    for sheet in evaluation_sheets(evaluation):
        output.print()
        output.print(to_terminal(sheet))
