"""The errors of this library: a small family; catch `LrlmError` to catch all of it.

A message says what is wrong, where, and what to do. It names no option of the command line: where
an option would help, the error has a type of its own, by which the command line knows its remedy.
"""

from pathlib import Path


class LrlmError(Exception):
    """Anything that this library raises on purpose; its message is one clear sentence.

    >>> try:
    ...     lrlm.load("no such folder")
    ... except lrlm.LrlmError as error:
    ...     print(error)
    no such folder ...
    """


class InputError(LrlmError, ValueError):
    """Data or arguments given by the user cannot be used; says where and what to do."""


class FormatError(InputError):
    """A file or folder is not in the format it should be; names the file, and the line if any."""


class ExistsError(InputError):
    """What was to be written is there already, and was not to be replaced."""


class TooManyBadLinesError(FormatError):
    """More lines of a file are malformed than was allowed; names the first of them."""


class TooMuchUnknownError(InputError):
    """More facts or articles lead to something unknown than was allowed; names some of them."""


class NamelessFactsError(TooMuchUnknownError):
    """More facts than was allowed lead to an object that has no name, only an id."""


class DamagedFileError(FormatError):
    """A file is truncated or damaged, but what comes before the damage could be used."""


class CorpusNotFoundError(InputError):
    """The corpus that a run was trained on is not where one would look for it."""


class TopicLookupError(InputError):
    """A topic was named, but neither a graph nor a corpus to look it up in."""


class TopicNotFoundError(InputError):
    """No topic was named, and none could be found that the text is about."""


class TokenWantedError(InputError):
    """An address that others can reach was to be opened without a secret that they have to know."""


class TextTooLongError(InputError):
    """A text has more characters than are read at once."""


class DiskFullError(LrlmError):
    """There was no room to write something; what was there before is unchanged."""

    path: Path | None = None
    """What was to be written, where that is known."""


class WorkerError(LrlmError):
    """A process that was started to help has died."""


class StoppedError(LrlmError):
    """Training stopped before its end, and can be resumed from what was saved."""


class ShapeError(LrlmError, ValueError):
    """Tensors that should agree do not; names the tensor and the row."""


class EndpointError(LrlmError):
    """A SPARQL endpoint could not be reached, or did not answer as it should."""


class MissingExtraError(LrlmError, ImportError):
    """An optional dependency is not installed; says which extra brings it."""


class KnowledgeWarning(UserWarning):
    """Knowledge that may not be what was meant, such as names for few of the facts."""
