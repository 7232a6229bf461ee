"""Everything that `make bench` measures, one script after the other; each is a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = (
    "search.py",
    "start_up.py",
    "whole_run.py",
    "anjana_peer.py",
    "mondrian.py",
    "privacy_checks.py",
    "clustering.py",
    "ipa.py",
    "fixed_interval.py",
)


def main() -> None:
    for script in SCRIPTS:
        print(f"== {script}", flush=True)
        subprocess.run([sys.executable, Path(__file__).parent / script, *sys.argv[1:]], check=True)


if __name__ == "__main__":
    main()
