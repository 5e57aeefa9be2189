"""Make the pictures of the explorer: python -m docs.explorer_pictures [--out docs/images].

Needs a Chromium and the extra `serve-tests`. A server is started with the model that comes with
the package, and every view is shown as a reader would see it.
"""

import argparse
import io
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from tests.serving.browser import Visit, chromium, served

WIDTH, HEIGHT = 1180, 820
COLOURS = 256
VIEWS = ("annotate", "check", "topic", "generate", "edit", "compare")


def keep(page: Any, path: Path) -> None:
    """Write what is to be seen as a small PNG."""
    image = Image.open(io.BytesIO(page.screenshot(full_page=True)))
    image.convert("RGB").quantize(COLOURS).save(path, optimize=True)
    print(f"wrote {path}")  # noqa: T201


def edit_a_fact(page: Any) -> None:
    """Let the capital be another city."""
    view = page.locator("#view-edit")
    view.get_by_label("Object").fill("Bergen")
    view.get_by_label("Names in texts").fill("Bergen")
    view.get_by_role("button", name="Replace").click()
    view.locator(".difference strong").wait_for()


def wait_for(page: Any, view: str) -> None:
    """Wait until a view shows what it has to show."""
    last = {
        "annotate": "#view-annotate svg.lattice",
        "check": "#view-check .verdict",
        "topic": "#view-topic svg.star",
        "generate": "#view-generate .quiet:has-text('perplexity')",
        "edit": "#view-edit .difference b",
        "compare": "#view-compare .unit",
    }
    page.wait_for_selector(last[view])
    if view == "edit":
        edit_a_fact(page)


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--schemes", nargs="+", default=["light"])
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    size = {"width": WIDTH, "height": HEIGHT}
    with tempfile.TemporaryDirectory() as logs, served(Path(logs)) as place, chromium() as browser:
        for scheme in arguments.schemes:
            visit = Visit(browser, place, viewport=size, color_scheme=scheme)
            visit.wait_for_annotation()
            for view in VIEWS:
                visit.open(view)
                wait_for(visit.page, view)
                more = "" if scheme == "light" else f"-{scheme}"
                keep(visit.page, arguments.out / f"explorer-{view}{more}.png")
            visit.close()


if __name__ == "__main__":
    main()
