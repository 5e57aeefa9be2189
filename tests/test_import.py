"""What `import lrlm` does to the process: how threads wait is set, and nothing of the user's."""

import os
import subprocess
import sys

import pytest

SHOW = "import lrlm, os, sys; print(os.environ['OMP_WAIT_POLICY'], 'torch' in sys.modules)"


@pytest.mark.parametrize(("given", "expected"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_wait_as_the_user_says_or_asleep(given: str | None, expected: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "OMP_WAIT_POLICY"}
    if given is not None:
        environment["OMP_WAIT_POLICY"] = given
    command = [sys.executable, "-c", SHOW]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [expected, "False"]
