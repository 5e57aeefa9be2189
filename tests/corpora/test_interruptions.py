"""Builds that are stopped half-way, for real: processes of the command line and their signals."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lrlm.corpora.build import build_from
from lrlm.corpora.inputs import BuildInputs
from lrlm.corpora.linking import LinkOptions
from lrlm.corpora.name_rules import USUAL_RULES, name_rules_of
from tests.corpora import small_world
from tests.corpora.small_world import digests

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")

ARTICLES = 2500


# The same program, but it rests after each batch it has written, so that it can be caught there.
RESTING = (
    "-c",
    """if True:
        import sys, time
        from lrlm.cli import main
        from lrlm.corpora.corpus import CorpusWriter

        def add_and_rest(self, *arguments, add=CorpusWriter.add):
            add(self, *arguments)
            time.sleep(0.5)

        CorpusWriter.add = add_and_rest
        sys.exit(main(sys.argv[1:]))
    """,
)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> BuildInputs:
    return small_world.write_large(tmp_path_factory.mktemp("large"), ARTICLES)


@pytest.fixture(scope="module")
def undisturbed(inputs: BuildInputs, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The bytes of a build that nothing happened to."""
    options = LinkOptions(name_rules=name_rules_of(USUAL_RULES))  # those of the command line
    built = build_from(tmp_path_factory.mktemp("built") / "out", inputs, options=options)
    return digests(built.folder)


@pytest.fixture
def start(inputs: BuildInputs, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start builds into `out` beside each other; each is a process group of its own."""
    started: list[subprocess.Popen[str]] = []

    def run(*options: str, program: tuple[str, str] = ("-m", "lrlm")) -> subprocess.Popen[str]:
        arguments = small_world.as_arguments(inputs, tmp_path / "out")
        process = subprocess.Popen(
            [sys.executable, *program, *arguments, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, f"the build ended first: {process.communicate()}"
        assert time.monotonic() < end, "the moment did not come"
        time.sleep(0.002)


def moments(parent: Path) -> dict[str, Callable[[], bool]]:
    """Points of a build that can be seen from outside."""
    draft = parent / ".out.partial"
    return {
        "starting": lambda: True,
        "draft": draft.exists,
        "database": lambda: any(draft.glob("*/join.duckdb")),
        "first bytes": (draft / "train.parquet").exists,
        "linking": lambda: _size(draft / "train.parquet") > 50_000,  # of 280,000
        "almost done": lambda: _size(draft / "train.parquet") > 150_000,
    }


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def alive(group: int) -> bool:
    """Say whether any process of a group is still running."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def wait_for_end_of(group: int) -> None:
    end = time.monotonic() + 20
    while alive(group):
        assert time.monotonic() < end, "workers outlive the build"
        time.sleep(0.02)


MOMENTS = list(moments(Path()))
ONE_LINE = "lrlm: stopped by Ctrl-C; what was there before is unchanged\n"


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_and_run_again_gives_the_same_bytes(
    start: Callable[..., subprocess.Popen[str]],
    undisturbed: dict[str, str],
    tmp_path: Path,
    moment: str,
) -> None:
    process = start("--workers", "2", program=RESTING)
    wait_until(moments(tmp_path)[moment], process)
    process.kill()
    process.wait()
    assert not (tmp_path / "out").exists()
    wait_for_end_of(process.pid)
    again = start("--workers", "1")
    _, errors = again.communicate(timeout=120)
    assert (again.returncode, errors) == (0, "")
    assert digests(tmp_path / "out") == undisturbed
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("workers", "moment"),
    [("1", "database"), ("1", "linking"), ("2", "draft"), ("2", "first bytes"), ("2", "linking")],
)
def test_ctrl_c_leaves_the_old_corpus(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path, workers: str, moment: str
) -> None:
    small = small_world.write(tmp_path / "small")
    before = digests(build_from(tmp_path / "out", small).folder)
    process = start("--workers", workers, "--overwrite", program=RESTING)
    wait_until(moments(tmp_path)[moment], process)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to every process of the group
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (2, "", ONE_LINE)
    assert digests(tmp_path / "out") == before
    assert {path.name for path in tmp_path.iterdir()} == {"out", "small"}
    wait_for_end_of(process.pid)


def test_ctrl_c_while_libraries_load_is_one_line() -> None:
    code = """if True:
        import sys

        class CtrlC:
            def find_spec(self, name, *_):
                if name == "duckdb":
                    raise KeyboardInterrupt

        sys.meta_path.insert(0, CtrlC())
        from lrlm.cli import main
        sys.exit(main(["--version"]))
    """
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", ONE_LINE)


# Where the disk is full: in the database, in the corpus, in the first bytes.
@pytest.mark.parametrize("limit", [300_000, 20_000, 0])
def test_a_full_disk_is_one_line_and_leaves_the_old_corpus(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path, limit: int
) -> None:
    code = f"""if True:
        import resource, signal, sys

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing fails then, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
        from lrlm.cli import main
        sys.exit(main(sys.argv[1:]))
    """
    small = small_world.write(tmp_path / "small")
    before = digests(build_from(tmp_path / "out", small).folder)
    process = start("--workers", "1", "--overwrite", program=("-c", code))
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (2, "")
    assert errors.startswith("lrlm: ")
    assert errors.count("\n") == 1
    assert "too large" in errors
    assert digests(tmp_path / "out") == before
    assert {path.name for path in tmp_path.iterdir()} == {"out", "small"}


def test_a_second_writer_is_refused_while_the_first_goes_on(
    start: Callable[..., subprocess.Popen[str]], undisturbed: dict[str, str], tmp_path: Path
) -> None:
    first = start("--workers", "1")
    wait_until(moments(tmp_path)["draft"], first)
    first.send_signal(signal.SIGSTOP)  # so that it is still there when the second comes
    second = start("--workers", "1")
    _, errors = second.communicate(timeout=60)
    assert second.returncode == 2
    assert errors == f"lrlm: another process is writing {tmp_path / 'out'} right now\n"
    first.send_signal(signal.SIGCONT)
    _, errors = first.communicate(timeout=60)
    assert (first.returncode, errors) == (0, "")
    assert digests(tmp_path / "out") == undisturbed
