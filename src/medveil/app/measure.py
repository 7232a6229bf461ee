"""What `medveil measure` does: everything that can be measured of a table or a release, whoever made it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from medveil.app.inspect import inspect
from medveil.app.preparation import prepare
from medveil.engine import Engine, Limits, open_engine, with_rows
from medveil.errors import InputError
from medveil.evaluation.comparison import Comparison, Score, Skipped
from medveil.policy import Policy, load_policy
from medveil.privacy import models
from medveil.privacy.model import PrivacyModel
from medveil.release.draft import Basis
from medveil.release.manifest import INTERNAL, LINKS, NAME, Manifest, read_manifest
from medveil.release.reading import read_release
from medveil.release.status import Status
from medveil.risk import risks
from medveil.risk.risk import RiskFinding, assess_risks
from medveil.run import Run
from medveil.table.schema import Role
from medveil.table.source import Source, open_source
from medveil.utility import measures
from medveil.utility.compute import compute_measures

PUBLISHED = frozenset({Role.QUASI, Role.SENSITIVE, Role.PLAIN})
NO_MODEL = {"model": "k-anonymity", "k": 1}
"""Where nobody says what must hold: nothing has to."""


@dataclass(frozen=True)
class Measurement:
    """What was measured of a table.

    rows: published records, and those of the original where it is given. roles: what each column was taken for, and
    `roles_from` where that is said. notes: what a reader of the figures should know.
    """

    rows: Mapping[str, int]
    roles: Mapping[str, str]
    roles_from: str
    measures: Mapping[str, Score | Skipped]
    risks: Mapping[str, RiskFinding | Skipped]
    notes: list[str] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        return asdict(self)


def measure(
    target: Any,
    original: Any = None,
    policy: Any = None,
    *,
    other: Any = None,
    quick: bool = False,
    limits: Limits | None = None,
    progress: Callable[[str, float | None], None] | None = None,
    **options: Any,
) -> Measurement:
    """Everything that can be measured of `target`: a release directory, a path or a frame.

    original: what it was made from; without it only what the table itself shows can be measured. policy: what each
    column is; the release's own where left out, and guessed where there is none. other: another release of the same
    people. quick: leave out attacks and trained models. options: how files are read, as for `open_source`.
    """
    run = Run() if progress is None else Run(progress=progress)
    run.step("Reading")
    given = _open(target, options)
    source = given.source if original is None else open_source(original, **options)
    settled, folder, roles_from = _policy(policy, given, source, whole=original is not None)
    run.step("Counting distinct records")
    population = settled.evaluation.population
    with prepare(settled, source, folder, limits, run, population=population) as problem:
        comparison = Comparison(
            problem,
            _published(given, problem.engine, problem.published) if original is None else given.table,
            method=given.method,
            companions=given.companions,
            forms=given.forms if original is not None else {},
            links=given.links(problem.engine.rows) if original is not None else None,
            original=original is not None,
            settings=settled.evaluation,
            folder=given.folder,
        )
        if other is not None:
            second = _open(other, options)
            comparison = replace(
                comparison,
                other=replace(
                    comparison,
                    published=second.table,
                    method=second.method,
                    companions=second.companions,
                    forms=second.forms,
                    links=second.links(problem.engine.rows),
                    folder=second.folder,
                    memory={},
                ),
            )
        run.step("Measuring what it is good for")
        scores = compute_measures(comparison, measures(), cheap_only=quick)
        run.step("Measuring what it gives away" if quick else "Attacking it")
        findings = assess_risks(comparison, risks(), cheap_only=quick)
        rows = {"published": comparison.published.num_rows}
        if original is not None:
            rows["original"] = problem.cells.records
        return Measurement(
            rows,
            {attribute.name: attribute.role.value for attribute in problem.schema},
            roles_from,
            scores,
            findings,
            [*_status(given.manifest), *_notes(comparison)],
        )


@dataclass(frozen=True)
class _Given:
    """A table to measure: where it is read from, and what came with it."""

    source: Source
    manifest: Manifest | None = None
    folder: Path | None = None
    companions: Mapping[str, pa.Table] = field(default_factory=dict)

    @property
    def method(self) -> Mapping[str, Any]:
        return {} if self.manifest is None else self.manifest.method

    @property
    def forms(self) -> Mapping[str, str]:
        if self.manifest is None:
            return {}
        return {str(a["name"]): str(a["form"]) for a in self.manifest.attributes if a.get("form")}

    @property
    def table(self) -> pa.Table:
        """The published table."""
        if self.manifest is not None and self.folder is not None:
            return read_release(self.folder, self.manifest)
        with open_engine(self.source, self.source.names) as engine:
            return _published(self, engine, self.source.names)

    def links(self, rows: int) -> Path | None:
        """The steward's file on what became of each record, where it is there and fits an original of so many."""
        path = None if self.folder is None else self.folder / INTERNAL / LINKS
        if path is None or not path.is_file() or pyarrow.parquet.read_metadata(path).num_rows != rows:
            return None
        return path


