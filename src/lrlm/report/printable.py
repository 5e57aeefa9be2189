"""Text in, the same number of characters out, all of which a terminal shows and none it obeys."""

_CONTROLS = [code for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"]
_BLANK = dict.fromkeys(_CONTROLS, " ")


def printable(text: str) -> str:
    """Put a space in place of every control character, so that offsets stay right."""
    return text.translate(_BLANK)
