"""CSV files, compressed or not, in any encoding."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

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
Columns = Annotated[
    tuple[str, ...] | None, Field(description="The names of the columns of a file without header line.")
]
Header = Annotated[
    bool | None,
    Field(description="Whether the first line holds names (default: yes, unless `columns` are given)."),
]


@dataclass(frozen=True)
class CsvSource(Source):
    """A CSV file: every value is a text."""

    file: Path
    dialect: Dialect
    doubtful: bool = False
    declared: bool = False
    """How it is read is what the policy says, and nothing was found out."""
    guessed: bool = False
    """Its encoding is none that a file can be known by."""

    @property
    def remarks(self) -> tuple[str, ...]:
        if not self.guessed:
            return ()
        read_as = f"'{self.file.name}' is not in UTF-8, and is read as {self.dialect.encoding}."
        return (f"{read_as} Say what it is with 'encoding:' or '--encoding' if letters come out wrong.",)

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
                f"'{self.file.name}' cannot be read as CSV.", "Check the delimiter and the quotes."
            ) from None

    @property
    def doubt(self) -> InputError | None:
        return _looks_like_a_record(self.file.name) if self.doubtful else None

    def instead_of(self, name: str) -> str:
        if not self.declared:
            return super().instead_of(name)
        return (
            f"Under differential privacy nothing is detected: the file is read as {self.dialect.encoding} with "
            f"'{self.dialect.delimiter}' between fields. Say otherwise with 'delimiter:', 'encoding:', 'header:' or "
            "'columns:' under 'data:'."
        )


def _looks_like_a_record(file: str) -> InputError:
    return InputError(
        f"The first line of '{file}' looks like a record: its columns seem to have no names.",
        "Name them: 'columns: [...]' under 'data:' of a policy, '--columns' in a command ('--no-header' numbers "
        "them). If they are names, say so with 'header: true' or '--header'.",
    )


def open_csv(path: Path, missing: Collection[str] = (), **options: Any) -> CsvSource:
    """A CSV file; `options` say how it is written, see `find_dialect`."""
    dialect, heading = find_dialect(path, **options)
    try:
        names = check_names(heading.names, f"'{path.name}'")
    except InputError as error:
        raise (_looks_like_a_record(path.name) if heading.doubtful else error) from None
    declared = bool(options.get("declared"))
    guessed = not declared and not options.get("encoding") and not dialect.encoding.startswith("utf")
    return CsvSource(names, MISSING | frozenset(missing), path, dialect, heading.doubtful, declared, guessed)


WRITTEN = ("delimiter", "encoding", "columns", "header")
"""The keys that say how a CSV file is written."""


def options_of(spec: SourceSpec) -> dict[str, Any]:
    """Of a declared source, how its CSV file is written."""
    return {key: getattr(spec, key) for key in WRITTEN}


def is_all_declared(options: Mapping[str, Any]) -> bool:
    """Whether a file is read as it is declared without a line of it being looked at."""
    return bool(options.get("declared") and options.get("columns") and not options.get("header"))


def decoded_as(options: Mapping[str, Any]) -> str | None:
    """The encoding of a file, where that is not to be found out."""
    return options.get("encoding") or ("utf-8" if options.get("declared") else None)


class CsvSpec(SourceSpec):
    """A CSV file. Delimiter, encoding and compression are detected unless they are given."""

    name: ClassVar[str] = "csv"
    path: Annotated[str, Field(description="The file, relative to the policy.")]
    delimiter: Delimiter = None
    encoding: Encoding = None
    columns: Columns = None
    header: Header = None

    @property
    def file(self) -> str:
        return self.path

    def open(self, workspace: Workspace) -> Source:
        return self._open(workspace)

    def open_declared(self, workspace: Workspace) -> Source:
        return self._open(workspace, declared=True)

    def _open(self, workspace: Workspace, **how: bool) -> Source:
        path = workspace.resolve(self.path)
        options = {**options_of(self), **how}
        check_file(path, may_be_empty=is_all_declared(options))
        return open_csv(path, self.missing, **options)