def _open(target: Any, options: Mapping[str, Any]) -> _Given:
    """A release directory, or any table."""
    if not (isinstance(target, str | Path) and Path(target).is_dir()):
        return _Given(open_source(target, **options))
    folder = Path(target)
    if not (folder / NAME).is_file():
        raise InputError(
            f"'{folder}' is no release directory: it has no {NAME}.",
            "Name the table itself, and a policy that says what its columns are.",
        )
    manifest = read_manifest(folder)
    if not (folder / manifest.release).is_file():
        raise InputError(f"'{folder}' has no '{manifest.release}'.", "Take the whole directory that --out made.")
    tables = [name for name in manifest.files if name.endswith(".csv") and name != manifest.release]
    companions = {name: _as_text(folder / name) for name in tables if (folder / name).is_file()}
    return _Given(open_source(folder / manifest.release), manifest, folder, companions)


def _as_text(path: Path) -> pa.Table:
    source = open_source(path)
    with open_engine(source, source.names, may_be_empty=True) as engine:
        return _published(_Given(source), engine, source.names)


def _published(given: _Given, engine: Engine, names: Any) -> pa.Table:
    """Columns of a loaded table as text, in the order of its rows."""
    wanted = [name for name in names if name in given.source.names]
    return with_rows(engine).texts(wanted)


def _policy(policy: Any, given: _Given, source: Source, *, whole: bool) -> tuple[Policy, Path, str]:
    """What each column is, and who says so.

    `whole`: there is an original. Otherwise the published labels are all there is, each a value of its own.
    """
    found, folder, roles_from = _declared(policy, given, source)
    if whole:
        return found, folder, roles_from
    kept = {name: a for name, a in found.attributes.items() if name in given.source.names}
    attributes = {
        name: {"role": a.role, "insist": True, **({} if a.role is Role.QUASI else {"type": a.type})}
        for name, a in kept.items()
    }
    sensitive = {name for name, a in kept.items() if a.role is Role.SENSITIVE}
    usable = [m for m in found.privacy if m.basis == "files" and _fits(m, sensitive)]
    labels_only = Policy(
        attributes=attributes,
        privacy=tuple(usable) or (NO_MODEL,),
        evaluation=found.evaluation,
    )
    return labels_only, folder, roles_from


def _fits(model: PrivacyModel, sensitive: set[str]) -> bool:
    attribute = model.sensitive_attribute
    return not model.needs_sensitive or (attribute in sensitive if attribute is not None else bool(sensitive))


def _declared(policy: Any, given: _Given, source: Source) -> tuple[Policy, Path, str]:
    if policy is not None:
        found, folder = load_policy(policy)
        return found, folder, "the policy"
    if given.manifest is not None and given.folder is not None:
        internal = given.folder / INTERNAL
        if (internal / "policy.json").is_file() and (internal / "run.json").is_file():
            content = json.loads((internal / "policy.json").read_text(encoding="utf-8"))
            base = Path(json.loads((internal / "run.json").read_text(encoding="utf-8"))["folder"])
            return load_policy(content)[0], base, "the release's own policy"
        return load_policy(_from_manifest(given.manifest, source))[0], given.folder, "the manifest"
    looked = inspect(source)
    attributes = {
        profile.name: {"role": guessed.role.value, "type": guessed.kind.value, "insist": True}
        for profile, guessed in zip(looked.profiles, looked.guesses, strict=True)
    }
    return load_policy({"attributes": attributes, "privacy": [NO_MODEL]})[0], Path(), "guessing"


def _from_manifest(manifest: Manifest, source: Source) -> dict[str, Any]:
    """The policy that a manifest tells of."""
    attributes: dict[str, Any] = {}
    for attribute in manifest.attributes:
        if attribute.get("made") or attribute["name"] not in source.names:
            continue
        entry = {"role": attribute["role"], "type": attribute["type"], "insist": True}
        attributes[attribute["name"]] = entry | (
            {"hierarchy": attribute["hierarchy"]} if attribute["hierarchy"] else {}
        )
    if manifest.subject is not None and manifest.subject in source.names:
        attributes[manifest.subject] = {"role": "subject"}
    known = models()
    claims = [
        {"model": claim["model"], **claim["parameters"]}
        | ({"attribute": claim["attribute"]} if claim["attribute"] else {})
        | ({"on": claim["on"]} if claim["on"] else {})
        for claim in manifest.claims
        if claim["model"] in known and known[claim["model"]].basis == "files"
    ]
    return {"attributes": attributes, "privacy": claims or [NO_MODEL]}


def _status(manifest: Manifest | None) -> list[str]:
    """What a release says of itself that its figures do not show."""
    if manifest is None:
        return []
    told = [] if manifest.status == Status.FOR_PUBLICATION.value else [f"This release is {manifest.status}."]
    if not manifest.claims:
        return [*told, "It claims nothing: low figures are no guarantee."]
    if any(claim["basis"] == Basis.PROOF.value for claim in manifest.claims):
        told.append("What protects people here holds by proof: figures that rest on groups of rows say little.")
    return told


def _notes(comparison: Comparison) -> list[str]:
    """What a reader of the figures should know; no value is told."""
    notes = []
    for name, coverage in {**comparison.coverage, **comparison.sensitive_coverage}.items():
        if name not in comparison.published.column_names:
            notes.append(f"'{name}' is not published: it counts as '*' in every record.")
        elif coverage.unread.any():
            rows = int(coverage.counts[coverage.unread].sum())
            notes.append(f"In {rows:,} records the label of '{name}' stands for no known value: it counts as '*'.")
    if comparison.problem.schema.subject is not None and comparison.counted == "records":
        notes.append("Records are counted, not people: nothing says which record of the release is whose.")
    return notes
