"""Do what the golden tests record: train, score, annotate, write and evaluate, as users do.

Everything goes through the command line and `lrlm.load`, so that it means the same however the
package is built inside. Each function gives plain values; `folder` is one to work in.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lrlm
from lrlm.cli import main
from tests.golden import towns

KINDS = ("vanilla", "alias", "nklm", "lrlm")
BACKBONES = ("lstm", "transformer-xl")

OLD = Path(__file__).parent / "version_0_1"
"""A run, the corpus it was trained on, and a graph, as version 0.1 wrote them."""

SETTINGS = (
    "vocabulary.min_count=2",
    "features.relations.width=6",
    "features.relations.epochs=3",
    "features.forms.width=8",
    "features.forms.buckets=64",
    "features.spelling.hidden_size=8",
    "features.spelling.embedding_size=4",
    "features.spelling.epochs=2",
    "model.words.embedding_size=6",
    "model.words.projection_size=6",
    "model.relations.type_size=6",
    "model.relations.object_size=6",
    "model.relations.hidden_size=8",
    "model.relations.unseen_rate=0.1",
    "model.backbone.dropout=0.2",
    "training.learning_rate=0.03",
    "training.batch_size=10",
    "training.window=27",
    "training.validation_batch_size=3",
    "training.log_updates=1",
)
OF_BACKBONE = {
    "lstm": ("model.backbone.hidden_size=10", "training.schedule=plateau"),
    "transformer-xl": (
        "model.backbone.layers=2",
        "model.backbone.heads=2",
        "model.backbone.head_size=4",
        "model.backbone.model_size=8",
        "model.backbone.feed_forward_size=12",
        "model.backbone.memory=20",
        "model.backbone.evaluation_memory=25",
        "model.backbone.attention_dropout=0.1",
        "training.schedule=cosine",
    ),
}
EPOCHS = 4
"""Of five updates each."""

SHIPPED_TEXT = (
    "Norway is a country in Europe. Its capital is Oslo, once Christiania, and it borders Sweden."
    " Zyxt lived in Oslo."
)


def run(*arguments: object) -> None:
    """Run a command that must work."""
    given = [str(each) for each in arguments]
    assert main(given) == 0, f"lrlm {' '.join(given)}"


def written_json(path: Path, *arguments: object, flag: str = "--out") -> Any:
    """Run a command that writes JSON to a file, and read it."""
    run(*arguments, flag, path)
    return json.loads(path.read_text(encoding="utf-8"))


def build_corpus(folder: Path) -> Path:
    """Build the corpus of towns."""
    inputs = towns.write(folder / "inputs")
    run("corpus", "build", "--out", folder / "corpus", "--workers", 1, *inputs)
    return folder / "corpus"


def train(folder: Path, kind: str, backbone: str, *, name: str = "", epochs: int = EPOCHS) -> Path:
    """Train a tiny model on the corpus in the folder, or go on with one that is there."""
    out = folder / (name or f"{kind}-{backbone}")
    chosen = (*SETTINGS, *OF_BACKBONE[backbone], f"training.epochs={epochs}")
    settings = [part for setting in chosen for part in ("--set", setting)]
    features = ("--features-cache", folder / "features")
    which = ("--model", kind, "--backbone", backbone)
    run("train", folder / "corpus", "--out", out, *which, *settings, *features, "--resume")
    return out


def losses(folder: Path) -> list[dict[str, Any]]:
    """Read what training and validation said, without what hangs on the clock."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    clock = ("seconds", "tokens_per_second")
    return [{name: value for name, value in line.items() if name not in clock} for line in lines]


def of_model(folder: Path, kind: str, backbone: str) -> dict[str, Any]:
    """Train a model; score texts, annotate and write some with it, and evaluate it."""
    trained = train(folder, kind, backbone)
    found: dict[str, Any] = {
        "losses": losses(trained),
        "scores": scores(trained),
        "generated": generated(folder, trained, has_relations=kind in ("nklm", "lrlm")),
        "evaluation": evaluated(folder, [trained]),
    }
    if kind == "lrlm":
        found["annotations"] = annotated(folder, trained)
    return found


def scores(run_folder: Path) -> list[dict[str, Any]]:
    """Score the texts in Python."""
    model = lrlm.load(run_folder)
    found = []
    for text, about in towns.TEXTS:
        score = model.score(text, topic(about))
        found.append(
            {
                "nats": score.nats,
                "end_nats": score.end_nats,
                "tokens": score.tokens,
                "perplexity": score.perplexity,
                "is_joint": score.is_joint,
                "pieces": [[piece.start, piece.end, piece.nats] for piece in score.pieces],
            }
        )
    return found


def topic(content: dict[str, Any]) -> lrlm.Topic:
    """Make a topic by hand."""
    relations = [
        lrlm.Relation(each["type"], each["object"], each["forms"]) for each in content["relations"]
    ]
    return lrlm.Topic(content["id"], content["names"], relations)


def annotated(folder: Path, run_folder: Path) -> list[Any]:
    """Annotate the texts on the command line, as JSON."""
    found = []
    for text, about in towns.TEXTS:
        (folder / "text.txt").write_text(text, encoding="utf-8")
        (folder / "topic.json").write_text(json.dumps(about), encoding="utf-8")
        asked = (folder / "text.txt", "--topic", folder / "topic.json", "--format", "json")
        answer = written_json(folder / "annotation.json", "annotate", run_folder, *asked)
        found.append(short_annotation(answer))
    return found


def short_annotation(answer: dict[str, Any]) -> dict[str, Any]:
    """Give an annotation with its spans and segments as rows, which take less room."""
    spans = [
        [
            *(span[name] for name in ("start", "end", "text")),
            *(
                [explanation["kind"], explanation["probability"], _segments(explanation["steps"])]
                for explanation in span["explanations"]
            ),
        ]
        for span in answer["spans"]
    ]
    return {**answer, "spans": spans, "best": _segments(answer["best"])}


