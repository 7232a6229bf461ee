"""Files, and what kind of table each is by its first bytes."""

from __future__ import annotations

from pathlib import Path

from medveil.errors import InputError

PARQUET = b"PAR1"


def check_file(path: Path) -> bytes:
    """The first bytes of a file that is there, can be read and is not empty."""
    if not path.exists():
        raise InputError(f"There is no file '{path}'.", "Paths in a policy are relative to the policy file.")
    if not path.is_file():
        raise InputError(f"'{path}' is not a file.", "Name a CSV or Parquet file.")
    try:
        with path.open("rb") as stream:
            magic = stream.read(len(PARQUET))
    except OSError:
        raise InputError(f"'{path.name}' cannot be opened.", "Check its permissions.") from None
    if not magic:
        raise InputError(f"'{path.name}' is empty.", "Give a table with a header line and records.")
    return magic
