"""Lines of the one table that `make bench` prints at its end."""

from __future__ import annotations

from collections.abc import Iterable

MARK = "TABLE\t"
HEAD = ("case", "scope", "medveil s", "peer s", "peer", "ratio")


def line(case: str, scope: str, ours: float, theirs: float, peer: str) -> None:
    """Say what was measured: seconds of medveil and of a peer for the same scope, in the same run."""
    print(f"{MARK}{case}\t{scope}\t{ours:.3f}\t{theirs:.3f}\t{peer}\t{theirs / ours:.1f} x", flush=True)


def drawn(lines: Iterable[str]) -> str:
    """All of them as a Markdown table."""
    rows = [HEAD, *(tuple(one.removeprefix(MARK).split("\t")) for one in lines)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    written = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    return "\n".join([written[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *written[1:]])
