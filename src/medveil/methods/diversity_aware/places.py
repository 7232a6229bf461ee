"""Who is where while a flow is made, in the arrays that kernels change: see `flows`.

`members` of a cluster are its records, and those that left a place which is kept for others of the same value: `lack`
counts such places of a pair, and `held` and `taken` count them as filled.
"""

from __future__ import annotations

from numba import njit

from medveil.methods.diversity_aware.points import Codes, Ints


@njit(cache=True, nogil=True)
def stands_apart(held: int, lower: int, upper: int) -> bool:
    """Whether a pair has a price of its own: it is at its upper cap, or not above its lower one."""
    return held == upper or (lower > 0 and held <= lower)


@njit(cache=True, nogil=True)
def take_out(j: int, i: int, members: Codes, sizes: Ints) -> None:
    """Record j leaves cluster i."""
    place = 0
    while members[i, place] != j:
        place += 1
    sizes[i] -= 1
    members[i, place] = members[i, sizes[i]]


@njit(cache=True, nogil=True)
def count_in(x: int, i: int, more: int, least: int, held: Codes, taken: Ints) -> None:
    """One more, or one fewer, in pair x of cluster i, of which a lower cap asks for the least."""
    taken[i] += max(held[x] + more - least, 0) - max(held[x] - least, 0)
    held[x] += more


@njit(cache=True, nogil=True)
def kept_for(x: int, mover: int, values: Codes, cluster: Codes, members: Codes, sizes: Ints) -> int:
    """A record that left a place of pair x which was kept: the mover itself if it is one."""
    v, i = x // len(sizes), x % len(sizes)
    found = -1
    for place in range(sizes[i]):
        j = members[i, place]
        if values[j] == v and cluster[j] != i and (found < 0 or j == mover):
            found = j
    return found


@njit(cache=True, nogil=True)
def release(
    x: int,
    lower: int,
    upper: int,
    values: Codes,
    cluster: Codes,
    held: Codes,
    lack: Codes,
    members: Codes,
    sizes: Ints,
    taken: Ints,
) -> None:
    """Places that a pair kept for its value are for all where it no longer has a price of its own."""
    i = x % len(sizes)
    while lack[x] > 0 and not stands_apart(held[x], lower, upper):
        lack[x] -= 1
        take_out(kept_for(x, -1, values, cluster, members, sizes), i, members, sizes)
        count_in(x, i, -1, lower, held, taken)
