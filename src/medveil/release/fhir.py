"""FHIR R4 out: the rows of published tables as resources, one file of JSON lines for each type.

A resource is made of what a published row holds and of nothing else, so that it cannot hold more: elements are found by
an allow-list (`fhir_elements`). A published value that does not fit its element, such as a group of dates, stands in an
extension of that element; what FHIR requires and the release does not publish is said to be masked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from medveil.errors import InputError
from medveil.release.fhir_elements import ABSENT, GENERALIZED, REQUIRED, Element
from medveil.table.labels import ANYTHING

MASKED = {"extension": [{"url": ABSENT, "valueCode": "masked"}]}
VALUE = "valueString"
BATCH = 20_000
_FORMS = {
    "date": r"\d{4}(-\d\d(-\d\d)?)?",
    "dateTime": r"\d{4}(-\d\d(-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?)?)?",
    "decimal": r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?",
    "integer": r"-?(0|[1-9]\d*)",
    "boolean": "true|false",
    "code": r"[^\s]+(\s[^\s]+)*",
    "uri": r"\S+",
    "id": r"[A-Za-z0-9.-]{1,64}",
    "string": r"[ \r\n\t\S]+",
}
_BY_FORM = frozenset({"date", "dateTime", "decimal", "integer", "string"})
"""Types whose values tell by their form whether they are one: a year is a date."""


@dataclass(frozen=True)
class WrittenColumn:
    """A published column and where it is written.

    kind: of a reference, the type of resource that it leads to.
    values: where it is generalized, the values of the source, which stand in the element; groups do not. None: all do.
    """

    name: str
    element: Element
    kind: str = ""
    values: frozenset[str] | None = None


@dataclass(frozen=True)
class WrittenResource:
    """A table as resources of one type."""

    kind: str
    columns: Sequence[WrittenColumn]

    @property
    def file(self) -> str:
        return f"{self.kind}.ndjson"

    def described(self) -> dict[str, Any]:
        """What the manifest says of it."""
        return {
            "file": self.file,
            "resource": self.kind,
            "elements": {column.name: column.element.path(column.kind) for column in self.columns},
        }


def write_fhir(table: pa.Table, folder: Path, resource: WrittenResource) -> str:
    """Write the rows of a published table, in their order, and give the name of the file."""
    _check_choices(table, resource)
    build = _builder(resource)
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
    with (folder / resource.file).open("w", encoding="utf-8", newline="\n") as stream:
        for batch in table.select([column.name for column in resource.columns]).to_batches(BATCH):
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            stream.write("".join(f"{encode(build(row))}\n" for row in rows))
    return resource.file


def _check_choices(table: pa.Table, resource: WrittenResource) -> None:
    """FHIR has an element of several types once: refuse records that have it in two."""
    of_stem: dict[str, dict[str, list[str]]] = {}
    for column in resource.columns:
        if column.element.choice is not None:
            stem, meant = column.element.choice
            of_stem.setdefault(stem, {}).setdefault(meant, []).append(column.name)
    for types in of_stem.values():
        for first, second in combinations(types, 2):
            both = pc.and_(_any(table, types[first]), _any(table, types[second]))
            if pc.any(both).as_py():
                raise InputError(
                    f"Some {resource.kind} resources have '{first}' and '{second}', of which FHIR allows one.",
                    "Take the columns of one of them out of the policy.",
                )


def _any(table: pa.Table, names: Iterable[str]) -> pa.ChunkedArray:
    first, *others = (pc.is_valid(table[name]) for name in names)
    for other in others:
        first = pc.or_(first, other)
    return first


Row = Sequence[str | None]


@dataclass
class _Node:
    """A part of a resource: what is in it by name, and whether FHIR has a list there."""

    many: bool = False
    url: str = ""
    parts: dict[tuple[str, str], _Node] = field(default_factory=dict)
    leaf: Callable[[str], tuple[bool, Any]] | None = None
    place: int = -1

    def build(self, row: Row) -> dict[str, Any]:
        """What a row has of it; empty where it has nothing."""
        found: dict[str, Any] = {}
        for (name, _), part in self.parts.items():
            if part.leaf is not None:
                text = row[part.place]
                if text is None:
                    continue
                fits, value = part.leaf(text)
                found[name if fits else f"_{name}"] = [value] if part.many else value
                continue
            inner = part.build(row)
            if inner and part.url:
                found.setdefault(name, []).append({"url": part.url, **inner})
            elif inner:
                found[name] = [inner] if part.many else inner
        return found


def _builder(resource: WrittenResource) -> Callable[[Row], dict[str, Any]]:
    root = _Node()
    for place, column in enumerate(resource.columns):
        node = root
        for step in column.element.steps:
            node = node.parts.setdefault((step.name, step.url), _Node(step.many, step.url))
        node.leaf, node.place = _value_of(column), place
    required = REQUIRED.get(resource.kind, {})

    def build(row: Row) -> dict[str, Any]:
        built = {"resourceType": resource.kind, **root.build(row)}
        for name, needed in required.items():
            if not any(one in built or f"_{one}" in built for one in needed):
                built[name] = "masked" if name.endswith("String") else MASKED
        return built

    return build


def _value_of(column: WrittenColumn) -> Callable[[str], tuple[bool, Any]]:
    """From a published text to whether it stands in the element, and what is written."""
    form, kind = column.element.type, column.kind
    if form == "reference":
        return lambda text: (True, f"{kind}/{text}")
    if column.element.steps[-1].name == VALUE:  # of an extension, which is a text whatever is published
        return lambda text: (True, text)
    fits, values = re.compile(_FORMS[form]).fullmatch, column.values
    known: dict[str, tuple[bool, Any]] = {}

    def value(text: str) -> tuple[bool, Any]:
        found = known.get(text)
        if found is None:
            plain = text != ANYTHING if form in _BY_FORM or values is None else text in values
            written = _as_json(text, form) if plain and fits(text) else None
            if written is not None:
                found = (True, written)
            else:
                found = (False, {"extension": [{"url": GENERALIZED, "valueString": text}]})
            if len(known) < BATCH:
                known[text] = found
        return found

    return value


def _as_json(text: str, form: str) -> Any:
    """A text as the value that JSON has for it; None for a number that a reader would take for another."""
    if form == "boolean":
        return text == "true"
    if form == "integer":
        return int(text)
    if form == "decimal":
        number = float(text) if any(c in text for c in ".eE") else int(text)
        return number if Decimal(text) == Decimal(repr(number)) else None
    return text
