"""Where rows are scanned and counted."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from medveil.engine.interface import (
    Engine,
    EngineFactory,
    Limits,
    Publication,
    RowEngine,
    Snapshot,
    WrittenPart,
    with_rows,
)
from medveil.engine.opening import as_texts, open_engine, own_tables

if TYPE_CHECKING:
    from medveil.engine.specification import EngineSpec

__all__ = [
    "Engine",
    "EngineFactory",
    "Limits",
    "Publication",
    "RowEngine",
    "Snapshot",
    "WrittenPart",
    "as_texts",
    "engines",
    "named_engine",
    "open_engine",
    "own_tables",
    "with_rows",
]


def engines() -> Mapping[str, type[EngineSpec]]:
    """Every kind of engine that a policy may name, by the word it writes under `type:`."""
    from medveil.engine.specification import EngineSpec  # noqa: PLC0415
    from medveil.registry import discover  # noqa: PLC0415

    return discover(sys.modules[__name__], EngineSpec)  # type: ignore[type-abstract]


def named_engine(name: str, remote: str | None = None) -> EngineSpec:
    """The engine of this name, with its usual settings; `remote` is where it is, for one that is elsewhere."""
    from medveil.errors import InputError, did_you_mean  # noqa: PLC0415

    known = engines()
    if name not in known:
        raise InputError(f"There is no engine '{name}'.", did_you_mean(name, known))
    if remote is None:
        return known[name]()
    if "remote" not in known[name].model_fields:
        raise InputError(f"The engine '{name}' is in this process.", "Leave --remote out, or use --engine spark.")
    try:
        return known[name].model_validate({"remote": remote})
    except ValueError:
        raise InputError(
            "The address of the engine cannot be read.", "Write sc://host:15002, spark://host:7077 or local[2]."
        ) from None
