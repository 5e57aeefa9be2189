"""Worker processes: what goes wrong there surfaces here, and none is left when we are gone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lrlm.errors import InputError, LrlmError
from lrlm.features import workers
from lrlm.features.workers import Job, make_all
from lrlm.progress import Progress, silent

HERE = "tests.features.test_workers"


def stand_in(job: Job, progress: Progress) -> None:
    """Play a maker: what happens is said by the kind of the job."""
    folder = Path(job.folder)
    if job.kind == "refuse":
        raise InputError(f"{job.corpus} is not to our taste")
    if job.kind == "no space":
        raise OSError(28, "No space left on device", job.folder)
    if job.kind == "bug":
        raise ZeroDivisionError("nobody expects this")
    if job.kind == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if job.kind == "stay":
        draft = folder.with_name("draft")
        draft.write_text(str(os.getpid()), encoding="utf-8")
        try:
            progress("staying", 1, 2)
            time.sleep(600)
        finally:
            draft.unlink()
    print("libraries may print")
    progress("playing", 3, 3)
    folder.write_text(str(job.threads), encoding="utf-8")


@pytest.fixture(autouse=True)
def play(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        f"from {HERE} import stand_in; from lrlm.features import workers; workers.serve(stand_in)"
    )
    monkeypatch.setattr(workers, "_CODE", code)


def job(folder: Path, kind: str = "play", name: str = "made") -> Job:
    return Job(kind, f"doing {kind}", "the corpus", {}, str(folder / name), {}, threads=3)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_several_jobs_are_done_by_few_workers(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    jobs = [job(tmp_path, name=f"made{number}") for number in range(3)]
    make_all(jobs, workers=2, progress=lambda *step: told.append(step))
    for number in range(3):
        assert (tmp_path / f"made{number}").read_text(encoding="utf-8") == "3"
    assert told[0] == ("doing play", 0, 0)
    assert told.count(("playing", 3, 3)) == 3


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("refuse", InputError, "^the corpus is not to our taste$"),
        ("no space", OSError, "No space left on device: '.*made'"),
        ("bug", LrlmError, "^doing bug failed: .*ZeroDivisionError: nobody expects this"),
        ("die", LrlmError, "^doing die failed: .*signal 9; is there too little memory"),
    ],
)
def test_what_goes_wrong_there_surfaces_here(
    tmp_path: Path, kind: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make_all([job(tmp_path, kind)], workers=1, progress=silent)


def test_when_one_fails_the_others_stop_and_clean_up(tmp_path: Path) -> None:
    begin = time.monotonic()
    jobs = [job(tmp_path, "stay", "staying"), job(tmp_path, "refuse")]
    with pytest.raises(InputError, match="taste"):
        make_all(jobs, workers=2, progress=silent)
    assert time.monotonic() - begin < 60
    assert {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")} == set()


def test_silence_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_SECONDS_OF_SILENCE", 0.1)
    told: list[tuple[str, int, int]] = []

    def listen(*step: object) -> None:
        told.append(step)  # type: ignore[arg-type]
        if told.count(("staying", 1, 2)) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_all([job(tmp_path, "stay")], workers=1, progress=listen)
    assert not (tmp_path / "draft").exists()


def test_no_worker_outlives_a_process_that_is_killed(tmp_path: Path) -> None:
    code = (
        f"from {HERE} import job, make_all, silent, workers\n"
        "from pathlib import Path\n"
        f"workers._CODE = {workers._CODE!r}\n"
        f"make_all([job(Path({str(tmp_path)!r}), 'stay')], workers=1, progress=silent)\n"
    )
    draft = tmp_path / "draft"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)}
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as caller:
        deadline = time.monotonic() + 60
        while not (draft.exists() and draft.read_text(encoding="utf-8")):
            assert time.monotonic() < deadline
            assert caller.poll() is None
            time.sleep(0.05)
        worker = int(draft.read_text(encoding="utf-8"))
        caller.kill()
    deadline = time.monotonic() + 60
    while is_alive(worker):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not draft.exists()
