"""What each column is to privacy, and how its values are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from medveil.errors import PolicyError, did_you_mean


class Role(StrEnum):
    """What a column is to privacy."""

    IDENTIFIER = "identifier"
    """Never published."""
    SUBJECT = "subject"
    """Who a record belongs to: the unit that is protected. Counted, never published."""
    KEY = "key"
    """Published as a keyed pseudonym, which links records."""
    DATE = "date"
    """Published moved by an offset of its person's."""
    QUASI = "quasi"
    """Known to others about a person, so it is generalized."""
    SENSITIVE = "sensitive"
    """What others must not learn about a person."""
    PLAIN = "plain"
    """Published as it is."""


class Kind(StrEnum):
    """How a column's values are read."""

    CATEGORY = "category"
    NUMBER = "number"
    DATE = "date"
    CODE = "code"
    """Text with a meaning in its characters, such as zip or diagnosis codes: never read as a number."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One column: its name, what it is to privacy and how its values are read.

    written: the declared format of its dates or numbers.
    person: a key that names the person whom a record belongs to.
    """

    name: str
    role: Role
    kind: Kind = Kind.CATEGORY
    written: str | None = None
    person: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns that take part, in the order in which they are published."""

    attributes: tuple[Attribute, ...]

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __getitem__(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise PolicyError(f"There is no column '{name}'.", did_you_mean(name, [a.name for a in self.attributes]))

    def names(self, *roles: Role) -> tuple[str, ...]:
        """The names of the columns with one of these roles, in order; all of them where none is given."""
        return tuple(a.name for a in self.attributes if not roles or a.role in roles)

    @property
    def quasi(self) -> tuple[str, ...]:
        return self.names(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        return self.names(Role.SENSITIVE)

    @property
    def plain(self) -> tuple[str, ...]:
        """What is published as it stands in the table, pseudonyms and shifted dates included."""
        return self.names(Role.KEY, Role.DATE, Role.PLAIN)

    @property
    def published(self) -> tuple[str, ...]:
        return self.names(Role.KEY, Role.DATE, Role.QUASI, Role.SENSITIVE, Role.PLAIN)

    @property
    def subject(self) -> str | None:
        """The column that says whose a record is: one that is never published, or a key."""
        names = (*self.names(Role.SUBJECT), *(a.name for a in self.attributes if a.person))
        return names[0] if names else None

    @property
    def links_people(self) -> bool:
        """Whether the pseudonym of a person is published, so that everybody can tell which records are one person's."""
        return any(a.person and a.role is Role.KEY for a in self.attributes)
