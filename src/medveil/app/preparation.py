"""From a policy and a source to the problem that a method is given."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from medveil.app.changing import (
    changes,
    derivations,
    flat_table,
    person_of,
    published_policy,
    release_key,
    warnings_on_dates,
)
from medveil.app.partial_dates import warn_of_partial_dates
from medveil.app.profiling import profiled
from medveil.app.singling_out import refuse_what_names_people
from medveil.app.tiers import cells_elsewhere
from medveil.cells import Cells, Subjects, make_cells, with_population
from medveil.declared_cells import declared_cells
from medveil.engine import Engine
from medveil.engine.changed import Changed
from medveil.errors import PolicyError, did_you_mean
from medveil.guessing.column_profile import ColumnProfile
from medveil.guessing.guess import guess
from medveil.hierarchy.flat import Flat
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.specification import HierarchySpec
from medveil.methods.problem import Problem
from medveil.policy import AttributePolicy, Policy, TablePolicy
from medveil.privacy.count import reference_of
from medveil.privacy.model import PrivacyModel, requirements_of
from medveil.run import Run, Stage
from medveil.sources.csv import WRITTEN
from medveil.sources.file import FileSpec
from medveil.sources.labelled import ValueLabels, with_labels
from medveil.sources.opening import open_source
from medveil.sources.source import Source, SourceSpec
from medveil.table.changes import Derivation
from medveil.table.schema import Attribute, Kind, Role, Schema
from medveil.workspace import Workspace


@contextmanager
def prepare(
    policy: Policy,
    source: Source,
    workspace: Workspace,
    run: Run | None = None,
    *,
    population: str | None = None,
) -> Iterator[Problem]:
    """The problem, with the engine that holds its rows open.

    `population`: a file to compare with where no model names one; for measures alone, since methods need none.
    """
    run = with_engine(run or Run(), policy)
    if not changes(policy):
        with _prepare(policy, source, workspace, run, population) as problem:
            yield problem
        return
    _refuse_changes_under_noise(policy)
    derived = derivations(policy)
    with (
        changed_source(policy, source, workspace, run) as (changed, original),
        _prepare(published_policy(policy), changed, workspace, run, population, derived) as problem,
    ):
        yield replace(problem, changed=original)


def _refuse_changes_under_noise(policy: Policy) -> None:
    """Dates are read in a format that all of them share, and one that has another is refused. Under differential
    privacy neither may depend on the data: one record could change what is read of everybody's.
    """
    if any(model.declared_domains for model in policy.privacy):
        raise PolicyError(
            "Under differential privacy no column is derived, shifted or made a pseudonym: how dates are read would "
            "depend on all records.",
            "Derive the column before, record by record, and name it in the policy.",
        )


@contextmanager
def changed_source(policy: Policy, source: Source, workspace: Workspace, run: Run) -> Iterator[tuple[Source, Changed]]:
    """The source with its keys as pseudonyms, its dates shifted, and what is derived; and what it was made of."""
    for name in policy.attributes:
        source.position(name)
    table = flat_table(policy)
    key = release_key(policy, workspace, run)
    for words in warnings_on_dates(policy, key):
        run.warn(words)
    with run.change({table.name: table}, {table.name: source}, key, table.person or "") as tables:
        lost = {name: count for name, count in tables.lost(table.name).items() if count}
        for name, count in lost.items():
            run.warn(
                f"'{name}' is missing in {count:,} records although its date is there: is that date "
                "too late, or does it lack a day?"
            )
        yield tables.changed(table.name), Changed(tables.raw(table.name), table, key)


@contextmanager
def _prepare(
    policy: Policy,
    source: Source,
    workspace: Workspace,
    run: Run,
    population: str | None,
    derived: Mapping[str, Derivation] | None = None,
) -> Iterator[Problem]:
    schema = _schema(policy, source)
    models = _resolve(policy.privacy, schema)
    needed = schema.names(*(role for role in Role if role is not Role.IDENTIFIER))
    declared = any(model.declared_domains for model in models)
    with run.engine(source, needed, may_be_empty=declared) as engine:
        policy, further = profiled(policy, engine, derived or {})
        schema = _schema(policy, source)
        if declared:
            counted = _count_declared(policy, schema, models, engine, workspace, run)
        else:
            counted = _count_found(policy, schema, models, engine, workspace, run, population)
        cells, hierarchies = counted.cells, counted.hierarchies
        yield Problem(
            schema=schema,
            engine=engine,
            raw=counted.raw,
            cells=cells,
            hierarchies={name: hierarchies[name] for name in schema.quasi},
            models=models,
            requirements=requirements_of(models, schema.quasi),
            reference=reference_of(
                cells, {name: hierarchies[name] for name in schema.sensitive if name in hierarchies}
            ),
            weights={name: policy.attributes[name].weight for name in schema.quasi},
            min_levels={name: _least_level(policy.attributes[name]) for name in schema.quasi},
            max_levels=_max_levels(policy, schema.quasi, hierarchies),
            specifications={name: specification(policy.attributes[name]) for name in cells.domains},
            workspace=workspace,
            described={name: specification(policy.attributes[name]).described() for name in hierarchies},
            stars=policy.output.suppressed == "stars",
            preparation=counted.preparation,
            further=further,
        )


@dataclass(frozen=True)
class _Counted:
    """The engine's distinct tuples, the cells that they are, and the hierarchies over the cells' domains. Where cells
    stay with the engine the tuples do too.
    """

    raw: pa.Table | None
    cells: Cells
    hierarchies: Mapping[str, Hierarchy]
    preparation: Mapping[str, Any] = field(default_factory=dict)


def _count_found(
    policy: Policy,
    schema: Schema,
    models: Sequence[PrivacyModel],
    engine: Engine,
    workspace: Workspace,
    run: Run,
    named: str | None,
) -> _Counted:
    """Cells over the values that the data hold."""
    _refuse_too_many(models, schema, engine)
    refuse_what_names_people(policy.attributes, engine)
    run.step(Stage.COUNT)
    columns = (*schema.quasi, *schema.sensitive)
    kinds = {name: kind_of(policy.attributes[name]) or _guessed_kind(engine.profile(name)) for name in columns}
    warn_of_partial_dates(engine, columns, kinds, run)
    elsewhere = cells_elsewhere(policy, schema, engine, kinds, _formats(schema), run)
    if elsewhere is not None:
        return _Counted(None, elsewhere, _hierarchies(policy, elsewhere, workspace))
    raw = engine.cells(columns)
    joined, people = with_population(raw, schema, _population(models, workspace, engine.missing, named), run.engine)
    cells = replace(make_cells(joined, schema.quasi, schema.sensitive, kinds, _formats(schema)), population=people)
    if schema.subject is not None:
        offsets, codes, count = engine.subjects(raw, columns, schema.subject)
        nobody = np.full(len(cells) - len(raw), offsets[-1])
        cells = replace(cells, subjects=Subjects(np.concatenate([offsets, nobody]), codes, count))
    return _Counted(raw, cells, _hierarchies(policy, cells, workspace))


MANY = 64
"""Quasi-identifiers beyond which no k holds on all of them at once unless nearly every column is hidden."""


def _refuse_too_many(models: Sequence[PrivacyModel], schema: Schema, engine: Engine) -> None:
    """Say at once, and not after a long search, that so many quasi-identifiers cannot be held together."""
    asked = [m for m in models if m.least_class_size is not None and m.least_class_size > 1]
    together = max((len(m.shields(schema.quasi)[0]) for m in asked), default=0)
    if together <= MANY:
        return
    costly = sorted(schema.quasi, key=lambda name: (-engine.distinct(name), schema.quasi.index(name)))[:5]
    raise PolicyError(
        f"{together:,} quasi-identifiers cannot be held together: with more than {MANY} nearly everybody is unique, "
        f"and little but '*' would be published. Those with the most values cost most: {', '.join(map(repr, costly))}.",
        "Give columns that nobody outside can know the role sensitive or plain, take out those that nobody needs, and "
        "ask for lkc-privacy on the rest, which protects against people who know a few of them.",
    )


def _count_declared(
    policy: Policy, schema: Schema, models: Sequence[PrivacyModel], engine: Engine, workspace: Workspace, run: Run
) -> _Counted:
    """Cells over the domains that the policy declares, of at most so many records a person; nothing is refused for
    what the data hold. Free text is no danger here: only declared values, or such as many people have, come out.
    """
    run.step(Stage.COUNT)
    spending, *others = [model.spends for model in models if model.spends is not None]
    if others:
        raise PolicyError("Differential privacy is asked for twice.", "Name 'differential-privacy' once.")
    given = engine.rows
    if schema.subject is not None:
        engine.bound_records(schema.subject, spending.max_records_per_subject)
    elif spending.max_records_per_subject > 1:
        raise PolicyError(
            "'max_records_per_subject' needs a column that says who a record belongs to.",
            "Give a column 'role: subject', or leave it out: every record is then a person of its own.",
        )
    columns = (*schema.quasi, *schema.sensitive)
    found = declared_cells(
        engine.cells(columns),
        schema.quasi,
        schema.sensitive,
        {name: specification(policy.attributes[name]) for name in columns},
        {name: kind_of(policy.attributes[name]) for name in columns},
        workspace,
        formats=_formats(schema),
        undeclared_sensitive=spending.delta > 0,
    )
    told = {
        "records": given,
        "records beyond max_records_per_subject or without a subject": given - engine.rows,
        "values outside the declared domain": dict(found.outside),
        "records left out for a value without a catch-all": found.left_out,
    }
    return _Counted(found.raw, found.cells, found.hierarchies, told)


def _formats(schema: Schema) -> dict[str, str]:
    """How the source writes the dates and numbers of columns, where the policy says so."""
    return {attribute.name: attribute.written for attribute in schema if attribute.written is not None}


def _population(
    models: Sequence[PrivacyModel], workspace: Workspace, missing: Collection[str], named: str | None
) -> Source | None:
    """The population that a model compares with, read like the data; there can be only one."""
    files = sorted({str(path) for model in models if (path := model.population_file)})
    if len(files) > 1:
        raise PolicyError("Several population files are named.", "Name the same one in every model.")
    if not files and named is not None:
        files = [named]
    return open_source(workspace.resolve(files[0]), missing=missing) if files else None


def _schema(policy: Policy, source: Source) -> Schema:
    for name in policy.attributes:
        source.position(name)
    return Schema(
        tuple(
            Attribute(
                name,
                attribute.role,
                kind_of(attribute) or Kind.CATEGORY,
                attribute.format,
                person=attribute.role is Role.KEY and name == person_of(policy.attributes),
            )
            for name, attribute in policy.attributes.items()
        )
    )


def kind_of(attribute: AttributePolicy) -> Kind | None:
    """The declared type, or the one that the hierarchy needs; None where it is to be found out."""
    if attribute.type is not None:
        return attribute.type
    if attribute.hierarchy is not None and attribute.hierarchy.kinds:
        return attribute.hierarchy.kinds[0]
    return None if attribute.labels is None else Kind.CATEGORY


def _guessed_kind(profile: ColumnProfile) -> Kind | None:
    """What `medveil inspect` says that a column is; None where a sample cannot tell that of all values."""
    kind = guess(profile).kind
    sampled = profile.distinct > len(profile.sample)
    return None if sampled and kind in {Kind.NUMBER, Kind.DATE} else kind


def _resolve(models: Sequence[PrivacyModel], schema: Schema) -> list[PrivacyModel]:
    """The models, one for each sensitive attribute that they are about, their columns checked."""
    resolved: list[PrivacyModel] = []
    for model in models:
        if model.about_sets:
            raise PolicyError(
                f"The model '{model.name}' is about the values that a person has in several records.",
                "Use it with linked tables ('tables:') on a column with 'set: true'.",
            )
        for name in model.on or ():
            if name not in schema.quasi:
                raise PolicyError(
                    f"The model '{model.name}' is limited to '{name}', which is not a quasi-identifier.",
                    did_you_mean(name, schema.quasi),
                )
        resolved.extend(model.for_attributes(schema.sensitive))
    return resolved


def _hierarchies(policy: Policy, cells: Cells, workspace: Workspace) -> dict[str, Hierarchy]:
    """The hierarchy of every quasi-identifier, and of the sensitive attributes that declare one."""
    bound = {}
    for name, domain in cells.domains.items():
        attribute = policy.attributes[name]
        if attribute.role is Role.QUASI or attribute.hierarchy is not None:
            bound[name] = specification(attribute).bind(domain, name, workspace, cells.records_of(name))
    return bound


def specification(attribute: AttributePolicy) -> HierarchySpec:
    """The hierarchy of a column: the one that is declared, or from its values straight to the root."""
    return attribute.hierarchy if attribute.hierarchy is not None else Flat(domain=attribute.domain)


def _least_level(attribute: AttributePolicy) -> int:
    """The least level that the policy allows; codes of the hierarchy must hold at it."""
    return max(attribute.min_level, specification(attribute).least_level)


def _max_levels(policy: Policy, quasi: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> dict[str, int]:
    levels = {}
    for name in quasi:
        height, attribute = hierarchies[name].height, policy.attributes[name]
        if attribute.max_level is not None and attribute.max_level < _least_level(attribute):
            raise PolicyError(
                f"The max_level of '{name}' is {attribute.max_level}, but its top or bottom code holds from level "
                f"{_least_level(attribute)} on.",
                "Raise it, or take the code out of the hierarchy.",
            )
        for key, level in (("min_level", attribute.min_level), ("max_level", attribute.max_level)):
            if level is not None and level > height:
                raise PolicyError(
                    f"The {key} of '{name}' is {level}, but its hierarchy ends at level {height}.",
                    f"Choose a level from 0 to {height}.",
                )
        levels[name] = height if attribute.max_level is None else attribute.max_level
    return levels


def with_engine(run: Run, policy: Policy) -> Run:
    """The run with the engine that the policy names, where none was handed in."""
    if policy.engine is None:
        return run
    run = replace(run, limits=replace(run.limits, cells_at_most=policy.engine.cells_at_most))
    if run.engines is not None:
        return run
    return replace(run, engines=policy.engine.open, tables=policy.engine)


def open_data(policy: Policy, workspace: Workspace, data: Any = None) -> Source:
    """The source that a policy names, or the given one in its place. Under differential privacy the policy alone says
    how it is read.
    """
    declared = any(model.declared_domains for model in policy.privacy)
    if data is None and policy.data is None:
        raise PolicyError("The policy names no data.", "Add 'data: FILE', or give a frame.")
    if data is not None:
        named = None if policy.data is None else source_of(policy.data)
        options = reading_options(named.model_dump() if named else {})
        source = open_source(data, **(options | {"declared": True} if declared else options))
    else:
        assert policy.data is not None
        spec = source_of(policy.data)
        source = spec.open_declared(workspace) if declared else spec.open(workspace)
    return with_labels(source, labels_of(policy.attributes))


def labels_of(attributes: Mapping[str, AttributePolicy]) -> dict[str, ValueLabels]:
    """What the values of columns mean, where the policy says so."""
    declared = {name: attribute.labels for name, attribute in attributes.items() if attribute.labels is not None}
    return {name: ValueLabels(None if isinstance(labels, str) else labels) for name, labels in declared.items()}


def open_table(table: TablePolicy, workspace: Workspace) -> Source:
    """The source of one of several tables."""
    return with_labels(source_of(table.data).open(workspace), labels_of(table.attributes))


def source_of(data: str | SourceSpec) -> SourceSpec:
    """A source as a policy names it: a plain path is a file."""
    return FileSpec(path=data) if isinstance(data, str) else data


def reading_options(data: Mapping[str, Any]) -> dict[str, Any]:
    """Of what a policy writes under `data:`, how a file is read: it holds for a file in its place too."""
    return {key: data[key] for key in (*WRITTEN, "sheet", "missing") if key in data}


def data_path(policy: Policy, workspace: Workspace, data: Any = None) -> Path | None:
    """The file that the data are in; None where they are in none."""
    if data is not None:
        return Path(data) if isinstance(data, str | Path) else None
    named = policy.data if isinstance(policy.data, str | None) else policy.data.file
    return None if named is None else workspace.resolve(named)


@contextmanager
def opened(
    policy: Policy, workspace: Workspace, data: Any = None, run: Run | None = None, *, population: str | None = None
) -> Iterator[tuple[Problem, Source]]:
    """The problem that a policy poses, with the engine that holds its rows open."""
    run = run or Run()
    if policy.tables:
        raise PolicyError(
            "This looks at one table, and the policy names several.", "'anonymize' and 'audit' take linked tables."
        )
    source = open_data(policy, workspace, data)
    run.step(Stage.READ)
    with prepare(policy, source, workspace, run, population=population) as problem:
        yield problem, source
