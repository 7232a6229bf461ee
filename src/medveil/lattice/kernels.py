"""Compiled loops over cells: keys by look-ups, counting by direct index.

Every kernel is compiled at its first call, cached on disk, and releases the interpreter: two threads check two nodes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import outer

Codes = NDArray[np.int32]

SMALL_COUNTER = 255
"""A counter of one byte tells class sizes apart up to here."""


@outer
def count_direct(
    packs: Codes,
    lookup: Codes,
    starts: NDArray[np.int64],
    weights: NDArray[np.uint8],
    enough: int,
    counters: NDArray[np.uint8],
    keys: Codes,
) -> None:
    """Build each cell's key, keep it, and count its records; a counter stops at `enough`."""
    number_of_packs, cells = packs.shape
    for i in range(cells):
        key = lookup[packs[0, i]]
        for p in range(1, number_of_packs):
            key += lookup[starts[p] + packs[p, i]]
        keys[i] = key
        counters[key] = min(np.int64(counters[key]) + np.int64(weights[i]), enough)


@outer
def count_keys(keys: Codes, weights: NDArray[np.uint8], enough: int, counters: NDArray[np.uint8]) -> None:
    """Count the records of each key; a counter stops at `enough`."""
    for i in range(len(keys)):
        key = keys[i]
        counters[key] = min(np.int64(counters[key]) + np.int64(weights[i]), enough)


@outer
def count_small(
    packs: Codes,
    lookup: NDArray[np.int64],
    starts: NDArray[np.int64],
    weights: NDArray[np.uint8],
    chunks: NDArray[np.int64],
    enough: int,
    most: int,
    bits: int,
    counters: NDArray[np.uint8],
    slots: Codes,
) -> tuple[int, int]:
    """The records in classes smaller than `enough`, and the cells read; it ends once there are more than `most`.

    No class lies in two chunks, so that after each chunk its small classes are final. Keys are counted in their own
    counter, or, with `bits`, hashed into 2^bits counters: classes that share one only look larger, so that the result
    is a lower bound. The counters must be zero, and are zero again at the end.
    """
    number_of_packs = len(packs)
    shift = np.uint64(64 - bits)
    small = 0
    end = 0
    for chunk in range(len(chunks) - 1):
        begin, end = chunks[chunk], chunks[chunk + 1]
        for i in range(begin, end):
            key = lookup[packs[0, i]]
            for p in range(1, number_of_packs):
                key += lookup[starts[p] + packs[p, i]]
            if bits:
                key = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift)
            slots[i - begin] = key
            counters[key] = min(np.int64(counters[key]) + np.int64(weights[i]), enough)
        if len(counters) <= 16 * (end - begin):
            for slot in range(len(counters)):
                if counters[slot] < enough:
                    small += counters[slot]
                counters[slot] = 0
        else:
            for i in range(end - begin):
                if counters[slots[i]] < enough:
                    small += counters[slots[i]]
                counters[slots[i]] = 0
        if small > most:
            break
    return small, end


@outer
def sum_small(counters: NDArray[np.uint8], enough: int) -> int:
    """The records in classes smaller than `enough`."""
    small = 0
    for counter in counters:
        if counter < enough:
            small += counter
    return small


@outer
def hidden_by_code(
    packs: Codes,
    starts: NDArray[np.int64],
    keys: Codes,
    weights: NDArray[np.uint8],
    enough: int,
    counters: NDArray[np.uint8],
    hidden: NDArray[np.int64],
) -> None:
    """For each code of each pack, the records that lie in classes smaller than `enough`."""
    number_of_packs, cells = packs.shape
    for i in range(cells):
        if counters[keys[i]] < enough:
            for p in range(number_of_packs):
                hidden[starts[p] + packs[p, i]] += weights[i]


@outer
def look_up(
    levels: NDArray[np.int64],
    widths: NDArray[np.int64],
    groups: Codes,
    begins: NDArray[np.int64],
    positions: NDArray[np.int64],
    packed: NDArray[np.int64],
    sizes: NDArray[np.int64],
    starts: NDArray[np.int64],
    most: int,
    lookup: Codes,
) -> int:
    """Fill the look-up table of a node, so that the sum of a cell's entries is its key; the size of the key space.

    The group of a code of attribute a at a level is `groups[begins[a, level] + code]`, of which there are
    `widths[a, level]`. Pack p has the attributes `positions[packed[p]:packed[p + 1]]` of so many `sizes` of codes.
    Nothing is filled, and 0 returned, where there would be more than `most` keys.
    """
    key_space = 1
    for a in range(len(levels)):
        key_space *= widths[a, levels[a]]
        if key_space > most:
            return 0
    stride = key_space
    for p in range(len(packed) - 1):
        begin, length = starts[p], 1
        lookup[begin] = 0
        for at in range(packed[p], packed[p + 1]):
            a = positions[at]
            size, group = sizes[a], begins[a, levels[a]]
            stride //= widths[a, levels[a]]
            for code in range(length - 1, -1, -1):
                digits = lookup[begin + code]
                for own in range(size - 1, -1, -1):
                    lookup[begin + code * size + own] = digits + groups[group + own] * stride
            length *= size
    return key_space


