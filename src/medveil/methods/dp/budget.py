"""How epsilon is divided among the steps, in exact rationals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from medveil.privacy.model import Spending

SHARES = {"node": 0.04, "cells": 0.81, "totals": 0.15}
"""How epsilon is divided where the policy does not say."""
LEARNED = 0.96
"""The share of totals and cells together where informative values are learned."""
TOTALS_AT_LEAST, TOTALS_AT_MOST = 0.15, 0.75
MARGINALS = Fraction(1, 3)
"""The part of the totals' share that the marginals of the dimensions take."""


def parts(epsilon: float, shares: Mapping[str, float]) -> dict[str, float]:
    """Epsilon divided by shares, in floats that add up to no more than epsilon.

    >>> parts(2.0, {"node": 0.25, "cells": 0.5, "totals": 0.25})
    {'node': 0.5, 'cells': 1.0, 'totals': 0.5}
    >>> parts(1.0, {"node": 0.1, "cells": 0.9})
    {'node': 0.09999999999999999, 'cells': 0.8999999999999999}
    """
    return _floats(epsilon, {name: Fraction(str(share)) for name, share in shares.items()})


def proved_parts(epsilon: float, shares: Mapping[str, float]) -> dict[str, float]:
    """The same for the proved form: the totals' share pays for the marginals too.

    >>> proved_parts(1.0, {"node": 0.25, "cells": 0.375, "totals": 0.375})
    {'node': 0.25, 'cells': 0.375, 'totals': 0.25, 'marginals': 0.125}
    """
    exact = {name: Fraction(str(share)) for name, share in shares.items()}
    totals = exact["totals"]
    return _floats(epsilon, {**exact, "totals": totals * (1 - MARGINALS), "marginals": totals * MARGINALS})


def _floats(epsilon: float, shares: Mapping[str, Fraction]) -> dict[str, float]:
    whole = sum(shares.values())
    divided = {}
    for name, share in shares.items():
        exact = Fraction(epsilon) * share / whole
        nearest = float(exact)
        divided[name] = nearest if Fraction(nearest) <= exact else math.nextafter(nearest, 0.0)
    return divided


def learning_shares(spending: Spending, expected_records: int | None) -> dict[str, float]:
    """How epsilon is divided where informative values are learned, from declared numbers alone.

    A value is released from about v = m ln(m / 2 delta) / e_totals records on, a cell from some c = m ln(...) / e_cells
    on. Where nothing is known of the values, records are taken to be even over orders of magnitude in both; least are
    then lost where v c is least, with equal shares. Where a value that matters has `expected_records`, the totals get
    the share that releases values of half as many.

    >>> learning_shares(Spending(1.0, 1e-6, 1), None)
    {'node': 0.04, 'cells': 0.48, 'totals': 0.48}
    >>> learning_shares(Spending(1.0, 1e-6, 1), 500)
    {'node': 0.04, 'cells': 0.81, 'totals': 0.15}
    """
    totals = LEARNED / 2
    if expected_records is not None:
        records = spending.max_records_per_subject
        chance = math.log(records / (2 * max(spending.delta, 1e-300)))
        wanted = records * max(chance, 1.0) / max(expected_records / 2 - records, 1.0)
        share = wanted / spending.epsilon / float(1 - MARGINALS)
        totals = round(min(max(share, TOTALS_AT_LEAST), TOTALS_AT_MOST), 4)
    return {"node": round(1 - LEARNED, 4), "cells": round(LEARNED - totals, 4), "totals": totals}
