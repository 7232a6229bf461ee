"""The pictures of docs/studio.md, from the browser tests of the studio. Needs chromium.

python docs/studio_pictures.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "studio"
PAGES = ("home", "columns", "privacy", "method", "result")
TESTS = "tests/studio/browser/test_every_page.py"
TALLEST = 1_500
COLOURS = 48
"""Pages have few colours: a small palette makes small files."""


def main() -> int:
    with tempfile.TemporaryDirectory() as taken:
        environment = {**os.environ, "MEDVEIL_SCREENSHOTS": taken, "MEDVEIL_BROWSER_REQUIRED": "1"}
        tests = subprocess.run([sys.executable, "-m", "pytest", TESTS], cwd=ROOT, env=environment, check=False)  # noqa: S603
        if tests.returncode:
            return tests.returncode
        for page in PAGES:
            with Image.open(Path(taken) / f"{page}-wide-light.png") as picture:
                top = picture.convert("RGB").crop((0, 0, picture.width, min(picture.height, TALLEST)))
            top.quantize(COLOURS).save(FOLDER / f"{page}.png", optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
