"""The truthful table: what a recipient may believe to the letter, derived from release and catalog alone.

Of each class that the catalog lists for a value, as many records of the value as it counts lose their class, their
quasi-identifiers and their plain columns; as many of those as it counts are dropped. What is left of them is real, and
every other record is too: Lee, Kim, Kim and Chung 2017, Table 9.

Records of one class and value may differ in plain columns, and nobody can say which of them went: where some stay and
they differ, they lose their plain columns as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from medveil.errors import InputError, OutputError
from medveil.release.catalog import CLASS_ID, Entry, catalog_of
from medveil.release.manifest import Manifest, read_manifest
from medveil.table.labels import ANYTHING


@dataclass(frozen=True)
class Truthful:
    """The truthful table: `dropped` rows of the release are gone, `lost` have no more than their sensitive values."""

    table: pa.Table
    dropped: int
    lost: int

    def to_dict(self) -> dict[str, int]:
        """Its figures."""
        return {"records": self.table.num_rows, "dropped": self.dropped, "lost": self.lost}


def derive(folder: Path, out: Path | None = None) -> Truthful:
    """The truthful table of a release directory, written to `out` (.csv or .parquet) where that is given."""
    if out is not None and out.suffix not in {".csv", ".parquet"}:
        raise OutputError(f"'{out}' is neither CSV nor Parquet.", "Name a file that ends in .csv or .parquet.")
    if out is not None and out.exists():
        raise OutputError(f"'{out}' already exists.", "Name a new file, or remove that one first.")
    manifest = read_manifest(folder)
    entries = catalog_of(folder, manifest)
    truthful = truthful_table(_as_text(folder, manifest), entries, manifest)
    if out is not None:
        _write(truthful.table, out)
    return truthful


def truthful_table(release: pa.Table, entries: list[Entry], manifest: Manifest) -> Truthful:
    """The truthful table of a release, all of whose columns are text, and its catalog."""
    roles = {attribute["name"]: attribute["role"] for attribute in manifest.attributes if not attribute.get("made")}
    names = release.column_names
    columns = [f"c{i}" for i in range(len(names))]  # names may differ in case only, which SQL does not see
    sensitive = [c for c, name in zip(columns, names, strict=True) if roles.get(name) == "sensitive"]
    plain = [c for c, name in zip(columns, names, strict=True) if roles.get(name) == "plain"]
    number = f"TRY_CAST(c{names.index(CLASS_ID)} AS BIGINT)"
    same = " AND ".join([f"{number} = id", *(f"{c} IS NOT DISTINCT FROM v{j}" for j, c in enumerate(sensitive))])
    unlike = f"count(DISTINCT ({', '.join(plain)})) OVER (PARTITION BY row, id) > 1" if plain else "false"
    kept = ", ".join(f"CASE WHEN unlike THEN '{ANYTHING}' ELSE {c} END AS {c}" if c in plain else c for c in columns)
    starred = ", ".join(c if c in sensitive else f"'{ANYTHING}' AS {c}" for c in columns)
    with duckdb.connect() as connection:
        connection.register("release", release.rename_columns(columns))
        connection.register("listed", _listed(entries, len(sensitive)))
        connection.execute(
            f"CREATE TABLE met AS SELECT *, row_number() OVER (PARTITION BY row, id) AS nth, {unlike} AS unlike "
            f"FROM release JOIN listed ON {same}"
        )
        short = "SELECT row FROM met GROUP BY row, number HAVING count(*) < number"
        rows, too_few = connection.execute(
            f"SELECT count(DISTINCT row), (SELECT count(*) FROM ({short})) FROM met"
        ).fetchall()[0]
        if rows != len(entries) or too_few:
            raise InputError(
                "The catalog counts records that the release does not hold.",
                "Take release and catalog from the same directory.",
            )
        table = connection.sql(
            f"SELECT * FROM (SELECT {', '.join(columns)} FROM release ANTI JOIN listed ON {same} "
            f"UNION ALL SELECT {kept} FROM met WHERE nth > number "
            f"UNION ALL SELECT {starred} FROM (SELECT *, row_number() OVER (PARTITION BY row) AS nth_of_row FROM met "
            f"WHERE nth <= number) WHERE nth_of_row > number) "
            f"ORDER BY {number} NULLS LAST, {', '.join(columns)}"
        ).to_arrow_table()
    return Truthful(table.rename_columns(names), release.num_rows - table.num_rows, _starred(table, sensitive))


def _starred(table: pa.Table, sensitive: list[str]) -> int:
    """How many rows have nothing but their sensitive values."""
    stars = None
    for name in table.column_names:
        if name not in sensitive:
            here = pc.fill_null(pc.equal(table[name], ANYTHING), fill_value=False)
            stars = here if stars is None else pc.and_(stars, here)
    return int(pc.sum(stars).as_py() or 0) if stars is not None else 0


def _listed(entries: list[Entry], sensitive: int) -> pa.Table:
    """One row for each class that a row of the catalog lists."""
    flat = [(number, i, entry) for i, entry in enumerate(entries) for number in entry.class_ids]
    if len({(number, entry.values) for number, _, entry in flat}) != len(flat):
        raise InputError("The catalog lists a class twice for one value.", "Was it changed by hand?")
    columns = {
        "id": pa.array([number for number, _, _ in flat], pa.int64()),
        "row": pa.array([i for _, i, _ in flat], pa.int64()),
        "number": pa.array([entry.count for _, _, entry in flat], pa.int64()),
    }
    for j in range(sensitive):
        columns[f"v{j}"] = pa.array([entry.values[j] for _, _, entry in flat], pa.string())
    return pa.table(columns)


def _as_text(folder: Path, manifest: Manifest) -> pa.Table:
    path = folder / manifest.release
    if path.suffix == ".parquet":
        table = pa.parquet.read_table(path)
        return table.cast(pa.schema([(name, pa.string()) for name in table.column_names]))
    names = [attribute["name"] for attribute in manifest.attributes]
    options = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        strings_can_be_null=True,
        null_values=[""],
        quoted_strings_can_be_null=False,
    )
    return pa.csv.read_csv(path, parse_options=pa.csv.ParseOptions(newlines_in_values=True), convert_options=options)


def _write(table: pa.Table, out: Path) -> None:
    beside = out.with_name(f".{out.name}.part")
    try:
        if out.suffix == ".parquet":
            pa.parquet.write_table(table, beside)
        else:
            pa.csv.write_csv(table, beside)
        beside.rename(out)
    except OSError:
        raise OutputError(f"'{out}' cannot be written.", "Is the folder there and writable?") from None
    finally:
        beside.unlink(missing_ok=True)
