"""What published labels stand for: which values of the original domain each of them covers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Coverage:
    """For one column: the distinct `labels`, the label of each published row as a `code`, and for each label which
    leaves of the original domain it covers (`leaves[label, leaf]`) and how many leaves of the *declared* domain
    (`covered`, out of `size`).
    """

    labels: tuple[str | None, ...]
    codes: NDArray[np.int32]
    leaves: NDArray[np.bool_]
    covered: NDArray[np.float64]
    size: float
