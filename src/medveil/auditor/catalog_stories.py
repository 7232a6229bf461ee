"""An attacker who knows how padding is concealed: one class of each block is real, and the others copy its values.

A block are the classes that hang together in the catalog. Each story names one of its b classes as the real one; it
must explain every row: the row lists all b classes, its count is b - 1 times what each filled class holds of the
value, and every class holds at least that. A story also says how many records of each class are real, and each filled
class must have needed filling. Where all b stories explain everything each is as likely as the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.auditor.catalog_listing import Counts, Listing

Needy = Callable[[int, Counts, Counts], bool]
"""Whether a class needed filling if so many records of the given rows' values were not in it."""


@dataclass(frozen=True)
class Told:
    """What the attacker finds: `told` counterfeits for certain, the `posterior` of the likeliest one, the `least_real`
    records of a class in any story; `blocks` that every story explains.
    """

    told: int
    posterior: float
    least_real: int
    blocks: int


def weigh(listing: Listing, k: int, needy: Needy | None, *, by_size: bool = True, alike: bool = True) -> Told | None:
    """What the stories tell, block by block; None where some block has none.

    A class that needed filling for want of people was filled to its block's size. `by_size`: people are records, so
    that those have fewer than k real ones; otherwise the number of people cannot be read off the files. `needy` knows
    of other reasons. `alike`: records of one class and value cannot be told from each other; otherwise, as where other
    columns are published too, a copied record can be told from the rest, though not from its copies.
    """
    order = np.argsort(listing.components, kind="stable")
    ends = np.flatnonzero(np.diff(listing.components[order])) + 1
    told, posterior, least_real = 0, 0.0, int(listing.sizes.min())
    parts = np.split(order, ends) if len(order) else []
    for pairs in parts:
        block = _read_block(listing, pairs)
        if block is None:
            return None
        rows, classes, each, held = block
        real = listing.sizes[classes] - int(each.sum())
        if int(real.min()) < 1:
            return None
        possible = np.array(
            [_explains(listing, story, rows, classes, each, real, k, needy, by_size) for story in range(len(classes))],
            dtype=np.bool_,
        )
        number = int(possible.sum())
        if not number:
            return None
        # A class is filled in all stories but its own.
        filled = (number - possible) / number
        told += int(each.sum()) * int(np.count_nonzero(filled == 1.0))
        chosen = each[:, None] / held if alike else np.ones(held.shape)
        posterior = max(posterior, float((filled[None, :] * chosen).max()))
        least_real = min(least_real, int(real[filled > 0].min()))
    return Told(told, posterior, least_real, len(parts))


def _read_block(listing: Listing, pairs: Counts) -> tuple[Counts, Counts, Counts, NDArray[np.int64]] | None:
    """Rows, classes, counterfeits of each row in each filled class, and records held; None where it is no block."""
    rows, classes = np.unique(listing.row[pairs]), np.unique(listing.of_class[pairs])
    if len(pairs) != len(rows) * len(classes) or len(classes) < 2:
        return None
    held = np.zeros((len(rows), len(classes)), dtype=np.int64)
    held[np.searchsorted(rows, listing.row[pairs]), np.searchsorted(classes, listing.of_class[pairs])] = listing.held[
        pairs
    ]
    each, rest = np.divmod(listing.counts[rows], len(classes) - 1)
    if rest.any() or np.any(held < each[:, None]):
        return None
    return rows, classes, each, held


def _explains(
    listing: Listing,
    story: int,
    rows: Counts,
    classes: Counts,
    each: Counts,
    real: Counts,
    k: int,
    needy: Needy | None,
    by_size: bool,
) -> bool:
    """Whether every class but the story's own needed filling, and was filled as far as it would have been."""
    size = int(listing.sizes[classes[story]])
    for place, number in enumerate(classes.tolist()):
        if place == story:
            continue
        thin = int(real[place]) < k or not by_size
        if thin and int(listing.sizes[number]) == size:
            continue
        if needy is None or (by_size and (thin or not needy(number, rows, each))):
            return False
    return True
