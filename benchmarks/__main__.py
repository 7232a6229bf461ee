"""Everything that `make bench` measures, one script after the other, each a process of its own; then one table.

    python -m benchmarks [--quick] [--data FOLDER]

Peers run in the same run, from the same table in memory or the same file, in environments of their own. `--quick` takes
fewer rows and leaves out what takes minutes. Scripts that need public data sets are left out where those are not in
the folder, and a script that fails is named: neither keeps the others from running.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks import table

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Script:
    """A benchmark, what it is given in a quick run (None: it is left out), and whether it needs public data sets."""

    name: str
    quick: tuple[str, ...] | None = ()
    needs_data: bool = False


SCRIPTS = (
    Script("start_up.py", ("--methods", "optimal")),
    Script("whole_run.py", ("--rows", "100000")),
    Script("fhir.py", ("--people", "500")),
    Script("privacy_checks.py", ("--rows", "200000", "--without-t")),
    Script("search.py", ("--sets", "adult", "--repeat", "1"), needs_data=True),
    Script("closeness.py", ("--repeat", "1"), needs_data=True),
    Script("anjana_peer.py", needs_data=True),
    Script("mondrian.py", ("--quick", "--rows", "100000"), needs_data=True),
    Script("clustering.py", None, needs_data=True),
    Script("ipa.py", None),
    Script("fixed_interval.py", None),
)


def run(script: Script, options: list[str]) -> tuple[bool, list[str]]:
    """Whether it came to its end, and its lines of the table; everything else is shown as it comes."""
    lines: list[str] = []
    command = [sys.executable, HERE / script.name, *options]
    # Scripts stand alone, and those that share a module find it beside them.
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ}) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(table.MARK):
                lines.append(line.rstrip("\n"))
            else:
                print(line, end="", flush=True)
    return process.returncode == 0, lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data")
    parser.add_argument("--quick", action="store_true", help="About two minutes.")
    given = parser.parse_args()
    lines: list[str] = []
    failed: list[str] = []
    for script in SCRIPTS:
        if given.quick and script.quick is None:
            continue
        print(f"== {script.name}", flush=True)
        if script.needs_data and not given.data.is_dir():
            print(f"left out: there are no public data sets in '{given.data}' (--data names another folder)")
            continue
        options = list(script.quick or ()) if given.quick else []
        ended, told = run(script, [*options, *(["--data", str(given.data)] if script.needs_data else [])])
        lines += told
        if not ended:
            failed.append(script.name)
    print(f"\nSeconds are medians of warm runs, two threads, {os.cpu_count()} cores; ratio: peer / medveil")
    print(table.drawn(lines))
    if failed:
        raise SystemExit(f"These did not come to their end: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
