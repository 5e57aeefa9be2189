"""Lays out examples in docstrings for the site: lines that begin with `>>>` become blocks of code.

Without it, Markdown takes `>>>` for a quotation of a quotation of a quotation.
"""

import re
from typing import Any

import griffe

_FLAG = re.compile(r" *# doctest: \+\w+$", re.MULTILINE)
_EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!>>> )\S.*\n?|^ +\S.*\n?)*)+", re.MULTILINE)


class DoctestBlocks(griffe.Extension):
    """Puts the examples of every docstring between fences."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of one object as it is collected."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(docstring: str) -> str:
    """Put fences around examples; an example ends at a blank line."""
    return _EXAMPLE.sub(
        lambda match: f"```pycon\n{_FLAG.sub('', match[0]).rstrip()}\n```\n", docstring
    )
