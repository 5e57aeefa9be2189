"""What all tests share.

Property tests take the same examples on every run and every machine. Tests that need an extra which
`make test` does not install are marked with it, `@pytest.mark.extra("spark")`, and are passed over
where it is missing; `make test-extras` installs the extras and runs these tests.
"""

import importlib.util
import os
import shutil
import signal
import threading

import pytest
from hypothesis import settings

# Several test processes run side by side: more threads in each would only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("same examples", derandomize=True, deadline=None, database=None)
settings.load_profile("same examples")

# A shell that runs the tests in the background lets them, and all that they start, ignore Ctrl-C;
# what is started by a process that does not ignore it does not ignore it either.
if (
    threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):
    signal.signal(signal.SIGINT, signal.default_int_handler)

PACKAGES = {
    "docs": "zensical",
    "serve-tests": "playwright",
    "spacy": "spacy",
    "spark": "pyspark",
    "tensorboard": "tensorboard",
}
"""What each extra brings that its tests cannot do without."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Pass over a test whose extra is not installed."""
    for mark in item.iter_markers("extra"):
        (extra,) = mark.args
        if importlib.util.find_spec(PACKAGES[extra]) is None:
            pytest.skip(f"the extra {extra!r} is not installed")
        if extra == "spark" and shutil.which("java") is None:
            pytest.skip("there is no Java")