def _segments(segments: list[dict[str, Any]]) -> list[list[Any]]:
    """Give start, end and text of each and, where it was copied, the type, object and form."""
    place, fact = ("start", "end", "text"), ("type", "object", "form")
    return [
        [each[name] for name in (*place, *(fact if "type" in each else ()))] for each in segments
    ]


def generated(folder: Path, run_folder: Path, *, has_relations: bool) -> dict[str, Any]:
    """Write texts in several ways with a seed, as JSON."""
    ways: dict[str, Sequence[object]] = {
        "as the model is": (),
        "greedy": ("--greedy", "--prompt", "It was founded in"),
        "cooled": ("--temperature", 0.7, "--top-k", 12, "--top-p", 0.9, "--only-known-names"),
    }
    if has_relations:
        ways["with wishes"] = ("--must-use", "river", "--must-use", "mayor", "--max-uses", 1)
    (folder / "topic.json").write_text(json.dumps(towns.TEXTS[1][1]), encoding="utf-8")
    asked = ("--topic", folder / "topic.json", "-n", 2, "--seed", 3, "--max-length", 16)
    found = {}
    for way, more in ways.items():
        arguments = ("generate", run_folder, *asked, *more, "--format", "json")
        found[way] = short_texts(written_json(folder / "generated.json", *arguments))
    return found


def short_texts(answer: dict[str, Any]) -> dict[str, Any]:
    """Give generated texts with their pieces as rows, which take less room."""
    always = ("start", "end", "text", "source", "log_prob")
    copied = ("type", "object", "form", "is_partial")
    for sample in answer["samples"]:
        del sample["tokens"]  # of the text, which is there
        del sample["perplexity"]  # of the log-probability, but small differences become large
        sample["pieces"] = [
            [piece[name] for name in (*always, *(copied if "type" in piece else ()))]
            for piece in sample["pieces"]
        ]
    return answer


def evaluated(folder: Path, runs: Sequence[Path], *more: object) -> dict[str, Any]:
    """Evaluate runs; of each document only what tells it from the others is kept."""
    asked = ("evaluate", *runs, "--gold", *more)
    found: dict[str, Any] = written_json(folder / "evaluation.json", *asked, flag="--json")
    for each in found["runs"]:
        if each["gold"] is not None:
            each["gold"]["by_threshold"] = each["gold"]["by_threshold"][::6]
        each["documents"] = [
            [document["id"], document["relations"], document["tokens"], document["nats"]["open"]]
            for document in each["documents"]
        ]
    return found


def compared(folder: Path) -> dict[str, Any]:
    """Evaluate several runs side by side, with their ends, and count what they mention."""
    runs = [train(folder, kind, "lstm") for kind in ("vanilla", "nklm", "lrlm")]
    mentions = ("--mentions", 2, "--samples", 2)
    found = evaluated(folder, runs, "--count-end", *mentions)
    for each in found["runs"]:
        del each["documents"], each["annotation"], each["gold"]  # as they are for each alone
    return found


def of_shipped_model(folder: Path) -> dict[str, Any]:
    """Score, annotate and write with the model that comes with the package."""
    (folder / "norway.txt").write_text(SHIPPED_TEXT, encoding="utf-8")
    asked = ("--topic", "Norway", "--format", "json")
    ending = ("-n", 2, "--seed", 3, "--max-length", 25)
    model = lrlm.load()
    norway = lrlm.Topic(
        "Norway",
        names=["Norway"],
        relations=[
            lrlm.Relation("capital", "Oslo", forms=["Oslo", "Christiania"]),
            lrlm.Relation("borders", "Sweden"),
        ],
    )
    score = model.score(SHIPPED_TEXT, norway)
    texts = model.generate(norway, samples=2, seed=3, max_length=25, must_use=["capital"])
    return {
        "score": [score.nats, score.end_nats, score.tokens],
        "annotation": short_annotation(
            written_json(folder / "norway.json", "annotate", folder / "norway.txt", *asked)
        ),
        "generated": short_texts(written_json(folder / "texts.json", "generate", *asked, *ending)),
        "generated in Python": [[text.text, text.marginal_log_prob] for text in texts],
    }


def of_old_run(folder: Path) -> dict[str, Any]:
    """Use the run of version 0.1: score, annotate, write and evaluate."""
    trained = OLD / "run"
    return {
        "scores": scores(trained),
        "annotations": annotated(folder, trained),
        "generated": generated(folder, trained, has_relations=True),
        "evaluation": evaluated(folder, [trained]),
    }


def of_old_run_resumed(folder: Path) -> list[dict[str, Any]]:
    """Train the run of version 0.1 for one epoch more."""
    shutil.copytree(OLD / "run", folder / "run")
    epochs = ("--set", "training.epochs=4")
    run("train", OLD / "corpus", "--out", folder / "run", *epochs, "--resume")
    return losses(folder / "run")


def of_old_graph() -> dict[str, Any]:
    """Look topics up in the graph of version 0.1, by id and by name."""
    with lrlm.KnowledgeGraph.open(OLD / "graph") as graph:
        found = [graph.topic(each) for each in ("Aldermoor", "Juniper_Cross")]
        return {
            "topics": [
                [each.id, *each.names, *([r.type, r.object, *r.forms] for r in each.relations)]
                for each in found
            ],
            "searches": {
                asked: [[match.entity.id, match.name] for match in graph.search(asked)]
                for asked in ("aldermor", "Fenn", "birchwick (town)")
            },
            "entities": list(graph),
        }
