"""Read the documentation's pages: their examples, command lines and names in code style."""

import itertools
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

_FENCE = re.compile(r"^(?:<!-- needs: (\w+) -->\n)?```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_ENDS = {"|", "||", "&&", ";", "&", "(", ")", "do", "done", "then", "fi"}
_REDIRECTIONS = {"<", ">", ">>"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    content: str
    line: int
    """Of the page, where the content begins."""
    needs: str | None
    """The extra that an example needs, named in a comment before it."""
    follows_directly: bool
    """Whether there is nothing between the block before and this one."""


@dataclass(frozen=True)
class Page:
    """One page of the documentation."""

    path: Path

    def __str__(self) -> str:
        return str(self.path.relative_to(ROOT))

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def blocks(self) -> list[Block]:
        found, end = [], -1
        for match in _FENCE.finditer(self.text):
            needs, language, content = match.groups()
            line = self.text.count("\n", 0, match.start(3)) + 1
            directly = end >= 0 and not self.text[end : match.start()].strip()
            found.append(Block(language, content, line, needs, directly))
            end = match.end()
        return found

    @property
    def examples(self) -> list[tuple[Block, str | None]]:
        """Examples in Python, each with the output that is shown directly after it."""
        pairs = itertools.zip_longest(self.blocks, self.blocks[1:])
        return [
            (block, after.content if after and after.follows_directly and _is_text(after) else None)
            for block, after in pairs
            if block.language == "python"
        ]

    @property
    def commands(self) -> Iterator[tuple[int, list[str]]]:
        """Simple commands of all shell blocks with their lines, loops written out."""
        for block in self.blocks:
            if block.language in ("sh", "bash"):
                for line, command in _simple_commands(block.content):
                    yield block.line + line, command

    @cached_property
    def code(self) -> list[tuple[int, str]]:
        """What stands in code style within the text, with its line."""
        blanked = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), self.text)
        return [
            (number, span)
            for number, line in enumerate(blanked.splitlines(), start=1)
            for span in _CODE.findall(line)
        ]


def pages() -> list[Page]:
    """Give all pages, the README first."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [Page(path) for path in found]


def all_pages() -> pytest.MarkDecorator:
    """Run a test once for each page."""
    return pytest.mark.parametrize("page", pages(), ids=str)


def _is_text(block: Block) -> bool:
    return block.language == "text"


def _simple_commands(script: str) -> Iterator[tuple[int, list[str]]]:
    """Cut a script into commands without pipes and redirections; each variable has its values."""
    variables: dict[str, list[str]] = {}
    lines = iter(enumerate(script.splitlines()))
    for number, line in lines:
        whole = line
        while whole.endswith("\\"):
            whole = whole[:-1] + next(lines)[1]
        command: list[str] = []
        for word in [*_words(whole), ";"]:
            if word not in _ENDS:
                command.append(word)
                continue
            if command[:1] == ["for"]:
                variables[command[1]] = command[3:]
            elif command:
                for written_out in _with_values(command, variables):
                    yield number, written_out
            command = []


def _words(line: str) -> Iterator[str]:
    """Split a line as a shell does, without redirections and brackets around optional parts."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    words = iter(lexer)
    for word in words:
        if word in _REDIRECTIONS:
            next(words, None)
        elif plain := word.strip("[]…"):
            yield plain


def _with_values(command: list[str], variables: dict[str, list[str]]) -> Iterator[list[str]]:
    used = [name for name in variables if any(f"${name}" in word for word in command)]
    for values in itertools.product(*(variables[name] for name in used)):
        written_out = command
        for name, value in zip(used, values, strict=True):
            written_out = [word.replace(f"${name}", value) for word in written_out]
        yield written_out
