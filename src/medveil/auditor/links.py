"""What became of each record of the source, believed only where it gives exactly what was published."""

from __future__ import annotations

import duckdb
import pyarrow.parquet as pq

from medveil.auditor.published import UNREADABLE, parquet_relation
from medveil.auditor.tables import PERSON, STAR, Tables
from medveil.release.manifest import INTERNAL, LINKS

_FILE = f"{INTERNAL}/{LINKS}"
_KEPT = "kept"
_FIRST, _SECOND = " ", "  "
"""What the columns that tell whether a record was kept, and its line in the source, are called in the file: no column
of a source can be. Links of medveil 0.1 have no lines: they stand in the order of the source."""


def link(tables: Tables) -> str:
    """Make the table `linked`, or say why the links cannot be believed.

    They are honest where they have a line for each record of the source, where the labels that they give to kept
    records, with the source's own sensitive and plain values, are row for row what was published, and where they
    give one value one label in every column that was generalized to one level.
    """
    try:
        _load_links(tables)
    except duckdb.OutOfMemoryException:
        raise
    except (*UNREADABLE, duckdb.Error):
        return f"{_FILE} cannot be read"
    number = int(tables.one("SELECT count(*) FROM links")[0])
    if number != tables.origin_rows:
        return f"{_FILE} has {number:,} lines for {tables.origin_rows:,} records of the source"
    lines, first, last = tables.one("SELECT count(DISTINCT line), min(line), max(line) FROM links")
    if number and (lines, first, last) != (number, 0, number - 1):
        return f"{_FILE} does not have every record of the source once"
    _join(tables)
    return _differences(tables) or _inconsistent(tables) or _keep_people(tables)


def _load_links(tables: Tables) -> None:
    """The table `links`: `kept`, and the label of each column that has one, in the order of the source."""
    names = pq.read_schema(tables.links).names
    if names[0] != _FIRST:
        raise ValueError("no column that tells what was kept")
    numbered = names[1:2] == [_SECOND]
    before = 2 if numbered else 1
    labels, labelled = names[before:], _labelled(tables)
    if not set(labelled) <= set(labels):  # DuckDB renames columns that differ in case only; the order stays
        labels = list(tables.names("quasi", "sensitive"))
    columns = "".join(f", f{before + labels.index(name)} AS {tables.column(name)}" for name in labelled)
    relation = parquet_relation(tables.links, len(names))
    kept = f"coalesce(CAST(f0 AS BOOLEAN), false) AS {_KEPT}"
    line = "CAST(f1 AS BIGINT) AS line" if numbered else "row_number() OVER () - 1 AS line"
    tables.connection.execute(f"CREATE OR REPLACE TABLE links AS SELECT {line}, {kept}{columns} FROM {relation}")


def _labelled(tables: Tables) -> tuple[str, ...]:
    """The columns of which the links tell what was published: quasi-identifiers and recoded columns."""
    return tuple(name for name in tables.names() if name in tables.names("quasi") or tables.recoded(name))


def _join(tables: Tables) -> None:
    """The view `kept`: each kept record as it was published (c<i>), its own values where they differ (o<i>), its
    person.
    """
    columns = []
    for name in tables.names():
        column = tables.column(name)
        if name in _labelled(tables):
            columns += [f"links.{column} AS {column}", f"origin.{column} AS {tables.original(name)}"]
        else:
            columns.append(f"origin.{column} AS {column}")
    tables.connection.execute(
        f"CREATE VIEW kept AS SELECT {', '.join([*columns, f'origin.{PERSON} AS {PERSON}'])} "
        f"FROM origin JOIN links ON origin.line = links.line WHERE links.{_KEPT}"
    )


def _differences(tables: Tables) -> str:
    """Whether the kept records are what was published, but for rows of `*` and counterfeits, each as often as told."""
    names = tables.names()
    columns = tables.columns(names)
    stars = ", ".join([f"'{STAR}'"] * len(names)) or "0"
    balance = (
        f"SELECT {columns}, 1 AS d FROM kept UNION ALL SELECT {columns}, -n AS d FROM ({tables.published_rows(names)}) "
        f"UNION ALL SELECT {stars}, {tables.hidden} AS d"
    )
    unpublished, unexplained = tables.one(
        f"SELECT coalesce(sum(greatest(d, 0)), 0), coalesce(sum(greatest(-d, 0)), 0) "
        f"FROM (SELECT {columns}, sum(d) AS d FROM ({balance}) GROUP BY ALL)"
    )
    if unpublished or unexplained != tables.manifest.rows.get("counterfeit", 0):
        return (
            f"{_FILE} and the source do not give the release: {int(unpublished):,} records are not published so, "
            f"{int(unexplained):,} published rows have no record"
        )
    return ""


def _inconsistent(tables: Tables) -> str:
    for name in tables.names("quasi"):
        if tables.described(name).get("level") is None:
            continue
        column = tables.column(name)
        (worst,) = tables.one(
            f"SELECT max(labels) FROM (SELECT count(DISTINCT coalesce('=' || {column}, '')) AS labels "
            f"FROM kept GROUP BY {tables.original(name)})"
        )
        if (worst or 0) > 1:
            return f"{_FILE} gives one value of '{name}' different labels, though one level of it was published"
    return ""


def _keep_people(tables: Tables) -> str:
    columns = tables.columns(tables.counted)
    claimed = [name for name in tables.names("sensitive") if name in tables.counted and tables.recoded(name)]
    own = "".join(f", {tables.original(name)}" for name in claimed)
    tables.connection.execute(f"CREATE TABLE linked AS SELECT DISTINCT {columns}{own}, {PERSON} FROM kept")
    return ""
