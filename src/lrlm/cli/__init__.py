"""The command line: one file a verb, each a thin call of a public function."""

from lrlm.cli.app import main

__all__ = ["main"]
