"""The search tree, for the steward's eyes: the paper's figures 3 to 5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from medveil.methods.iab.recoding import State, TableRecoding
from medveil.methods.iab.search import Node, Searched
from medveil.release.figures import TreeFigure

LIMIT = 5_000
"""Larger trees are cut off here; nobody reads on."""


def tree_of(searched: Searched[State], recoding: TableRecoding[State], method: str) -> dict[str, Any]:
    """The generated tables in their order, each with its parent, the attribute that the step was on, T(violating,
    rows), and when it was expanded; the solution is marked. Attributes are named, values are not.
    """
    names = recoding.table.cells.quasi
    best = searched.best
    listed = searched.nodes[:LIMIT]
    if best is not None and best.number >= LIMIT:
        listed = [*listed, *_path(searched, best)]
    return {
        "method": method,
        "requirements": [
            {"model": r.model.summary(), "shield": [names[p] for p in r.shield]} for r in recoding.table.requirements
        ],
        "tables": [
            {
                "table": node.number,
                "parent": node.parent,
                "generalized": None if node.position is None else names[node.position],
                "levels": _levels(recoding, node),
                "violating": node.measured.violating,
                "rows": node.measured.rows,
                "expanded": node.expanded or None,
                "solution": best is not None and node.number == best.number,
            }
            for node in listed
        ],
        "left_out": len(searched.nodes) - len(listed),
    }


def _levels(recoding: TableRecoding[State], node: Node[State]) -> dict[str, int] | None:
    levels = recoding.levels(node.state)
    names = recoding.table.cells.quasi
    return None if levels is None else {names[p]: levels[p] for p in recoding.shield}


def _path(searched: Searched[State], node: Node[State]) -> list[Node[State]]:
    """The tables beyond the limit that lead to this one, in their order."""
    path: list[Node[State]] = []
    number: int | None = node.number
    while number is not None and number >= LIMIT:
        path.append(searched.nodes[number])
        number = searched.nodes[number].parent
    return path[::-1]


def tree_figure(tree: Mapping[str, Any]) -> TreeFigure:
    """The tables that were generated, each below the one that it was generalized from."""
    tables = tree["tables"]
    place = {table["table"]: number for number, table in enumerate(tables)}
    return TreeFigure(
        "The search tree",
        [None if table["parent"] is None else place.get(table["parent"]) for table in tables],
        next((number for number, table in enumerate(tables) if table["solution"]), None),
    )


def effort_in_words(found: Mapping[str, Any]) -> str:
    """What a search for the table with most rows did."""
    effort = [f"{found[key]:,} {key.replace('_', ' ')}" for key in found if key.startswith("tables_")]
    return (
        f"{', '.join(effort)}, {found['seconds']:.2f} s; {found['rows']:,} of {found['rows_before']:,} distinct rows "
        f"retained; {found['violating_rows_before']:,} violating rows before, {found['violating_rows']:,} now"
        + ("." if found["optimal"] else "; more rows may be possible.")
    )
