"""The pictures of the README: the demo's pages as a browser shows them. Needs chromium, and medveil[report].

python docs/pictures.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from medveil.app.demo import demo

FOLDER = Path(__file__).parent / "pictures"
PAGES = {"steward": "release/internal/report.html", "comparison": "comparison.html"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT = 1100, 1050
COLOURS = 32
"""Pages have few colours: a small palette makes small files."""


def photograph(browser: str, page: Path, picture: Path) -> None:
    """The top of a page, as it is seen first."""
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
        command += [f"--user-data-dir={profile}", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={picture}"]
        subprocess.run([*command, page.resolve().as_uri()], check=True, capture_output=True, timeout=120)  # noqa: S603
    with Image.open(picture) as taken:
        small = taken.convert("RGB").quantize(COLOURS)
    small.save(picture, optimize=True)


def main() -> int:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"None of these browsers is there: {', '.join(BROWSERS)}.", file=sys.stderr)  # noqa: T201
        return 1
    made = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if made is None:
            made = Path(folder) / "demo"
            demo(10_000, made)
        for name, page in PAGES.items():
            photograph(browser, made / page, FOLDER / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
