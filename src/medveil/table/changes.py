"""How columns of a source become what is counted and published: pseudonyms, shifted dates, derived columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DerivationKind = Literal["age_at", "days_since", "days_after"]


@dataclass(frozen=True, slots=True)
class Pseudonym:
    """A key, published as the pseudonym of its value in a space: the column that the key is, or points to."""

    space: str


@dataclass(frozen=True, slots=True)
class Shift:
    """A date, moved by its person's offset of at most so many days either way."""

    days: int


@dataclass(frozen=True, slots=True)
class Derivation:
    """A number out of dates, missing where one of them is.

    age_at: full years from the column's date to `by`, a date in ISO form or a column of the same record; missing where
        the birth is later.
    days_since: days from the person's first date in the column `by`, of the table `table`, to the column's.
    days_after: days from the date in the column `by` of the same record to the column's.
    most: days that are more than that, either way, are missing.
    """

    kind: DerivationKind
    by: str
    table: str | None = None
    fixed: bool = False
    """Whether `by` is a date, and no column."""
    most: int | None = None


Change = Pseudonym | Shift | Derivation


@dataclass(frozen=True, slots=True)
class ChangedColumn:
    """A column of the source under the name that it is published by, and what is done to it; `written` is the declared
    format of its dates.
    """

    name: str
    source: str
    change: Change | None = None
    written: str | None = None


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A column of a table that points to the key of another."""

    column: str
    table: str
    key: str


@dataclass(frozen=True)
class ChangedTable:
    """A table of a source, its columns, and whose its records are.

    person: the column that names the person of a record.
    through: where no column does, the foreign key to a table whose records are somebody's.
    foreign: all keys that point to other tables. A record that points to nothing there is nobody's, and left out.
    key: the column that others point to; its values differ from record to record.
    """

    name: str
    columns: tuple[ChangedColumn, ...]
    person: str | None = None
    through: ForeignKey | None = None
    foreign: tuple[ForeignKey, ...] = ()
    key: str | None = None
