"""The check of the built documentation finds what it looks for."""

from pathlib import Path

import pytest

from tests.site import faults


def write(folder: Path, **pages: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in pages.items():
        (folder / f"{name}.html").write_text(content, encoding="utf-8")
    return folder


def test_a_whole_site_has_no_faults(tmp_path: Path) -> None:
    (tmp_path / "image.svg").write_text("<svg/>")
    site = write(
        tmp_path,
        index='<h1 id="top">…</h1><a href="other.html#place">…</a><a href="#top">…</a>',
        other='<p id="place"><img src="image.svg"><a href="https://example.org">…</a><a href=".">',
    )
    assert list(faults(site)) == []


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('<a href="none.html">', "none.html does not exist"),
        ('<img src="none.png">', "none.png does not exist"),
        ('<a href="other.html#none">', "no such place"),
        ('<a href="#none">', "no such place"),
        ('<script src="https://example.org/a.js">', "comes from the network"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "comes from the network"),
    ],
)
def test_faults_are_named(tmp_path: Path, content: str, fault: str) -> None:
    site = write(tmp_path, index=f'<a href="other.html">…</a>{content}', other="")
    (found,) = faults(site)
    assert fault in found
    assert "index.html:1: " in found


def test_pages_must_be_in_the_menu(tmp_path: Path) -> None:
    (found,) = faults(write(tmp_path, index="", lonely=""))
    assert "lonely.html is not in the menu" in found
    assert list(faults(tmp_path / "empty")) == [f"{tmp_path / 'empty'} holds no pages"]
