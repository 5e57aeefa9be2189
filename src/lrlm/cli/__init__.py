"""The command line: one file a verb, each a thin call of a public function."""

import sys
from collections.abc import Sequence

STOPPED = "stopped by Ctrl-C; what was there before is unchanged"

__all__ = ["STOPPED", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code: 0 when it worked, 2 when it cannot."""
    try:
        from lrlm.cli.app import main as run  # here, for Ctrl-C may come while libraries load
    except KeyboardInterrupt:
        sys.stderr.write(f"lrlm: {STOPPED}\n")
        return 2
    return run(arguments)
