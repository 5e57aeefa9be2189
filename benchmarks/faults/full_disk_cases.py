"""The commands that are tried on a full disk, and what old output each of them may not harm."""

import json
import shutil
from abc import ABC, abstractmethod
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from lrlm.artifacts import verify
from lrlm.cli import main
from tests.corpora import small_world
from tests.corpora.small_world import digests
from tests.processes import lrlm_command
from tests.training import tiny
from tests.training.same_run import difference

TEXTS = 60


class Case(ABC):
    """A command that writes to the disk."""

    room: int
    """Bytes below which the disk is full before the command is done; an estimate from above."""

    def __init__(self, folder: Path, disk: Path) -> None:
        self.folder, self.out = folder, disk / "out"
        self.number = 0
        folder.mkdir()

    def begin(self, number: int) -> None:
        """Begin a trial: put the old output there that it may not harm."""
        self.number = number
        for path in self.out.parent.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        old = self.old()
        if old is not None and old.is_dir():
            shutil.copytree(old, self.out)
        elif old is not None:
            shutil.copy(old, self.out)

    @abstractmethod
    def command(self) -> list[str]:
        """Give the command that is tried."""

    @abstractmethod
    def old(self) -> Path | None:
        """Give a copy of the old output; None where there is none."""

    def harm(self) -> str | None:
        """Say what the full disk did to the old output."""
        old = self.old()
        if old is None:
            return f"{self.out} is there" if self.out.exists() else None
        return None if content(old) == content(self.out) else "the old output is not as it was"

    @abstractmethod
    def shortcoming(self) -> str | None:
        """Say what is wrong with the new output, once there was room for it."""


class Training(Case):
    """A new run, or one that goes on after its first epochs."""

    room = 60_000
    _MORE = ("--set", "training.checkpoint_minutes=0.0001", "--resume")

    def __init__(self, folder: Path, disk: Path) -> None:
        super().__init__(folder, disk)
        self._corpus = tiny.write_corpus(folder)
        self._whole = folder / "whole"
        work(*self._train(self._whole))
        self._begun = folder / "begun"
        work(*self._train(self._begun, "--set", "training.epochs=1"))

    def _train(self, out: Path, *more: str) -> list[str]:
        return tiny.arguments(self._corpus, out, *self._MORE, *more)

    def command(self) -> list[str]:
        """Train three epochs, saving as often as possible."""
        return lrlm_command(*self._train(self.out, "--set", "training.epochs=3"))

    def old(self) -> Path | None:
        """Give a run of one epoch, or none."""
        return self._begun if self.number % 2 else None

    def harm(self) -> str | None:
        """See whether all that is there can be used."""
        if not (self.out / "manifest.json").exists():
            return "the old run is gone" if self.old() else None
        damaged = verify(self.out).damaged
        if not damaged and self.old() and not (self.out / "weights.safetensors").exists():
            return "the old weights are gone"
        return damaged[0] if damaged else None

    def shortcoming(self) -> str | None:
        """Compare with a run that always had room."""
        return difference(self._whole, self.out)


class Packing(Case):
    """A run to share, in place of an older one."""

    room = 30_000

    def __init__(self, folder: Path, disk: Path) -> None:
        super().__init__(folder, disk)
        corpus = tiny.write_corpus(folder)
        for name, epochs in (("old", 1), ("new", 2)):
            work(*tiny.arguments(corpus, folder / name, "--set", f"training.epochs={epochs}"))
            work("pack", str(folder / name), "--out", str(folder / f"{name}-packed"))

    def command(self) -> list[str]:
        """Pack the newer run."""
        new = str(self.folder / "new")
        return lrlm_command("pack", new, "--out", str(self.out), "--overwrite")

    def old(self) -> Path:
        """Give the older run."""
        return self.folder / "old-packed"

    def shortcoming(self) -> str | None:
        """Compare with the same, packed where there was room."""
        same = content(self.out) == content(self.folder / "new-packed")
        return None if same else "another packed run"


class Graph(Case):
    """A knowledge graph, in place of a small one."""

    room = 4_000_000

    def __init__(self, folder: Path, disk: Path) -> None:
        super().__init__(folder, disk)
        few, triples, forms = (folder / f"{name}.tsv" for name in ("few", "triples", "forms"))
        few.write_text("Q1\tP1\tQ2\n")
        triples.write_text("".join(f"Q{n}\tP{n % 7}\tQ{n * 7 % 5000}\n" for n in range(20_000)))
        forms.write_text("".join(f"Q{n}\tname number {n}\n" for n in range(5000)))
        self._sources = [str(triples), str(forms)]
        work("kg", "build", str(few), "--out", str(folder / "old"))
        work("kg", "build", *self._sources, "--out", str(folder / "new"))

    def command(self) -> list[str]:
        """Build with one worker or two."""
        more = ["--out", str(self.out), "--overwrite", "--workers", str(1 + self.number % 2)]
        return lrlm_command("kg", "build", *self._sources, *more)

    def old(self) -> Path:
        """Give the graph of one fact."""
        return self.folder / "old"

    def shortcoming(self) -> str | None:
        """Compare with a clean build."""
        return None if content(self.out) == content(self.folder / "new") else "another graph"


