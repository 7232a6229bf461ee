"""A first look at a table: what each column seems to be, and how many people it gives away."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from medveil.cells import make_cells
from medveil.engine import Engine, Limits
from medveil.errors import OutputError
from medveil.guessing.guess import ColumnProfile, Guess, guess
from medveil.guessing.starter_policy import one_subject, starter_policy
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.propose import propose
from medveil.hierarchy.specification import HierarchySpec
from medveil.policy import Policy, load_policy
from medveil.release.directory import write_whole
from medveil.risk.leakage import Leakage, leakage_of
from medveil.risk.leakage_crowd import crowd_of
from medveil.table.schema import Kind, Role
from medveil.table.source import Source, open_source
from medveil.workflow import open_data

POLICY_ENDINGS = frozenset({".yaml", ".yml", ".json"})


@dataclass(frozen=True)
class Inspection:
    """Each column's profile and guess, and the share of records that are unique on the guessed quasi-identifiers."""

    rows: int
    profiles: Sequence[ColumnProfile]
    guesses: Sequence[Guess]
    unique: float

    @property
    def quasi(self) -> list[str]:
        return [p.name for p, g in zip(self.profiles, self.guesses, strict=True) if g.role is Role.QUASI]

    def policy(self, path: str) -> str:
        """A commented starter policy for the data at `path`."""
        return starter_policy(path, [(p.name, g) for p, g in zip(self.profiles, self.guesses, strict=True)])

    def told(self) -> dict[str, Any]:
        """The same without samples of values."""
        columns = [
            {
                "name": p.name,
                "type": g.kind.value,
                "role": g.role.value,
                "reason": g.reason,
                "distinct": p.distinct,
                "missing": p.missing,
                "free_text": g.free_text,
            }
            for p, g in zip(self.profiles, self.guesses, strict=True)
        ]
        return {"rows": self.rows, "quasi": self.quasi, "unique": self.unique, "columns": columns}


def write_policy(found: Inspection, data: Path, out: Path) -> None:
    """A starter policy beside which the data are named relatively; never over a file that is there."""
    if out.exists():
        raise OutputError(f"'{out}' is there already.", "Name a new file, or remove that one first.")
    text = found.policy(os.path.relpath(data, out.parent))
    try:
        write_whole(out, text)
    except OSError as error:
        cause = "The disk is full." if error.errno == errno.ENOSPC else "Is the folder there and writable?"
        raise OutputError(f"'{out}' cannot be written.", cause) from None


def inspect(data: Any, **options: Any) -> Inspection:
    """Look at a table: a path or a frame."""
    source = open_source(data, **options)
    with Engine(source, source.names) as engine:
        profiles = [engine.profile(name) for name in source.names]
        guesses = [found for _, found in one_subject([(p.name, guess(p)) for p in profiles])]
        quasi = [p.name for p, g in zip(profiles, guesses, strict=True) if g.role is Role.QUASI]
        return Inspection(engine.rows, profiles, guesses, engine.unique_share(quasi))


def leakage(
    data: Any,
    policy: Policy | Mapping[str, Any] | str | Path | None = None,
    *,
    columns: Sequence[str] | None = None,
    up_to: int = 1,
    top: int | None = None,
    unique: float | None = None,
    subject: str | None = None,
    prior: str | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> Leakage:
    """How much an attacker learns of who somebody is, from each column and from sets of up to so many.

    `data` is a frame or a path; with a policy, which may stand alone, the published columns are measured, sets are
    made of quasi-identifiers, and its subject says who a record belongs to. Without one every column is measured, and
    sets are made of what seem to be quasi-identifiers. `columns` names others. See `medveil.risk.leakage.leakage_of`.
    """
    if policy is None and (
        isinstance(data, Policy) or (isinstance(data, (str, Path)) and Path(data).suffix.lower() in POLICY_ENDINGS)
    ):
        data, policy = None, data
    known = _known_by_policy(policy, data) if policy is not None else _known_by_guess(open_source(data, **options))
    names = tuple(dict.fromkeys(columns)) if columns else tuple(n for n in known.columns if n not in {subject, prior})
    subject = subject or known.subject
    for name in (*names, *(n for n in (subject, prior) if n is not None)):
        known.source.position(name)
    with Engine(known.source, [*names, *(n for n in (subject, prior) if n is not None)], limits) as engine:
        guessed = not columns and (up_to > 1 or unique is not None)
        among = tuple(n for n in known.quasi(engine) if n in names) if guessed else names
        crowd = crowd_of(engine, names, subject=subject, prior=prior, kinds=known.kinds)
    return leakage_of(crowd, up_to=up_to, top=top, unique=unique, among=among or names)


@dataclass(frozen=True)
class _Known:
    """What is known of a table before it is measured."""

    source: Source
    columns: tuple[str, ...]
    subject: str | None
    kinds: Mapping[str, Kind | None]
    quasi: Callable[[Engine], Sequence[str]]


def _known_by_policy(given: Policy | Mapping[str, Any] | str | Path, data: Any) -> _Known:
    policy, folder = load_policy(given)
    of_role = {role: [n for n, a in policy.attributes.items() if a.role is role] for role in Role}
    return _Known(
        open_data(policy, folder, data),
        (*of_role[Role.QUASI], *of_role[Role.SENSITIVE], *of_role[Role.PLAIN]),
        next(iter(of_role[Role.SUBJECT]), None),
        {name: attribute.type for name, attribute in policy.attributes.items()},
        lambda _engine: of_role[Role.QUASI],
    )


def _known_by_guess(source: Source) -> _Known:
    def quasi(engine: Engine) -> list[str]:
        profiles = [engine.profile(name) for name in engine.columns]
        guesses = one_subject([(p.name, guess(p)) for p in profiles])
        return [name for name, found in guesses if found.role is Role.QUASI]

    return _Known(source, source.names, None, {}, quasi)


def propose_hierarchy(data: Any, column: str, **options: Any) -> tuple[HierarchySpec, Hierarchy]:
    """A hierarchy for one column, as a policy would declare it, and bound to the column's values."""
    source = open_source(data, **options)
    source.position(column)
    with Engine(source, [column]) as engine:
        cells = make_cells(engine.cells([column]), [column], [], {})
    domain = cells.domains[column]
    specification = propose(domain, column)
    return specification, specification.bind(
        domain, column, Path(), np.bincount(cells.codes[0], cells.counts).astype(np.int64)
    )
