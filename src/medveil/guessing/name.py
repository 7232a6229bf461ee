"""A column's name, taken apart into words, and what it speaks of."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, cached_property

from medveil.guessing.words import (
    DEMOGRAPHIC,
    DRUG_STEMS,
    ENDINGS,
    FILLER,
    HINTS,
    IDENTIFIERS,
    NOT_NAMES,
    SENSITIVE,
    Concept,
)


class Name:
    """A column's name as words, without case and accents, and every run of neighbouring words written together.

    >>> Name("HHIncomeMid").words, Name("Straße_2").words
    (('hh', 'income', 'mid'), ('strasse', '2'))
    """

    def __init__(self, name: str) -> None:
        text = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
        text = "".join(character for character in text if not unicodedata.combining(character))
        pieces = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+", text)
        self.words = tuple(piece.lower() for piece in pieces)
        self.whole = "".join(self.words)

    @cached_property
    def runs(self) -> frozenset[str]:
        count = len(self.words)
        return frozenset("".join(self.words[i:j]) for i in range(count) for j in range(i + 1, min(count, i + 5) + 1))

    def says(self, patterns: str) -> bool:
        """Whether one of several patterns fits, as `words` says."""
        asked = _Patterns.of(patterns)
        return (
            not asked.words.isdisjoint(self.runs)
            or self.whole in asked.wholes
            or (len(self.words) > 1 and self.words[-1] in asked.endings)
            or any(run.startswith(asked.beginnings) for run in self.runs)
            or any(expression.fullmatch(run) for expression in asked.expressions for run in self.runs)
        )

    def find(self, concepts: tuple[Concept, ...]) -> Concept | None:
        """The first concept that the name speaks of."""
        return next((concept for concept in concepts if self.says(concept.patterns)), None)

    def hints(self, concepts: tuple[Concept, ...]) -> Concept | None:
        """The first concept of which a word of four letters or more stands somewhere within the name: `irace`."""
        return next(
            (c for c in concepts for pattern in c.patterns.split()
             if len(pattern.strip("*")) >= 4 and not set("=?_") & set(pattern) and pattern.strip("*") in self.whole),
            None,
        )  # fmt: skip

    @property
    def is_key(self) -> bool:
        """Whether the name ends like that of a key: id, nr, number, ..., and is not that of a list of codes."""
        if not self.words or "concept" in self.words:
            return False
        return self.words[-1] in ENDINGS.split() or self.whole.endswith(("nummer", "number", "uuid", "guid"))

    @property
    def identifier(self) -> Concept | None:
        """The identifier that the name speaks of; a name of a thing (drug_name) is none, nor is a list of concepts."""
        if "concept" in self.words:
            return None
        found = self.find(IDENTIFIERS) or self._hidden_identifier()
        if found is not None and found.key == "name" and set(self.words[:-1]) & set(NOT_NAMES.split()):
            return None
        return found

    def _hidden_identifier(self) -> Concept | None:
        """The identifier of which a telling word stands within a longer one."""
        hints = [Name(hint) for hint in HINTS.split() if hint in self.whole]
        return hints[0].find(IDENTIFIERS) if hints else None

    @property
    def demographic(self) -> Concept | None:
        """A demographic that is all the name speaks of: `Gender`, `race_source_value`, but not `SexAge`."""
        found = [c for c in DEMOGRAPHIC if self.says(c.patterns)]
        if len(found) != 1 or self.find(SENSITIVE) is not None:
            return None
        rest = [word for word in self.words if word not in FILLER.split()]
        return found[0] if len(rest) <= 1 or Name("_".join(rest)).whole in found[0].patterns.split() else None

    @property
    def is_drug(self) -> bool:
        """Whether a word of the name ends like the international name of a drug."""
        return any(word.endswith(tuple(DRUG_STEMS.split())) for word in self.words)


@dataclass(frozen=True)
class _Patterns:
    """Patterns by how they fit: a run of words, the whole name, its last word, how a run begins, or any letters."""

    words: frozenset[str]
    wholes: frozenset[str]
    endings: frozenset[str]
    beginnings: tuple[str, ...]
    expressions: tuple[re.Pattern[str], ...]

    @staticmethod
    @cache
    def of(patterns: str) -> _Patterns:
        words, wholes, endings, beginnings, expressions = set(), set(), set(), [], []
        for pattern in patterns.split():
            if pattern.startswith("="):
                wholes.add(pattern[1:])
            elif pattern.startswith("*_"):
                endings.add(pattern[2:])
            elif "?" in pattern:
                expressions.append(re.compile(pattern.replace("?", ".").replace("*", ".*")))
            elif pattern.endswith("*"):
                beginnings.append(pattern[:-1])
            else:
                words.add(pattern)
        return _Patterns(frozenset(words), frozenset(wholes), frozenset(endings), tuple(beginnings), tuple(expressions))
