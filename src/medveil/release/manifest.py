"""The manifest: what recipients are told about a release, and what the auditor starts from."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from medveil.engine import WrittenPart
from medveil.errors import InputError
from medveil.release.changes import change_for_recipients
from medveil.release.claim import Counting
from medveil.release.draft import Draft, Promise, PublishedAttribute
from medveil.release.status import Status, status_text

FORMAT = 2
NAME = "manifest.json"
INTERNAL = "internal"
LINKS = "links.parquet"
_SUFFIX_OF_FORMAT_1 = " with counterfeits"
_REPORTED_VERSIONS = ("medveil", "duckdb", "numba", "numpy", "pyarrow")


@dataclass(frozen=True)
class Manifest:
    """What stands in `manifest.json`.

    status: what the release is fit for, as `release.status` words it.
    method: name, parameters, and what the method reports of itself.
    claims: each with model, attribute, on, counting, parameters, required, achieved, holds and basis. `holds` is null
        where medveil has no check for the claim.
    rows: published, and input, suppressed, counterfeit where that may be told.
    attributes: the published columns with their roles, types, hierarchies (and the sha256 of a file that one was read
        from) and levels.
    subject: the column that says who a record belongs to, where one was declared; it is not published, unless as a
        pseudonym.
    about: what the steward says of the release: title, purpose, contact, and the date on which it was made.
    pseudonyms: where keys are published, how they were made and what they link.
    release: the file with the published rows, or the folder in which their parts are.
    tables: of linked tables, each with its file, rows, key, foreign keys and attributes; `release` is then the table of
        people, `rows` counts people, `attributes` is empty, and claims name columns as `table.column`.
    uncovered: what no claim covers, with the share of people whom it alone singles out in the release.
    files: sha256 of every published file but this one.
    parts: where the rows were written in parts, the file of each with its number of rows, in their order.
    """

    status: str
    method: Mapping[str, Any]
    claims: Sequence[Mapping[str, Any]]
    rows: Mapping[str, int]
    attributes: Sequence[Mapping[str, Any]]
    release: str
    subject: str | None = None
    suppressed: str = "removed"
    about: Mapping[str, str] = field(default_factory=dict)
    pseudonyms: Mapping[str, Any] | None = None
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    uncovered: Sequence[Mapping[str, Any]] = field(default_factory=list)
    files: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT
    parts: Mapping[str, int] = field(default_factory=dict)

    def published(self, folder: Path) -> list[Path]:
        """The files with the published rows, in their order."""
        return [folder / name for name in self.parts or (self.release,)]

    @property
    def rows_for_recipients(self) -> Mapping[str, int]:
        """The numbers of records that recipients are told. Where records belong to people, how many there were before
        would tell how many records the people have who are left out.
        """
        if self.subject is None or self.tables or not self.claims or self.suppressed == "stars":
            return self.rows
        return {key: value for key, value in self.rows.items() if key not in {"input", "suppressed"}}

    def write(self, folder: Path) -> None:
        content = {key: value for key, value in asdict(self).items() if key not in {"parts", "about"} or value}
        content["rows"] = dict(self.rows_for_recipients)
        text = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=False, allow_nan=False, default=str)
        (folder / NAME).write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    path = folder / NAME
    if not path.is_file():
        raise InputError(f"'{folder}' is not a release: it has no {NAME}.", "Name the directory that --out made.")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content, dict) and content.get("format") == 1:
            content = _from_format_1(content)
        manifest = Manifest(**content)
    except OSError:
        raise InputError(f"'{path}' cannot be opened.", "Check its permissions.") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(f"'{path}' is not a manifest of medveil.", "Was it changed by hand?") from None
    if manifest.format != FORMAT:
        raise InputError(
            f"'{path}' is in a format that this version cannot read.", "Use the version of medveil that made it."
        )
    return manifest


def _from_format_1(content: dict[str, Any]) -> dict[str, Any]:
    """A manifest of medveil 0.1: what claims count stood in the model's name."""
    return {**content, "claims": [_claim_from_format_1(claim) for claim in content["claims"]], "format": FORMAT}


def _claim_from_format_1(claim: Any) -> Any:
    model = claim.get("model") if isinstance(claim, dict) else None
    if not isinstance(model, str) or not model.endswith(_SUFFIX_OF_FORMAT_1):
        return claim
    return {
        **claim,
        "model": model.removesuffix(_SUFFIX_OF_FORMAT_1),
        "counting": Counting.WITH_COUNTERFEITS.value,
    }


def draft_manifest(
    draft: Draft, parts: Sequence[WrittenPart], *, subject: str | None, seeded: bool, suppressed: str
) -> Manifest:
    """The manifest of a draft that was written: its promises are claims that nothing has proved yet."""
    first = Path(parts[0].name)
    return Manifest(
        status=status_text(Status.REPEATABLE if seeded else draft.status),
        method=draft.method,
        claims=[claim_of(promise) for promise in draft.promises],
        rows={"published": sum(part.rows for part in parts), **draft.rows},
        attributes=[attribute_of(attribute) for attribute in draft.attributes],
        release=first.parts[0],
        subject=subject,
        suppressed=suppressed,
        versions=versions(),
        files={part.name: part.sha256 for part in parts},
        parts={part.name: part.rows for part in parts} if len(first.parts) > 1 else {},
    )


def versions() -> dict[str, str]:
    """What made a release."""
    return {"python": platform.python_version(), **{name: version(name) for name in _REPORTED_VERSIONS}}


def claim_of(promise: Promise) -> dict[str, Any]:
    """A promise as a claim that nothing has proved yet."""
    return {
        "model": promise.model,
        "summary": promise.summary,
        "attribute": promise.attribute,
        "on": list(promise.on) if promise.on is not None else None,
        "counting": promise.counting.value if promise.counting is not None else None,
        "parameters": dict(promise.parameters),
        "required": dict(promise.required),
        "achieved": None,
        "holds": None,
        "basis": promise.basis.value,
    }


def attribute_of(attribute: PublishedAttribute) -> dict[str, Any]:
    """A published column as the manifest tells it."""
    return {
        "name": attribute.name,
        "role": attribute.role.value,
        "type": attribute.kind.value,
        "hierarchy": attribute.hierarchy,
        "level": attribute.level,
        **({"made": True} if attribute.made else {}),
        **({"form": attribute.form} if attribute.form else {}),
        **({"format": attribute.written} if attribute.written else {}),
        **({"change": change_for_recipients(attribute.change)} if attribute.change is not None else {}),
    }


def file_hash(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
