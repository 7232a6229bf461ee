"""What each method shows of itself, drawn: it hands over figures, and what they are about is its own business."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from medveil.methods import figures_of
from medveil.release.catalog import CATALOG
from medveil.release.figures import BarFigure, Figure, TreeFigure
from medveil.report.content import PageTable, Picture
from medveil.report.pictures import Pictures

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


def method_figures(
    pictures: Pictures, reported: Mapping[str, Any], internal: Mapping[str, Any], least: int
) -> list[Picture]:
    """What the method shows of itself, drawn; of records and people no number below `least`."""
    drawn = [_draw(pictures, figure, least) for figure in figures_of(reported, internal)]
    return [picture for picture in drawn if picture is not None]


def _draw(pictures: Pictures, figure: Figure, least: int) -> Picture | None:
    if isinstance(figure, BarFigure):
        return _bars(pictures, figure, least)
    if isinstance(figure, TreeFigure):
        return _tree(pictures, figure)
    return None  # remarks are for a terminal: the page has the same figures in its table


def _bars(pictures: Pictures, figure: BarFigure, least: int) -> Picture | None:
    shown = [
        place
        for place in range(len(figure.names))
        if not figure.people or all(values[place] >= least for values in figure.series.values())
    ]
    if not shown:
        return None
    hidden = f" Numbers below {least:,} are not shown." if figure.people else ""
    return pictures.bars(
        figure.title,
        figure.description + hidden,
        [figure.names[place] for place in shown],
        {called: [values[place] for place in shown] for called, values in figure.series.items()},
        first=figure.first,
        written=(lambda number: f"{number:,.0f}") if figure.unit == "count" else (lambda number: f"{number:,.4g}"),
    )


def _tree(pictures: Pictures, figure: TreeFigure) -> Picture:
    parents = figure.parents
    depths: list[int] = []
    for parent in parents:
        depths.append(0 if parent is None else depths[parent] + 1)
    path: set[int] = set()
    place = figure.solution
    while place is not None:
        path.add(place)
        place = parents[place]
    by_depth = Counter(depths)
    rows = [[f"{depth:,}", f"{by_depth[depth]:,}"] for depth in sorted(by_depth)]
    headers = ["steps", "tables"]
    if len(parents) <= MOST_NODES:
        nodes = [(parent, depth, i in path) for i, (parent, depth) in enumerate(zip(parents, depths, strict=True))]
        words = "Each square is a generalized table, the original on top. The way to the published one is drawn thick."
        return pictures.tree(figure.title, words, nodes, PageTable("Tables by steps from the original", headers, rows))
    return pictures.bars(
        figure.title,
        f"{len(parents):,} generalized tables, by the number of steps from the original to them.",
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