class CorpusBuild(Case):
    """A corpus, in place of a small one."""

    room = 600_000

    def __init__(self, folder: Path, disk: Path) -> None:
        super().__init__(folder, disk)
        self._inputs = small_world.write_large(folder / "in", 1500)
        few = small_world.write(folder / "few")
        work(*small_world.as_arguments(few, folder / "old"))
        work(*small_world.as_arguments(self._inputs, folder / "new"))

    def command(self) -> list[str]:
        """Build with one worker or two."""
        arguments = small_world.as_arguments(self._inputs, self.out)
        return lrlm_command(*arguments, "--overwrite", "--workers", str(1 + self.number % 2))

    def old(self) -> Path:
        """Give the corpus of three rivers."""
        return self.folder / "old"

    def shortcoming(self) -> str | None:
        """Compare with a clean build."""
        return None if content(self.out) == content(self.folder / "new") else "another corpus"


class Annotating(Case):
    """Annotations: a page, lines, a folder of lines begun before, and standard output."""

    room = 60_000
    _KINDS = ("page", "lines", "folder", "output")

    def __init__(self, folder: Path, disk: Path) -> None:
        super().__init__(folder, disk)
        lines = [
            json.dumps({"id": str(n), "topic": "Norway", "text": f"{n}: Norway's capital is Oslo."})
            for n in range(TEXTS)
        ]
        (folder / "text.txt").write_text("Norway is a country. Its capital is Oslo. " * TEXTS)
        (folder / "lines.jsonl").write_text("\n".join(lines))
        (folder / "folder").mkdir()
        for part in range(4):
            text = "\n".join(lines[part::4])
            (folder / "folder" / f"{part}.jsonl").write_text(text)
        for kind in self._KINDS[:3]:
            work(*self._annotate(kind, folder / f"new-{kind}"))
        (folder / "old-file").write_text("annotated before\n")
        shutil.copytree(folder / "new-folder", folder / "old-folder")
        for part in (1, 2, 3):
            (folder / "old-folder" / f"{part}.jsonl").unlink()
        shutil.copy(folder / "new-lines", folder / "new-output")

    def _annotate(self, kind: str, out: Path | None) -> list[str]:
        where = [] if out is None else ["--out", str(out)]
        if kind == "page":
            text = str(self.folder / "text.txt")
            return ["annotate", text, "--topic", "Norway", "--format", "html", *where]
        name = "folder" if kind == "folder" else "lines.jsonl"
        return ["annotate", "--jsonl", str(self.folder / name), *where]

    def command(self) -> list[str]:
        """Write one of the four to the disk."""
        kind = self._KINDS[self.number % 4]
        if kind != "output":
            return lrlm_command(*self._annotate(kind, self.out))
        command = " ".join(lrlm_command(*self._annotate(kind, None)))
        return ["sh", "-c", f"exec {command} > {self.out}"]

    def old(self) -> Path | None:
        """Give a file, or a folder in which one of four results is there."""
        name = ("old-file", "old-file", "old-folder", None)[self.number % 4]
        return None if name is None else self.folder / name

    def harm(self) -> str | None:
        """See that old results are kept; a shell empties a file before the command starts."""
        if self._KINDS[self.number % 4] == "output":
            return None
        if self._KINDS[self.number % 4] != "folder":
            return super().harm()
        old, now = content(self.folder / "old-folder"), content(self.out)
        old.pop("manifest.json")
        return None if old.items() <= now.items() else "an old result is not as it was"

    def shortcoming(self) -> str | None:
        """Compare with what is written where there is room."""
        kind = self._KINDS[self.number % 4]
        same = content(self.out) == content(self.folder / f"new-{kind}")
        return None if same else "another annotation"


CASES: dict[str, type[Case]] = {
    "training": Training,
    "packing": Packing,
    "graph": Graph,
    "corpus": CorpusBuild,
    "annotating": Annotating,
}


def work(*arguments: str) -> None:
    """Run a command that must work."""
    told = StringIO()
    with redirect_stdout(told), redirect_stderr(told):
        code = main(arguments)
    if code:
        raise RuntimeError(f"lrlm {' '.join(arguments)} failed: {told.getvalue()}")


def content(path: Path) -> dict[str, str]:
    """Name everything in a folder, or a file, by what it holds."""
    return digests(path) if path.is_dir() else {"": path.read_text()} if path.exists() else {}
