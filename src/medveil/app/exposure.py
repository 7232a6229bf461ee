"""What columns give away of people as they are, under the roles that a steward is considering."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from medveil.app.linked_plan import LinkedPlan
from medveil.app.linking import linked_tables
from medveil.app.preparation import open_data
from medveil.engine.tables import PERSON
from medveil.errors import PolicyError
from medveil.policy import Policy, load_policy
from medveil.risk.leakage import LeakageLoss, leakage_of, loss_of
from medveil.risk.leakage_entries import Entries, entries_of
from medveil.run import Run, Stage
from medveil.table.schema import Role
from medveil.workspace import Workspace

WORST = 5
"""How many pairs are listed."""


@dataclass(frozen=True)
class GivenAway:
    """Of how many people an attacker who knows nothing lacks how many bits; what each column leaks, the pairs of
    quasi-identifiers that leak most, and what all quasi-identifiers together do (None where there are none).
    """

    people: int
    counted: str
    bits: float
    columns: Sequence[LeakageLoss]
    pairs: Sequence[LeakageLoss]
    together: LeakageLoss | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def exposure(policy: Policy | Mapping[str, Any], *, data: Any = None, run: Run | None = None) -> GivenAway:
    """What the columns of a policy's data leak; sets are made of its quasi-identifiers. Of linked tables, the columns
    are the quasi-identifiers of all of them, called `table.column`.
    """
    run = run or Run()
    checked, workspace = load_policy(policy, run.workspace)
    run.step(Stage.READ)
    if checked.tables:
        return _linked(checked, workspace, run)
    roles = {name: attribute.role for name, attribute in checked.attributes.items()}
    subject = next((name for name, role in roles.items() if role is Role.SUBJECT), None)
    names = [name for name in roles if name != subject]
    if not names:
        raise PolicyError("There is no column to look at.", "Give the columns a role.")
    source = open_data(checked, workspace, data)
    with run.stoppable():
        with run.engine(source, [*names, *([] if subject is None else [subject])]) as engine:
            run.step(Stage.COUNT)
            kinds = {name: attribute.type for name, attribute in checked.attributes.items()}
            entries = entries_of(engine, names, subject=subject, kinds=kinds)
        return _given_away(entries, [name for name in names if roles[name] is Role.QUASI], run)


def _linked(policy: Policy, workspace: Workspace, run: Run) -> GivenAway:
    """What the view of people leaks."""
    plan = LinkedPlan(policy)
    names = [called for called in plan.view if plan.attribute(called).role is Role.QUASI]
    with run.stoppable(), linked_tables(plan, workspace, run, published=False) as tables:
        if not names:
            people = tables.alive(plan.root)
            return GivenAway(people, "people", math.log2(people), (), (), None)
        with run.engine(tables.view([(*plan.view[called], called) for called in names]), [PERSON, *names]) as engine:
            run.step(Stage.COUNT)
            kinds = {called: plan.attribute(called).type for called in names}
            entries = entries_of(engine, names, subject=PERSON, kinds=kinds)
        return _given_away(entries, names, run)


def _given_away(entries: Entries, quasi: Sequence[str], run: Run) -> GivenAway:
    run.step(Stage.ATTACK, None, "Counting sets of columns")
    found = leakage_of(entries, up_to=2, top=WORST, among=quasi or entries.names[:1])
    together = loss_of(entries, quasi) if quasi else None
    pairs = [one for one in found.sets if len(one.attributes) == 2]
    return GivenAway(found.people, found.counted, found.initial, found.singles, pairs, together)
