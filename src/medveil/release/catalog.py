"""The catalog of counterfeit records: how many of which sensitive value are somewhere in which classes.

Columns: `class_ids`, separated by `;`; `value`, the sensitive value, or where there are several sensitive attributes a
JSON list of theirs in the order of the release; `count` (Lee, Kim, Kim and Chung 2017, definition 3); and `people`, how
many are really in each of the classes, in their order and separated by `;`, where every class of a group publishes the
records of all of them. `people` is empty where that is not how classes were filled.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from medveil.errors import InputError
from medveil.release.manifest import Manifest, file_hash
from medveil.release.reading import TEXT, read_csv

CATALOG = "catalog.csv"
CLASS_ID = "class_id"
COLUMNS = ("class_ids", "value", "count", "people")

Values = tuple[str | None, ...]


@dataclass(frozen=True)
class Entry:
    """`count` counterfeits with these sensitive values are somewhere in these classes; `people[i]` are really in the
    i-th of them, where that is told.
    """

    class_ids: tuple[int, ...]
    values: Values
    count: int
    people: tuple[int, ...] = ()

    @property
    def real(self) -> tuple[float, ...]:
        """The probability of a record of each class to be real: r_i / |R|."""
        return tuple(number / sum(self.people) for number in self.people)


def to_table(entries: Sequence[Entry]) -> pa.Table:
    """The catalog as it is published."""
    return pa.table(
        {
            "class_ids": pa.array([_join(e.class_ids) for e in entries], pa.string()),
            "value": pa.array([write_values(e.values) for e in entries], pa.string()),
            "count": pa.array([e.count for e in entries], pa.int64()),
            "people": pa.array([_join(e.people) if e.people else None for e in entries], pa.string()),
        }
    )


def _join(numbers: Sequence[int]) -> str:
    return ";".join(str(number) for number in numbers)


def _split(text: str | None) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(";")) if text else ()


def write_values(values: Values) -> str | None:
    """How a row names its sensitive values.

    >>> write_values(("flu",)), write_values((None,)), write_values(("flu", None))
    ('flu', None, '["flu", null]')
    """
    return values[0] if len(values) == 1 else json.dumps(list(values), ensure_ascii=False)


def read_values(text: str | None, number: int) -> Values:
    """The sensitive values of a catalog's row.

    >>> read_values("flu", 1), read_values(None, 1), read_values('["flu", null]', 2)
    (('flu',), (None,), ('flu', None))
    """
    if number == 1:
        return (text,)
    values = json.loads(text or "")
    if not isinstance(values, list) or len(values) != number or not all(isinstance(v, str | None) for v in values):
        raise ValueError("not the values of so many attributes")
    return tuple(values)


def read_catalog(path: Path, sensitive: int) -> list[Entry]:
    """The rows of a catalog file, for so many sensitive attributes; ValueError where it is none."""
    return entries_of(read_csv(path, COLUMNS, TEXT), sensitive)


def entries_of(table: pa.Table, sensitive: int) -> list[Entry]:
    """The rows of a catalog; ValueError where it is none."""
    if table.column_names == list(COLUMNS[:-1]):  # as medveil 0.1 wrote it
        table = table.append_column(COLUMNS[-1], pa.nulls(table.num_rows, pa.string()))
    if table.column_names != list(COLUMNS):
        raise ValueError("other columns")
    entries = []
    for ids, value, count, told in zip(*(table[name].to_pylist() for name in COLUMNS), strict=True):
        numbers, people = _split(ids), _split(told)
        if not numbers or len(set(numbers)) != len(numbers) or int(count) < 1:
            raise ValueError("a class twice, or no counterfeit")
        if people and (len(people) != len(numbers) or min(people) < 1):
            raise ValueError("people of other classes")
        entries.append(Entry(numbers, read_values(value, sensitive), int(count), people))
    return entries


def catalog_of(folder: Path, manifest: Manifest) -> list[Entry]:
    """The catalog of a release; refused where it is not the one that was published with it."""
    path = folder / CATALOG
    if CATALOG not in manifest.files or not path.is_file():
        raise InputError(
            f"'{folder}' has no {CATALOG}: only releases with counterfeits have one.",
            "Name a release that was made by the method h-ceiling.",
        )
    for name in (CATALOG, *(manifest.parts or (manifest.release,))):
        if not (folder / name).is_file() or file_hash(folder / name) != manifest.files.get(name):
            raise InputError(
                f"The {CATALOG} does not belong to this release: '{name}' is not the file that the manifest lists.",
                "Use the release, catalog and manifest of one directory.",
            )
    sensitive = sum(attribute["role"] == "sensitive" for attribute in manifest.attributes)
    try:
        return read_catalog(path, sensitive)
    except (ValueError, pa.ArrowInvalid):
        raise InputError(f"'{path}' is not a catalog of counterfeits.", "Was it changed by hand?") from None
