"""k, l and t of a million generated patients, against pycanon on the same frame in the same run.

    python benchmarks/privacy_checks.py [--rows N] [--without-t]

k-anonymity, distinct l-diversity and t-closeness (equal distance) of `disease` on age in bands of ten years, sex,
region and surgery. Ours is `medveil.measure(frame, quasi=..., sensitive=...)`, which also counts four other models;
pycanon has a call for each. Both start from the same pandas frame, once with Arrow's texts and once with Python's. k is
also timed against pandas' own `groupby(...).size()`. Medians of three warm runs; pycanon's t, which takes minutes, is
run once.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa

import medveil
import table
from medveil.datasets import patients

if TYPE_CHECKING:
    import pandas as pd

QUASI = ["age", "sex", "region", "surgery"]
SENSITIVE = ["disease"]
PEER = "pycanon==1.3.6"


def release_like(rows: int) -> pd.DataFrame:
    """Generated patients with ages in bands, as text, with a default index: what pycanon wants."""
    frame = patients(rows, seed=1).to_pandas()
    frame["age"] = (frame["age"] // 10 * 10).astype(str)
    return frame[[*QUASI, *SENSITIVE]].astype(str)


def median(call: Callable[[], object], runs: int = 3) -> float:
    """Of several runs, after one that is not counted; a single run is the only one."""
    seconds = []
    for _ in range(runs + 1 if runs > 1 else 1):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:] or seconds)


def compare(kind: str, frame: pd.DataFrame, *, with_t: bool) -> None:
    from pycanon import anonymity  # noqa: PLC0415 - only the benchmark has it

    found = medveil.measure(frame, quasi=QUASI, sensitive=SENSITIVE)
    if (found.k, found.l) != (anonymity.k_anonymity(frame, QUASI), anonymity.l_diversity(frame, QUASI, SENSITIVE)):
        raise SystemExit("The two disagree.")
    case, scope = f"{len(frame):,} rows of {kind}", "frame to figures"
    groups = median(lambda: medveil.measure(frame, quasi=QUASI))
    whole = median(lambda: medveil.measure(frame, quasi=QUASI, sensitive=SENSITIVE))
    sized = median(lambda: frame.groupby(QUASI, observed=True).size())
    table.line(f"class sizes, {case}", scope, groups, sized, "pandas groupby")
    table.line(f"k, {case}", scope, groups, median(lambda: anonymity.k_anonymity(frame, QUASI)), PEER)
    theirs = median(lambda: anonymity.l_diversity(frame, QUASI, SENSITIVE))
    table.line(f"l, {case}", scope, whole, theirs, PEER)
    if with_t:
        theirs = median(lambda: anonymity.t_closeness(frame, QUASI, SENSITIVE), 1)
        table.line(f"t, {case}", scope, whole, theirs, PEER)


def main() -> None:
    import pandas as pd  # noqa: PLC0415

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--without-t", action="store_true", help="Leave out t-closeness, which takes minutes.")
    given = parser.parse_args()
    frame = release_like(given.rows)
    compare("Arrow texts", frame.astype(pd.ArrowDtype(pa.string())), with_t=not given.without_t)
    compare("Python texts", frame, with_t=False)


if __name__ == "__main__":
    main()
