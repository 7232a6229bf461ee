"""How a CSV file is written: delimiter, encoding, compression and header, found out or given."""

from __future__ import annotations

import codecs
import csv
import io
import lzma
import re
import shutil
import tempfile
import weakref
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyarrow as pa

from medveil.errors import InputError, PolicyError

SAMPLE = 1 << 20
DELIMITERS = (",", ";", "\t", "|")
QUOTE = '"'
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZ": "bz2", b"\xfd7": "xz", b"\x28\xb5": "zstd"}
_READ_BY_ENGINES = {"none", "gzip", "zstd"}


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written. `readable` is what engines read: the file itself, or a copy of it in UTF-8.

    The copy goes with this object.
    """

    readable: Path
    delimiter: str
    encoding: str
    compression: str
    header: bool
    quote: str = QUOTE


def find_dialect(
    path: Path, delimiter: str | None, encoding: str | None, columns: Collection[str] | None
) -> tuple[Dialect, list[str]]:
    """The file's dialect and its column names; `columns` are the names of a file without a header line."""
    with path.open("rb") as stream:
        magic = stream.read(4)
    if magic == b"PK\x03\x04":
        raise InputError(f"'{path.name}' is a zip archive or a spreadsheet.", "Unpack it, or save it as CSV.")
    compression = _COMPRESSIONS.get(magic[:2], "none")
    sample = _sample(path, compression)
    encoding = _canonical_encoding(encoding) if encoding else _find_encoding(sample)
    text = _decode(sample, encoding, path.name)
    if not text.strip():
        raise InputError(f"'{path.name}' is empty.", "Give a table with a header line and records.")
    if delimiter is not None and len(delimiter) != 1:
        raise PolicyError("A delimiter is one character.", "Write for example 'delimiter: \";\"'.")
    delimiter = delimiter or _find_delimiter(text)
    first = _fields(text, delimiter)[0]
    if columns is not None and len(columns) != len(first):
        raise InputError(
            f"'{path.name}' has {len(first)} columns, but 'columns:' names {len(columns)}.", "Name every column once."
        )
    names = list(columns) if columns is not None else [name.strip() for name in first]
    header = columns is None
    if encoding == "utf-8" and compression in _READ_BY_ENGINES:
        return Dialect(path, delimiter, encoding, compression, header), names
    folder = Path(tempfile.mkdtemp(prefix="medveil-"))
    dialect = Dialect(folder / "utf8.csv", delimiter, encoding, "none", header)
    weakref.finalize(dialect, shutil.rmtree, folder, ignore_errors=True)
    _copy_as_utf8(path, compression, encoding, dialect.readable)
    return dialect, names


def explain(text: str) -> str:
    """What a reader says of a file, without the line that it quotes."""
    line = re.search(r"CSV Error on Line: (\d+)", text)
    where = f"Line {line.group(1)}" if line else "A line"
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if fields:
        return f"{where} has {fields.group(2)} fields where the header has {fields.group(1)}: mend that line."
    if "unterminated quote" in text:
        return f"{where} opens a quote that is never closed: mend that line."
    if "utf-8" in text:
        return f"{where} is not in UTF-8: name the file's encoding, such as 'encoding: latin-1'."
    if "state machine" in text:
        return "Its quotes do not pair up, or its lines end in different ways: save it again with one kind of line end."
    if "maximum line size" in text.lower():
        return f"{where} is longer than 16 MB: is a quote left open?"
    return f"{where} does not read as CSV: check the delimiter and the quotes."


def _open(path: Path, compression: str) -> IO[bytes]:
    if compression == "none":
        return path.open("rb")
    if compression == "xz":
        return lzma.open(path, "rb")
    stream: IO[bytes] = pa.input_stream(str(path), compression=compression)
    return stream


def _sample(path: Path, compression: str) -> bytes:
    try:
        with _open(path, compression) as stream:
            return stream.read(SAMPLE)
    except (OSError, EOFError, lzma.LZMAError):
        raise InputError(f"'{path.name}' is damaged: it does not decompress.", "Pack it again.") from None


def _canonical_encoding(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "".encode(encoding)  # refuses what is a codec but no encoding of text
    except (LookupError, ValueError):
        raise PolicyError(
            f"There is no encoding called '{encoding}'.", "Usual ones are utf-8, latin-1, cp1252 and utf-16."
        ) from None
    return "utf-8" if name == "utf-8-sig" else name


def _find_encoding(sample: bytes) -> str:
    """UTF-16 by its byte order mark, UTF-8 where the sample decodes, else Windows-1252, else Latin-1."""
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for encoding in ("utf-8", "cp1252"):
        try:
            codecs.getincrementaldecoder(encoding)().decode(sample, final=False)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"


def _decode(sample: bytes, encoding: str, name: str) -> str:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample, final=False).removeprefix("\ufeff")
    except UnicodeError:
        raise InputError(f"'{name}' is not encoded as {encoding}.", "Name its encoding, or leave it out.") from None


def _fields(text: str, delimiter: str) -> list[list[str]]:
    """The first records of a text, as this delimiter would split them."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=QUOTE)
    records: list[list[str]] = []
    try:
        for record in reader:
            if record:
                records.append(record)
            if len(records) == 200:
                break
    except csv.Error:
        pass
    return records or [[""]]


def _find_delimiter(text: str) -> str:
    """The delimiter under which most records have as many fields as the header, and more than one; else a comma."""

    def agreement(delimiter: str) -> tuple[float, int]:
        records = _fields(text, delimiter)
        width = len(records[0])
        complete = records[:-1] or records  # the sample may cut the last one
        return (sum(len(record) == width for record in complete) / len(complete) if width > 1 else 0.0, width)

    return max(DELIMITERS, key=agreement)


def _copy_as_utf8(path: Path, compression: str, encoding: str, copy: Path) -> None:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with _open(path, compression) as stream, copy.open("w", encoding="utf-8", newline="") as out:
            while block := stream.read(SAMPLE):
                out.write(decoder.decode(block))
            out.write(decoder.decode(b"", final=True))
    except UnicodeError:
        raise InputError(
            f"'{path.name}' is not encoded as {encoding} throughout.", "Save it in one encoding, best UTF-8."
        ) from None
