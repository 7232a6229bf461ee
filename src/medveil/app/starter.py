"""From data that nobody knows yet to a first policy for them: what each column seems to be, and a starter's text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medveil.app.bounds import Bounds, check_size
from medveil.app.inspect import Inspection, inspect, inspect_linked, table_name
from medveil.app.inspect_folder import folder_policy, holds_known_tables, inspect_folder
from medveil.app.measure import NO_MODEL
from medveil.app.preparation import data_path, open_data
from medveil.errors import InputError
from medveil.policy import load_policy
from medveil.run import Run, Stage
from medveil.sources.opening import open_source
from medveil.sources.source import Source

ENDINGS = (
    *("csv", "tsv", "csv.gz", "tsv.gz", "csv.zst", "parquet", "pq", "feather", "arrow", "xlsx", "xls"),
    *("sas7bdat", "xpt", "sav", "por", "dta"),
)
"""How the files of a folder end that are taken for its tables."""


@dataclass(frozen=True)
class StartedPolicy:
    """What the data are, and the text of a policy to begin with, None where there is one already.

    inspection: of one table. tables: of several. named: what the policy says of where the data are, `data` or, by
    table, `tables`. left_out: what else is there, and why it is not in the policy.
    """

    named: Mapping[str, Any]
    policy: str | None
    inspection: Inspection | None = None
    tables: Mapping[str, Inspection] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "named": dict(self.named),
            "policy": self.policy,
            "inspection": None if self.inspection is None else self.inspection.to_dict(),
            "tables": {name: found.to_dict() for name, found in self.tables.items()},
            "left_out": dict(self.left_out),
        }


def starter(
    data: str | Mapping[str, Any] | None = None,
    *,
    together: Sequence[str] | None = None,
    tables: Mapping[str, Any] | None = None,
    bounds: Mapping[str, Any] | None = None,
    run: Run | None = None,
) -> StartedPolicy:
    """Look at data within bounds, and propose a policy for them.

    data: one table, as a policy names it. together: in its place the files of tables that are linked, or one folder of
    them. tables: in its place the tables of a policy that already exists.
    """
    run, within = run or Run(), Bounds(**(bounds or {}))
    run.step(Stage.READ)
    if tables is not None:
        found = {name: inspect(_opened(given, within, run), run=run) for name, given in tables.items()}
        return StartedPolicy({"tables": dict(tables)}, None, tables=found)
    if together is not None:
        return _together(together, within, run)
    assert data is not None
    return _alone(data, within, run)


def _alone(data: str | Mapping[str, Any], within: Bounds, run: Run) -> StartedPolicy:
    found = inspect(_opened(data, within, run), run=run)
    return StartedPolicy({"data": data}, found.policy(data if isinstance(data, str) else "data"), found)


def _opened(data: str | Mapping[str, Any], within: Bounds, run: Run) -> Source:
    """The source that a policy would name so."""
    policy, workspace = load_policy({"data": data, "attributes": {}, "privacy": [NO_MODEL]}, run.workspace)
    path = data_path(policy, workspace)
    if path is not None:
        _check(path, within, run)
    return _narrow(open_data(policy, workspace), within)


def _check(path: Path, within: Bounds, run: Run) -> None:
    for one in sorted(path.iterdir()) if path.is_dir() else [path]:
        if one.is_file():
            check_size(one, within, run)


def _narrow(source: Source, within: Bounds) -> Source:
    if len(source.names) > within.columns:
        raise InputError(
            f"The table has {len(source.names):,} columns, which is more than {within.columns:,}.",
            "Take out those that nobody needs, or use the command line.",
        )
    return source


def _together(given: Sequence[str], within: Bounds, run: Run) -> StartedPolicy:
    places = {path: run.workspace.resolve(path) for path in given}
    for place in places.values():
        _check(place, within, run)
    (first, folder), *others = places.items()
    if not others and folder.is_dir():
        return _folder(first, folder, within, run)
    for place in places.values():
        _narrow(open_source(place), within)
    found = inspect_linked(list(places.values()), run=run)
    data = {table_name(place): path for path, place in places.items()}
    apart = dict.fromkeys(found.links.apart, "nothing connects it with the people")
    named = {name: data[name] for name in found.tables if name not in apart}
    return StartedPolicy({"tables": named}, found.policy(data), tables=found.tables, left_out=apart)


def _folder(given: str, folder: Path, within: Bounds, run: Run) -> StartedPolicy:
    """A folder of FHIR or OMOP, of files that point to each other, or of the parts of one table."""
    if holds_known_tables(folder):
        found = inspect_folder(folder, run=run)
        text, data = folder_policy(found, folder, Path(given))
        return StartedPolicy({"tables": data}, text, tables=found.tables, left_out=found.left_out)
    files = [one for one in sorted(folder.iterdir()) if one.is_file() and one.name.lower().endswith(ENDINGS)]
    files = [one for one in files if one.name[0] not in "._"]
    if not files:
        raise InputError("The folder holds no tables.", "Choose a folder of CSV or Parquet files, of FHIR or of OMOP.")
    if len({_narrow(open_source(one), within).names for one in files}) == 1:
        return _alone(given, within, run)
    return _together([f"{given}/{one.name}" for one in files], within, run)
