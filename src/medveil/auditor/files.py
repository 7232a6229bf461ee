"""Whether the files are those of the manifest, and the manifest is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from medveil.auditor.changed import is_change, windows
from medveil.auditor.context import LARGEST
from medveil.errors import InputError
from medveil.release.changes import CHANGED_ROLES
from medveil.release.claim import Basis
from medveil.release.manifest import INTERNAL, NAME, Manifest, file_hash
from medveil.table.dates import date_format_fault
from medveil.table.numbers import MARKED_FORMATS
from medveil.table.schema import Kind

_PUBLISHED_ROLES = {"quasi", "sensitive", "plain", "key", "date"}
_CLAIM = {"model": str, "summary": str, "parameters": Mapping, "required": Mapping, "basis": str}


def check_shape(manifest: Manifest) -> None:
    """Refuse a manifest that does not say what the auditor must know."""
    if not _well_made(manifest):
        raise InputError("The manifest is not one that medveil wrote.", "Was it changed by hand?")


def _well_made(manifest: Manifest) -> bool:
    return (
        _list_of(manifest.attributes, {"name": str, "role": str, "type": str})
        and all(attribute["type"] in set(Kind) for attribute in manifest.attributes)
        and all(map(_is_attribute, manifest.attributes))
        and len(windows(manifest.attributes)) <= 1
        and _list_of(manifest.claims, _CLAIM)
        and all(map(_is_claim, manifest.claims))
        and isinstance(manifest.rows, Mapping)
        and all(_is_number(number) for number in manifest.rows.values())
        and isinstance(manifest.files, Mapping)
        and _are_parts(manifest.parts, manifest.release)
        and all(_is_file_name(name) for name in (manifest.release, *(manifest.files.keys() - manifest.parts.keys())))
        and isinstance(manifest.subject, str | None)
        and isinstance(manifest.suppressed, str)
        and manifest.suppressed in {"removed", "stars"}
        and isinstance(manifest.status, str)
        and isinstance(manifest.method, Mapping)
        and isinstance(manifest.tables, Mapping)
        and _list_of(manifest.uncovered, {"what": str})
    )


def _is_attribute(attribute: Mapping[str, Any]) -> bool:
    """Whether what is optional about a column is what it should be."""
    level = attribute.get("level")
    return (
        isinstance(attribute.get("hierarchy"), Mapping | None)
        and (level is None or _is_number(level))
        and isinstance(attribute.get("form"), str | None)
        and isinstance(attribute.get("made"), bool | None)
        and _is_format(attribute.get("format"), attribute["type"])
        and is_change(attribute.get("change"))
    )


def _is_format(written: Any, kind: str) -> bool:
    """Whether dates or numbers can be read in a format."""
    if written is None:
        return True
    if kind == Kind.NUMBER:
        return written in MARKED_FORMATS
    return kind == Kind.DATE and isinstance(written, str) and date_format_fault(written) is None


def _is_claim(claim: Mapping[str, Any]) -> bool:
    return (
        _names(claim.get("on"))
        and isinstance(claim.get("attribute"), str | None)
        and isinstance(claim.get("counting"), str | None)
        and isinstance(claim.get("achieved"), Mapping | None)
        and claim["basis"] in set(Basis)
    )


def _is_number(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= LARGEST


def _list_of(items: Any, keys: Mapping[str, type]) -> bool:
    return isinstance(items, Sequence) and all(
        isinstance(item, Mapping) and all(isinstance(item.get(key), kind) for key, kind in keys.items())
        for item in items
    )


def _names(names: Any) -> bool:
    return names is None or (isinstance(names, list | tuple) and all(isinstance(name, str) for name in names))


def _is_file_name(name: Any) -> bool:
    """Whether it names a file beside the manifest, and nowhere else on the machine."""
    return isinstance(name, str) and name not in {"", ".", "..", NAME, INTERNAL} and not any(c in name for c in "/\\\0")


def _are_parts(parts: Any, release: str) -> bool:
    """Whether they are files in the folder of the release, and how many rows each has."""
    return isinstance(parts, Mapping) and all(
        isinstance(name, str)
        and name.startswith(f"{release}/")
        and _is_file_name(name.removeprefix(f"{release}/"))
        and _is_number(rows)
        for name, rows in parts.items()
    )


def file_problems(folder: Path, manifest: Manifest, *, listed: bool) -> list[str]:
    """What is missing, extra or changed among the published files; `listed`: the manifest must list them by now."""
    rows = [path.relative_to(folder).as_posix() for path in manifest.published(folder)]
    problems = [
        f"the manifest does not list '{name}' among its files" for name in rows if listed and name not in manifest.files
    ]
    for name in dict.fromkeys((*rows, *manifest.files)):
        path = folder / name
        if not path.is_file():
            problems.append(f"the file '{name}' is missing")
        elif name in manifest.files and file_hash(path) != manifest.files[name]:
            problems.append(f"the file '{name}' was changed after it was written")
    if listed:
        known = {manifest.release, *manifest.files, NAME, INTERNAL}
        there = sorted(folder.iterdir())
        if manifest.parts and (folder / manifest.release).is_dir():
            there += sorted((folder / manifest.release).iterdir())
        problems += [
            f"the file '{name}' is not listed in the manifest"
            for name in (path.relative_to(folder).as_posix() for path in there)
            if name not in known
        ]
    return problems


def column_problems(manifest: Manifest, names: Sequence[str]) -> list[str]:
    """Which published columns are not declared, may not be published, or are missing."""
    declared = [attribute["name"] for attribute in manifest.attributes]
    problems = [f"the manifest declares '{name}' twice" for name in sorted(_repeated(declared))]
    problems += [f"the release has several columns '{name}'" for name in sorted(_repeated(names))]
    problems += [
        f"the column '{attribute['name']}' may not be published: it is declared as {attribute['role']}"
        for attribute in manifest.attributes
        if attribute["role"] not in _PUBLISHED_ROLES
        or (attribute["name"] == manifest.subject and attribute["role"] != "key")
    ]
    problems += [
        f"the column '{attribute['name']}' is declared as {attribute['role']}, and not said to be {changed}"
        for attribute in manifest.attributes
        if (changed := CHANGED_ROLES.get(attribute["role"])) and (attribute.get("change") or {}).get("kind") != changed
    ]
    problems += [
        f"the column '{attribute['name']}' is not of the source, and no claim is about it"
        for attribute in manifest.attributes
        if attribute.get("made")
        and all(claim["parameters"].get("column") != attribute["name"] for claim in manifest.claims)
    ]
    problems += [
        f"the column '{attribute['name']}' is a quasi-identifier, which a method cannot make up"
        for attribute in manifest.attributes
        if attribute.get("made") and attribute["role"] == "quasi"
    ]
    problems += [
        f"the release has the column '{name}', which is not declared" for name in names if name not in declared
    ]
    return problems + [f"the release lacks the column '{name}'" for name in declared if name not in names]


def _repeated(names: Sequence[str]) -> set[str]:
    return {name for name in names if list(names).count(name) > 1}


def row_problems(manifest: Manifest, rows: int, stars: int) -> list[str]:
    """Which numbers of records in the manifest are not those of the file; only what is told can be wrong.

    `rows` are all rows of the file, `stars` those of them that are `*` in every column.
    """
    told = manifest.rows
    problems = []
    if "published" in told and told["published"] != rows:
        problems.append(f"the release has {rows:,} rows where the manifest says {told['published']:,}")
    listed = sum(manifest.parts.values())
    if manifest.parts and listed != rows:
        problems.append(f"the release has {rows:,} rows where the manifest says {listed:,} in its parts")
    hidden = told.get("suppressed", 0)
    if manifest.suppressed == "stars" and stars < hidden:
        problems.append(f"the release has {stars:,} rows of '*' for {hidden:,} suppressed records")
    if {"input", "suppressed"} <= told.keys():
        left_out = 0 if manifest.suppressed == "stars" else hidden
        made = rows + left_out - told.get("counterfeit", 0)
        if made != told["input"]:
            problems.append(f"the rows come from {made:,} records where the manifest says {told['input']:,}")
    return problems
