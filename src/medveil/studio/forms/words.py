"""The words of a form: those of its class, and those that all classes share."""

from __future__ import annotations

from typing import Any

from medveil.studio.wording import Wording


class FormWords:
    """What is said of each field of a class; nothing where only its schema says something."""

    def __init__(self, own: Any, common: Any) -> None:
        self._own = own
        self._common = common

    def get(self, name: str, default: Any = None) -> Any:
        found = self._own.get(name) if self._own is not None else None
        return found or self._common.get(name) or default


def words_of(words: Wording, part: str) -> FormWords:
    return FormWords(words.fields.get(part), words.fields.common)
