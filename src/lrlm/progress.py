"""How long-running work tells its caller how far it is."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is in all.

The total is 0 where it is not known.
"""


def silent(_doing: str, _done: int, _total: int) -> None:
    """Tell nobody: the default wherever progress can be followed."""
