"""A release directory as pages show it: what it says of itself, and what stays with the steward."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RELEASE = "release"
INTERNAL = "internal"
MANIFEST = "manifest.json"
CHUNK = 1 << 20


@dataclass(frozen=True)
class Result:
    """What a release directory holds: the manifest, and of the steward's files what was measured. rows: how many
    records there are and were, of which recipients are told less where records belong to people.
    """

    folder: Path
    manifest: Mapping[str, Any]
    measures: Mapping[str, Any]
    risks: Mapping[str, Any]
    leakage: Mapping[str, Any] | None
    rows: Mapping[str, Any]
    advice: Mapping[str, Any] | None = None

    @property
    def good(self) -> bool:
        return str(self.manifest["status"]) == "for publication" and bool(self.manifest["claims"])

    @property
    def pseudonymous(self) -> bool:
        """Whether everything holds that is claimed, and records of a person can still be followed."""
        return str(self.manifest["status"]).startswith("pseudonymous") and bool(self.manifest["claims"])

    @property
    def tables(self) -> list[tuple[str | None, Mapping[str, Any]]]:
        """The tables with what is published of their columns; the only one has no name."""
        return list(self.manifest.get("tables", {}).items()) or [(None, self.manifest)]

    @property
    def scores(self) -> list[tuple[str, Mapping[str, Any]]]:
        return [(name, one) for name, one in self.measures.items() if "reason" not in one]

    @property
    def attacks(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Risks that an attacker has, with the guesser's line where there is one."""
        return [(name, one) for name, one in self.risks.items() if "reason" not in one and name != "leakage"]

    @property
    def skipped(self) -> list[tuple[str, str]]:
        both = {**self.measures, **self.risks}
        return [(name, str(one["reason"])) for name, one in both.items() if "reason" in one]

    @property
    def files(self) -> list[str]:
        return [path.name for path in published(self.folder)]

    def report(self, who: str) -> Path | None:
        """The page for the steward or for recipients."""
        path = self.folder / INTERNAL / "report.html" if who == "steward" else self.folder / "report.html"
        return path if path.is_file() else None


def read_result(folder: Path, made: Mapping[str, Any] | None = None) -> Result | None:
    """What is in a directory; `made`: what the run that made it returned."""
    manifest = _json(folder / MANIFEST)
    if not isinstance(manifest, dict):
        return None
    inside = folder / INTERNAL
    return Result(
        folder,
        manifest,
        _json(inside / "measures.json") or {},
        _json(inside / "risks.json") or {},
        _json(inside / "leakage.json"),
        ((made or {}).get("manifest") or manifest)["rows"],
        _json(inside / "advice.json"),
    )


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def published(folder: Path) -> list[Path]:
    """The files for recipients: the manifest and what it lists. Nothing of `internal`, and no link, is among them."""
    manifest = _json(folder / MANIFEST)
    listed = list(manifest.get("files", ())) if isinstance(manifest, dict) else []
    found = [folder / name for name in (MANIFEST, *listed)]
    whole = folder.resolve()
    return [
        path
        for path in dict.fromkeys(found)
        if path.is_file()
        and not path.is_symlink()
        and path.resolve().is_relative_to(whole)
        and not path.resolve().is_relative_to(whole / INTERNAL)
    ]


def summary(result: Result) -> dict[str, Any]:
    """The few figures by which runs are compared."""
    risks, measures = result.risks, result.measures
    return {
        "method": result.manifest["method"]["name"],
        "parameters": result.manifest["method"].get("parameters", {}),
        "claims": [claim["summary"] for claim in result.manifest["claims"]],
        "published": result.rows.get("published"),
        "input": result.rows.get("input"),
        "status": result.manifest["status"],
        "risk": risks.get("prosecutor", {}).get("value"),
        "loss": measures.get("lm", {}).get("value"),
        "leaks": risks.get("leakage", {}).get("value"),
    }


# A ZIP file made while it is sent


class _Sink(io.RawIOBase):
    """Takes what an archive writes, until somebody takes it away. It cannot go back, so that nothing has to wait."""

    def __init__(self) -> None:
        self.held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self.held += part
        return len(part)

    def taken(self) -> bytes:
        part = bytes(self.held)
        self.held.clear()
        return part


def zipped(files: Sequence[Path], root: Path, folder: str) -> Iterator[bytes]:
    """The files below a root as a ZIP archive under one folder, never whole in memory or on the disk."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            # The archive's own date stays as it is: when a file was written is nobody's business.
            entry = zipfile.ZipInfo(f"{folder}/{path.relative_to(root).as_posix()}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            with path.open("rb") as opened, archive.open(entry, "w", force_zip64=True) as packed:
                while part := opened.read(CHUNK):
                    packed.write(part)
                    yield sink.taken()
    yield sink.taken()


FORMULA = ("=", "+", "-", "@", "\t", "\r")


def looks_like_formula(rows: Sequence[Sequence[str | None]]) -> bool:
    """Whether a spreadsheet would take a cell for a formula; a negative number is none."""
    return any(cell and cell.startswith(FORMULA) and not _number(cell) for row in rows for cell in row)


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
