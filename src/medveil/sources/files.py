"""Files that are there, and addresses that are none."""

from __future__ import annotations

import re
from pathlib import Path

from medveil.errors import InputError, did_you_mean

_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/|jdbc:|odbc:", re.IGNORECASE)
_SECRET = re.compile(r"\b(pwd|password|uid|user id|server|database|host)\s*=", re.IGNORECASE)
_PLACES = {"http": "a web address", "https": "a web address", "ftp": "a web address", "sftp": "a web address"}
_STORES = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "wasbs", "hdfs", "dbfs"})


def check_file(path: Path, *, may_be_empty: bool = False) -> None:
    """Refuse what is no file that can be read. An address is not repeated: it may hold a password."""
    refuse_addresses(str(path))
    if not path.exists():
        raise InputError(f"There is no file '{path}'.", _instead_of(path))
    if not path.is_file():
        raise InputError(f"'{path}' is not a file.", "Name a CSV or Parquet file.")
    try:
        with path.open("rb") as stream:
            empty = not stream.read(1)
    except OSError:
        raise InputError(f"'{path.name}' cannot be opened.", "Check its permissions.") from None
    if empty and not may_be_empty:
        raise InputError(f"'{path.name}' is empty.", "Give a table with a header line and records.")


def _instead_of(path: Path) -> str:
    """The file that may have been meant: one that is called alike, or packed."""
    try:
        near = did_you_mean(path.name, [one.name for one in path.parent.iterdir() if one.is_file()])
    except OSError:
        near = ""
    return near if near.startswith("Did") else "Check the path: in a policy it begins where the policy is."


def refuse_addresses(text: str) -> None:
    """Refuse what is no path, without repeating it."""
    found = _ADDRESS.match(text)
    if found is None and not _SECRET.search(text):
        return
    scheme = ((found and found["scheme"]) or "").lower()
    if scheme == "file":
        raise InputError("This is a file's address, not its path.", "Write the path alone, without 'file://'.")
    if scheme in _PLACES:
        raise InputError(f"This is {_PLACES[scheme]}: medveil reads files on this machine.", "Download the file first.")
    if scheme in _STORES:
        raise InputError("This is an address in an object store: medveil reads files.", "Copy the file here first.")
    raise InputError(
        "This is the address of a database: medveil reads files, and takes no password in a path.",
        "Name a connection: 'data: {type: sql, connection: NAME, query: ...}', or export the table as CSV or Parquet.",
    )
