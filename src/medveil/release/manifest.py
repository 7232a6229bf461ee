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

from medveil.errors import InputError
from medveil.release.draft import Draft

FORMAT = 1
NAME = "manifest.json"
INTERNAL = "internal"
LINKS = "links.parquet"
NOT_FOR_PUBLICATION = "repeatable, not for publication"
_REPORTED_VERSIONS = ("medveil", "duckdb", "numba", "numpy", "pyarrow")


@dataclass(frozen=True)
class Manifest:
    """What stands in `manifest.json`.

    status: "for publication", or why not.
    method: name, parameters, and what the method reports of itself.
    claims: each with model, attribute, on, parameters, required, achieved, holds and basis.
    rows: published, and input, suppressed, counterfeit where that may be told.
    attributes: the published columns with their roles, types, hierarchies (and the sha256 of a file that one was read
        from) and levels.
    subject: the column that says who a record belongs to, where one was declared; it is not published.
    files: sha256 of every published file but this one.
    """

    status: str
    method: Mapping[str, Any]
    claims: Sequence[Mapping[str, Any]]
    rows: Mapping[str, int]
    attributes: Sequence[Mapping[str, Any]]
    release: str
    subject: str | None = None
    suppressed: str = "removed"
    files: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False, sort_keys=False, allow_nan=False, default=str)
        (folder / NAME).write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    path = folder / NAME
    if not path.is_file():
        raise InputError(f"'{folder}' is not a release: it has no {NAME}.", "Name the directory that --out made.")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        manifest = Manifest(**content)
    except OSError:
        raise InputError(f"'{path}' cannot be opened.", "May you read it?") from None
    except (ValueError, TypeError):
        raise InputError(f"'{path}' is not a manifest of medveil.", "Was it changed by hand?") from None
    if manifest.format != FORMAT:
        raise InputError(f"'{path}' is not of format {FORMAT}.", "Use the medveil that made it.")
    return manifest


def draft_manifest(draft: Draft, release: str, *, subject: str | None, seeded: bool, suppressed: str) -> Manifest:
    """The manifest of a draft: its promises are claims that nothing has proved yet."""
    return Manifest(
        status=NOT_FOR_PUBLICATION if seeded else draft.status or "for publication",
        method=draft.method,
        claims=[
            {
                "model": promise.model,
                "summary": promise.summary,
                "attribute": promise.attribute,
                "on": list(promise.on) if promise.on is not None else None,
                "parameters": dict(promise.parameters),
                "required": dict(promise.required),
                "achieved": None,
                "holds": None,
                "basis": promise.basis.value,
            }
            for promise in draft.promises
        ],
        rows={**draft.rows},
        attributes=[
            {
                "name": a.name,
                "role": a.role.value,
                "type": a.kind.value,
                "hierarchy": a.hierarchy,
                "level": a.level,
                **({"made": True} if a.made else {}),
                **({"form": a.form} if a.form else {}),
            }
            for a in draft.attributes
        ],
        release=release,
        subject=subject,
        suppressed=suppressed,
        versions={"python": platform.python_version(), **{name: version(name) for name in _REPORTED_VERSIONS}},
    )


def file_hash(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
