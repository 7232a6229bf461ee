"""Sessions with databases by ADBC: one transaction that sees one state of the data."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from medveil.connections import Connection
from medveil.errors import InputError, MedveilError, OutputError

REASONS = {
    "42P01": "a table in it does not exist",
    "42703": "a column in it does not exist",
    "42601": "it is not SQL that the database understands",
    "42501": "the user may not read what it asks for",
    "3D000": "there is no such database",
    "28P01": "the password is wrong",
    "28000": "the user is not allowed to connect",
    "57014": "it was stopped",
}
"""What the states of SQL mean, in words: what a database says itself may quote values."""
_OPEN: weakref.WeakValueDictionary[Connection, DatabaseSession] = weakref.WeakValueDictionary()


class DatabaseSession:
    """An open connection, in a transaction that only reads and sees the data as they were when it began."""

    def __init__(self, connection: Connection, *, writes: bool = False) -> None:
        self.connection = connection
        self._driver = _driver(connection)
        try:
            self._opened = self._driver.connect(_address(connection))
            if connection.kind == "postgresql" and not writes:
                self.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        except self._driver.Error as error:
            raise self._told(error, f"The database of the connection '{connection.name}' cannot be opened") from None
        self.close = weakref.finalize(self, self._opened.close)

    def run(self, statement: str) -> None:
        with self._opened.cursor() as cursor:
            cursor.execute(statement)

    def schema(self, query: str) -> pa.Schema:
        """The columns that a query gives."""
        with self._asking(), self._opened.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({query}) AS asked LIMIT 0")
            return cursor.fetch_record_batch().schema

    def batches(self, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        with self._asking(), self._opened.cursor() as cursor:
            cursor.execute(query)
            reader = cursor.fetch_record_batch()
            for batch in reader:
                yield pa.RecordBatch.from_arrays(
                    [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)],
                    schema=schema,
                )

    def write(self, schema: str | None, tables: dict[str, pa.Table]) -> None:
        """New tables, all or none."""
        where = f"connection '{self.connection.name}'"
        try:
            with self._opened.cursor() as cursor:
                if schema is not None:
                    cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
                for name, table in tables.items():
                    options = {} if schema is None else {"db_schema_name": schema}
                    cursor.adbc_ingest(name, table, mode="create", **options)
            self._opened.commit()
        except self._driver.Error as error:
            self._opened.rollback()
            state = getattr(error, "sqlstate", None)
            if state == "42P07" or "already exists" in str(error):
                raise OutputError(
                    f"A table of the release already exists in the {where}.", "Name another schema, or remove it first."
                ) from None
            raise OutputError(f"The release cannot be written to the {where}{_why(error)}.", "Nothing was.") from None

    def _asking(self) -> Any:
        return _Asking(self)

    def _told(self, error: Exception, problem: str) -> MedveilError:
        return InputError(f"{problem}{_why(error)}.", "Check the file of connections, and whether it is running.")


class _Asking:
    """Within it, what a database complains about becomes one sentence without its words."""

    def __init__(self, session: DatabaseSession) -> None:
        self.session = session

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        wrong = (self.session._driver.Error, pa.ArrowException, OSError)  # noqa: SLF001 - its own helper
        if isinstance(error, wrong):
            name = self.session.connection.name
            # A transaction in which something failed answers nothing more: the next one gets a session of its own.
            _OPEN.pop(self.session.connection, None)
            raise InputError(
                f"The query on the connection '{name}' failed{_why(error)}.", "Try it in a client of the database."
            ) from None


def session(connection: Connection) -> DatabaseSession:
    """The session of a connection, shared as long as anybody holds it: tables that are read together are of one
    state.
    """
    found = _OPEN.get(connection)
    if found is None:
        found = _OPEN[connection] = DatabaseSession(connection)
    return found


def end_session(connection: Connection) -> None:
    """End the session that reads from a connection, so that it is in nobody's way."""
    found = _OPEN.pop(connection, None)
    if found is not None:
        found.close()


def quoted(name: str) -> str:
    """The name of a schema or column as SQL.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def _why(error: BaseException) -> str:
    reason = REASONS.get(getattr(error, "sqlstate", None) or "")
    return f": {reason}" if reason else ""


def _driver(connection: Connection) -> Any:
    try:
        if connection.kind == "sqlite":
            import adbc_driver_sqlite.dbapi as driver  # noqa: PLC0415 - an extra
        else:
            import adbc_driver_postgresql.dbapi as driver  # type: ignore[no-redef]  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError("Databases need drivers that are not installed.", "pip install 'medveil[databases]'") from None
    return driver


def _address(connection: Connection) -> str:
    """The address as the driver takes it. A file of SQLite must be there: the driver would make an empty one."""
    if connection.kind != "sqlite":
        return connection.address
    path = re.sub(r"^sqlite:(//)?", "", connection.address)
    path = path.removeprefix("/") if path.startswith("//") else path
    if not Path(path).is_file():
        raise InputError(f"The database of the connection '{connection.name}' does not exist.", "Check its address.")
    return path
