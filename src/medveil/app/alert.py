"""The alert of a release that still leaks: nothing is published above the level that the policy declares."""

from __future__ import annotations

from medveil.engine.links import read_links
from medveil.errors import UnreachableError
from medveil.evaluation.comparison import Comparison
from medveil.policy import LeakagePolicy
from medveil.risk.leakage import loss_of
from medveil.risk.leakage_release import mixed_classes, published_entries

ROUNDING = 1e-9


def alert(asked: LeakagePolicy, comparison: Comparison) -> None:
    """Refuse a release whose columns, each or together, leak more than is allowed.

    Together is what an attacker knows who knows them all. It is looked at with each of them: where people have several
    records a set may leak less than one of its columns.
    """
    schema, published = comparison.problem.schema, comparison.published.column_names
    names = [name for name in asked.columns or schema.quasi if name in published]
    if not names:
        return
    links = None if comparison.links is None else read_links(comparison.links)
    entries = published_entries(
        comparison.problem, comparison.published, links, mixed_classes(comparison), times=comparison.times
    )
    by_column = {name: loss_of(entries, [name]).normalized for name in names}
    worst = max(by_column, key=lambda name: by_column[name])
    together = loss_of(entries, names).normalized
    if max(together, by_column[worst]) <= asked.most + ROUNDING:
        return
    listed = f"{', '.join(names[:-1])} and {names[-1]} together" if len(names) > 1 else f"'{names[0]}'"
    alone = f"; '{worst}' alone leaks most, {by_column[worst]:.3f}" if len(names) > 1 else ""
    raise UnreachableError(
        f"Nothing was published: {listed} would still leak {together:.3f} of what there is to learn of who somebody "
        f"is, and the policy allows {asked.most:g}{alone}.",
        f"Ask for a greater k, hold '{worst}' at a higher level ('min_level'), or allow more under 'leakage'.",
    )
