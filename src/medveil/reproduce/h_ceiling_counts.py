"""Figures 9 and 10 of the h-ceiling paper: errors of counts by an attribute, and by how many attributes are asked."""

from __future__ import annotations

import numpy as np

from medveil.evaluation.bootstrap import mean_interval
from medveil.reproduce.h_ceiling_data import MadeRelease
from medveil.reproduce.h_ceiling_queries import error_by_attribute, error_by_number
from medveil.reproduce.reproduction import Agreement, ReproducedLine, ReproducedSection

CHEAP = 0.5
"""A price of counterfeits so small that the cap decides: the paper knows no price."""

NEARLY = 0.05
"""By how much an error may be larger where the paper says nearly equal."""


def by_attribute(
    alone: MadeRelease, published: MadeRelease, people: MadeRelease, cheap: MadeRelease
) -> ReproducedSection:
    """Figure 9, and what becomes of it where counterfeits cost little."""
    errors = [error_by_attribute(one.comparison, "Sales") for one in (alone, published, people, cheap)]
    lines = []
    for name in errors[0]:
        without, by_paper, by_people, at_less = (found[name] for found in errors)
        near = max(by_paper, by_people) <= without + NEARLY
        covered = people.comparison.coverage[name]
        generalized = bool((covered.covered[covered.codes] > 1).any())
        why = (
            "it is generalized here, too" if generalized else "it is not generalized, and counterfeits blur rare values"
        )
        lines.append(
            ReproducedLine(
                name,
                "almost 300 % against about half of that"
                if name == "marital-status"
                else "h-ceiling lower or nearly equal",
                f"k-anonymity {without:.0%}, h-ceiling {by_paper:.0%} (published), {by_people:.0%} (people), "
                f"{at_less:.0%} (people, price {CHEAP:g})",
                Agreement.REPRODUCED if near else Agreement.DIFFERS,
                "" if near else why,
            )
        )
    note = (
        "Mean relative error over the values of the attribute. At the default price of counterfeits a column is given "
        "up where that saves many of them; at a smaller price it is kept, and there are more."
    )
    return ReproducedSection(
        "Figure 9: error of COUNT(*) WHERE occupation = 'Sales' GROUP BY attribute, k = 5, h = 0.3", tuple(lines), note
    )


def by_number(alone: MadeRelease, published: MadeRelease, people: MadeRelease, queries: int) -> ReproducedSection:
    """Figure 10, with the interval of what the same queries are off less by h-ceiling."""
    errors = [error_by_number(one.comparison, queries) for one in (alone, published, people)]
    random = np.random.default_rng(10)
    lines = []
    for number, of_query in enumerate(zip(*errors, strict=True), start=1):
        less = [of_query[0] - ceiled for ceiled in of_query[1:]]
        intervals = [mean_interval(one, random) for one in less]
        sure = min(low for low, _ in intervals) > 0
        worse = max(high for _, high in intervals) < 0
        nearer = float(np.mean(less[1] > 0))
        rare = "most queries are answered better; the others' errors rule the mean" if nearer > 0.5 else ""
        lines.append(
            ReproducedLine(
                f"{number} attributes",
                "h-ceiling lower",
                f"k-anonymity {of_query[0].mean():.2f}, h-ceiling {of_query[1].mean():.2f} (published), "
                f"{of_query[2].mean():.2f} (people); lower by "
                + " and ".join(f"{low:.2f} to {high:.2f}" for low, high in intervals)
                + f"; people: nearer in {nearer:.0%} of the queries",
                Agreement.REPRODUCED if sure else Agreement.DIFFERS if worse else Agreement.UNDECIDED,
                "" if sure else rare if worse else "0 is in an interval: these queries do not tell",
            )
        )
    note = (
        f"Mean relative error of {queries} counts of records that equal a random one in random attributes. Intervals "
        "of 95 %, by bootstrap over the same queries; reproduced where both are above 0, "
        "undecided where they are not both on one side."
    )
    return ReproducedSection("Figure 10: error of counts by number of attributes, k = 5, h = 0.3", tuple(lines), note)
