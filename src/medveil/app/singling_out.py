"""What is published as it is and tells people apart: plain columns that single people out, rare sensitive values.

A plain column takes no part in any model. Whoever knows its value of a person can look for that person by it, alone or
with the published quasi-identifiers; more than a few people must not be found that way unless the policy insists.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from medveil.app.changing import counted_attributes
from medveil.engine import Engine
from medveil.errors import PolicyError
from medveil.evaluation.comparison import Comparison
from medveil.guessing.guess import Guess, guess
from medveil.methods.problem import Problem
from medveil.policy import AttributePolicy, Policy
from medveil.risk.leakage_release import loss_of_plain
from medveil.risk.leaking import leakage_of_comparison
from medveil.table.arrow import numpy_of
from medveil.table.schema import Kind, Role

TOLD = 0.05
"""The share of people whom a plain column may single out where the policy does not say otherwise."""
SHOWN = 5
"""Columns that a warning names."""


def refuse_what_names_people(attributes: Mapping[str, AttributePolicy], engine: Engine, table: str = "") -> None:
    """Nobody knows what a free text tells, and a column that identifies undoes everything else, whatever role it is
    given: such columns are published only where the policy insists. `table` stands before the names of columns.
    """
    for name, attribute in attributes.items():
        if attribute.insist is True or attribute.role not in {Role.SENSITIVE, Role.PLAIN}:
            continue
        looks = _looks_like(guess(engine.profile(name)), attribute.role)
        if looks is not None:
            raise PolicyError(
                f"Column '{table}{name}' looks like {looks}.",
                f"Give '{table}{name}' the role identifier, or insist with 'insist: true'.",
            )


def _looks_like(found: Guess, role: Role) -> str | None:
    if found.free_text:
        return "free text, which may name people"
    if found.concept == "birth" and found.kind is Kind.DATE:
        return "dates of birth, by which anybody can be found"
    identifies = found.role in {Role.IDENTIFIER, Role.SUBJECT}
    # Sensitive values may all differ, as amounts do; a name or a number that is somebody's is no such value.
    if identifies and (role is Role.PLAIN or found.concept not in {"unique", "key", "stay"}):
        return "an identifier"
    return None


def refuse_telling_columns(policy: Policy, problem: Problem) -> None:
    """Refuse a plain column that singles people out by itself, before anything is searched."""
    if problem.cells.records == 1:
        return  # whatever is published is one person's: k says so, and no column alone is to blame
    if policy.method.hides_who_has_what and problem.schema.subject is not None:
        return  # whose records have the same value must not end a run; `refuse_telling_release` finds such columns
    for name, most in _guarded(policy, problem).items():
        told = loss_of_plain(problem, name).unique
        if told > most:
            raise _refusal(f"The plain column '{name}' alone singles out", told, most, name)


def refuse_telling_release(policy: Policy, comparison: Comparison) -> None:
    """Refuse plain columns that single people out together with what else is published."""
    guarded = _guarded(policy, comparison.problem)
    told = leakage_of_comparison(comparison)["with_quasi_identifiers"] if guarded else {}
    for name, most in guarded.items():
        if told.get(name, 0.0) > most:
            what = f"With the published quasi-identifiers, the plain column '{name}' singles out"
            raise _refusal(what, told[name], most, name)
    together = told.get("", 0.0)
    if guarded and together > max(guarded.values()):
        named = ", ".join(f"'{name}'" for name in guarded)
        what = f"With the published quasi-identifiers, the plain columns {named} together single out"
        raise _refusal(what, together, max(guarded.values()), next(iter(guarded)))


def _guarded(policy: Policy, problem: Problem) -> dict[str, float]:
    """The plain columns that are looked at, with the share of people whom each may single out. Where pseudonyms or
    shifted dates follow people the release is called pseudonymous, and where values are declared only those come out.
    """
    if problem.schema.names(Role.KEY, Role.DATE) or any(model.declared_domains for model in problem.models):
        return {}
    attributes = counted_attributes(policy)
    allowed = {name: attributes[name].insist for name in problem.schema.names(Role.PLAIN)}
    return {name: most or TOLD for name, most in allowed.items() if most is not True}


def _refusal(what: str, told: float, most: float, name: str) -> PolicyError:
    enough = math.ceil(told * 100) / 100
    return PolicyError(
        f"{what} {told:.1%} of the people; {most:.0%} are allowed.",
        f"Give '{name}' the role quasi (with a hierarchy), sensitive or identifier, or insist on what it tells with "
        f"'insist: {enough:g}'.",
    )


def hides_nobody(problem: Problem) -> Iterator[str]:
    """What the steward should know of models that ask for groups of one."""
    for model in problem.models:
        if model.least_class_size == 1:
            yield f"'{model.name}' with k 1 hides nobody: a person may be alone in a group. Ask for 2 or more."


def sensitive_warnings(policy: Policy, problem: Problem) -> Iterator[str]:
    """What the steward should know of sensitive columns: those that no model covers, and values that are one person's.

    Nothing is said where values are declared: the data are not looked at there.
    """
    if any(model.declared_domains for model in problem.models):
        return
    sensitive = problem.schema.sensitive
    covered = {model.sensitive_attribute for model in problem.models}
    bare = [] if policy.method.guards_sensitive else [name for name in sensitive if name not in covered]
    if bare:
        yield (
            f"No model protects {_listed(bare)}: where everybody in a group has the same value, whoever finds the "
            f"group learns it. Add for example {{model: l-diversity, variant: distinct, l: 2, attribute: {bare[0]}}}."
        )
    attributes = counted_attributes(policy)
    looked_at = [name for name in sensitive if not (name in attributes and attributes[name].insist is True)]
    counted = {name: _rare(problem, name) for name in looked_at}
    rare = {name: (alone, number) for name, (alone, number) in counted.items() if alone}
    if rare:
        most = sorted(rare, key=lambda name: -rare[name][0])
        told = "; ".join(f"'{name}': {rare[name][0]:,} of {rare[name][1]:,} values" for name in most[:SHOWN])
        more = f"; and {len(most) - SHOWN:,} more columns" if len(most) > SHOWN else ""
        yield (
            f"Some sensitive values are one person's alone ({told}{more}): whoever knows such a value finds the "
            "person. Round or group them before you publish, or make the column quasi with a hierarchy."
        )


def _rare(problem: Problem, name: str) -> tuple[int, int]:
    """How many values of a sensitive column only one person has, and how many values there are."""
    if problem.schema.subject is None:
        people = problem.cells.records_of(name)[: len(problem.cells.domains[name].present)]
    else:
        seen = problem.engine.values(name, problem.schema.subject)
        people = numpy_of(seen["people"])[numpy_of(seen["value"].is_valid())]
    people = people[people > 0]
    return int(np.count_nonzero(people == 1)), len(people)


def _listed(names: list[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    if len(quoted) > SHOWN + 1:
        quoted = [*quoted[:SHOWN], f"{len(quoted) - SHOWN:,} more"]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
