"""A real browser before a real server, for tests of the page."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Started, lrlm_command
from tests.serving.test_server import place_of

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def served(folder: Path, *arguments: str) -> Iterator[str]:
    """Serve the model that comes with the package; give the address."""
    with Started(lrlm_command("serve", "--port", "0", *arguments), folder) as server:
        yield place_of(server)


@contextmanager
def chromium() -> Iterator[Any]:
    """Start the browser of this machine; a test without one is passed over."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("there is no browser here (chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visit:
    """A page that is watched: what it asked for, and what went wrong in it."""

    def __init__(self, browser: Any, place: str, *, fragment: str = "", **options: Any) -> None:
        self.place = place
        self.context = browser.new_context(
            permissions=["clipboard-read", "clipboard-write"], **options
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)
        self.troubles: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("console", self._hear)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", lambda dialog: self.troubles.append(f"dialog {dialog.message}"))
        self.page.goto(f"{place}{fragment}")

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(message.text)

    def open(self, view: str) -> Any:
        """Go to a view; give its section."""
        self.page.click(f"nav [data-view={view}]")
        return self.page.locator(f"#view-{view}")

    def wait_for_annotation(self) -> None:
        """Wait until the text is annotated."""
        self.page.wait_for_selector("#view-annotate .mark")

    def close(self) -> None:
        """Leave; nothing may have gone wrong, and nothing may have been fetched from elsewhere."""
        foreign = [
            url for url in self.requests if not url.startswith((self.place, "data:", "blob:"))
        ]
        self.context.close()
        assert not self.troubles, self.troubles
        assert not foreign, foreign
