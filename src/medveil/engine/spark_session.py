"""A Spark as the engine talks to it.

Tables travel as Parquet files in a folder that both sides see, never as literals: a query's text, which a cluster keeps
in its logs, holds no value; and no answer has to fit into the memory of Spark's own driver. What runs carries a tag, by
which it is interrupted.
"""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet

from medveil.clusters import connect, is_sparks
from medveil.engine.interface import Limits
from medveil.engine.spark_progress import Told, listen_by_connect, watched
from medveil.errors import CancelledError, InputError
from medveil.working_folder import WorkingFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class ClusterSession:
    """A session at an address, and a folder of its own for files of passage."""

    def __init__(self, remote: str, folder: str | None, settings: Mapping[str, str], limits: Limits) -> None:
        self.remote = remote
        self._cluster = connect(remote, settings)
        self.spark, self.functions = self._cluster.spark, self._cluster.functions
        self.tag = f"medveil-{uuid.uuid4().hex}"
        self._stopped = False
        self._told: Told | None = None
        self._spill = Path(folder) if folder is not None else limits.spill
        if self._spill is not None:
            self._spill.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._working = WorkingFolder(self._spill)
        self.folder = self._working.path.resolve()
        self._removable = folder is None

    def close(self) -> None:
        self._working.close()
        spill = self._spill
        if self._removable and spill is not None and spill.is_dir() and not any(spill.iterdir()):
            spill.rmdir()
        self._cluster.close()

    def interrupt(self) -> None:
        """Stop what runs; asked again and again until it has."""
        self._stopped = True
        self._cluster.interrupt(self.tag)

    def listen(self, told: Told) -> None:
        """Who is told how far what runs is."""
        self._told = told
        if self._cluster.by_connect:
            listen_by_connect(self._cluster, told)

    def _watched(self) -> AbstractContextManager[None]:
        if self._told is None or self._cluster.by_connect:
            return nullcontext()
        return watched(self._cluster, self._told)

    @contextmanager
    def working(self) -> Iterator[None]:
        """What runs inside may be interrupted from another thread. No word of Spark's own is passed on: it may quote a
        value.
        """
        self._stopped = False
        self._cluster.tag(self.tag)
        try:
            with self._watched():
                yield
        except Exception as error:
            if self._stopped:
                raise CancelledError("The run was stopped.", "Nothing was written.") from None
            if not is_sparks(error):
                raise
            raise InputError(
                "Spark could not do this.",
                "Does the cluster still run, and does it see the same files as this machine, in the same places?",
            ) from None
        finally:
            self._cluster.untag(self.tag)

    def fresh(self, what: str) -> Path:
        """A path in the folder that nothing has."""
        return self.folder / f"{what}-{uuid.uuid4().hex}"

    def send(self, table: pa.Table) -> DataFrame:
        """A table of this machine, on the cluster."""
        path = self.fresh("sent").with_suffix(".parquet")
        plain = [_without_hidden_nulls(column) for column in table.columns]
        pyarrow.parquet.write_table(
            pa.table(plain, names=table.column_names), path, compression="zstd", store_schema=False
        )
        return self.read([path])

    def read(self, paths: Sequence[Path], schema: str | None = None) -> DataFrame:
        """Parquet files or a folder of them, as the cluster reads them."""
        with self.working():
            reader = self.spark.read if schema is None else self.spark.read.schema(schema)
            frame: DataFrame = reader.parquet(*(re.sub(r"([*?\[\]{}\\])", r"\\\1", place(path)) for path in paths))
        return frame

    def table(self, frame: DataFrame, coded: Sequence[str] = ()) -> pa.Table:
        """What a query gives, on this machine, in no order; `coded` columns come as codes into a dictionary."""
        path = self.write(frame)
        table = pyarrow.parquet.read_table(path, read_dictionary=list(coded)).unify_dictionaries()
        shutil.rmtree(path, ignore_errors=True)
        return table

    def row(self, frame: DataFrame) -> tuple[Any, ...]:
        """The one row of an answer."""
        with self.working():
            (row,) = frame.collect()
        return tuple(row)

    def write(self, frame: DataFrame) -> Path:
        """The rows as a folder of Parquet files."""
        path = self.fresh("kept")
        with self.working():
            frame.write.parquet(place(path))
        return path

    def keep(self, frame: DataFrame) -> DataFrame:
        """The same rows, computed once: what is drawn at random must not be drawn again."""
        return self.read([self.write(frame)])


def place(path: Path) -> str:
    """A file or folder as Spark names it: nothing in it stands for another character."""
    return f"file://{path}"


def _without_hidden_nulls(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A dictionary that holds a null among its values cannot be written: its texts can."""
    if not pa.types.is_dictionary(column.type):
        return column
    hidden = any(chunk.dictionary.null_count for chunk in column.chunks)
    return column.cast(column.type.value_type) if hidden else column
