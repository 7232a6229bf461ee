"""One run in a process of its own, so that its time and memory are its own: `python -m medveil.worker`.

It reads what to run as JSON from standard input and writes lines of JSON: how far it is, and at last what came out.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from medveil.app.anonymize import anonymize
from medveil.engine import Limits
from medveil.errors import MedveilError
from medveil.release.manifest import INTERNAL

MEASURING = "Measuring"
_PEAK = "VmHWM:"


def peak_memory() -> int:
    """The most memory that this process has held so far, in bytes."""
    # The kernel's own figure of this program; getrusage may still count the parent that it was started from.
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith(_PEAK):
                return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def run(task: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Make the release that a task describes. Time and memory are those until it is proved, before it is measured."""
    before = peak_memory()
    started = time.perf_counter()
    taken: dict[str, Any] = {}

    def progress(stage: str, share: float | None) -> None:
        if stage == MEASURING and not taken:
            taken.update(seconds=time.perf_counter() - started, memory=peak_memory())
        tell({"stage": stage, "share": share})

    limits = Limits(task["threads"], task["memory"])
    try:
        release = anonymize(task["data"], task["policy"], out=task["out"], limits=limits, progress=progress)
    except MedveilError as error:
        return {"reason": str(error)}
    internal = release.folder / INTERNAL
    manifest = release.manifest
    return {
        **taken,
        "program": before,
        "status": manifest.status,
        "rows": dict(manifest.rows),
        "claims": [dict(claim) for claim in manifest.claims],
        "method": dict(manifest.method),
        "forms": {a["name"]: a["form"] for a in manifest.attributes if a.get("form")},
        **{name: json.loads((internal / f"{name}.json").read_text(encoding="utf-8")) for name in ("measures", "risks")},
    }


def main() -> None:
    def tell(line: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(line, default=str) + "\n")
        sys.stdout.flush()

    tell({"result": run(json.load(sys.stdin), tell)})


if __name__ == "__main__":
    main()
