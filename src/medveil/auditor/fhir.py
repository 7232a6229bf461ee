"""FHIR files of a linked release, read back: each must hold the rows of its table, in their order, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from medveil.auditor.linked import LinkedRelease, LinkedTable
from medveil.release.manifest import Manifest
from medveil.table.domain import read_number

GROUP = "urn:medveil:generalized"
MASKED = {"url": "http://hl7.org/fhir/StructureDefinition/data-absent-reason", "valueCode": "masked"}
IN_WORDS = {"occurrenceString": "masked"}
"""When a vaccine was given has a value in every resource; this one tells nothing."""
ENDING = ".ndjson"
_REFERENCE = re.compile(r"(.+)\.key\((\w+)\)")
_WHERE = re.compile(r"\.where\(url='([^']+)'\)")


class StrangeError(Exception):
    """A resource holds what no column of its table is."""


def fhir_problems(release: LinkedRelease, folder: Path, manifest: Manifest) -> list[str]:
    """What is wrong with the FHIR files that a manifest tells of, or does not tell of."""
    told = {table.content["fhir"]["file"] for table in release.tables.values() if _is_told(table)}
    problems = [
        f"no table tells of the file '{name}'" for name in manifest.files if name.endswith(ENDING) and name not in told
    ]
    for table in release.tables.values():
        if "fhir" not in table.content:
            continue
        fault = _fault(release, table, folder) if _is_told(table) else "is not described as medveil does"
        if fault:
            problems.append(f"the FHIR file of '{table.name}' {fault}")
    return problems


def _is_told(table: LinkedTable) -> bool:
    told = table.content.get("fhir")
    return (
        isinstance(told, Mapping)
        and isinstance(told.get("elements"), Mapping)
        and told["elements"].keys() == {a["name"] for a in table.attributes}
        and all(isinstance(path, str) for path in told["elements"].values())
        and told.get("file") == f"{told.get('resource')}{ENDING}"
        and re.fullmatch("[A-Za-z]+", str(told["resource"])) is not None
    )


def _fault(release: LinkedRelease, table: LinkedTable, folder: Path) -> str:
    told = table.content["fhir"]
    names = release.files[table.name].names
    ways = [_way(told["elements"][name]) for name in names]
    if len({way for way, _ in ways}) < len(ways):
        return "has two columns in one element"
    columns = ", ".join(f"f{i}" for i in range(len(names)))
    rows = release.connection.execute(f"SELECT {columns} FROM {release.files[table.name].relation}")
    number = 0
    try:
        with (folder / told["file"]).open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                found = dict(_leaves(_resource(line, told["resource"])))
                row = _next(rows)
                if row is None:
                    return "holds more resources than its table has rows"
                for (way, kind), cell in zip(ways, row, strict=True):
                    if not _same(found.pop(way, None), cell, kind):
                        return f"does not hold what its table holds (line {number:,})"
                if found and found != IN_WORDS:
                    return f"holds an element that is no column of its table (line {number:,})"
    except (StrangeError, ValueError, RecursionError):
        return f"holds what is no resource of medveil's (line {number:,})"
    except OSError:
        return "cannot be read"
    return "" if _next(rows) is None else "lacks rows of its table"


def _next(rows: Any) -> tuple[str | None, ...] | None:
    found: tuple[str | None, ...] | None = rows.fetchone()
    return found


def _resource(line: str, kind: str) -> dict[str, Any]:
    """A resource with its numbers as they are written."""
    resource = json.loads(line, parse_float=str, parse_int=str, parse_constant=_refuse, object_pairs_hook=_once)
    if not isinstance(resource, dict) or resource.pop("resourceType", None) != kind:
        raise StrangeError
    return resource


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names differ: of two that are alike readers see one, and the other would be hidden from them."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise StrangeError
    return found


def _refuse(_: str) -> None:
    raise StrangeError


def _way(path: str) -> tuple[str, str]:
    """The way to an element as `_leaves` tells it, and what its reference leads to."""
    found = _REFERENCE.fullmatch(path)
    path, kind = (found[1], found[2]) if found else (path, "")
    return _WHERE.sub(r"<\1>", path), kind


def _leaves(node: Any, way: str = "") -> Iterator[tuple[str, Any]]:
    """Every value in a resource with the way to it; a list has one member, unless it is of extensions."""
    if isinstance(node, str | bool):
        yield way, node
        return
    if not isinstance(node, dict) or not node:
        raise StrangeError
    for name, value in node.items():
        inner = f"{way}.{name}" if way else name
        if name == "extension":
            yield from _extensions(value, inner)
            continue
        members = value if isinstance(value, list) else [value]
        if len(members) != 1:
            raise StrangeError
        if name.startswith("_"):
            group = _group(members[0])
            if group is not None:
                yield (f"{way}.{name[1:]}" if way else name[1:]), group
        else:
            yield from _leaves(members[0], inner)


def _extensions(members: Any, way: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(members, list):
        raise StrangeError
    for member in members:
        if member == MASKED:
            continue
        if not isinstance(member, dict) or not isinstance(member.get("url"), str):
            raise StrangeError
        rest = {key: value for key, value in member.items() if key != "url"}
        yield from _leaves(rest, f"{way}<{member['url']}>")


def _group(node: Any) -> str | None:
    """What stands in the place of a value that does not fit its element; None where it is masked."""
    members = node.get("extension") if isinstance(node, dict) and len(node) == 1 else None
    if members == [MASKED]:
        return None
    if not isinstance(members, list) or len(members) != 1 or not isinstance(members[0], dict):
        raise StrangeError
    if members[0].keys() != {"url", "valueString"} or members[0]["url"] != GROUP:
        raise StrangeError
    text = members[0]["valueString"]
    if not isinstance(text, str):
        raise StrangeError
    return text


def _same(value: Any, cell: str | None, kind: str) -> bool:
    if value is None or cell is None:
        return value is None and cell is None
    if isinstance(value, bool):
        return cell == str(value).lower()
    text = str(value)
    if kind:
        return text == f"{kind}/{cell}"
    return text == cell or (read_number(text) is not None and read_number(text) == read_number(cell))
