"""A line of a table in, a word and the natural logarithm of its probability out."""

import math

from lrlm.text_files import BadLineError


def parse_word_and_value(line: str) -> tuple[str, float]:
    """Read `word TAB number`."""
    word, _, number = line.rpartition("\t")
    try:
        value = float(number)
    except ValueError:
        raise BadLineError("expected a word, a tab and a number") from None
    if not word or "\t" in word or not math.isfinite(value) or value > 0:
        raise BadLineError("expected a word and the logarithm of a probability")
    return word, value
