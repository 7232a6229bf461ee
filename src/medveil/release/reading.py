"""Reading a release file back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from medveil.release.manifest import Manifest
from medveil.system import return_memory

TEXT = pa.string()


def read_csv(path: Path, names: Sequence[str], kind: pa.DataType) -> pa.Table:
    """A CSV file as medveil writes it, all columns read as texts of this kind; missing is what is empty unquoted."""
    # Arrow's own pool would keep what parsing took, beside the table, for as long as the process lives.
    return pa.csv.read_csv(
        path,
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        convert_options=convert_options(names, kind),
        memory_pool=pa.system_memory_pool(),
    )


def convert_options(names: Sequence[str], kind: pa.DataType) -> pa.csv.ConvertOptions:
    """How Arrow reads the texts of a CSV file that medveil wrote."""
    return pa.csv.ConvertOptions(
        column_types=dict.fromkeys(names, kind),
        strings_can_be_null=True,
        null_values=[""],
        quoted_strings_can_be_null=len(names) == 1,  # where a missing value is written in quotes
    )


def read_texts(folder: Path, manifest: Manifest, kind: pa.DataType = TEXT) -> pa.Table:
    """The published table with the texts of every column."""
    if _is_parquet(folder, manifest):
        table = _read_parquet(folder, manifest)
        return table.cast(pa.schema([(name, kind) for name in table.column_names]))
    names = [attribute["name"] for attribute in manifest.attributes]
    return pa.concat_tables([read_csv(path, names, kind) for path in manifest.published(folder)])


def read_release(folder: Path, manifest: Manifest) -> pa.Table:
    """The published table, texts dictionary-encoded; sensitive and plain columns of type number as numbers where all
    their values are.
    """
    if _is_parquet(folder, manifest):
        table = _read_parquet(folder, manifest)
    else:
        # A large file comes in pieces, each with a dictionary of its own, which nothing can be grouped by. In one piece
        # its codes need not be copied by all who look at them.
        pool = pa.system_memory_pool()
        table = read_texts(folder, manifest, pa.dictionary(pa.int32(), TEXT)).unify_dictionaries(pool)
        table = table.combine_chunks(pool)
        return_memory()
    return with_numbers(table, manifest)


def with_numbers(table: pa.Table, manifest: Manifest) -> pa.Table:
    """The table with sensitive and plain columns of type number as numbers where all their values are."""
    for attribute in manifest.attributes:
        if attribute["type"] == "number" and attribute["role"] != "quasi":
            position = table.column_names.index(attribute["name"])
            table = table.set_column(position, attribute["name"], _as_numbers(table.column(position)))
    return table


def _is_parquet(folder: Path, manifest: Manifest) -> bool:
    return manifest.published(folder)[0].suffix == ".parquet"


def _read_parquet(folder: Path, manifest: Manifest) -> pa.Table:
    return pa.concat_tables([pa.parquet.read_table(path) for path in manifest.published(folder)])


def _as_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    for kind in (pa.int64(), pa.float64()):
        try:
            return pc.cast(pc.cast(column, pa.string()), kind)
        except pa.ArrowInvalid:
            continue
    return column
