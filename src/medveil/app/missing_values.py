"""The values of a column that its hierarchy lacks: for the steward's own eyes, since messages must not tell them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from medveil.app.leakage import POLICY_ENDINGS
from medveil.app.preparation import kind_of, open_data, source_of
from medveil.cells import make_cells
from medveil.errors import InputError, PolicyError, did_you_mean
from medveil.hierarchy.assemble import NotCoveredError
from medveil.hierarchy.file import File
from medveil.hierarchy.specification import HierarchySpec
from medveil.policy import AttributePolicy, Policy, load_policy
from medveil.run import Run, Stage
from medveil.sources.opening import open_source
from medveil.sources.source import Source
from medveil.table.schema import Role
from medveil.workspace import Workspace


@dataclass(frozen=True)
class MissingValues:
    """The values of a column that its hierarchy does not cover, with their numbers of records, out of `distinct`."""

    column: str
    distinct: int
    values: Mapping[str, int]


def missing_values(
    given: Any, column: str, *, file: str | Path | None = None, run: Run | None = None, **options: Any
) -> MissingValues:
    """What the hierarchy of a column lacks: of a policy the one that it declares, of a table that in `file`."""
    run = run or Run()
    run.step(Stage.READ)
    source, attribute, specification, workspace = _asked(given, column, file, run, options)
    own = column if column in source.names else column.partition(".")[2]
    with run.stoppable(), run.engine(source, [own]) as engine:
        run.step(Stage.COUNT)
        formats = {own: attribute.format} if attribute.format is not None else {}
        cells = make_cells(engine.cells([own]), [own], [], {own: kind_of(attribute)}, formats)
    domain = cells.domains[own]
    counts = np.bincount(cells.codes[0], cells.counts, minlength=len(domain)).astype(np.int64)
    try:
        specification.bind(domain, column, workspace, counts)
    except NotCoveredError as error:
        lacked = {str(domain.values[leaf]): int(counts[leaf]) for leaf in error.leaves}
        return MissingValues(column, len(domain), dict(sorted(lacked.items(), key=lambda item: -item[1])))
    return MissingValues(column, len(domain), {})


def _asked(
    given: Any, column: str, file: str | Path | None, run: Run, options: Mapping[str, Any]
) -> tuple[Source, AttributePolicy, HierarchySpec, Workspace]:
    is_policy = isinstance(given, Policy) or (
        isinstance(given, str | Path) and Path(given).suffix.lower() in POLICY_ENDINGS
    )
    if is_policy:
        policy, workspace = load_policy(given, run.workspace)
        table, _, own = column.partition(".")
        known = {f"{name}.{one}": a for name, given in policy.tables.items() for one, a in given.attributes.items()}
        known |= policy.attributes
        if column not in known:
            raise PolicyError(f"The policy has no column '{column}'.", did_you_mean(column, known))
        attribute = known[column]
        if attribute.hierarchy is None:
            raise PolicyError(
                f"The policy gives '{column}' no hierarchy.",
                "Without one every value is covered: give it a 'hierarchy:' first.",
            )
        if policy.tables:
            source = source_of(policy.tables[table].data).open(workspace)
            source.position(own)
            return source, attribute, attribute.hierarchy, workspace
        source = open_data(policy, workspace)
    elif file is None:
        raise InputError(
            "A table alone declares no hierarchy.", "Give the policy instead of the table, or name --file HIERARCHY."
        )
    else:
        attribute = AttributePolicy(role=Role.QUASI, hierarchy=File(path=Path(file)))
        source, workspace = open_source(given, **options), run.workspace
    source.position(column)
    assert attribute.hierarchy is not None
    return source, attribute, attribute.hierarchy, workspace
