"""What a policy of linked tables asks of each of them, and of the view of everything that is known of a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from medveil.app.changing import change_of, published_attributes, published_name
from medveil.engine.tables import PERSON
from medveil.errors import PolicyError, did_you_mean
from medveil.policy import AttributePolicy, Policy, in_order
from medveil.privacy.model import PrivacyModel
from medveil.table.changes import Change, ChangedColumn, ChangedTable, Derivation, ForeignKey, Pseudonym
from medveil.table.schema import Kind, Role

KEY = AttributePolicy(role=Role.KEY, type=Kind.CODE)


@dataclass(frozen=True)
class LinkedPlan:
    """The tables of a policy, parents first."""

    policy: Policy

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(in_order(self.policy))

    @property
    def root(self) -> str:
        return self.names[0]

    @cached_property
    def space(self) -> str:
        """What people are named by."""
        return f"{self.root}.{self.key_of(self.root)}"

    def key_of(self, name: str) -> str | None:
        """The column that names the records of a table."""
        attributes = self.policy.tables[name].attributes
        return next((column for column, a in attributes.items() if a.role is Role.KEY), None)

    def foreign(self, name: str) -> tuple[ForeignKey, ...]:
        return tuple(
            ForeignKey(column, target.partition(".")[0], target.partition(".")[2])
            for column, target in self.policy.tables[name].key.items()
        )

    @cached_property
    def tables(self) -> dict[str, ChangedTable]:
        return {name: self._table(name) for name in self.names}

    def _table(self, name: str) -> ChangedTable:
        foreign = self.foreign(name)
        direct = next((key.column for key in foreign if key.table == self.root), None)
        person = self.key_of(name) if name == self.root else direct
        through = None if person is not None else foreign[0]
        own = self.policy.tables[name].attributes
        keys = [column for column, a in own.items() if a.role is Role.KEY]
        columns = [ChangedColumn(column, column, change_of(column, own[column], name)) for column in keys]
        columns += [ChangedColumn(key.column, key.column, Pseudonym(f"{key.table}.{key.key}")) for key in foreign]
        columns += [
            ChangedColumn(published_name(column, a), column, self._change(name, column, a), a.format)
            for column, a in own.items()
            if a.role not in {Role.KEY, Role.IDENTIFIER}
        ]
        return ChangedTable(name, tuple(columns), person, through, foreign, self.key_of(name))

    def _change(self, name: str, column: str, attribute: AttributePolicy) -> Change | None:
        change = change_of(column, attribute, name)
        if isinstance(change, Derivation) and change.table is not None and change.table not in self.policy.tables:
            raise PolicyError(
                f"'{column}' of '{name}' is derived from the table '{change.table}', which does not exist.",
                did_you_mean(change.table, self.policy.tables),
            )
        return change

    @cached_property
    def attributes(self) -> dict[str, dict[str, AttributePolicy]]:
        """The published columns of each table, its keys first."""
        found = {}
        for name in self.names:
            own = published_attributes(self.policy.tables[name].attributes)
            clash = sorted(own.keys() & self.policy.tables[name].key.keys())
            if clash:
                raise PolicyError(
                    f"Two columns of '{name}' are published as '{clash[0]}'.", "Choose another 'name' under 'derive'."
                )
            keys = {column: a for column, a in own.items() if a.role is Role.KEY}
            foreign = dict.fromkeys(self.policy.tables[name].key, KEY)
            found[name] = {**keys, **foreign, **{c: a for c, a in own.items() if a.role is not Role.KEY}}
        return found

    # The view

    @cached_property
    def models(self) -> tuple[PrivacyModel, ...]:
        """The models that are about classes of people."""
        return tuple(model for model in self.policy.privacy if not model.about_sets)

    @cached_property
    def set_models(self) -> tuple[PrivacyModel, ...]:
        return tuple(model for model in self.policy.privacy if model.about_sets)

    @cached_property
    def view(self) -> dict[str, tuple[str, str]]:
        """The columns of the view, `table.column`, and where they are: quasi-identifiers, and the sensitive attributes
        that a model of classes is about.
        """
        everything = {
            f"{name}.{column}": (name, column, a)
            for name, attributes in self.attributes.items()
            for column, a in attributes.items()
        }
        sensitive = [called for called, (_, _, a) in everything.items() if a.role is Role.SENSITIVE and not a.set]
        asked = {
            one.sensitive_attribute
            for model in self.models
            if model.needs_sensitive
            for one in model.for_attributes(sensitive)
        }
        return {
            called: (name, column)
            for called, (name, column, a) in everything.items()
            if a.role is Role.QUASI or called in asked
        }

    @cached_property
    def one_row_each(self) -> bool:
        """Whether the view has one row a person: all its columns are of the table of people."""
        return all(name == self.root for name, _ in self.view.values())

    @cached_property
    def set_attributes(self) -> dict[str, tuple[str, str]]:
        """The set-valued attributes, and where they are."""
        return {
            f"{name}.{column}": (name, column)
            for name, attributes in self.attributes.items()
            for column, a in attributes.items()
            if a.set
        }

    def view_policy(self) -> Policy:
        """The view as a table with a subject."""
        attributes = {PERSON: AttributePolicy(role=Role.SUBJECT)}
        for called, (name, column) in self.view.items():
            attributes[called] = self.attributes[name][column]
        # What a profile says of columns was said of the tables'.
        update = {"tables": {}, "attributes": attributes, "privacy": self.models, "profile": None}
        return self.policy.model_copy(update=update)

    def attribute(self, called: str) -> AttributePolicy:
        name, column = self.view[called]
        return self.attributes[name][column]

    def where(self, table: str) -> Mapping[str, str]:
        """The columns of a table that are in the view, and what they are called there."""
        return {column: called for called, (name, column) in self.view.items() if name == table}
