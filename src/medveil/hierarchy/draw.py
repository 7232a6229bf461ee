"""A hierarchy as a tree on the terminal."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from medveil.hierarchy.hierarchy import Hierarchy

MISSING = "(missing)"


def draw(hierarchy: Hierarchy, max_leaves: int = 40, width: int = 100) -> str:
    """The levels with their numbers of groups, then the tree from the root down.

    At most about `max_leaves` groups of each level are shown; every group shows its first ones and says how many are
    left out. A group with a single group of the same label below it is shown once.
    """
    lines = [f"{hierarchy.size:,.0f} leaves in the domain, {len(hierarchy.levels[0].labels):,} in the data"]
    for number, level in enumerate(hierarchy.levels):
        mean_loss = float(np.mean(hierarchy.losses[number])) if len(level.groups) else 0.0
        groups = "1 group" if len(level.labels) == 1 else f"{len(level.labels):,} groups"
        lines.append(f"level {number}: {groups}, mean loss {mean_loss:.3f}")
    children = [_children(hierarchy, number) for number in range(1, len(hierarchy.levels))]
    tree = Tree(_text(hierarchy, hierarchy.height, 0))
    _grow(tree, hierarchy, children, hierarchy.height, 0, max_leaves)
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(tree)
    drawn = "\n".join(line.rstrip() for line in capture.get().splitlines())
    return "\n".join([*lines, "", drawn])


def _children(hierarchy: Hierarchy, number: int) -> list[list[int]]:
    """For each group of a level, the groups of the level below that it holds, in order."""
    lower, upper = hierarchy.levels[number - 1], hierarchy.levels[number]
    parent = np.zeros(len(lower.labels), dtype=np.int64)
    parent[lower.groups] = upper.groups
    held: list[list[int]] = [[] for _ in upper.labels]
    for group, above in enumerate(parent.tolist()):
        held[above].append(group)
    return held


def _grow(
    tree: Tree, hierarchy: Hierarchy, children: list[list[list[int]]], number: int, group: int, max_leaves: int
) -> None:
    if number == 0:
        return
    held = children[number - 1][group]
    same = len(held) == 1 and hierarchy.levels[number - 1].labels[held[0]] == hierarchy.levels[number].labels[group]
    if same:
        _grow(tree, hierarchy, children, number - 1, held[0], max_leaves)
        return
    shown = max(max_leaves // len(hierarchy.levels[number].labels), 1)
    if len(held) == shown + 1:  # to say that one is left out takes the line that it would take
        shown += 1
    for child in held[:shown]:
        branch = tree.add(_text(hierarchy, number - 1, child))
        _grow(branch, hierarchy, children, number - 1, child, max_leaves)
    if len(held) > shown:
        tree.add(Text(f"... {len(held) - shown:,} more"))


def _text(hierarchy: Hierarchy, number: int, group: int) -> Text:
    """The label as it is, never read as markup, with what it covers where that is more than itself."""
    level = hierarchy.levels[number]
    label = level.labels[group]
    covered = float(level.covered[group])
    return Text((MISSING if label is None else label) + (f"  ({covered:,.0f})" if covered > 1 else ""))
