"""Which option of the command line helps against which error of the library.

The library does not know the command line: an error against which an option helps has a type of
its own. A command adds the hint to the message if it has that option.
"""

from collections.abc import Collection

from lrlm.errors import (
    CorpusNotFoundError,
    DamagedFileError,
    ExistsError,
    LrlmError,
    StoppedError,
    TextTooLongError,
    TooManyBadLinesError,
    TopicLookupError,
    WorkerError,
)

_REMEDIES: tuple[tuple[type[LrlmError], str, str], ...] = (
    (ExistsError, "--overwrite", "pass --overwrite"),
    (ExistsError, "--resume", "pass --resume"),
    (TooManyBadLinesError, "--max-bad", "allow more with --max-bad"),
    (DamagedFileError, "--keep-damaged", "pass --keep-damaged"),
    (CorpusNotFoundError, "--corpus", "say where it is with --corpus DIR"),
    (TopicLookupError, "--graph", "name one with --graph KG or --corpus DIR"),
    (TextTooLongError, "--longest", "allow more with --longest"),
    (WorkerError, "--workers", "try --workers 1"),
    (StoppedError, "--resume", "the same command with --resume continues"),
)


def remedy(error: LrlmError, options: Collection[str]) -> str | None:
    """Give a hint for an error of a command that has these options; None if there is none."""
    hints = (
        hint for kind, option, hint in _REMEDIES if isinstance(error, kind) and option in options
    )
    return next(hints, None)
