"""Check the built documentation: every link leads somewhere, and no page needs the network.

`make docs` runs it as `python -m tests.site site`. The builder checks the links that stand in the
pages' sources; this looks at what a reader gets, images, menus and the reference included.
"""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
"""What a browser fetches on its own, in contrast to links that a reader follows."""
NOT_LOADED = {"canonical", "prev", "next", "alternate"}
"""Kinds of `<link>` that only say something about a page."""
NOT_IN_THE_MENU = {"404.html"}


class Page(HTMLParser):
    """What a page offers to links, and what it links to itself."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.anchors = {""}
        self.links: list[tuple[str, str, bool]] = []
        """Line, address, and whether a browser fetches it."""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.anchors |= {attributes[key] or "" for key in ("id", "name") if key in attributes}
        for key in ("href", "src"):
            address = attributes.get(key)
            if address is None or (tag == "link" and attributes.get("rel") in NOT_LOADED):
                continue
            self.links.append((str(self.getpos()[0]), address, (tag, key) in LOADED))


def faults(site: Path) -> Iterator[str]:
    """Name every link of a site that leads nowhere, and all that would need the network."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site} holds no pages"
        return
    for path, page in pages.items():
        if page.path.name in NOT_IN_THE_MENU:
            continue  # it is shown at any address, so its own links are absolute
        for line, address, is_loaded in page.links:
            where = f"{page.path}:{line}: {address}"
            parts = urlsplit(address)
            if parts.scheme in ("data", "mailto"):
                continue
            if parts.scheme or parts.netloc:
                if is_loaded:
                    yield f"{where} comes from the network"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield f"{where} does not exist"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{where}: that page has no such place"
    yield from _not_in_the_menu(site, pages)


def _not_in_the_menu(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Name pages that the first one does not lead to: they were left out of the menu."""
    first = pages.get((site / "index.html").resolve())
    if first is None:
        yield f"{site} has no first page"
        return
    linked = {
        (site / urlsplit(address).path).resolve()
        for _, address, _ in first.links
        if urlsplit(address).path and not urlsplit(address).scheme
    }
    for path, page in pages.items():
        if page is not first and page.path.name not in NOT_IN_THE_MENU and path not in linked:
            yield f"{page.path} is not in the menu (nav in zensical.toml)"


def main(site: Path) -> int:
    found = list(faults(site))
    for fault in found:
        print(fault, file=sys.stderr)
    pages = len(list(site.rglob("*.html")))
    print(f"{site}: {pages} pages, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
