"""How many published records can stand for different records of the original: a largest matching."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medveil.codes.combine import Codes
from medveil.codes.compiling import outer


def most_matched(supply: Codes, demand: Codes, offsets: Codes, targets: Codes) -> Codes:
    """How many of each left node's `supply` can go to right nodes that it reaches, each taking at most its `demand`.

    Left node i reaches `targets[offsets[i]:offsets[i + 1]]`. Where no right node is reached by two left ones, as after
    every full-domain generalization, each takes what it reaches. Elsewhere first what fits as it comes, the least
    choice first; then augmenting paths, breadth first. What a search without success has seen can never help again and
    is left out.
    """
    edges = len(targets)
    left = np.repeat(np.arange(len(supply)), np.diff(offsets))
    if not edges or np.bincount(targets).max() == 1:
        reached = np.zeros(len(supply), dtype=np.int64)
        np.add.at(reached, left, demand[targets])
        return np.minimum(supply, reached).astype(np.int64)
    by_right = np.argsort(targets, kind="stable").astype(np.int64)
    right_offsets = np.searchsorted(targets[by_right], np.arange(len(demand) + 1)).astype(np.int64)
    order = np.argsort(np.diff(offsets), kind="stable").astype(np.int64)
    placed = np.zeros(len(supply), dtype=np.int64)
    _flow(
        supply.astype(np.int64),
        offsets.astype(np.int64),
        targets.astype(np.int64),
        left.astype(np.int64),
        right_offsets,
        by_right,
        order,
        np.zeros(edges, dtype=np.int64),
        placed,
        demand.astype(np.int64),
        np.zeros(len(demand), dtype=np.bool_),
        np.full(len(demand), -1, dtype=np.int64),
        np.full(len(supply), -1, dtype=np.int64),
        np.empty(len(demand), dtype=np.int64),
        np.empty(len(supply), dtype=np.int64),
        np.empty(len(supply), dtype=np.int64),
    )
    return placed


@outer
def _flow(
    supply: Codes,
    offsets: Codes,
    targets: Codes,
    left: Codes,
    right_offsets: Codes,
    by_right: Codes,
    order: Codes,
    flow: Codes,
    placed: Codes,
    room: Codes,
    dead: NDArray[np.bool_],
    seen_right: Codes,
    seen_left: Codes,
    came_right: Codes,
    came_left: Codes,
    queue: Codes,
) -> None:
    """Fill `flow` and `placed` and use up `room`, which is the demand at first."""
    for turn in range(len(order)):
        i = order[turn]
        for edge in range(offsets[i], offsets[i + 1]):
            moved = min(supply[i] - placed[i], room[targets[edge]])
            flow[edge] += moved
            placed[i] += moved
            room[targets[edge]] -= moved
    search = 0
    for turn in range(len(order)):
        i = order[turn]
        while placed[i] < supply[i]:
            search += 1
            first, last, end = 0, 1, -1
            queue[0] = i
            seen_left[i] = search
            while first < last and end < 0:
                node = queue[first]
                first += 1
                for edge in range(offsets[node], offsets[node + 1]):
                    right = targets[edge]
                    if dead[right] or seen_right[right] == search:
                        continue
                    seen_right[right] = search
                    came_right[right] = edge
                    if room[right] > 0:
                        end = right
                        break
                    for at in range(right_offsets[right], right_offsets[right + 1]):
                        other = left[by_right[at]]
                        if flow[by_right[at]] > 0 and seen_left[other] != search:
                            seen_left[other] = search
                            came_left[other] = by_right[at]
                            queue[last] = other
                            last += 1
            if end < 0:
                for at in range(last):
                    for edge in range(offsets[queue[at]], offsets[queue[at] + 1]):
                        dead[targets[edge]] = True
                break
            moved = min(supply[i] - placed[i], room[end])
            right = end
            while left[came_right[right]] != i:
                back = came_left[left[came_right[right]]]
                moved = min(moved, flow[back])
                right = targets[back]
            room[end] -= moved
            placed[i] += moved
            right = end
            while True:
                flow[came_right[right]] += moved
                node = left[came_right[right]]
                if node == i:
                    break
                flow[came_left[node]] -= moved
                right = targets[came_left[node]]
