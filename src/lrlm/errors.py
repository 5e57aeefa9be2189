"""What can go wrong, as a small family: catch `LrlmError` to catch all of it."""


class LrlmError(Exception):
    """Anything that this library raises on purpose; its message is one clear sentence."""


class InputError(LrlmError, ValueError):
    """Data or arguments given by the user cannot be used; says where and what to do."""


class FormatError(InputError):
    """A file or folder is not in the format it should be; names the file, and the line if any."""


class ShapeError(LrlmError, ValueError):
    """Tensors that should agree do not; names the tensor and the row."""


class MissingExtraError(LrlmError, ImportError):
    """An optional dependency is not installed; says which extra brings it."""
