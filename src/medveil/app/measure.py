"""What `medveil measure` does: everything that can be measured of a table or a release, whoever made it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.app.changing import counted_attributes
from medveil.app.counting import count_frame
from medveil.app.evaluating import PublishedTable, evaluate
from medveil.app.inspect import inspect
from medveil.app.linked_measuring import linked_comparison, measured_tables
from medveil.app.preparation import labels_of, prepare, reading_options
from medveil.app.reached import ReachedFigures, reached
from medveil.app.starting import started
from medveil.codes.combine import combine
from medveil.engine import Engine, Limits, with_rows
from medveil.errors import InputError, PolicyError
from medveil.evaluation.comparison import Comparison, Score, Skipped
from medveil.policy import Policy, load_policy
from medveil.privacy import models
from medveil.privacy.count import reference_of
from medveil.privacy.model import PrivacyModel
from medveil.release.claim import Basis
from medveil.release.manifest import INTERNAL, NAME, Manifest, read_manifest
from medveil.release.reading import read_texts
from medveil.release.status import Status
from medveil.risk.risk import RiskFinding
from medveil.run import Listener, Run, Stage
from medveil.sources.frame import open_frame
from medveil.sources.labelled import with_labels
from medveil.sources.opening import open_source
from medveil.sources.source import Source
from medveil.table.schema import Role
from medveil.workspace import Workspace

NO_MODEL = {"model": "k-anonymity", "k": 1}
"""Where nobody says what must hold: nothing has to."""


@dataclass(frozen=True)
class Measurement:
    """What was measured of a table.

    rows: published records, and those of the original where it is given. roles: what each column was taken for, and
    `roles_from` where that is said. reached: what the groups of records that look alike reach of each privacy model
    that is counted in them; where the original is given, the claims of the release say so. notes: what a reader of the
    figures should know. sizes: how many records each of these groups has, where a frame's columns alone were named.
    """

    rows: Mapping[str, int]
    roles: Mapping[str, str]
    roles_from: str
    reached: Sequence[ReachedFigures]
    measures: Mapping[str, Score | Skipped]
    risks: Mapping[str, RiskFinding | Skipped]
    notes: list[str] = field(default_factory=list)
    sizes: NDArray[np.int64] | None = field(default=None, repr=False)

    @property
    def k(self) -> int | None:
        """The least number of people that look alike; None where it was not counted."""
        found = self._figures("k-anonymity", "k")
        return int(min(found)) if found else None

    @property
    def l(self) -> int | None:  # noqa: E743 - the literature's name
        """The least number of values of a sensitive attribute among people that look alike."""
        found = self._figures("distinct l-diversity", "l")
        return int(min(found)) if found else None

    @property
    def t(self) -> float | None:
        """The greatest distance of their values from those of all."""
        return max(self._figures("t-closeness", "t"), default=None)

    def _figures(self, model: str, figure: str) -> list[float]:
        return [one.figures[figure] for one in self.reached if one.model == model]

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "sizes"}


def measure(
    target: Any,
    original: Any = None,
    policy: Policy | Mapping[str, Any] | str | Path | None = None,
    *,
    quasi: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    subject: str | None = None,
    other: Any = None,
    quick: bool = False,
    limits: Limits | None = None,
    progress: Listener | None = None,
    cancelled: Callable[[], bool] | None = None,
    run: Run | None = None,
    **options: Any,
) -> Measurement:
    """Everything that can be measured of `target`: a release directory, a path or a frame.

    original: what it was made from; without it only what the table itself shows can be measured. policy: what each
    column is; the release's own where left out, and guessed where there is none. quasi, sensitive, subject: the same
    instead of a policy; with these alone no attack is run and no model trained, and of a frame of records only
    what its groups reach is counted, from where its columns lie, without a copy of a row. other: another release of the
    same people. quick: leave out attacks and trained models. options: how files are read, as for `open_source`.
    """
    run = started(run, limits=limits, progress=progress, cancelled=cancelled)
    if quasi is not None:
        if policy is not None:
            raise PolicyError("Columns are named both in a policy and beside it.", "Use one or the other.")
        if original is None and other is None and subject is None and not isinstance(target, str | Path):
            with run.stoppable():
                return _count(target, quasi, sensitive, options, run)
        policy, quick = _policy_of(quasi, sensitive, subject), quick or original is None
    with run.stoppable():
        return _measure(target, original, policy, other, options, run, quick=quick)


def _measure(
    target: Any, original: Any, policy: Any, other: Any, options: Mapping[str, Any], run: Run, *, quick: bool
) -> Measurement:
    run.step(Stage.READ)
    given = _open(target, options, run)
    if given.manifest is not None and given.folder is not None and given.manifest.tables:
        if policy is not None or other is not None:
            raise PolicyError(
                "A linked release says itself what its columns are, and is measured alone or beside its original.",
                "Leave the policy and the other release out; the original is given as the policy that names it.",
            )
        return _measure_linked(given.folder, given.manifest, original, run, quick=quick)
    source = given.source if original is None else open_source(original, **(_own_options(given) | _given(options)))
    settled, workspace, roles_from = _policy(policy, given, source, run, whole=original is not None)
    source = with_labels(source, labels_of(settled.attributes))
    with prepare(settled, source, workspace, run, population=settled.evaluation.population) as problem:
        whole = original is not None
        if whole:
            published = given.published
        else:
            published = replace(given.alone, table=_table(given.source, problem.engine, problem.published))
        comparison = published.beside(problem, settled.evaluation, run, original=whole)
        if other is not None:
            second = _open(other, options, run).published.beside(problem, settled.evaluation, run)
            comparison = replace(comparison, other=second)
        found = evaluate(comparison, models=not quick, attacks=not quick, run=run)
        rows = {"published": comparison.published.num_rows}
        if whole:
            rows["original"] = problem.cells.records
        return Measurement(
            rows,
            {attribute.name: attribute.role.value for attribute in problem.schema},
            roles_from,
            () if whole else reached(problem.cells, problem.reference),
            found.measures,
            found.risks,
            [*_status(given.manifest), *_another(given.manifest, rows), *_notes(comparison)],
        )


def _another(manifest: Manifest | None, rows: Mapping[str, int]) -> list[str]:
    """Whether the original seems to be another table than the one that the release was made from."""
    made_from = None if manifest is None else manifest.rows.get("input")
    if made_from is None or rows.get("original", made_from) == made_from:
        return []
    told = f"The original has {rows['original']:,} records and the release was made from {made_from:,}"
    return [f"{told}: figures that compare the two are of no use unless it was made from this table."]


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None and value != []}


def _own_options(given: _Given) -> dict[str, Any]:
    """How the original of a release was read, where the steward's files tell it."""
    data = given.own_policy.get("data")
    return _given(reading_options(data)) if isinstance(data, Mapping) else {}


