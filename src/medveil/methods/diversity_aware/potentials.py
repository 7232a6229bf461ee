"""Potentials of a flow of least cost: what proves that no other arc would lower its cost.

OR-tools does not tell them. They are the lengths of shortest paths in the residual graph, in which a record that moves
from its cluster to another is an arc between the two: no node for the record is needed.

    (i, v) -> (i', v)   d(j, i') - d(j, i)   for a record j of value v in cluster i that has an arc to i'
    (i, v) -> i         0                    where cluster i holds fewer than upper_v of value v
    i -> (i, v)         0                    where it holds more than lower_v
    i -> rest -> i'     0                    where i holds fewer than the largest size, i' more than the smallest
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from medveil.methods.diversity_aware.caps import Caps
from medveil.methods.diversity_aware.points import Codes, Flags, Ints
from medveil.run import Run, Stage

_CHUNK = 200_000
"""Nodes that are looked at before a run can be stopped."""


@dataclass(frozen=True)
class Potentials:
    """In units of the rounded distances: `of_value[v, i]` and `of_cluster[i]`, with `rest` for the units above the
    smallest size, which no cluster has for sure.
    """

    of_value: NDArray[np.int64]
    of_cluster: NDArray[np.int64]
    rest: int = 0

    @classmethod
    def zero(cls, caps: Caps) -> Potentials:
        return cls(np.zeros((len(caps.upper), caps.clusters), np.int64), np.zeros(caps.clusters, np.int64))


def find_potentials(
    arc_starts: NDArray[np.int64],
    arc_clusters: NDArray[np.int32],
    arc_costs: NDArray[np.int64],
    chosen: NDArray[np.int64],
    values: NDArray[np.int32],
    caps: Caps,
    start: Potentials,
    run: Run,
) -> Potentials:
    """The potentials of the flow that sends each record along its `chosen` arc.

    They begin at `start` and only fall, as little as needed: near potentials from an earlier flow stay near.
    """
    number, clusters = len(caps.upper), caps.clusters
    node = values.astype(np.int64) * clusters + arc_clusters[chosen]
    records = np.argsort(node, kind="stable")
    record_starts = np.searchsorted(node[records], np.arange(number * clusters + 1)).astype(np.int64)
    flow = np.diff(record_starts)
    filled = np.flatnonzero(flow)
    held = filled[np.argsort(filled % clusters, kind="stable")]  # the pairs of each cluster that hold any record
    held_starts = np.searchsorted(held % clusters, np.arange(clusters + 1)).astype(np.int64)
    sizes = flow.reshape(number, clusters).sum(axis=0)
    nodes = number * clusters + clusters + 1
    length = np.concatenate([start.of_value.ravel(), start.of_cluster, [start.rest]]).astype(np.int64)
    queue, queued = np.arange(nodes + 1), np.ones(nodes, dtype=np.bool_)
    state = np.array([0, nodes], dtype=np.int64)  # where the queue begins, and how many wait in it
    while state[1]:
        run.step(Stage.SEARCH, None, "Proving that the assignment is optimal")
        _shorten(
            arc_starts, arc_clusters, arc_costs, chosen, records, record_starts, flow, held, held_starts, sizes,
            caps.lower, caps.upper, np.array([caps.smallest, caps.largest]), length, queue, queued, state, _CHUNK,
        )  # fmt: skip
    of_value, of_cluster = length[: number * clusters].reshape(number, clusters), length[number * clusters : -1]
    # A pair without records has no arc but to its cluster, so that it may fall to it: its cap costs nothing.
    empty = flow.reshape(number, clusters) == 0
    of_value = np.where(empty, np.minimum(of_value, of_cluster), of_value)
    return Potentials(of_value, of_cluster, int(length[-1]))


@njit(cache=True, nogil=True)
def _push(node: int, queue: Ints, queued: Flags, state: Ints) -> None:
    if not queued[node]:
        queue[(state[0] + state[1]) % len(queue)] = node
        queued[node] = True
        state[1] += 1


@njit(cache=True, nogil=True)
def _shorten(
    arc_starts: Ints,
    arc_clusters: Codes,
    arc_costs: Ints,
    chosen: Ints,
    records: Ints,
    record_starts: Ints,
    flow: Ints,
    held: Ints,
    held_starts: Ints,
    sizes: Ints,
    lower: Ints,
    upper: Ints,
    size_range: Ints,
    length: Ints,
    queue: Ints,
    queued: Flags,
    state: Ints,
    steps: int,
) -> None:
    """Label-correcting shortest paths, first in first out; `length` falls until no arc shortens a path."""
    clusters, number = len(sizes), len(upper)
    first_cluster = number * clusters
    rest = first_cluster + clusters
    for _ in range(steps):
        if state[1] == 0:
            return
        node = queue[state[0]]
        state[0] = (state[0] + 1) % len(queue)
        state[1] -= 1
        queued[node] = False
        here = length[node]
        if node < first_cluster:
            v = node // clusters
            i = node - v * clusters
            for r in range(record_starts[node], record_starts[node + 1]):
                j = records[r]
                base = here - arc_costs[chosen[j]]
                for a in range(arc_starts[j], arc_starts[j + 1]):
                    other = v * clusters + arc_clusters[a]
                    if base + arc_costs[a] < length[other]:
                        length[other] = base + arc_costs[a]
                        _push(other, queue, queued, state)
            if flow[node] < upper[v] and here < length[first_cluster + i]:
                length[first_cluster + i] = here
                _push(first_cluster + i, queue, queued, state)
        elif node < rest:
            i = node - first_cluster
            for h in range(held_starts[i], held_starts[i + 1]):
                other = held[h]
                if flow[other] > lower[other // clusters] and here < length[other]:
                    length[other] = here
                    _push(other, queue, queued, state)
            if sizes[i] < size_range[1] and here < length[rest]:
                length[rest] = here
                _push(rest, queue, queued, state)
        else:
            for i in range(clusters):
                if sizes[i] > size_range[0] and here < length[first_cluster + i]:
                    length[first_cluster + i] = here
                    _push(first_cluster + i, queue, queued, state)
