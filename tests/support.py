"""From a table typed in to the problem that a method is given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from medveil.cells import Subjects, make_cells
from medveil.engine import open_engine
from medveil.hierarchy.hierarchy import Hierarchy, build
from medveil.methods.problem import Problem
from medveil.privacy.count import reference_of
from medveil.privacy.model import PrivacyModel, Requirement
from medveil.release.release import Release
from medveil.sources.opening import open_source
from medveil.table.domain import Domain
from medveil.table.schema import Attribute, Kind, Role, Schema

Groups = Sequence[Mapping[str | None, str | None]]
"""A hierarchy above its leaves: for each level, the group of each value."""


@contextmanager
def make_problem(
    table: Mapping[str, Sequence[Any]] | pa.Table,
    *,
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    plain: Sequence[str] = (),
    models: Sequence[PrivacyModel] = (),
    subject: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    hierarchies: Mapping[str, Groups] | None = None,
    **options: Any,
) -> Iterator[Problem]:
    """The problem of a table; a column without `hierarchies` goes from its values to `*`.

    `options` are further fields of the problem, such as `weights` or `min_levels`.
    """
    columns = (*quasi, *sensitive)
    roles = [(quasi, Role.QUASI), (sensitive, Role.SENSITIVE), (plain, Role.PLAIN), ((subject,), Role.SUBJECT)]
    schema = Schema(tuple(Attribute(name, role) for names, role in roles for name in names if name is not None))
    arrow = table if isinstance(table, pa.Table) else pa.table(dict(table))
    with open_engine(open_source(arrow), schema.names()) as engine:
        raw = engine.cells(columns)
        cells = make_cells(raw, quasi, sensitive, kinds or {})
        if subject is not None:
            cells = replace(cells, subjects=Subjects(*engine.subjects(raw, columns, subject)))
        yield Problem(
            schema=schema,
            engine=engine,
            raw=raw,
            cells=cells,
            hierarchies={name: _hierarchy(cells.domains[name], (hierarchies or {}).get(name, ())) for name in quasi},
            models=models,
            requirements=[
                Requirement(model, tuple(sorted(quasi.index(name) for name in shield)))
                for model in models
                for shield in model.shields(quasi)
            ],
            reference=reference_of(cells),
            **options,
        )


def _hierarchy(domain: Domain, groups: Groups) -> Hierarchy:
    columns = [[level[value] for value in domain.values] for level in groups]
    return build(domain.values, columns, None, float(len(domain)), "column")


def reported(release: Release) -> dict[str, Any]:
    """What a method tells of its search: to recipients, and to the steward alone."""
    search = json.loads((Path(release.folder) / "internal" / "search.json").read_text(encoding="utf-8"))
    return {**release.manifest.method, **search}
