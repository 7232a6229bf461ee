"""What a query gives, from a database that is named."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated, ClassVar

import pyarrow as pa
from pydantic import Field

from medveil.sources.database import DatabaseSession, quoted, session
from medveil.sources.source import MISSING, Source, SourceSpec, check_names
from medveil.workspace import Workspace

_READ = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_string,
    pa.types.is_date,
    pa.types.is_timestamp,
)


@dataclass(frozen=True)
class SqlSource(Source):
    """The rows of a query, as they were when the session began."""

    session: DatabaseSession
    query: str
    schema: pa.Schema

    @property
    def identity(self) -> str:
        return f"{self.session.connection.name}:{hashlib.sha256(self.query.encode()).hexdigest()}"

    def batches(self) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(self.schema, self.session.batches(self.query, self.schema))


class SqlSpec(SourceSpec):
    """The rows of a query on a PostgreSQL or SQLite database. The connection is named in a file of the steward's
    (`MEDVEIL_CONNECTIONS=FILE`) or in the environment (`MEDVEIL_CONNECTION_NAME=ADDRESS`); a policy never holds an
    address or a password. All queries of a run on one connection see the same state of the data. Needs the extra
    `databases`.
    """

    name: ClassVar[str] = "sql"
    connection: Annotated[str, Field(description="The name of the database.", min_length=1)]
    query: Annotated[str, Field(description="A SELECT.", min_length=1)]

    def open(self, workspace: Workspace) -> Source:
        opened = session(workspace.connections.find(self.connection))
        query = self.query.strip().rstrip(";")
        found = opened.schema(query)
        names = check_names(found.names, "The query")
        texts = opened.connection.kind == "sqlite"  # there a column may hold values of any kind
        columns = [
            f"CAST({quoted(field.name)} AS TEXT) AS {quoted(field.name)}"
            if texts or not _reads(field)
            else quoted(field.name)
            for field in found
        ]
        asked = f"SELECT {', '.join(columns)} FROM ({query}) AS asked"
        schema = pa.schema([(f.name, pa.string() if texts or not _reads(f) else f.type) for f in found])
        return SqlSource(names, MISSING | frozenset(self.missing), opened, asked, schema)


def _reads(field: pa.Field) -> bool:
    return any(fits(field.type) for fits in _READ)