def _measure_linked(folder: Path, manifest: Manifest, original: Any, run: Run, *, quick: bool) -> Measurement:
    """What the view of people in a linked release is good for and gives away."""
    with linked_comparison(folder, manifest, original, run) as comparison:
        found, groups = measured_tables(comparison, run, quick=quick)
        schema = comparison.problem.schema
        rows = {"published": comparison.published.num_rows}
        if comparison.original:
            rows["original"] = comparison.problem.cells.records
        left = [f"No claim covers {one['what']}: {one['singled_out']:.1%} of people." for one in manifest.uncovered]
        return Measurement(
            rows,
            {attribute.name: attribute.role.value for attribute in schema},
            "the manifest" if original is None else "the policy",
            groups,
            found.measures,
            found.risks,
            [*_status(manifest), *_notes(comparison), *left],
        )


def _count(
    frame: Any, quasi: Sequence[str], sensitive: Sequence[str], options: Mapping[str, Any], run: Run
) -> Measurement:
    """What the groups of a frame reach."""
    run.step(Stage.READ)
    roles = {**dict.fromkeys(quasi, Role.QUASI.value), **dict.fromkeys(sensitive, Role.SENSITIVE.value)}
    if len(roles) < len(quasi) + len(sensitive):
        raise PolicyError("A column is named twice.", "Name every column once.")
    source = open_frame(frame, options.get("missing", ()), columns=roles, numbered=True)
    cells = count_frame(source, quasi, sensitive, run)
    run.step(Stage.MEASURE)
    first, group = combine(list(cells.codes), [len(cells.domains[name]) for name in cells.quasi], len(cells))
    sizes = np.bincount(group, cells.counts, minlength=len(first)).astype(np.int64)
    found = reached(cells, reference_of(cells))
    return Measurement({"published": cells.records}, roles, "the names that were given", found, {}, {}, [], sizes)


def _policy_of(quasi: Sequence[str], sensitive: Sequence[str], subject: str | None) -> Policy:
    """The policy of a caller who names columns alone."""
    roles = {**dict.fromkeys(quasi, Role.QUASI), **dict.fromkeys(sensitive, Role.SENSITIVE)}
    if subject is not None:
        roles[subject] = Role.SUBJECT
    attributes = {name: {"role": role, "insist": True} for name, role in roles.items()}
    return load_policy({"attributes": attributes, "privacy": [NO_MODEL]})[0]


