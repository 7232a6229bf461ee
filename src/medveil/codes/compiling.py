"""How loops are compiled: kept on disk, and with no more ways in than are used, since a first run waits for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Loop = TypeVar("Loop", bound=Callable[..., Any])


def outer(loop: Loop) -> Loop:
    """Compile a loop that Python calls."""
    options: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
    return cast("Loop", njit(**options)(loop))


def inner(loop: Loop) -> Loop:
    """Compile a loop that only compiled loops call: without a way in from Python, which takes long to compile."""
    options: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
    return cast("Loop", njit(**options)(loop))
