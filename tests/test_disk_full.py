"""A full disk: one clear line, exit code 2, and everything that was there before."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from lrlm.artifacts import new_folder, write_manifest
from lrlm.cli import main
from lrlm.errors import DiskFullError, LrlmError
from lrlm.knowledge import KnowledgeGraph
from lrlm.tensor_files import write_tensors
from lrlm.whole_files import new_file
from tests.corpora import small_world
from tests.processes import is_alive
from tests.small_disk import fill, small_disk
from tests.training import tiny

FULL = "the disk is full: there is no room left to write"
UNCHANGED = "what was there before is unchanged"


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """Give the last line of what was told, which is the only one about an error."""
    lines = capsys.readouterr().err.splitlines()
    assert sum(line.startswith("lrlm:") for line in lines) == 1
    assert not any("Traceback" in line for line in lines)
    return lines[-1]


# How it is noticed


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        OSError("IOError: [errno 28] No space left on device"),
        LrlmError("writing the index failed: database or disk is full"),
    ],
)
def test_whoever_notices_a_full_disk_it_is_told_as_one(tmp_path: Path, error: Exception) -> None:
    old = tmp_path / "out"
    with new_folder(old) as draft:
        write_manifest(draft, format="lrlm test", version=1)
    before = (old / "manifest.json").read_bytes()
    told = rf"^{FULL} {old}; {UNCHANGED}$"
    with pytest.raises(DiskFullError, match=told), new_folder(old, overwrite=True):
        raise error
    assert [*tmp_path.iterdir()] == [old]
    assert (old / "manifest.json").read_bytes() == before
    with pytest.raises(DiskFullError, match=rf"^{FULL} {tmp_path / 'file'}; "):  # noqa: SIM117
        with new_file(tmp_path / "file"):
            raise error
    assert [*tmp_path.iterdir()] == [old]


def test_other_errors_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), new_folder(tmp_path / "out"):
        raise PermissionError(errno.EACCES, "no")


def test_what_is_written_is_named_not_its_draft(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(DiskFullError, match=rf"write {tmp_path / 'out'};"):  # noqa: SIM117
        with new_folder(tmp_path / "out") as draft, new_folder(draft / "part"):
            raise full
    with pytest.raises(DiskFullError, match=rf"write {tmp_path / 'other'};"):  # noqa: SIM117
        with new_folder(tmp_path / "out"), new_folder(tmp_path / "other"):
            raise full


def test_tensors_that_find_no_room_are_an_error_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("lrlm.tensor_files.save_file", fail)
    with pytest.raises(OSError, match="No space left") as told:
        write_tensors(tmp_path / "a.safetensors", {"a": torch.zeros(1)})
    assert told.value.errno == errno.ENOSPC
    assert told.value.filename == str(tmp_path / "a.safetensors")


def test_of_two_files_the_one_that_is_written_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.EIO, "Input/output error", "from", None, "to")

    monkeypatch.setattr("lrlm.runs.packing.pack", fail)
    assert main(["pack", "run", "--out", "packed"]) == 2
    assert capsys.readouterr().err == "lrlm: to: Input/output error\n"


# On a disk that is full


def test_training_can_be_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = tiny.write_corpus(tmp_path)
    often = ("--set", "training.checkpoint_minutes=0.0001")
    assert main(tiny.arguments(corpus, tmp_path / "undisturbed", *often)) == 0
    run = tmp_path / "undisturbed"
    size = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
    with small_disk(tmp_path / "disk", 1024) as disk:
        out = disk / "run"
        for leave in (0, size // 3, 2 * size // 3, size):
            filler = fill(disk, leave=leave)
            capsys.readouterr()
            code = main(tiny.arguments(corpus, out, *often, "--resume"))
            filler.unlink()
            assert code == 2
            told = one_line(capsys)
            if out.exists():
                assert told.startswith(f"lrlm: {FULL} to {out}; what was saved before is kept")
                assert told.endswith("(the same command with --resume continues)")
            else:
                assert told == f"lrlm: {FULL} {out}; {UNCHANGED}"
        assert any((out / "checkpoints").iterdir())
        assert main(tiny.arguments(corpus, out, *often, "--resume")) == 0
        name = "weights.safetensors"
        assert (out / name).read_bytes() == (run / name).read_bytes()
        capsys.readouterr()
        filler = fill(disk, leave=16_000)
        assert main(["pack", str(out), "--out", str(disk / "packed")]) == 2
        assert one_line(capsys) == f"lrlm: {FULL} {disk / 'packed'}; {UNCHANGED}"
        assert {path.name for path in disk.iterdir()} == {"run", "filler"}


def test_features_that_find_no_room(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = tiny.write_corpus(tmp_path)
    with small_disk(tmp_path / "disk", 16) as disk:
        fill(disk, leave=4096)
        cache = ("--features-cache", str(disk / "features"))
        capsys.readouterr()
        assert main(tiny.arguments(corpus, tmp_path / "run", *cache)) == 2
        assert FULL in one_line(capsys)
    assert not (tmp_path / "run").exists()


def write_graph(folder: Path) -> list[str]:
    folder.mkdir()
    triples, forms = folder / "triples.tsv", folder / "forms.tsv"
    triples.write_text("".join(f"Q{n}\tP{n % 7}\tQ{n * 7 % 5000}\n" for n in range(20_000)))
    forms.write_text("".join(f"Q{n}\tname number {n}\n" for n in range(5000)))
    return [str(triples), str(forms)]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_graph_stays_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], workers: str
) -> None:
    sources = write_graph(tmp_path / "in")
    with small_disk(tmp_path / "disk", 64_000) as disk:
        build = ["kg", "build", "--out", str(disk / "kg"), "--workers", workers]
        (tmp_path / "few.tsv").write_text("Q1\tP1\ta few words\tliteral\n")
        assert main([*build, str(tmp_path / "few.tsv")]) == 0
        old = {path.name: path.read_bytes() for path in (disk / "kg").iterdir()}
        for leave in (100_000, 1_000_000):
            filler = fill(disk, leave=leave)
            capsys.readouterr()
            assert main([*build, *sources, "--overwrite"]) == 2
            assert one_line(capsys) == f"lrlm: {FULL} {disk / 'kg'}; {UNCHANGED}"
            assert {path.name: path.read_bytes() for path in (disk / "kg").iterdir()} == old
            assert not [*disk.rglob("slot-*")]
            filler.unlink()
        assert main([*build, *sources, "--overwrite"]) == 0
        with KnowledgeGraph.open(disk / "kg") as graph:
            assert graph.topic("Q7").names == ("name number 7",)


def test_a_corpus_stays_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs = small_world.write(tmp_path / "in")
    articles = [json.dumps({"id": f"Rhine.{n}", "text": f"The Rhine {n}."}) for n in range(2000)]
    (tmp_path / "many.jsonl").write_text("\n".join(articles))
    with small_disk(tmp_path / "disk", 64_000) as disk:
        build = ["corpus", "build", "--out", str(disk / "c"), "--workers", "1"]
        build += ["--triples", str(inputs.triples), "--forms", str(inputs.forms), "--train"]
        assert main([*build, str(inputs.articles["train"])]) == 0
        old = {path.name: path.read_bytes() for path in (disk / "c").iterdir()}
        fill(disk, leave=40_000)
        capsys.readouterr()
        assert main([*build, str(tmp_path / "many.jsonl"), "--overwrite"]) == 2
        assert one_line(capsys) == f"lrlm: {FULL} {disk / 'c'}; {UNCHANGED}"
        assert {path.name: path.read_bytes() for path in (disk / "c").iterdir()} == old


def test_annotations_stay_as_they_were(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [{"id": str(n), "topic": "Norway", "text": f"{n}: Oslo is there."} for n in range(40)]
    lines = [json.dumps(each) for each in texts]
    source = tmp_path / "texts"
    source.mkdir()
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    for part in range(3):
        (source / f"{part}.jsonl").write_text("\n".join(lines[part::3]))
    into_folder = ["annotate", "--jsonl", str(source), "--out"]
    assert main([*into_folder, str(tmp_path / "whole")]) == 0
    with small_disk(tmp_path / "disk", 256) as disk:
        out, file = disk / "out", disk / "all.jsonl"
        file.write_text("annotated before")
        filler = fill(disk, leave=8000)
        capsys.readouterr()
        assert main(["annotate", "--jsonl", str(tmp_path / "all.jsonl"), "--out", str(file)]) == 2
        assert one_line(capsys) == f"lrlm: {FULL} {file}; {UNCHANGED}"
        assert file.read_text() == "annotated before"
        filler.unlink()
        filler = fill(disk)
        assert main([*into_folder, str(out)]) == 2
        assert one_line(capsys) == f"lrlm: {FULL} {out}; {UNCHANGED}"
        assert not out.exists()
        filler.unlink()
        filler = fill(disk, leave=24_000)
        assert main([*into_folder, str(out)]) == 2
        told = one_line(capsys)
        assert told.startswith(f"lrlm: {FULL} {out / '1.jsonl'}; {UNCHANGED} (2 of 3 files have")
        assert "make room and give the same command again" in told
        filler.unlink()
        assert main([*into_folder, str(out)]) == 0
        assert small_world.digests(out) == small_world.digests(tmp_path / "whole")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_that_finds_no_room_is_one_line(tmp_path: Path, unbuffered: str) -> None:
    command = [sys.executable, "-m", "lrlm", "annotate", "--help"]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with small_disk(tmp_path / "disk", 64) as disk:
        for leave in (0, 4096):  # nothing at all, and a part of it
            filler = fill(disk, leave=leave)
            with (disk / "shown").open("wb") as file:
                result = subprocess.run(
                    command,
                    stdout=file,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                    env=environment,
                )
            assert (result.returncode, result.stderr) == (2, f"lrlm: {FULL} standard output\n")
            filler.unlink()


# Workers end with the process that started them, however it ended

STARTS_WORKERS = """
import multiprocessing, sys, time
from pathlib import Path
from lrlm.knowledge import extract
from lrlm.knowledge.sources import SourceFormat
from lrlm.knowledge.sources.addresses import NAME_PREDICATES

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    source = extract.KnowledgeFile(folder / "forms.tsv", SourceFormat.FORMS)
    with extract._pool(2, ("en", NAME_PREDICATES), folder) as submit:
        for number in range(2):
            part = extract.FilePart(number, 0, 8, 8)
            text = memoryview(b"Q1\\ta\\n")
            submit(text, folder / f"{number}.parquet", part, 0, source).result()
        print(*(child.pid for child in multiprocessing.active_children()), flush=True)
        time.sleep(600)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_no_worker_of_a_graph_outlives_its_build(tmp_path: Path) -> None:
    script = tmp_path / "build.py"
    script.write_text(STARTS_WORKERS)
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        workers = [int(pid) for pid in process.stdout.readline().split()]
        assert workers
        assert all(map(is_alive, workers))
        process.kill()
    end = time.monotonic() + 10
    while any(map(is_alive, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    alive = [pid for pid in workers if is_alive(pid)]
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    assert not alive
