"""How a CSV file is written: delimiter, encoding, compression and header, found out or given."""

from __future__ import annotations

import codecs
import csv
import io
import re
import weakref
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from medveil.errors import InputError, PolicyError
from medveil.sources.formats import SAMPLE, TEXT, canonical_encoding, compression_of, open_packed, recognize, sample_of
from medveil.sources.header import holds_a_record
from medveil.working_folder import WorkingFolder

DELIMITERS = (",", ";", "\t", "|")
QUOTE = '"'
SAMPLED = 1_000
"""Records that are looked at to find out how a file is written."""
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


@dataclass(frozen=True)
class Heading:
    """The names of a file's columns. `doubtful` where they are its first line and look like a record."""

    names: tuple[str, ...]
    doubtful: bool = False


def find_dialect(
    path: Path,
    delimiter: str | None = None,
    encoding: str | None = None,
    columns: Collection[str] | None = None,
    header: bool | None = None,
    *,
    declared: bool = False,
) -> tuple[Dialect, Heading]:
    """The file's dialect and its column names. `columns` are names in the place of those in the file, which then has no
    header line unless `header` says so; a file without header and names has `column_1`, `column_2`, ...

    declared: nothing is found out, and nothing refused for what cells hold. What is not given is UTF-8, a comma, and a
        header line where no names are given; what cannot be decoded is read as the sign for that.
    """
    if declared:
        encoding, delimiter = encoding or "utf-8", delimiter or DELIMITERS[0]
        header = header if header is not None else columns is None
    if delimiter is not None and len(delimiter) != 1:
        raise PolicyError("A delimiter is one character.", "Write for example 'delimiter: \";\"'.")
    found = TEXT if declared and not header else recognize(path, encoding)
    if found is not TEXT:
        raise found.refusal(path.name)
    compression = compression_of(path)
    sample = sample_of(path, compression)
    encoding = canonical_encoding(encoding) if encoding else _find_encoding(sample)
    errors = "replace" if declared else "strict"
    text = _decode(sample, encoding, path.name, errors)
    if not text.strip() and not (declared and columns is not None and not header):
        raise InputError(f"'{path.name}' is empty.", "Give a table with a header line and records.")
    delimiter = delimiter or _find_delimiter(text)
    headed = header if header is not None else columns is None
    if declared and columns is not None and not headed:
        heading = Heading(tuple(columns))
    else:
        heading = _heading(path.name, _fields(text, delimiter), columns, headed=headed, sure=header is not None)
    readable = encoding == "utf-8" and compression in _READ_BY_ENGINES
    if readable and (not declared or _decodes(path, compression)):
        return Dialect(path, delimiter, encoding, compression, headed), heading
    working = WorkingFolder()
    dialect = Dialect(working.path / "utf8.csv", delimiter, encoding, "none", headed)
    weakref.finalize(dialect, working.close)
    _copy_as_utf8(path, compression, encoding, dialect.readable, errors)
    return dialect, heading


def _heading(
    file: str, records: Sequence[Sequence[str]], columns: Collection[str] | None, *, headed: bool, sure: bool
) -> Heading:
    first = records[0]
    if columns is not None:
        if len(columns) != len(first):
            raise InputError(
                f"'{file}' has {len(first)} columns, but 'columns:' names {len(columns)}.", "Name every column once."
            )
        return Heading(tuple(columns))
    if not headed:
        return Heading(tuple(f"column_{number}" for number in range(1, len(first) + 1)))
    return Heading(tuple(name.strip() for name in first), not sure and holds_a_record(records))


def explain(text: str) -> str:
    """What a reader says of a file, without the line that it quotes."""
    line = re.search(r"CSV Error on Line: (\d+)", text)
    where = f"Line {line.group(1)}" if line else "A line"
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if fields:
        found = "1 field" if fields.group(2) == "1" else f"{fields.group(2)} fields"
        return f"{where} has {found} where the header has {fields.group(1)}: fix that line."
    if "unterminated quote" in text:
        return f"{where} opens a quote that is never closed: fix that line."
    if "utf-8" in text:
        return f"{where} is not in UTF-8: name the file's encoding, such as 'encoding: latin-1'."
    if "state machine" in text:
        return "Its quotes do not pair up, or its lines end in different ways: save it again with one kind of line end."
    if "maximum line size" in text.lower():
        return f"{where} is longer than 16 MB: is a quote left open?"
    return f"{where} cannot be read as CSV: check the delimiter and the quotes."


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


def _decodes(path: Path, compression: str) -> bool:
    """Whether a file is in UTF-8 throughout."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with open_packed(path, compression) as stream:
            while block := stream.read(SAMPLE):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _decode(sample: bytes, encoding: str, name: str, errors: str) -> str:
    try:
        return codecs.getincrementaldecoder(encoding)(errors).decode(sample, final=False).removeprefix("\ufeff")
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
            if len(records) == SAMPLED:
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


def _copy_as_utf8(path: Path, compression: str, encoding: str, copy: Path, errors: str) -> None:
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    try:
        with open_packed(path, compression) as stream, copy.open("w", encoding="utf-8", newline="") as out:
            while block := stream.read(SAMPLE):
                out.write(decoder.decode(block))
            out.write(decoder.decode(b"", final=True))
    except UnicodeError:
        raise InputError(
            f"'{path.name}' is not encoded as {encoding} throughout.", "Save it in one encoding, preferably UTF-8."
        ) from None
