"""Releases written by hand, so that nothing of what the auditor checks takes part."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from medveil.release.manifest import file_hash

ROLES = {"q": "quasi", "s": "sensitive", "p": "plain"}
TYPES = {"c": "category", "n": "number", "d": "date"}


def cell(text, *, alone=False):
    if text is None:
        return '""' if alone else ""
    return '"' + text.replace('"', '""') + '"' if text == "" or any(c in text for c in ',"\r\n') else text


def claim(model, attribute=None, on=None, basis="proved again from the files", parameters=None, **required):
    return {
        "model": model,
        "summary": model,
        "attribute": attribute,
        "on": on,
        "parameters": {**required, **(parameters or {})},
        "required": required,
        "achieved": None,
        "holds": None,
        "basis": basis,
    }


def in_order(records):
    """As releases are written: by the bytes of their texts, missing values last."""
    return sorted(records, key=lambda row: [(value is None, (value or "").encode()) for value in row])


def write_release(
    folder: Path, columns, records, claims, *, parquet=False, extra=None, links=None, ordered=True, **told
) -> Path:
    """`columns`: name -> role and type in one letter each, such as `qc`; `extra`: more about a column; `ordered`: rows
    are written in the order of what they publish, not as they are given.
    """
    records = in_order(records) if ordered else records
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    name = "release.parquet" if parquet else "release.csv"
    if parquet:
        table = [pa.array([row[i] for row in records], pa.string()) for i in range(len(columns))]
        pq.write_table(pa.table(table, names=list(columns)), folder / name)
    else:
        lines = [",".join(cell(text, alone=len(row) == 1) for text in row) for row in (list(columns), *records)]
        (folder / name).write_bytes(("\n".join(lines) + "\n").encode())
    counts = told.pop("rows", {"published": len(records), "input": len(records), "suppressed": 0})
    manifest = {
        "status": "for publication",
        "method": {"name": "by hand"},
        "claims": claims,
        "rows": counts,
        "attributes": [
            {
                "name": column,
                "role": ROLES[letters[0]],
                "type": TYPES[letters[1]],
                "hierarchy": None,
                "level": None,
                **((extra or {}).get(column, {})),
            }
            for column, letters in columns.items()
        ],
        "release": name,
        "files": {name: file_hash(folder / name)},
        "format": 2,
        **told,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    if links is not None:
        (folder / "internal").mkdir()
        pq.write_table(pa.table(links), folder / "internal" / "links.parquet")
    return folder


@pytest.fixture
def release(tmp_path) -> Callable[..., Path]:
    """Writes a release into a folder of this test."""
    return lambda *arguments, **options: write_release(tmp_path / "out", *arguments, **options)


@pytest.fixture(scope="session")
def writer() -> Callable[..., Path]:
    """Writes a release into a given folder."""
    return write_release


@pytest.fixture(scope="session")
def make_claim() -> Callable[..., dict[str, object]]:
    return claim
