"""How long the optimal search takes under models of a sensitive attribute, as a multiple of k-anonymity alone.

    python benchmarks/closeness.py [--data FOLDER] [--only t-closeness,lkc-privacy] [--repeat 3]

Adult with the occupation as sensitive attribute, from cells in memory to the proved optimum. Seconds are of processor
time, the best of the repeats. The peer's seconds, where measured, are of ARX 3.9.2 from coded rows, warm, one thread,
medians of three on a quiet machine of two cores.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from medveil.cells import Cells
from medveil.lattice.evaluate import Evaluator
from medveil.lattice.loss import make_loss
from medveil.lattice.search import FoundNode, search
from medveil.lattice.space import Space
from medveil.privacy.alpha_k import AlphaKAnonymity
from medveil.privacy.beta_likeness import BetaLikeness
from medveil.privacy.delta_disclosure import DeltaDisclosure
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.lkc import LKCPrivacy
from medveil.privacy.model import PrivacyModel, Requirement
from medveil.privacy.ms_bounding import MSBounding
from medveil.privacy.t_closeness import TCloseness
from medveil.table.domain import Domain
from medveil.table.schema import Kind
from search import loaders

SENSITIVE = "occupation"


@dataclass(frozen=True)
class Case:
    """Models beside 5-anonymity, a limit of suppression and, where known, the peer's seconds."""

    models: tuple[PrivacyModel, ...]
    limit: float
    peer: float | None = None
    k: int = 5


CASES = [
    Case((TCloseness(t=0.3, attribute=SENSITIVE),), 0.02, 0.60),
    Case((TCloseness(t=0.2, attribute=SENSITIVE),), 0.02, 0.62),
    Case((TCloseness(t=0.2, attribute=SENSITIVE),), 1.0, 1.67),
    Case((LDiversity(variant="entropy", l=4, attribute=SENSITIVE),), 0.05, 0.51, 10),
    Case((LDiversity(l=3, attribute=SENSITIVE),), 0.02, 0.39),
    Case((LDiversity(variant="recursive", c=3, l=4, attribute=SENSITIVE),), 0.02),
    Case((BetaLikeness(beta=4, attribute=SENSITIVE),), 0.02),
    Case((DeltaDisclosure(delta=2, attribute=SENSITIVE),), 0.02),
    Case((DeltaDisclosure(delta=1, absent="ignore", attribute=SENSITIVE),), 0.02),
    Case((AlphaKAnonymity(alpha=0.5, k=5, attribute=SENSITIVE),), 0.02),
    Case((AlphaKAnonymity(alpha=0.3, k=5, attribute=SENSITIVE),), 0.02),
    Case((MSBounding(k=5, theta=0.4, attribute=SENSITIVE),), 0.02),
    Case((LKCPrivacy(l=3, k=5, c=0.5, attribute=SENSITIVE),), 0.02, k=1),
]


def adult(folder: Path) -> tuple[Cells, Space]:
    rows = loaders(folder)["adult"]()
    at = rows.names.index(SENSITIVE)
    codes, counts = np.unique(np.stack(rows.codes), axis=1, return_counts=True)
    quasi = [position for position in range(len(rows.names)) if position != at]
    cells = Cells(
        tuple(rows.names[position] for position in quasi),
        np.ascontiguousarray(codes[quasi], dtype=np.int32),
        counts.astype(np.int64),
        {SENSITIVE: codes[at].astype(np.int32)},
        {SENSITIVE: Domain(Kind.CATEGORY, tuple(rows.leaves[at]))},
    )
    return cells, Space.of([rows.hierarchies[position] for position in quasi])


def run(cells: Cells, space: Space, models: Sequence[PrivacyModel], limit: float) -> FoundNode:
    requirements = [
        Requirement(model, tuple(sorted(cells.quasi.index(name) for name in shield)))
        for model in models
        for shield in model.shields(cells.quasi)
    ]
    evaluator = Evaluator(cells, space, requirements)
    return search(evaluator, space, make_loss("lm", space, evaluator.columns), limit)


def measure(
    cells: Cells, space: Space, models: Sequence[PrivacyModel], limit: float, repeat: int
) -> tuple[FoundNode, float]:
    found = run(cells, space, models, limit)
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        found = run(cells, space, models, limit)
        best = min(best, time.process_time() - start)
    return found, best


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--only", default="", help="names of models, separated by commas")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args(arguments)
    cells, space = adult(given.data)
    print(f"adult: {cells.records} rows, {len(cells)} cells, {space.size} nodes")
    wanted = set(filter(None, given.only.split(",")))
    for case in CASES:
        if wanted and not wanted & {model.name for model in case.models}:
            continue
        _, alone = measure(cells, space, [KAnonymity(k=max(case.k, 5))], case.limit, given.repeat)
        asked = [KAnonymity(k=case.k), *case.models] if case.k > 1 else case.models
        found, seconds = measure(cells, space, asked, case.limit, given.repeat)
        faster = "" if case.peer is None else f"{case.peer / seconds:5.1f} x faster than the peer"
        print(
            f"  {case.models[0].summary():45} {case.limit:5.0%}  {seconds:7.3f} s  {seconds / alone:6.1f} x k alone  "
            f"loss {found.loss:.6f}  suppressed {found.suppressed:5d}  checks {found.checks:4d}  {faster}",
            flush=True,
        )


if __name__ == "__main__":
    main()
