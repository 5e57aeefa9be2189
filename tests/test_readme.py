"""The README's examples run as printed."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
FIRST = "import lrlm\n"


def test_the_examples_with_the_shipped_model(capsys: pytest.CaptureFixture[str]) -> None:
    text = README.read_text(encoding="utf-8")
    first, shown = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", text, re.DOTALL)[0]
    assert first.startswith(FIRST)
    names: dict[str, object] = {}
    exec(compile(first, "README.md", "exec"), names)
    assert capsys.readouterr().out == shown
    (changed,) = (
        block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "moved" in block
    )
    exec(compile(changed, "README.md", "exec"), names)
