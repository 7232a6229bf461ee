"""Working arrays that checks use again and again, each thread its own."""

from __future__ import annotations

import threading
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)

LEAST = 1 << 16
"""The smallest array that is made."""


class Scratch:
    """Arrays by name, zero when they are made and then as they were left."""

    def __init__(self) -> None:
        self._own = threading.local()

    def room(self, name: str, size: int, dtype: type[Number]) -> NDArray[Number]:
        """The first entries of a working array of the thread's own, kept between checks."""
        room = getattr(self._own, name, None)
        if room is None or len(room) < size:
            room = np.zeros(max(size, LEAST), dtype=dtype)
            setattr(self._own, name, room)
        found: NDArray[Number] = room[:size]
        return found