@outer
def number_classes(
    packs: Codes,
    lookup: Codes,
    starts: NDArray[np.int64],
    counts: NDArray[np.int64],
    seen: Codes,
    classes: Codes,
    first: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> int:
    """The class of each cell by first appearance, each class's first cell and records, and how many classes there are.

    `seen` has an entry for each key, 0 at first and again at the end.
    """
    number_of_packs, cells = packs.shape
    number = 0
    for i in range(cells):
        key = lookup[packs[0, i]]
        for p in range(1, number_of_packs):
            key += lookup[starts[p] + packs[p, i]]
        known = seen[key]
        if known == 0:
            first[number] = i
            sizes[number] = 0
            number += 1
            known = np.int32(number)
            seen[key] = known
        classes[i] = known - 1
        sizes[known - 1] += counts[i]
    for place in range(number):
        i = first[place]
        key = lookup[packs[0, i]]
        for p in range(1, number_of_packs):
            key += lookup[starts[p] + packs[p, i]]
        seen[key] = 0
    return number


@outer
def leave_small(sizes: NDArray[np.int64], least: int, most: NDArray[np.int64], verdicts: NDArray[np.int8]) -> int:
    """Let classes of at least so many records stay, with the verdict 2, and no others, whose records are returned."""
    small = 0
    for i in range(len(sizes)):
        stays = sizes[i] >= least
        most[i] = sizes[i] if stays else 0
        verdicts[i] = 2 if stays else 0
        small += sizes[i] - most[i]
    return small


@outer
def cross_count(first: Codes, second: Codes, counts: NDArray[np.int64], table: NDArray[np.int64]) -> None:
    """Add each cell's count to the cross table of two of its codes."""
    for i in range(len(counts)):
        table[first[i], second[i]] += counts[i]


@outer
def small_in_cross(
    table: NDArray[np.int64],
    first_groups: Codes,
    second_groups: Codes,
    enough: int,
    merged: NDArray[np.int64],
    sums: NDArray[np.int64],
    small: NDArray[np.int64],
) -> None:
    """For each pair of levels, the records in classes of a cross table that are smaller than `enough`.

    `first_groups[l, code]` is the group of a code at the l-th level of the first attribute, likewise the second.
    `merged` and `sums` are working space like the table, zero at first and zero again at the end.
    """
    rows, columns = table.shape
    for i in range(len(first_groups)):
        height = 0
        for row in range(rows):
            group = first_groups[i, row]
            height = max(height, group + 1)
            for column in range(columns):
                merged[group, column] += table[row, column]
        for j in range(len(second_groups)):
            for group in range(height):
                for column in range(columns):
                    sums[group, second_groups[j, column]] += merged[group, column]
            for group in range(height):
                for column in range(columns):
                    if sums[group, column] < enough:
                        small[i, j] += sums[group, column]
                    sums[group, column] = 0
        for group in range(height):
            for column in range(columns):
                merged[group, column] = 0


@outer
def count_groups(
    codes: Codes,
    first: NDArray[np.int64],
    counts: NDArray[np.int64],
    groups: Codes,
    starts: NDArray[np.int64],
    found: NDArray[np.int64],
) -> None:
    """Add each class's count to the group of its first cell in every attribute: `groups[starts[a] + code]` of a code.

    `found[a, group]` has room for the groups of the attribute that has the most.
    """
    for i in range(len(first)):
        if counts[i] != 0:
            for a in range(len(codes)):
                found[a, groups[starts[a] + codes[a, first[i]]]] += counts[i]


@outer
def at_most(nodes: NDArray[np.int8], levels: NDArray[np.int8], below: NDArray[np.bool_]) -> None:
    """Which of the nodes (one a column) are the given node or more specific in every attribute."""
    attributes, number = nodes.shape
    for i in range(number):
        below[i] = True
        for a in range(attributes):
            if nodes[a, i] > levels[a]:
                below[i] = False
                break


@outer
def learn(
    nodes: NDArray[np.int8],
    levels: NDArray[np.int8],
    fails: bool,
    certain: int,
    added: NDArray[np.float64],
    least: float,
    base: NDArray[np.float64],
    bounds: NDArray[np.float64],
    open_nodes: NDArray[np.bool_],
) -> None:
    """Close a checked node, and with `fails` all that are more specific; else raise their bounds.

    The bound of a node is at least its base and what suppression adds there: `added` for each of the records that are
    suppressed for `certain`, and at least `least`.
    """
    attributes, number = nodes.shape
    for i in range(number):
        if open_nodes[i]:
            lower = 0
            below = True
            for a in range(attributes):
                lower += levels[a] - nodes[a, i]
                if nodes[a, i] > levels[a]:
                    below = False
                    break
            if below:
                if fails or lower == 0:
                    open_nodes[i] = False
                else:
                    bounds[i] = max(bounds[i], base[i] + max(certain * added[i], least))


@outer
def most_added(
    nodes: NDArray[np.int8],
    levels: NDArray[np.int8],
    added: NDArray[np.float64],
    base: NDArray[np.float64],
    limit: float,
    open_nodes: NDArray[np.bool_],
) -> tuple[float, float]:
    """With how many suppressed records the bound of a node, and that of any open one below it, passes the limit."""
    attributes, number = nodes.shape
    own, most = -np.inf, -np.inf
    for i in range(number):
        if open_nodes[i]:
            lower = 0
            below = True
            for a in range(attributes):
                lower += levels[a] - nodes[a, i]
                if nodes[a, i] > levels[a]:
                    below = False
                    break
            if below:
                room = (limit - base[i]) / added[i] + 1.0 if added[i] > 0.0 else np.inf
                most = max(most, room)
                if lower == 0:
                    own = room
    return own, most


@outer
def meet_alike(
    nodes: NDArray[np.int8],
    positions: NDArray[np.int64],
    levels: NDArray[np.int8],
    open_nodes: NDArray[np.bool_],
    least: NDArray[np.int8],
) -> int:
    """How many open nodes agree with these levels at these positions; `least` goes down to the levels of all."""
    attributes, number = nodes.shape
    found = 0
    for i in range(number):
        if open_nodes[i]:
            alike = True
            for a in positions:
                alike = alike and nodes[a, i] == levels[a]
            if alike:
                found += 1
                for a in range(attributes):
                    least[a] = min(least[a], nodes[a, i])
    return found
