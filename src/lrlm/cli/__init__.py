"""The command line: one file a verb, each a thin call of a public function."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

STOPPED = "stopped by Ctrl-C; what was there before is unchanged"

__all__ = ["STOPPED", "main", "run_and_exit"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code: 0 when it worked, 2 when it cannot."""
    try:
        from lrlm.cli.app import main as run  # here, for Ctrl-C may come while libraries load
    except KeyboardInterrupt:
        sys.stderr.write(f"lrlm: {STOPPED}\n")
        return 2
    return run(arguments)


def run_and_exit() -> NoReturn:
    """Be the program `lrlm`: run the command that it was called with, and end the process.

    One of several processes ends at once when its work is done. PyTorch has threads of its own
    there, which now and then abort a process whose interpreter is being taken down; `torchrun` then
    ends the others, and calls a training failed of which everything is written.
    """
    code = main()
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
