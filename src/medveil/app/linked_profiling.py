"""The profile of a policy of linked tables, applied to the columns of all of them."""

from __future__ import annotations

from medveil.app.linked_plan import LinkedPlan
from medveil.app.profiling import filled, profiled_column, promise_of, ruled
from medveil.engine.tables import LinkedTables
from medveil.policy import TablePolicy
from medveil.profiles.profile import ProfiledColumn, ProfileOutcome
from medveil.release.draft import Promise
from medveil.run import Run
from medveil.table.changes import Derivation


def profiled_plan(plan: LinkedPlan, tables: LinkedTables, run: Run) -> tuple[LinkedPlan, tuple[Promise, ...]]:
    """The plan with what its profile fills in, and what the release then promises; both as they were where no profile
    is named. Columns are told as `table.column`.
    """
    profile = plan.policy.profile
    if profile is None:
        return plan, ()
    columns: list[ProfiledColumn] = []
    for name in plan.names:
        derived = {c.name: c.change for c in plan.tables[name].columns if isinstance(c.change, Derivation)}
        attributes = plan.attributes[name]
        with run.engine(tables.changed(name), list(attributes), may_be_empty=True) as engine:
            columns += [profiled_column(c, a, engine, derived.get(c), f"{name}.") for c, a in attributes.items()]
    outcome = ruled(profile, columns, plan.policy)
    return _with(plan, outcome), (promise_of(profile, columns, outcome),)


def _with(plan: LinkedPlan, outcome: ProfileOutcome) -> LinkedPlan:
    given = {name: _filled_table(plan, name, outcome) for name in plan.policy.tables}
    return LinkedPlan(plan.policy.model_copy(update={"tables": given}))


def _filled_table(plan: LinkedPlan, name: str, outcome: ProfileOutcome) -> TablePolicy:
    called = {column.source: f"{name}.{column.name}" for column in plan.tables[name].columns}
    table = plan.policy.tables[name]
    attributes = {
        column: filled(attribute, outcome.filled.get(called.get(column, "")))
        for column, attribute in table.attributes.items()
    }
    return table.model_copy(update={"attributes": attributes})
