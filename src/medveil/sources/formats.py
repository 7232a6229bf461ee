"""What kind of file a file is, by its content: nothing is read as a table of texts that is something else, since its
first line would be taken for the names of columns.
"""

from __future__ import annotations

import codecs
import lzma
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyarrow as pa

from medveil.errors import InputError, PolicyError

SAMPLE = 1 << 20
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


@dataclass(frozen=True)
class Format:
    """A kind of file: the word that sources declare to read it, what people call it, and what to do where none does."""

    name: str
    noun: str
    remedy: str = "Save the table as CSV or Parquet."

    def refusal(self, file: str) -> InputError:
        return InputError(f"'{file}' is {self.noun}, which medveil does not read.", self.remedy)


TEXT = Format("text", "a text file")
PARQUET = Format("parquet", "a Parquet file")
_STATISTICS = "Save the table as CSV or Parquet, with labels in the place of codes where it has any."
_UNPACK = "Unpack it, and name the file that holds the table."
JSON = Format("json", "a JSON file", "Save its records as a table: CSV or Parquet, one column for each value.")
JSON_LINES = Format("json-lines", "a file of JSON lines", JSON.remedy)
FHIR = Format("fhir", "a FHIR file", "Flatten its resources into a table first: CSV or Parquet, one row for each.")
EXCEL = Format("excel", "an Excel workbook", "Save the sheet that holds the table as CSV (UTF-8).")
ZIP = Format("zip", "a zip archive", _UNPACK)
ORC = Format("orc", "an ORC file", "Save the table as Parquet.")
BINARY = Format("binary", "a binary file of a kind that is not known, or a text with zero bytes")
WIDE_TEXT = Format("utf-16", "a text in UTF-16 without its mark", "Name the encoding: 'utf-16-le' or 'utf-16-be'.")

_BEGINNINGS: tuple[tuple[bytes, Format], ...] = (
    (b"PAR1", PARQUET),
    (b"%PDF", Format("pdf", "a PDF document", "Ask for the table that it was made from.")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Format("old-excel", "an old Excel workbook or Office file", EXCEL.remedy)),
    (b"\x00" * 12 + b"\xc2\xea\x81\x60", Format("sas", "a SAS data set", _STATISTICS)),
    (b"HEADER RECORD*******LIB", Format("sas-transport", "a SAS transport file", _STATISTICS)),
    (b"$FL2", Format("spss", "an SPSS file", _STATISTICS)),
    (b"$FL3", Format("spss", "an SPSS file", _STATISTICS)),
    (b"<stata_dta>", Format("stata", "a Stata file", _STATISTICS)),
    (b"RDX2\n", Format("r", "a file of R objects", _STATISTICS)),
    (b"RDX3\n", Format("r", "a file of R objects", _STATISTICS)),
    (b"X\n\x00\x00\x00", Format("r", "a file of R objects", _STATISTICS)),
    (b"ARROW1", Format("arrow", "an Arrow file", "Save the table as Parquet.")),
    (b"FEA1", Format("arrow", "a Feather file", "Save the table as Parquet.")),
    (b"Obj\x01", Format("avro", "an Avro file", "Save the table as Parquet.")),
    (b"\x89HDF", Format("hdf", "an HDF5 file")),
    (b"SQLite format 3\x00", Format("sqlite", "an SQLite database", "Export the table as CSV or Parquet.")),
    (b"\x00\x01\x00\x00Standard", Format("access", "an Access database", "Export the table as CSV.")),
    (b"7z\xbc\xaf", Format("7z", "a 7z archive", _UNPACK)),
    (b"Rar!", Format("rar", "a RAR archive", _UNPACK)),
    (b"\x89PNG", Format("image", "an image")),
    (b"\xff\xd8\xff", Format("image", "an image")),
    (b"GIF89a", Format("image", "an image")),
    (b"II*\x00", Format("image", "an image")),
    (b"MM\x00*", Format("image", "an image")),
)
_WITHIN: tuple[tuple[int, bytes, Format], ...] = (
    (257, b"ustar", Format("tar", "a tar archive", _UNPACK)),
    (128, b"DICM", Format("dicom", "a DICOM image")),
    (8, b"DUCK", Format("duckdb", "a DuckDB database", "Export the table as CSV or Parquet.")),
)
_TEXTS: tuple[tuple[re.Pattern[str], Format], ...] = (
    (re.compile(r"\{\\rtf"), Format("rtf", "a formatted text (RTF)")),
    (re.compile(r'\{\s*("|\}|$)|\[\s*([\[{"\]]|-?\d|true|false|null|$)'), JSON),
    (re.compile(r"<(\?xml|!doctype|!--|[a-z])", re.IGNORECASE), Format("xml", "an XML or HTML file")),
    (re.compile(r"(MSH|FHS|BHS)\|"), Format("hl7", "a file of HL7 messages")),
    (re.compile(r"(ISA\*|UN[AB][+:])"), Format("edi", "a file of EDI messages")),
    (re.compile(r"(%[^\n]*\n\s*)*@relation\b", re.IGNORECASE), Format("arff", "an ARFF file")),
    (re.compile(r"##fileformat="), Format("vcf", "a file of genetic variants (VCF)")),
)
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x19\x1b-\x1f]")


