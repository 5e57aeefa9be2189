"""XML from strangers: elements one at a time, or one clear refusal."""

import gzip
from pathlib import Path

import pytest

from lrlm.corpora.importers import safe_xml
from lrlm.corpora.importers.safe_xml import elements
from lrlm.errors import FormatError


def read(tmp_path: Path, text: str | bytes) -> list[tuple[str | None, str]]:
    path = tmp_path / "a.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [(each.get("id"), "".join(each.itertext())) for each in elements(path, "entry")]


def test_elements_come_in_order(tmp_path: Path) -> None:
    text = (
        "<a>\n<b><entry id='1'>x <i>y</i> z</entry></b>no<entry id='2'>&lt;&#228;&amp;</entry></a>"
    )
    assert read(tmp_path, text) == [("1", "x y z"), ("2", "<ä&")]
    assert read(tmp_path, gzip.compress(text.encode())) == [("1", "x y z"), ("2", "<ä&")]


def test_long_files_are_read_in_blocks(tmp_path: Path) -> None:
    entries = "".join(f"<entry id='{n}'>{'ü' * 50}</entry>" for n in range(3000))
    found = read(tmp_path, f"<a>{entries}</a>")
    assert len(found) == 3000
    assert found[-1] == ("2999", "ü" * 50)


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE a [<!ENTITY b "boom"><!ENTITY c "&b;&b;&b;&b;">]>',
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE a [<!ENTITY % b SYSTEM "http://localhost/x"> %b;]>',
        '<!DOCTYPE a SYSTEM "http://localhost/a.dtd">',
        "<!DOCTYPE a>",
    ],
)
def test_document_types_and_entities_are_refused(tmp_path: Path, head: str) -> None:
    with pytest.raises(FormatError, match=r"a\.xml:2: declares a document type or entities"):
        read(tmp_path, f"<?xml version='1.0'?>\n{head}\n<a><entry>&b;</entry></a>")


@pytest.mark.parametrize("text", ["<a><entry>&b;</entry></a>", "<a><entry></a>", "", "text", "<a>"])
def test_what_is_not_xml_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(FormatError, match=r"a\.xml:1: not XML"):
        read(tmp_path, text)


def test_depth_and_size_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FormatError, match="more than 50 deep"):
        read(tmp_path, "<a>" * 60 + "</a>" * 60)
    monkeypatch.setattr(safe_xml, "LARGEST_ELEMENT", 1 << 10)
    with pytest.raises(FormatError, match="one <entry> of more than"):
        read(tmp_path, f"<a><entry>{'x' * 2000}</entry></a>")
