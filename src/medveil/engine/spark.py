"""Spark: rows are counted on a cluster, which is reached by its address."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from medveil.clusters import ADDRESS
from medveil.engine.interface import Interrupting, Limits
from medveil.engine.specification import EngineSpec
from medveil.sources.source import Source

if TYPE_CHECKING:
    from medveil.engine.spark_engine import SparkEngine


class Spark(EngineSpec):
    """Spark: records are counted, joined, sorted and written on a cluster that shares a file system with this machine.
    Needs `medveil[spark]` for Spark Connect (`sc://`), and `medveil[spark-local]` for other addresses.
    """

    name: ClassVar[str] = "spark"
    remote: Annotated[
        str,
        Field(
            pattern=ADDRESS,
            description="`sc://host:15002` (Spark Connect), `spark://host:7077` (a master), or `local[2]`.",
        ),
    ] = "local[*]"
    folder: Annotated[
        str | None,
        Field(
            description="A folder that this machine and the cluster see under the same path, for files of passage; the "
            "release must be on such a file system too. By default, the run's own folder."
        ),
    ] = None
    settings: Annotated[
        dict[str, str],
        Field(
            description="Settings of Spark, such as `spark.executor.memory`; by Spark Connect those that begin with "
            "`spark.sql.`."
        ),
    ] = {}  # noqa: RUF012 - pydantic copies it

    def open(
        self,
        source: Source,
        columns: Sequence[str],
        limits: Limits | None = None,
        *,
        may_be_empty: bool = False,
        interrupting: Interrupting = nullcontext,
    ) -> SparkEngine:
        from medveil.engine.spark_engine import SparkEngine  # noqa: PLC0415 - few policies need it
        from medveil.engine.spark_session import ClusterSession  # noqa: PLC0415

        limits = limits or Limits()
        return SparkEngine(
            ClusterSession(self.remote, self.folder, self.settings, limits),
            source,
            columns,
            limits,
            may_be_empty=may_be_empty,
            interrupting=interrupting,
        )
