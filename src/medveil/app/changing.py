"""What a policy makes of its columns before anything is counted: pseudonyms, shifted dates, derived columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

from medveil.errors import PolicyError
from medveil.guessing.name import Name
from medveil.guessing.words import DEMOGRAPHIC
from medveil.policy import AttributePolicy, Policy
from medveil.release.manifest import INTERNAL
from medveil.run import Run
from medveil.table.changes import Change, ChangedColumn, ChangedTable, Derivation, Pseudonym, Shift
from medveil.table.pseudonyms import ReleaseKey
from medveil.table.schema import Kind, Role
from medveil.workspace import Workspace

KEY_FILE = "release.key"
"""The drawn key of a release, among the steward's files: with it pseudonyms can be followed back."""


def changes(policy: Policy) -> bool:
    """Whether a policy asks for columns that are not published or counted as the source has them."""
    return any(a.role in {Role.KEY, Role.DATE} or a.derive is not None for a in policy.attributes.values())


def person_of(attributes: Mapping[str, AttributePolicy]) -> str | None:
    """The column that names people: the subject, or the key that is alone or said to be it."""
    subjects = [name for name, a in attributes.items() if a.role is Role.SUBJECT or a.subject]
    keys = [name for name, a in attributes.items() if a.role is Role.KEY]
    return next(iter(subjects or keys), None)


def published_name(name: str, attribute: AttributePolicy) -> str:
    return attribute.derive.name if attribute.derive is not None and attribute.derive.name is not None else name


def published_policy(policy: Policy) -> Policy:
    """The policy of the table after everything has been derived: its columns by the names that are published."""
    return policy.model_copy(update={"attributes": published_attributes(policy.attributes)})


def published_attributes(attributes: Mapping[str, AttributePolicy]) -> dict[str, AttributePolicy]:
    """The columns that are counted or published, by their names after everything has been derived."""
    named: dict[str, AttributePolicy] = {}
    for name, attribute in attributes.items():
        if attribute.role is Role.IDENTIFIER:
            continue
        shown = published_name(name, attribute)
        if shown in named or (shown != name and shown in attributes):
            raise PolicyError(f"Two columns are published as '{shown}'.", "Choose another 'name' under 'derive'.")
        named[shown] = _after(attribute)
    return named


def derivations(policy: Policy) -> dict[str, Derivation]:
    """How columns are made of dates, by the names that they are published by."""
    found: dict[str, Derivation] = {}
    for name, attribute in policy.attributes.items():
        change = change_of(name, attribute)
        if isinstance(change, Derivation):
            found[published_name(name, attribute)] = change
    return found


def counted_attributes(policy: Policy) -> dict[str, AttributePolicy]:
    """The columns of the table as it was published, for somebody who reads that: nothing in it is to be changed."""
    if not changes(policy):
        return dict(policy.attributes)
    person = person_of(policy.attributes)

    def read(name: str, attribute: AttributePolicy) -> AttributePolicy:
        if attribute.role not in {Role.KEY, Role.DATE}:
            return attribute
        role = Role.SUBJECT if name == person else Role.PLAIN
        return AttributePolicy(role=role, type=attribute.type, insist=True)

    return {name: read(name, a) for name, a in published_attributes(policy.attributes).items()}


def _after(attribute: AttributePolicy) -> AttributePolicy:
    if attribute.derive is not None:
        hierarchy = attribute.hierarchy
        declared = attribute.type or (hierarchy.kinds[0] if hierarchy is not None and hierarchy.kinds else Kind.NUMBER)
        return attribute.model_copy(update={"derive": None, "format": None, "type": declared})
    if attribute.role is Role.DATE:
        return attribute.model_copy(update={"format": None, "type": Kind.DATE})
    if attribute.role is Role.KEY:
        return attribute.model_copy(update={"type": Kind.CODE})
    return attribute


def flat_table(policy: Policy) -> ChangedTable:
    """The one table of a policy, and what becomes of its columns."""
    columns = tuple(
        ChangedColumn(published_name(name, a), name, change_of(name, a), a.format)
        for name, a in policy.attributes.items()
        if a.role is not Role.IDENTIFIER
    )
    return ChangedTable("release", columns, person_of(policy.attributes))


def change_of(name: str, attribute: AttributePolicy, table: str | None = None) -> Change | None:
    """What becomes of a column; in one of several tables its key has a space of that table's."""
    if attribute.role is Role.KEY:
        return Pseudonym(name if table is None else f"{table}.{name}")
    if attribute.shift is not None:
        return Shift(attribute.shift.days)
    asked = attribute.derive
    if asked is None:
        return None
    if asked.age_at is not None:
        return Derivation("age_at", asked.age_at, fixed=_is_date(asked.age_at))
    if asked.days_after is not None:
        return Derivation("days_after", asked.days_after, most=asked.most)
    assert asked.days_since is not None
    above, dot, column = asked.days_since.partition(".")
    if table is not None and dot:
        return Derivation("days_since", column, above, most=asked.most)
    return Derivation("days_since", asked.days_since, most=asked.most)


def _is_date(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def release_key(policy: Policy, workspace: Workspace, run: Run) -> ReleaseKey:
    """The steward's key where the policy names one, else a key for this release alone."""
    named = policy.pseudonyms.key_file
    if named is not None:
        return ReleaseKey.read(workspace.resolve(named))
    return ReleaseKey.drawn(run.random if run.seeded else None)


def warnings_on_dates(policy: Policy, key: ReleaseKey) -> list[str]:
    """What the steward is told of shifted dates: what would tell by how much they moved."""
    columns = dict(policy.attributes)
    for table, given in policy.tables.items():
        columns |= {f"{table}.{name}": attribute for name, attribute in given.attributes.items()}
    shifted = [name for name, a in columns.items() if a.shift is not None]
    if not shifted:
        return []
    found = []
    still = [name for name, a in columns.items() if a.shift is None and a.derive is None and _tells_days(name, a)]
    if still:
        found.append(
            f"'{shifted[0]}' is shifted and '{still[0]}' is not: where both come from the same events, comparing them "
            "shows by how many days a person's dates were moved."
        )
    if key.kept:
        days = next(a.shift.days for a in columns.values() if a.shift is not None)
        found.append(
            f"Dates are shifted with a key that other releases share: shift by {days} days in all of them. Two windows "
            "give a person two offsets, whose difference whoever has both releases can see."
        )
    return found


def _tells_days(name: str, attribute: AttributePolicy) -> bool:
    """Whether a published column is known to hold dates, other than those of birth, which are no visit's."""
    kinds = () if attribute.hierarchy is None else attribute.hierarchy.kinds
    dated = attribute.type is Kind.DATE or tuple(kinds) == (Kind.DATE,)
    births = DEMOGRAPHIC[1].patterns
    return dated and attribute.role is not Role.IDENTIFIER and not Name(name.rpartition(".")[2]).says(births)


def keep_key(key: ReleaseKey, folder: Path) -> None:
    """Write a drawn key among the steward's files; the steward's own stays where it is."""
    if not key.kept:
        path = folder / INTERNAL / KEY_FILE
        path.touch(mode=0o600)
        path.write_bytes(key.secret + b"\n")