def compression_of(path: Path) -> str:
    """How a file is packed, by its first bytes."""
    with path.open("rb") as stream:
        magic = stream.read(8)
    return next((name for begin, name in _COMPRESSIONS.items() if magic.startswith(begin)), "none")


def open_packed(path: Path, compression: str) -> IO[bytes]:
    """The content of a file, packed or not."""
    if compression == "none":
        return path.open("rb")
    if compression == "xz":
        return lzma.open(path, "rb")
    stream: IO[bytes] = pa.input_stream(str(path), compression=compression)
    return stream


def sample_of(path: Path, compression: str) -> bytes:
    """How the content of a file begins."""
    try:
        with open_packed(path, compression) as stream:
            return stream.read(SAMPLE)
    except (OSError, EOFError, lzma.LZMAError):
        raise InputError(f"'{path.name}' is damaged: it does not decompress.", "Pack it again.") from None


def canonical_encoding(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "".encode(encoding)  # refuses what is a codec but no encoding of text
    except (LookupError, ValueError):
        raise PolicyError(
            f"There is no encoding called '{encoding}'.", "Common ones are utf-8, latin-1, cp1252 and utf-16."
        ) from None
    return "utf-8" if name == "utf-8-sig" else name


def recognize(path: Path, encoding: str | None = None) -> Format:
    """What a file is; `encoding` where it is known to be a text."""
    sample = sample_of(path, compression_of(path))
    for begin, found in _BEGINNINGS:
        if sample.startswith(begin):
            return found
    for offset, mark, found in _WITHIN:
        if sample[offset : offset + len(mark)] == mark:
            return found
    if sample.startswith(b"PK\x03\x04"):
        return _archive(path)
    text = _text(sample, None if encoding is None else canonical_encoding(encoding))
    return text if isinstance(text, Format) else _of_text(text)


def _archive(path: Path) -> Format:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return ZIP
    if any(name.startswith("xl/") for name in names):
        return EXCEL
    if "[Content_Types].xml" in names or "mimetype" in names:
        return Format("office", "an Office document", "Save the table in it as CSV.")
    return ZIP


def _text(sample: bytes, encoding: str | None) -> str | Format:
    """The sample as text, or what it is instead; only beginnings matter, so that a wrong letter does not."""
    if encoding is None and sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    if encoding is None:
        zeros = [sample[start:4096:2].count(0) for start in (0, 1)]
        if max(zeros) > len(sample[:4096]) / 8 and min(zeros) < max(zeros) / 4:
            return WIDE_TEXT
        if sample.startswith(b"ORC") and b"\x00" in sample:
            return ORC
        if b"\x00" in sample or len(_CONTROLS.findall(sample)) > len(sample) / 100:
            return BINARY
    try:
        text = sample.decode(encoding or "utf-8", errors="replace")
    except UnicodeError:  # not even where it begins: whoever reads it says so
        return TEXT
    return text.removeprefix("\ufeff").lstrip()


def _of_text(text: str) -> Format:
    found = next((found for pattern, found in _TEXTS if pattern.match(text)), TEXT)
    if found is not JSON:
        return found
    if '"resourceType"' in text:
        return FHIR
    return JSON_LINES if re.match(r"\{[^\n]*\}\s*\n\s*\{", text) else JSON
