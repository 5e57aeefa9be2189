"""How a file is cut into parts: nothing is lost, and a part has neither too much nor too many."""

import gzip
from pathlib import Path

import pytest

from lrlm.knowledge import extract as extract_module
from lrlm.knowledge.extract import file_parts


@pytest.mark.parametrize("most", [1, 3, 7])
def test_parts_have_no_more_lines_than_is_allowed(
    tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract_module, "_MOST_LINES", most)
    text = b"a long line at the beginning of it all\n" + b"\n" * 20 + b"b\n" * 9 + b"the last"
    (tmp_path / "a").write_bytes(text)
    parts = [bytes(part) for _, part in file_parts(tmp_path / "a", size=64)]
    assert b"".join(parts) == text
    assert max(part.count(b"\n") for part in parts) <= most
    packed = gzip.compress(text * 3000)
    (tmp_path / "a").write_bytes(packed[: len(packed) // 2])
    *before, last = [(part.damage, bytes(text)) for part, text in file_parts(tmp_path / "a")]
    assert {damage for damage, _ in before} <= {None}
    assert last[0]
    assert (text * 3000).startswith(b"".join(part for _, part in (*before, last)))
