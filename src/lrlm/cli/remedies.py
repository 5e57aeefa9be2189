"""Which option of the command line helps against which error of the library.

The library does not know the command line: an error against which an option helps has a type of
its own. A command adds the hint to the message if it has that option.
"""

from collections.abc import Collection

from lrlm.errors import DamagedFileError, ExistsError, LrlmError, TooManyBadLinesError

_REMEDIES: tuple[tuple[type[LrlmError], str, str], ...] = (
    (ExistsError, "--overwrite", "pass --overwrite"),
    (ExistsError, "--resume", "pass --resume"),
    (TooManyBadLinesError, "--max-bad", "allow more with --max-bad"),
    (DamagedFileError, "--keep-damaged", "pass --keep-damaged"),
)


def remedy(error: LrlmError, options: Collection[str]) -> str | None:
    """Give a hint for an error of a command that has these options; None if there is none."""
    hints = (
        hint for kind, option, hint in _REMEDIES if isinstance(error, kind) and option in options
    )
    return next(hints, None)
