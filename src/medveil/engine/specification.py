"""An engine as a policy names it under `engine:`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from medveil.engine.interface import Engine, Interrupting, Limits
from medveil.sources.source import Source


class EngineSpec(BaseModel, ABC):
    """A kind of engine and how it is reached. What it needs beyond medveil itself is imported in `open`: the class is
    loaded wherever all kinds are listed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    """The word under `type:`."""

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
