"""What each method shows of itself: levels, the search, counterfeits, intervals, clusters, the privacy budget.

Pictures are made of what a method reports to recipients (`method`, what is published) or to the steward (`internal`);
a number of fewer than so many records is not told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from medveil.release.catalog import CATALOG
from medveil.report.content import PageTable, Picture
from medveil.report.pictures import Pictures
from medveil.report.words import figure

MOST_NODES = 60


def levels_picture(pictures: Pictures, levels: Mapping[str, tuple[int, int]]) -> list[Picture]:
    """How far up its hierarchy each column went: level and height by column."""
    if not levels:
        return []
    return [
        pictures.bars(
            "How far each column was generalized",
            "The share of the way up its hierarchy: 0 % is the value itself, 100 % is '*', which says nothing.",
            list(levels),
            {"level": [level / max(height, 1) for level, height in levels.values()]},
            first="column",
            most=1.0,
        )
    ]


def search_pictures(pictures: Pictures, method: Mapping[str, Any], internal: Mapping[str, Any]) -> list[Picture]:
    """The lattice that was explored, and the search tree where there is one."""
    made = []
    if isinstance(method.get("nodes"), int) and isinstance(method.get("checks"), int):
        made.append(
            pictures.bars(
                "The search for the best levels",
                "Of all combinations of levels only some had to be looked at; the others were ruled out by those.",
                ["all combinations", "looked at"],
                {"combinations": [float(method["nodes"]), float(method["checks"])]},
                first="combinations of levels",
                written=lambda number: f"{number:,.0f}",
            )
        )
    tree = internal.get("search-tree")
    if isinstance(tree, Mapping) and tree.get("tables"):
        made.append(_tree(pictures, tree["tables"]))
    return made


def _tree(pictures: Pictures, tables: Sequence[Mapping[str, Any]]) -> Picture:
    number = {table["table"]: place for place, table in enumerate(tables)}
    parents = [None if table["parent"] is None else number.get(table["parent"]) for table in tables]
    depths: list[int] = []
    for parent in parents:
        depths.append(0 if parent is None else depths[parent] + 1)
    path: set[int] = set()
    place = next((i for i, table in enumerate(tables) if table["solution"]), None)
    while place is not None:
        path.add(place)
        place = parents[place]
    by_depth = Counter(depths)
    rows = [[f"{depth:,}", f"{by_depth[depth]:,}"] for depth in sorted(by_depth)]
    title, headers = "The search tree", ["steps", "tables"]
    if len(tables) <= MOST_NODES:
        nodes = [(parent, depth, i in path) for i, (parent, depth) in enumerate(zip(parents, depths, strict=True))]
        words = "Each square is a generalized table, the original on top. The way to the published one is drawn thick."
        return pictures.tree(title, words, nodes, PageTable("Tables by steps from the original", headers, rows))
    return pictures.bars(
        title,
        f"{len(tables):,} generalized tables, by the number of steps from the original to them.",
        [f"{depth} steps" for depth in sorted(by_depth)],
        {"tables": [float(by_depth[depth]) for depth in sorted(by_depth)]},
        first="steps",
        written=lambda count: f"{count:,.0f}",
    )


def counterfeit_pictures(
    pictures: Pictures, rows: Mapping[str, int], companions: Mapping[str, pa.Table]
) -> list[Picture]:
    """Real and counterfeit records, and the catalog."""
    catalog = companions.get(CATALOG)
    if catalog is None:
        return []
    forged = rows.get("counterfeit", 0)
    made = [
        pictures.bars(
            "Real and counterfeit records",
            "Counterfeits fill groups that would be too small; nobody can tell which records they are.",
            ["real", "counterfeit"],
            {"records": [(rows["published"] - forged) / rows["published"], forged / rows["published"]]},
            first="records",
            most=1.0,
        )
    ]
    if catalog.num_rows:
        widths = Counter(text.count(";") + 1 for text in catalog["class_ids"].to_pylist())
        listed = sorted(widths)[:20]
        made.append(
            pictures.bars(
                "The catalog of counterfeits",
                "How many groups of people each line of the catalog names: the more, the less a line gives away.",
                [f"{width} groups" for width in listed],
                {"lines": [float(widths[width]) for width in listed]},
                first="groups named",
                written=lambda count: f"{count:,.0f}",
            )
        )
    return made


def budget_pictures(
    pictures: Pictures, method: Mapping[str, Any], internal: Mapping[str, Any], least: int
) -> list[Picture]:
    """How epsilon was divided, and what the noise did (for the steward alone)."""
    made = []
    spent = method.get("spent")
    if isinstance(spent, Mapping) and spent:
        made.append(
            pictures.bars(
                "How the privacy budget was spent",
                "Epsilon by part of the method: the more a part gets, the less noise it adds.",
                [str(name) for name in spent],
                {"epsilon": [float(value) for value in spent.values()]},
                first="part",
                written=lambda value: f"{value:.3g}",
            )
        )
    return made + _counts(
        pictures,
        internal.get("differential-privacy"),
        "What the noise did",
        "Rows that noise inserted or removed, and records that were suppressed; only you may know these numbers.",
        least,
    )


def left_out_pictures(pictures: Pictures, internal: Mapping[str, Any], least: int) -> list[Picture]:
    """What fixed intervals left out and had to mend."""
    told = internal.get("fixed_interval")
    if not isinstance(told, Mapping):
        return []
    dropped = {
        str(reason): float(number)
        for reason, number in dict(told.get("records left out", {})).items()
        if isinstance(number, int) and number >= least
    }
    made = []
    if dropped:
        made.append(
            pictures.bars(
                "Records that were left out",
                f"By reason; reasons with fewer than {least:,} records are not shown.",
                list(dropped),
                {"records": list(dropped.values())},
                first="reason",
                written=lambda count: f"{count:,.0f}",
            )
        )
    intervals = {name: found for name, found in dict(told.get("intervals", {})).items() if isinstance(found, Mapping)}
    if intervals:
        made.append(
            pictures.bars(
                "Intervals of each number",
                "How many intervals each column was cut into, and how many were too thin and joined with a neighbour.",
                list(intervals),
                {
                    "cut": [float(found.get("cut", 0)) for found in intervals.values()],
                    "joined away": [float(found.get("joined away", 0)) for found in intervals.values()],
                },
                first="column",
                written=lambda count: f"{count:,.0f}",
            )
        )
    return made


def cluster_pictures(pictures: Pictures, internal: Mapping[str, Any]) -> list[Picture]:
    """How clusters became tighter, round by round."""
    told = internal.get("clusters")
    costs = told.get("costs") if isinstance(told, Mapping) else None
    if not isinstance(costs, list | tuple) or len(costs) < 2:
        return []
    rounds = [float(cost) for cost in costs]
    step = -(-len(rounds) // 20)
    places = sorted({*range(0, len(rounds), step), len(rounds) - 1})
    return [
        pictures.bars(
            "How clusters became tighter",
            "The sum of all distances to the centers, step by step: records are assigned, then centers are moved.",
            [f"step {place + 1}" for place in places],
            {"distance": [rounds[place] for place in places]},
            first="step",
            written=lambda cost: f"{cost:,.4g}",
        )
    ]


def _counts(pictures: Pictures, told: Any, title: str, description: str, least: int) -> list[Picture]:
    if not isinstance(told, Mapping):
        return []
    counts = {str(n): float(number) for n, number in told.items() if isinstance(number, int) and number >= least}
    if not counts:
        return []
    return [
        pictures.bars(
            title,
            description,
            list(counts),
            {"rows": list(counts.values())},
            first="what",
            written=lambda count: f"{count:,.0f}",
        )
    ]


def reported(method: Mapping[str, Any]) -> list[list[str]]:
    """What a method says of itself beside its parameters, as rows of a table."""
    hidden = {"name", "parameters"}
    return [[key.replace("_", " "), figure(value)] for key, value in method.items() if key not in hidden]
