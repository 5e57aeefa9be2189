"""Measure how much text gives what quality: run `python -m benchmarks.little_data DATA --out DIR`.

`DATA` is a folder with `triples.tsv.gz`, `surface_forms.tsv.gz`, `articles.train.jsonl.gz` and
`articles.valid.jsonl.gz`. Cuts of its first training articles are linked, and each backbone is
trained on each of them with the settings that `lrlm train` chooses, for as many minutes as the cut
is given; all are validated with the same articles. What was measured goes to
`DIR/little_data.jsonl`, a line as soon as a run ends, and is not measured again when the command is
given again; `DIR/little_data.svg` is drawn from it.

A backbone is a name (lstm, transformer-xl) or the folder, file or hub id of a pretrained model.
"""

import argparse
import gzip
import itertools
import json
import time
from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure

import lrlm
from lrlm.backbones import BACKBONES, BackboneConfig
from lrlm.runs.sizes import change

CUTS = (30, 100, 300, 1000, 8000)
MINUTES = (1.0, 1.0, 2.0, 3.0, 10.0)
"""How long each cut is trained at most."""
VALIDATED = 100
"""Articles of the validation split."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
"""Of Okabe and Ito: told apart by everybody."""
_NAMES = {"lrlm": "LRLM", "vanilla": "Vanilla LM"}


def cut(source: Path, out: Path, articles: int) -> Path:
    """Take the first articles of a file."""
    with (
        gzip.open(source, "rt", encoding="utf-8") as lines,
        out.open("w", encoding="utf-8") as file,
    ):
        file.writelines(itertools.islice(lines, articles))
    return out


def corpus_of(data: Path, out: Path, articles: int) -> lrlm.Corpus:
    """Link a cut, unless that was done before."""
    folder = out / f"corpus-{articles}"
    if folder.exists():
        return lrlm.Corpus.open(folder)
    return lrlm.build_corpus(
        folder,
        triples=data / "triples.tsv.gz",
        forms=data / "surface_forms.tsv.gz",
        train=cut(data / "articles.train.jsonl.gz", out / f"train-{articles}.jsonl", articles),
        valid=cut(data / "articles.valid.jsonl.gz", out / "valid.jsonl", VALIDATED),
    )


def backbone_of(name: str) -> str | BackboneConfig:
    """Take a name of the table, or else a pretrained language model."""
    return name if name in BACKBONES else lrlm.Pretrained(name)


def measure(
    corpus: lrlm.Corpus,
    out: Path,
    *,
    model: str,
    backbone: str,
    size: str,
    articles: int,
    minutes: float,
    settings: list[str],
) -> dict[str, Any]:
    """Train one model, and say how good it became and what that took."""
    wall, cpu = time.perf_counter(), time.process_time()
    run = lrlm.train(
        corpus,
        out / f"{model}-{Path(backbone).name}-{articles}",
        model=model,
        backbone=backbone_of(backbone),
        size=size,
        configure=lambda config: change(config, settings),
        minutes=minutes,
        features_cache=out / "features",
        resume=True,
    )
    return {
        "articles": articles,
        "model": model,
        "backbone": backbone,
        "size": size,
        "minutes": minutes,
        "settings": settings,
        "perplexity": run.perplexity,
        "epochs": run.position.epoch,
        "updates": run.position.updates,
        "seconds": round(time.perf_counter() - wall, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "threads": torch.get_num_threads(),
        "advice": [str(each) for each in run.advice],
    }


def _name_of(backbone: str) -> str:
    """Call a backbone as tables do, and a pretrained model by its folder or id."""
    if backbone in BACKBONES:
        return BACKBONES[backbone].label
    return f"{Path(backbone).name} (pretrained, frozen)"


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw perplexity over the number of articles: a colour a backbone, dashes for Vanilla LM.

    A frozen language model alone learns nothing, so it is as good for any number of articles.
    """
    figure = Figure(figsize=(7.0, 4.6), layout="constrained")
    axes: Any = figure.subplots()
    backbones = list(dict.fromkeys(row["backbone"] for row in rows))
    lines = dict.fromkeys((row["model"], row["backbone"]) for row in rows)
    for model, backbone in lines:
        own = [row for row in rows if (row["model"], row["backbone"]) == (model, backbone)]
        own.sort(key=lambda row: row["articles"])
        look: dict[str, Any] = {
            "color": COLOURS[backbones.index(backbone) % len(COLOURS)],
            "linestyle": "--" if model == "vanilla" else "-",
            "label": f"{_NAMES.get(model, model)}, {_name_of(backbone)}",
        }
        if not any(row["updates"] for row in own):
            axes.axhline(own[0]["perplexity"], **look)
            continue
        places = [row["articles"] for row in own]
        axes.plot(places, [row["perplexity"] for row in own], marker="o", **look)
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = [cut for cut in CUTS if cut <= max(row["articles"] for row in rows)]
    axes.set_xticks(ticks, [f"{each:,}" for each in ticks])
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("training articles")
    axes.set_ylabel("validation perplexity per word")
    axes.grid(color="#dddddd", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--articles", type=int, nargs="+", default=CUTS)
    parser.add_argument("--minutes", type=float, nargs="+", default=MINUTES, help="of each cut")
    parser.add_argument("--backbones", nargs="+", default=["lstm", "transformer-xl"])
    parser.add_argument("--models", nargs="+", default=["lrlm", "vanilla"])
    parser.add_argument("--size", default="mini")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    measured = options.out / "little_data.jsonl"
    rows = [json.loads(line) for line in measured.open()] if measured.exists() else []
    done = {tuple(row[key] for key in ("articles", "backbone", "model", "size")) for row in rows}
    cuts = list(zip(options.articles, options.minutes, strict=True))
    for (articles, minutes), backbone, model in itertools.product(
        cuts, options.backbones, options.models
    ):
        if (articles, backbone, model, options.size) in done:
            continue
        row = measure(
            corpus_of(options.data, options.out, articles),
            options.out,
            model=model,
            backbone=backbone,
            size=options.size,
            articles=articles,
            minutes=minutes,
            settings=options.set,
        )
        rows.append(row)
        with measured.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        print(
            f"{articles:>6,} {model:<8} {Path(backbone).name:<16} perplexity"
            f" {row['perplexity']:>12,.1f}  {row['updates']:>6,} updates"
            f"  {row['cpu_seconds']:>7} s CPU",
            flush=True,
        )
    draw([row for row in rows if row["size"] == options.size], options.out / "little_data.svg")


if __name__ == "__main__":
    main()
