"""Tables that a Spark cluster has: of its catalog, or Parquet files in a place that only the cluster can read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import pyarrow as pa
from pydantic import Field, model_validator

from medveil.clusters import ADDRESS, Cluster, connect, is_sparks
from medveil.errors import InputError
from medveil.sources.source import MISSING, Source, SourceSpec, check_names
from medveil.workspace import Workspace

_NESTED = ("array", "map", "struct", "binary", "variant", "interval")


@dataclass(frozen=True)
class SparkSource(Source):
    """A table on a cluster. Its records have no order of their own: what an engine reads first is the order."""

    remote: str
    table: str | None
    place: str | None
    kinds: Mapping[str, str] = field(default_factory=dict)
    """What Spark calls the type of each column."""
    left_out: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def remarks(self) -> tuple[str, ...]:
        if not self.left_out:
            return ()
        named = ", ".join(f"'{name}'" for name in self.left_out)
        return (f"Not read, since they hold lists, records or bytes: {named}.",)

    @property
    def identity(self) -> str:
        return f"spark {self.table or self.place}"

    def on(self, spark: Any) -> Any:
        """The table in a session of Spark. Raises what Spark raises where it is gone."""
        frame = spark.table(self.table) if self.table is not None else spark.read.parquet(self.place)
        assert frame.columns  # Connect asks for it now, and not later
        return frame

    def batches(self) -> pa.RecordBatchReader:
        cluster = connect(self.remote, self.settings)
        try:
            frame = _found(self, cluster)
            quoted = ["`" + name.replace("`", "``") + "`" for name in self.names]
            table = frame.select(*quoted).toArrow()
        finally:
            cluster.close()
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())


def _found(source: SparkSource, cluster: Cluster) -> Any:
    try:
        return source.on(cluster.spark)
    except Exception as error:
        if not is_sparks(error):
            raise
        what = "table of that name" if source.table is not None else "Parquet file in that place"
        raise InputError(
            f"The cluster finds no {what}, or may not read it.",
            "Check that it exists, and that its name is written as the cluster writes it.",
        ) from None


class SparkSpec(SourceSpec):
    """A table of a Spark cluster, or Parquet files that the cluster can read: for `engine: {type: spark}` with the same
    `remote`, which reads it where it is.
    """

    name: ClassVar[str] = "spark"
    elsewhere: ClassVar[bool] = True
    remote: Annotated[str, Field(pattern=ADDRESS, description="The address of the cluster, as under `engine:`.")]
    table: Annotated[str | None, Field(description="The name of the table, such as `health.visits`.")] = None
    path: Annotated[
        str | None,
        Field(description="A folder of Parquet parts as the cluster names it, such as `s3a://bucket/visits`."),
    ] = None

    settings: Annotated[dict[str, str], Field(description="Settings of Spark, as under `engine:`.")] = {}  # noqa: RUF012

    @model_validator(mode="after")
    def _one_of_both(self) -> SparkSpec:
        if (self.table is None) == (self.path is None):
            raise ValueError("needs either 'table' or 'path'")
        return self

    def open(self, workspace: Workspace) -> Source:  # noqa: ARG002 - the cluster's names do not start in a folder
        cluster = connect(self.remote, self.settings)
        try:
            wanted = SparkSource((), MISSING | frozenset(self.missing), self.remote, self.table, self.path)
            found = _found(wanted, cluster).dtypes
        finally:
            cluster.close()
        kinds = {name: kind for name, kind in found if not kind.startswith(_NESTED)}
        names = check_names([name for name, kind in found if not kind.startswith(_NESTED)], "The table")
        left_out = tuple(name for name, kind in found if kind.startswith(_NESTED))
        return SparkSource(names, wanted.missing, self.remote, self.table, self.path, kinds, left_out, self.settings)
