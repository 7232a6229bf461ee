"""A process that answers small questions at once: whether a policy holds together, and what there is to choose from."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

from medveil import errors
from medveil.errors import MedveilError
from medveil.processes import Child


class AnsweringProcess:
    """A process that stays and answers one question after the other; it is started again where it has died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._parts: Mapping[str, Any] | None = None

    def open(self) -> None:
        """Start the process, so that it is ready when the first question comes."""
        with self._lock:
            self._started()

    def close(self) -> None:
        with self._lock:
            if self._child is not None:
                self._child.close()
                self._child = None

    def ask(self, use_case: str, arguments: Mapping[str, Any]) -> Any:
        """The answer; where the use case refuses, what it raised."""
        with self._lock:
            for _ in range(2):
                child = self._started()
                for line in child.ask(json.dumps({"use_case": use_case, "arguments": dict(arguments)})):
                    match line:
                        case {"result": result}:
                            return result
                        case {"error": told}:
                            kind = getattr(errors, told["kind"], MedveilError)
                            raise kind(told["problem"], told["remedy"])
                child.close()
                self._child = None
        raise MedveilError("medveil does not answer.", "Start the studio again.")

    @property
    def parts(self) -> Mapping[str, Any]:
        """Every method, model, hierarchy and source, with the schemas of their forms."""
        if self._parts is None:
            self._parts = self.ask("parts", {})
        return self._parts

    def _started(self) -> Child:
        if self._child is None or not self._child.alive:
            self._child = Child(arguments=["--answering"])
        return self._child