@dataclass(frozen=True)
class _Given:
    """A table to measure: where it is read from, and what came with it."""

    source: Source
    run: Run
    manifest: Manifest | None = None
    folder: Path | None = None

    @cached_property
    def own_policy(self) -> Mapping[str, Any]:
        """The policy that the release was made by, where the steward's files are at hand."""
        path = (self.folder or Path()) / INTERNAL / "policy.json"
        return json.loads(path.read_text(encoding="utf-8")) if self.folder and path.is_file() else {}

    @property
    def published(self) -> PublishedTable:
        """The published table with what came with it."""
        if self.manifest is None or self.folder is None:
            with self.run.engine(self.source, self.source.names) as engine:
                return PublishedTable(_table(self.source, engine, self.source.names))
        return PublishedTable.release(self.folder, self.manifest, self._companions)

    @property
    def alone(self) -> PublishedTable:
        """The same without the table."""
        return PublishedTable(pa.table({}), self.manifest, self.folder, self._companions)

    @property
    def _companions(self) -> Mapping[str, pa.Table]:
        if self.manifest is None or self.folder is None:
            return {}
        rows = {self.manifest.release, *self.manifest.parts}
        tables = [name for name in self.manifest.files if name.endswith(".csv") and name not in rows]
        return {name: self._as_text(self.folder / name) for name in tables if (self.folder / name).is_file()}

    def _as_text(self, path: Path) -> pa.Table:
        source = open_source(path, header=True)
        with self.run.engine(source, source.names, may_be_empty=True) as engine:
            return _table(source, engine, source.names)


def _open(target: Any, options: Mapping[str, Any], run: Run) -> _Given:
    """A release directory, or any table."""
    if not (isinstance(target, str | Path) and Path(target).is_dir()):
        return _Given(open_source(target, **options), run)
    folder = Path(target)
    if not (folder / NAME).is_file():
        raise InputError(
            f"'{folder}' is not a release directory: it has no {NAME}.",
            "Name the table itself, and a policy that says what its columns are.",
        )
    manifest = read_manifest(folder)
    missing = [path.relative_to(folder) for path in manifest.published(folder) if not path.is_file()]
    if missing:
        raise InputError(f"'{folder}' has no '{missing[0]}'.", "Give the whole directory that --out made.")
    rows = read_texts(folder, manifest) if manifest.parts else folder / manifest.release
    return _Given(open_source(rows, header=True), run, manifest, folder)


def _table(source: Source, engine: Engine, names: Sequence[str]) -> pa.Table:
    """Columns of a loaded table as text, in the order of its rows."""
    wanted = [name for name in names if name in source.names]
    return with_rows(engine).texts(wanted)


def _policy(policy: Any, given: _Given, source: Source, run: Run, *, whole: bool) -> tuple[Policy, Workspace, str]:
    """What each column is, and who says so.

    `whole`: there is an original. Otherwise the published labels are all there is, each a value of its own.
    """
    found, workspace, roles_from = _declared(policy, given, source, run)
    if whole:
        return found, workspace, roles_from
    kept = {name: a for name, a in counted_attributes(found).items() if name in given.source.names}
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
    return labels_only, workspace, roles_from


def _fits(model: PrivacyModel, sensitive: set[str]) -> bool:
    attribute = model.sensitive_attribute
    return not model.needs_sensitive or (attribute in sensitive if attribute is not None else bool(sensitive))


def _declared(policy: Any, given: _Given, source: Source, run: Run) -> tuple[Policy, Workspace, str]:
    if policy is not None:
        found, workspace = load_policy(policy, run.workspace)
        return found, workspace, "the policy"
    if given.manifest is not None and given.folder is not None:
        internal = given.folder / INTERNAL
        if (internal / "policy.json").is_file() and (internal / "run.json").is_file():
            base = Path(json.loads((internal / "run.json").read_text(encoding="utf-8"))["folder"])
            return load_policy(given.own_policy)[0], replace(run.workspace, folder=base), "the release's own policy"
        told = load_policy(_from_manifest(given.manifest, source))[0]
        return told, replace(run.workspace, folder=given.folder), "the manifest"
    looked = inspect(source, run=run)
    attributes = {
        profile.name: {"role": guessed.role.value, "type": guessed.kind.value, "insist": True}
        for profile, guessed in zip(looked.profiles, looked.guesses, strict=True)
    }
    return load_policy({"attributes": attributes, "privacy": [NO_MODEL]})[0], run.workspace, "guessing"


def _from_manifest(manifest: Manifest, source: Source) -> dict[str, Any]:
    """The policy that a manifest describes."""
    attributes: dict[str, Any] = {}
    for attribute in manifest.attributes:
        if attribute.get("made") or attribute["name"] not in source.names:
            continue
        role = Role.PLAIN.value if attribute["role"] in {Role.KEY, Role.DATE} else attribute["role"]
        entry = {"role": role, "type": attribute["type"], "insist": True}
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
