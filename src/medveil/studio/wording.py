"""All words that people read, from one file, so that another language is another file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

ENGLISH = "english.toml"


class Wording:
    """A table of texts, read by attribute in templates: `t.columns.title`. A text that is not there is an error."""

    def __init__(self, content: Mapping[str, Any], place: str = "") -> None:
        self._content = content
        self._place = place

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(str(error)) from None

    def __getitem__(self, name: str) -> Any:
        found = self._content.get(name)
        if found is None:
            raise KeyError(f"there is no text '{self._place}{name}'")
        return Wording(found, f"{self._place}{name}.") if isinstance(found, Mapping) else found

    def get(self, name: str, default: Any = None) -> Any:
        """The text where it is there: of parts that other packages bring there is none."""
        found = self._content.get(name)
        if found is None:
            return default
        return Wording(found, f"{self._place}{name}.") if isinstance(found, Mapping) else found

    def names(self) -> list[str]:
        return list(self._content)


def load_words(name: str = ENGLISH) -> Wording:
    text = (files("medveil.studio") / "texts" / name).read_text(encoding="utf-8")
    return Wording(tomllib.loads(text))
