"""Make the pictures of a report for the README: light and dark, with Chromium.

python docs/images/report_picture.py demo/report
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT = 1100, 1740
LEFT_OUT = """
#corpus, #runs, #relations, #calibration, #mentions, #examples, nav,
#learning .scroll, #learning .scroll ~ *, #samples .cards ~ *, #samples details,
.lead, .note { display: none; }
section { margin-top: 1.8rem; padding-top: 1.2rem; }
h2 { margin-bottom: .8rem; }
.notes { display: none; }
"""
"""A picture shows the beginning and some of the parts; the page has them all."""
SCHEMES = {"dark": 0, "light": 1}
"""How Chromium numbers the colour schemes that a reader may prefer."""
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars",
)  # fmt: skip


def main(report: Path) -> int:
    """Write both pictures beside this script."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"none of these browsers is installed: {', '.join(BROWSERS)}")
    page = (report / "index.html").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        shown = Path(folder, "page.html")
        shown.write_text(page.replace("</style>", f"{LEFT_OUT}</style>", 1), encoding="utf-8")
        for scheme, number in SCHEMES.items():
            picture = HERE / f"report-{scheme}.png"
            command = [
                browser,
                *FLAGS,
                f"--user-data-dir={folder}/{scheme}",
                f"--blink-settings=preferredColorScheme={number}",
                f"--window-size={WIDTH},{HEIGHT}",
                f"--screenshot={picture}",
                shown.as_uri(),
            ]
            subprocess.run(command, check=True, capture_output=True, timeout=120)  # noqa: S603
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
