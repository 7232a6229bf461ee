"""Other programs, each in a virtual environment of its own: neither changes the versions that the other runs with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / ".venv-peers"


def python_with(requirement: str, *undeclared: str) -> Path:
    """A Python that has this one package, such as `anjana==1.2.3`; made the first time it is asked for.

    undeclared: what the package imports without asking for it.
    """
    home = FOLDER / requirement.replace("==", "-")
    python, ready = home / "bin" / "python", home / "ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        # Older packages still ask for setuptools' own modules when they are loaded.
        subprocess.run([*pip, requirement, *undeclared, "setuptools<81"], check=True)
        ready.touch()
    return python
