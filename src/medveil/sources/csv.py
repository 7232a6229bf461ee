"""CSV files, compressed or not, in any encoding."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import pyarrow as pa
import pyarrow.csv
from pydantic import Field

from medveil.errors import InputError
from medveil.sources.csv_dialect import Dialect, find_dialect
from medveil.sources.files import check_file
from medveil.sources.source import MISSING, Location, Source, SourceSpec, check_names
from medveil.workspace import Workspace

Delimiter = Annotated[str | None, Field(description="What separates the fields of a CSV file.")]
Encoding = Annotated[str | None, Field(description="The encoding of a CSV file, such as latin-1.")]
Columns = Annotated[tuple[str, ...] | None, Field(description="The names of a file without header line.")]


@dataclass(frozen=True)
class CsvSource(Source):
    """A CSV file: every value is a text."""

    file: Path
    dialect: Dialect

    @property
    def identity(self) -> str:
        return str(self.file.resolve())

    @property
    def path(self) -> Path:
        return self.file

    @property
    def location(self) -> Location:
        dialect = self.dialect
        options = {
            "delimiter": dialect.delimiter,
            "quote": dialect.quote,
            "header": dialect.header,
            "compression": dialect.compression,
        }
        return Location("csv", dialect.readable, options)

    def batches(self) -> pa.RecordBatchReader:
        texts = pa.schema([(name, pa.string()) for name in self.names])
        return pa.RecordBatchReader.from_batches(texts, self._batches(texts))

    def _batches(self, texts: pa.Schema) -> Iterator[pa.RecordBatch]:
        dialect = self.dialect
        compression = None if dialect.compression == "none" else dialect.compression
        # Columns are numbered: in the options that pyarrow takes, names would have to differ from nothing else.
        numbers = [str(i) for i in range(len(self.names))]
        try:
            reader = pa.csv.open_csv(
                pa.input_stream(str(dialect.readable), compression=compression),
                read_options=pa.csv.ReadOptions(column_names=numbers, skip_rows_after_names=int(dialect.header)),
                parse_options=pa.csv.ParseOptions(
                    delimiter=dialect.delimiter,
                    quote_char=dialect.quote,
                    newlines_in_values=True,
                    ignore_empty_lines=len(numbers) > 1,
                ),
                convert_options=pa.csv.ConvertOptions(column_types=dict.fromkeys(numbers, pa.string())),
            )
            for batch in reader:
                yield pa.RecordBatch.from_arrays(batch.columns, schema=texts)
        except (pa.ArrowException, OSError):  # its message would show a value
            raise InputError(
                f"'{self.file.name}' does not read as CSV.", "Check the delimiter and the quotes."
            ) from None


def open_csv(
    path: Path, delimiter: str | None, encoding: str | None, columns: Collection[str] | None, missing: Collection[str]
) -> CsvSource:
    dialect, names = find_dialect(path, delimiter, encoding, columns)
    return CsvSource(check_names(names, f"'{path.name}'"), MISSING | frozenset(missing), path, dialect)


class CsvSpec(SourceSpec):
    """A CSV file. Delimiter, encoding and compression are found out where they are not given."""

    name: ClassVar[str] = "csv"
    path: Annotated[str, Field(description="The file, relative to the policy.")]
    delimiter: Delimiter = None
    encoding: Encoding = None
    columns: Columns = None

    @property
    def file(self) -> str:
        return self.path

    def open(self, workspace: Workspace) -> Source:
        path = workspace.resolve(self.path)
        check_file(path)
        return open_csv(path, self.delimiter, self.encoding, self.columns, self.missing)
