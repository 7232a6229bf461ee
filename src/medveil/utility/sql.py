"""SQL aggregates of the user, run in a database that holds one table and reaches nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from medveil.errors import PolicyError, did_you_mean

TABLE = "data"
Answer = Mapping[tuple[Any, ...], tuple[float | None, ...]]
"""The figures of each group: groups by the values of their keys."""


@dataclass(frozen=True)
class Statement:
    """One SELECT: its text, the columns that it names, and which of its results are aggregates (None: unknown)."""

    text: str
    columns: frozenset[str]
    aggregates: tuple[bool, ...] | None


def connect() -> duckdb.DuckDBPyConnection:
    """A database that reads no file, loads no extension and sees no variable of the program."""
    connection = duckdb.connect(
        config={
            "enable_external_access": "false",
            "autoload_known_extensions": "false",
            "autoinstall_known_extensions": "false",
        }
    )
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET python_scan_all_frames = false")
    return connection


def read_statement(connection: duckdb.DuckDBPyConnection, name: str, text: str) -> Statement:
    """One SELECT statement; anything else is refused."""
    answer = connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()[0][0]
    tree = json.loads(answer)
    if tree.get("error"):
        what = "is not SQL" if tree.get("error_type") == "parser" else "is not a SELECT statement"
        raise PolicyError(f"'{name}' {what}.", f"Write it as 'SELECT ... FROM {TABLE} ...'.")
    if len(tree["statements"]) != 1:
        raise PolicyError(f"'{name}' is not one SELECT statement.", "Give every query an entry of its own.")
    node = tree["statements"][0]["node"]
    known = {row[0] for row in connection.execute(_AGGREGATES).fetchall()}
    listed = node.get("select_list") if node.get("type") == "SELECT_NODE" else None
    plain = listed is not None and all(item["class"] != "STAR" for item in listed)
    return Statement(
        text,
        frozenset(part["column_names"][-1] for part in _walk(node) if part.get("class") == "COLUMN_REF"),
        tuple(any(_aggregates(part, known) for part in _walk(item)) for item in listed) if listed and plain else None,
    )


_AGGREGATES = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"


def _aggregates(part: Mapping[str, Any], known: set[str]) -> bool:
    return part.get("class") == "WINDOW" or (part.get("class") == "FUNCTION" and part.get("function_name") in known)


def _walk(node: Any) -> Iterator[Mapping[str, Any]]:
    """Every part of a statement, from the outside in."""
    if isinstance(node, dict):
        yield node
        for inner in node.values():
            yield from _walk(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _walk(inner)


def run(connection: duckdb.DuckDBPyConnection, name: str, statement: Statement, table: pa.Table) -> Answer:
    """What a statement answers on a table; an error never repeats a value."""
    connection.register(TABLE, table)
    try:
        result: pa.Table = connection.sql(statement.text).to_arrow_table()
    except duckdb.Error as error:
        raise PolicyError(*_explained(error, name, statement, table)) from None
    finally:
        connection.unregister(TABLE)
    figures = statement.aggregates
    if figures is None or len(figures) != result.num_columns:
        figures = tuple(_is_figure(field.type) for field in result.schema)
    if not any(figures):
        raise PolicyError(f"'{name}' has no aggregate.", "Ask for counts, sums or means, such as count(*).")
    columns = [column.to_pylist() for column in result.columns]
    answer: dict[tuple[Any, ...], tuple[float | None, ...]] = {}
    for row in zip(*columns, strict=True):
        key = tuple(value for value, figure in zip(row, figures, strict=True) if not figure)
        answer[key] = tuple(_number(value) for value, figure in zip(row, figures, strict=True) if figure)
    return answer


def _is_figure(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def _explained(error: duckdb.Error, name: str, statement: Statement, table: pa.Table) -> tuple[str, str]:
    published = {column.lower() for column in table.column_names}
    unknown = sorted(column for column in statement.columns if column.lower() not in published)
    if isinstance(error, duckdb.BinderException) and unknown:
        return f"'{name}' reads '{unknown[0]}', which is not published.", did_you_mean(unknown[0], table.column_names)
    if isinstance(error, duckdb.CatalogException):
        return f"'{name}' reads a table or calls a function that does not exist.", f"The table is called '{TABLE}'."
    if isinstance(error, duckdb.BinderException):
        return f"'{name}' does not fit the types of its columns.", "Numbers are numbers, dates are dates, others text."
    if isinstance(error, duckdb.PermissionException):
        return f"'{name}' reaches outside of the table.", f"It may read '{TABLE}' only."
    return f"'{name}' cannot be computed ({type(error).__name__}).", "Try it on a table of your own."
