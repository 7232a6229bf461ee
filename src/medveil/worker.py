"""Any use case in a process of its own, which speaks lines of JSON: `python -m medveil.worker`.

    in:   {"use_case": "anonymize", "arguments": {...}, "limits": {...}, "folder": ..., "root": ..., "also": [...],
           "owned": ..., "ledgers": ..., "connections": {...}, "nice": true}; all but the first two may be left out
    out:  {"started": bytes}, {"event": {...}} as often as there is one, then {"result": ...} or {"error": {...}}

With `--ready` it loads everything that a run may need before it reads its task. With `--answering` it answers one task
after the other, for small questions that read no data.

The input stays open: when it ends, the process that asked wants no answer any more, or is gone where it did not say
"end" before. This one then ends too. It has a moment to clean up, and is then ended with whatever it has started.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from medveil.app.anonymize import anonymize
from medveil.app.audit import audit
from medveil.app.audit_dp import audit_dp
from medveil.app.budget import budget
from medveil.app.check import check
from medveil.app.compare import compare
from medveil.app.demo import demo
from medveil.app.exposure import exposure
from medveil.app.fitting import fitting
from medveil.app.generate import generate
from medveil.app.hierarchy import hierarchy
from medveil.app.inspect import inspect
from medveil.app.leakage import leakage
from medveil.app.levels import levels
from medveil.app.measure import measure
from medveil.app.parts import parts
from medveil.app.plain import to_json
from medveil.app.preview import preview
from medveil.app.rows import peek, rows
from medveil.app.starter import starter
from medveil.app.truthful import truthful
from medveil.connections import Connections
from medveil.engine import Limits
from medveil.errors import CancelledError, MedveilError
from medveil.kernels import load_numba
from medveil.release.ledgers import Ledgers
from medveil.run import Event, Run
from medveil.system import end_group, lower_priority, peak_memory
from medveil.workspace import Workspace

USE_CASES: Mapping[str, Callable[..., Any]] = {
    use_case.__name__: use_case
    for use_case in (
        anonymize,
        audit,
        audit_dp,
        budget,
        check,
        compare,
        demo,
        exposure,
        fitting,
        generate,
        hierarchy,
        inspect,
        leakage,
        levels,
        measure,
        parts,
        peek,
        preview,
        rows,
        starter,
        truthful,
    )
}
END = b"end"
GRACE = 0.8
"""Seconds to clean up in, less than the other process allows."""


def work(task: Mapping[str, Any], tell: Callable[[Mapping[str, Any]], None], unwanted: threading.Event) -> None:
    """Do what a task asks for, and tell what came of it."""
    started = time.perf_counter()

    def listen(event: Event) -> None:
        figures = {"seconds": time.perf_counter() - started, "memory": peak_memory()}
        tell({"event": {"stage": event.stage, "share": event.share, "detail": event.detail, **figures}})

    root, index = task.get("root"), task.get("ledgers")
    run = Run(
        listener=listen,
        cancelled=unwanted.is_set,
        limits=Limits(**task.get("limits", {})),
        workspace=Workspace(
            Path(task.get("folder") or ""),
            None if root is None else Path(root),
            tuple(map(Path, task.get("also", ()))),
            Connections(task.get("connections", {})),
        ),
        ledgers=None if index is None else Ledgers(index=Path(index)),
    )
    tell({"started": peak_memory()})
    try:
        tell({"result": USE_CASES[task["use_case"]](**task["arguments"], run=run)})
    except MedveilError as error:
        tell({"error": {"kind": type(error).__name__, "problem": error.problem, "remedy": error.remedy}})


def load() -> None:
    """Import what runs import when they need it: the parts, the engine and the auditor."""
    load_numba()
    parts()
    for name in ("medveil.engine.duckdb", "medveil.auditor.known"):
        importlib.import_module(name)


def answer(tell: Callable[[Mapping[str, Any]], None]) -> None:
    """One task after the other, as they come."""
    load()
    for line in sys.stdin:
        try:
            work(json.loads(line), tell, threading.Event())
        except CancelledError:
            return
        except Exception as error:  # noqa: BLE001 - a fault in one answer leaves the others
            problem = f"This is a bug in medveil ({type(error).__name__})."
            tell({"error": {"kind": MedveilError.__name__, "problem": problem, "remedy": "Please report it."}})


def _first_line() -> tuple[bytes, bytes]:
    """The first line, and what has come after it. Not through sys.stdin: it would keep what comes after, and its lock
    must not be held by a thread when the interpreter ends.
    """
    said = b""
    while b"\n" not in said and (more := os.read(0, 1 << 16)):
        said += more
    line, _, rest = said.partition(b"\n")
    return line, rest


def main(arguments: Sequence[str] = ()) -> None:
    # What a library prints must not come between the lines.
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(line: Mapping[str, Any]) -> None:
        try:
            lines.write(to_json(line, indent=None) + "\n")
            lines.flush()
        except OSError:
            raise CancelledError("Nobody listens any more.") from None

    if "--answering" in arguments:
        answer(tell)
        return
    if "--ready" in arguments:
        load()
    line, rest = _first_line()
    if not line or line == END:
        return
    task = json.loads(line)
    if task.get("nice"):
        lower_priority()
    unwanted, alone, done = threading.Event(), threading.Event(), threading.Event()
    owned = None if task.get("owned") is None else Path(task["owned"])
    if owned is not None:
        tempfile.tempdir = tempfile.mkdtemp(prefix="passage-", dir=owned)

    def clean() -> None:
        if owned is not None:
            shutil.rmtree(owned if alone.is_set() else str(tempfile.tempdir), ignore_errors=True)

    def watch() -> None:
        said = rest
        while more := os.read(0, 1024):
            said += more
        if END not in said:
            alone.set()
        unwanted.set()
        if not done.wait(GRACE):
            clean()
            end_group(os.getpid())

    threading.Thread(target=watch, daemon=True).start()
    try:
        load_numba()
        work(task, tell, unwanted)
    finally:
        clean()
        done.set()


if __name__ == "__main__":
    main(sys.argv[1:])
