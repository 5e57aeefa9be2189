"""Write the report of a study: a folder with one page that needs nothing else, and the numbers."""

from collections.abc import Sequence
from pathlib import Path

from lrlm.artifacts import AnyPath, fingerprints_in, new_folder, read_manifest, write_manifest
from lrlm.corpora import Corpus
from lrlm.evaluation.results import Evaluation
from lrlm.plain_data import json_text
from lrlm.progress import Progress, silent
from lrlm.report.plots import require_matplotlib
from lrlm.report.study import make_study
from lrlm.report.study_page import study_page

FORMAT = "lrlm report"
VERSION = 1
PAGE = "index.html"
RESULTS = "results.json"
"""The evaluation and the mentions, for other programs."""


def write_report(
    runs: AnyPath | Sequence[AnyPath],
    out: AnyPath,
    *,
    split: str = "test",
    corpus: Corpus | Path | str | None = None,
    documents: int | None = None,
    evaluation: Evaluation | None = None,
    title: str | None = None,
    topics: int = 3,
    mentions: int = 10,
    seed: int = 0,
    device: str = "auto",
    overwrite: bool = False,
    progress: Progress = silent,
) -> Path:
    """Write a page about one run, or about several side by side, and give the path of it.

    `out` becomes a folder with the page, `index.html`, and its numbers, `results.json`. The page
    is one file that asks for nothing from the network. Runs, split and corpus are those of
    `lrlm.evaluate`; an `evaluation` that was made before is taken as it is. Each run writes texts
    about `topics` topics, to be read side by side, and about `mentions` topics, in which names
    are counted; 0 leaves them out. It needs the extra `plots`.

    >>> page = lrlm.write_report(["runs/vanilla", "runs/lrlm"], "report", corpus="corpus")
    >>> page, "Learning curves" in page.read_text()
    (PosixPath('report/index.html'), True)
    """
    require_matplotlib()
    out = Path(out)
    if overwrite and out.is_dir() and any(out.iterdir()):
        # Only a report is ever replaced by a report.
        read_manifest(out, format=FORMAT, version=VERSION, hint="choose another place")
    with new_folder(out, overwrite=overwrite) as draft:
        study = make_study(
            runs,
            split=split,
            corpus=corpus,
            documents=documents,
            evaluation=evaluation,
            topics=topics,
            mentions=mentions,
            seed=seed,
            device=device,
            progress=progress,
        )
        progress("drawing", 0, 0)
        found = study.evaluation
        content = found.to_dict()
        if study.mentions is not None:
            content["mentions"] = study.mentions.to_dict()
        (draft / PAGE).write_text(study_page(study, title=title), encoding="utf-8")
        (draft / RESULTS).write_text(f"{json_text(content, indent=1)}\n", encoding="utf-8")
        write_manifest(
            draft,
            format=FORMAT,
            version=VERSION,
            corpus=found.corpus,
            split=found.split,
            runs=[run.name for run in found.runs],
            seed=seed,
            files=fingerprints_in(draft),
        )
    return out / PAGE
