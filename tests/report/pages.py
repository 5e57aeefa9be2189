"""Reads a page back, and checks what must hold for every page of a report."""

from collections import Counter
from html.parser import HTMLParser
from typing import ClassVar


class ReadPage(HTMLParser):
    """The text of a page and its tags, which must nest."""

    VOID: ClassVar = {"meta", "br", "img"}
    FETCHED: ClassVar = {"src", "srcset", "action", "data", "poster", "background"}

    def __init__(self, page: str) -> None:
        super().__init__()
        self.page = page
        self.text = ""
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self._open):
            self.text += data

    def values(self, attribute: str) -> list[str]:
        """All values of an attribute."""
        return [str(found[attribute]) for _, found in self.tags if attribute in found]


def check_page(page: str) -> ReadPage:
    """Check that a page is one whole that asks for nothing: tags nest, ids are unique and found."""
    read = ReadPage(page)
    ids = read.values("id")
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    pointed = [
        value.removeprefix("#") for key in ("href", "xlink:href") for value in read.values(key)
    ]
    pointed += [*read.values("aria-labelledby"), *read.values("aria-describedby")]
    assert set(pointed) <= set(ids)
    for _, attributes in read.tags:
        assert not ReadPage.FETCHED & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    assert "://" not in page
    assert "@import" not in page
    assert page.count("<script>") == 1
    assert [tag for tag, _ in read.tags].count("h1") == 1
    return read
