"""An engine as a policy names it under `engine:`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from medveil.engine.interface import CELLS_AT_MOST, Engine, Interrupting, Limits
from medveil.engine.tables import ChangedTables, LinkedTables
from medveil.errors import PolicyError
from medveil.sources.source import Source
from medveil.table.changes import ChangedTable
from medveil.table.pseudonyms import ReleaseKey


class EngineSpec(BaseModel, ABC):
    """A kind of engine and how it is reached. What it needs beyond medveil itself is imported in `open`: the class is
    loaded wherever all kinds are listed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    """The word under `type:`."""

    cells_at_most: Annotated[
        int,
        Field(
            ge=1,
            description="How many distinct records may travel to a search in memory. Where there are more, an engine "
            "that can counts each node of the search where the records are.",
        ),
    ] = CELLS_AT_MOST

    @abstractmethod
    def open(
        self,
        source: Source,
        columns: Sequence[str],
        limits: Limits | None = None,
        *,
        may_be_empty: bool = False,
        interrupting: Interrupting = nullcontext,
    ) -> Engine:
        """An engine that holds these columns of a source: see `EngineFactory`."""

    def change(
        self,
        tables: Mapping[str, ChangedTable],  # noqa: ARG002 - engines that can take it
        sources: Mapping[str, Source],  # noqa: ARG002
        key: ReleaseKey,  # noqa: ARG002
        space: str,  # noqa: ARG002
        limits: Limits,  # noqa: ARG002
        interrupting: Interrupting,  # noqa: ARG002
    ) -> ChangedTables:
        """Tables whose columns are changed before they are counted: see `TableFactory`. Refused where not declared."""
        raise PolicyError(
            f"The engine '{self.name}' makes no pseudonyms, shifted dates or derived columns.",
            "Leave 'engine' out, or the roles key and date and 'derive'.",
        )

    def link(
        self,
        tables: Mapping[str, ChangedTable],  # noqa: ARG002 - engines that can take it
        sources: Mapping[str, Source],  # noqa: ARG002
        key: ReleaseKey,  # noqa: ARG002
        space: str,  # noqa: ARG002
        limits: Limits,  # noqa: ARG002
        interrupting: Interrupting,  # noqa: ARG002
    ) -> LinkedTables:
        """Tables that point to each other: see `TableFactory`. Refused where not declared."""
        raise PolicyError(f"The engine '{self.name}' does not link tables.", "Leave 'engine' out.")
