"""Damage the files that lrlm writes, one at a time, and see whether it is told before use."""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lrlm.annotation.folders import FORMAT, VERSION, FolderSettings, annotate_folder
from lrlm.artifacts import read_manifest, rewrite_manifests, verify
from lrlm.corpora import Corpus
from lrlm.errors import LrlmError
from lrlm.features import Features
from lrlm.knowledge import KnowledgeGraph
from lrlm.runs.packing import pack
from lrlm.runs.run import CHECKPOINTS, FEATURES, METRICS, Run
from lrlm.training.checkpoint import Checkpoints

OF_VERSION_0_1 = Path(__file__).parent / "golden" / "version_0_1"


@dataclass(frozen=True)
class Kind:
    """A kind of folder, and how all that lrlm reads of it is used."""

    name: str
    title: str
    use: Callable[[Path], None]
    """Raises an error where something is damaged."""
    for_others: str = "/"
    """The ending of files that are there for other programs: only `lrlm verify` reads them."""


def use_run(folder: Path) -> None:
    Run.open(folder)


def use_corpus(folder: Path) -> None:
    corpus = Corpus.open(folder)
    for split in corpus.splits:
        list(corpus.documents(split))
    _ = corpus.words


def use_graph(folder: Path) -> None:
    with KnowledgeGraph.open(folder) as graph:
        list(graph.topics())


def use_features(folder: Path) -> None:
    Features.open(folder)


def use_checkpoints(folder: Path) -> None:
    told: list[str] = []
    Checkpoints(folder).read(told.append)
    if told:
        raise LrlmError(told[0])


def use_annotations(folder: Path) -> None:
    read_manifest(folder, format=FORMAT, version=VERSION, hint="choose another place")


KINDS = (
    Kind("run", "a run", use_run),
    Kind("corpus", "a corpus", use_corpus),
    Kind("graph", "a graph", use_graph, for_others=".parquet"),
    Kind("features", "features", use_features),
    Kind("checkpoints", "checkpoints", use_checkpoints),
)
MADE = (
    Kind("packed", "a packed run", use_run),
    Kind("annotations", "annotations", use_annotations, for_others=".jsonl"),
)
"""What is made from the others; version 0.1 wrote none of it that is kept."""


def folders(home: Path, *, with_checksums: bool = True) -> dict[str, Path]:
    """Make one folder of each kind, as they are written now, or as version 0.1 wrote them."""
    for name in ("run", "corpus", "graph"):
        shutil.copytree(OF_VERSION_0_1 / name, home / name)
    (home / "run" / CHECKPOINTS).rename(home / CHECKPOINTS)
    (home / "run" / METRICS).unlink(missing_ok=True)  # nothing reads it
    shutil.copytree(home / "run" / FEATURES, home / "features")
    if with_checksums:
        rewrite_manifests(home)
    return {kind.name: home / kind.name for kind in KINDS}


def made_folders(home: Path) -> dict[str, Path]:
    """Pack the run among the folders in `home`, and annotate texts with the result."""
    pack(home / "run", home / "packed")
    (home / "texts").mkdir()
    for name in ("a", "b"):
        topic = {"id": "Q1", "names": ["Oslo"], "relations": [{"type": "in", "object": "Norway"}]}
        line = json.dumps({"id": name, "text": "Oslo lies in Norway.", "topic": topic})
        (home / "texts" / f"{name}.jsonl").write_text(f"{line}\n" * 3)
    annotate_folder(
        home / "texts", home / "annotations", FolderSettings(home / "packed", device="cpu")
    )
    return {kind.name: home / kind.name for kind in MADE}


def flips_and_cuts(
    folder: Path, count: int, chance: random.Random
) -> Iterator[tuple[Path, str, bytes]]:
    """Give files of a folder with other content, and what is other about it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for number in range(count):
        path = files[number % len(files)]
        content = bytearray(path.read_bytes())
        place = chance.randrange(len(content))
        if chance.random() < 0.25:
            del content[place:]
            yield path, f"cut at byte {place}", bytes(content)
        else:
            bits = chance.choice([1 << chance.randrange(8), chance.randrange(1, 256)])
            content[place] ^= bits
            yield path, f"byte {place} changed by {bits:#04x}", bytes(content)


def untold(home: Path, kind: Kind, original: Path, count: int, chance: random.Random) -> list[str]:
    """Damage files of a folder so many times; give what was used without a word.

    Checkpoints that are damaged are removed when one is told, so they are put back each time.
    """
    silent: list[str] = []
    copy = home / f"{kind.name}-damaged"
    for path, what, content in flips_and_cuts(original, count, chance):
        shutil.copytree(original, copy)
        name = path.relative_to(original)
        (copy / name).write_bytes(content)
        verdicts = [_is_named_by_verify(copy, name)]
        if not name.name.endswith(kind.for_others):
            verdicts.append(_is_told(kind, copy))
        if not all(verdicts):
            silent.append(f"{kind.name}/{name}: {what}")
        shutil.rmtree(copy)
    return silent


def _is_told(kind: Kind, folder: Path) -> bool:
    with suppress(LrlmError):
        kind.use(folder)
        return False
    return True


def _is_named_by_verify(folder: Path, name: Path) -> bool:
    return any(str(name) in line for line in verify(folder).damaged)
