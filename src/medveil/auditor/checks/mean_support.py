"""How many people every published mean rests on, as the code book states it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from medveil.auditor.code_book import FIGURES, FILE, mean_of, read_code_book, recoded_as, support
from medveil.auditor.context import CannotTell, Check, Finding, Refuted, Terms
from medveil.auditor.evidence import Evidence
from medveil.auditor.tables import STAR


class MeanSupportCheck(Check):
    """Every mean that the release shows is in the code book, and behind every one in the book are at least so many
    people, whether it is shown or not.

    Whether the code book is true is a claim of its own, which needs the source.
    """

    name: ClassVar[str] = "mean-support"
    terms: ClassVar[frozenset[str]] = frozenset({"people"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        required = Terms(claim).number("people")
        lines = read_code_book(evidence)
        columns = recoded_as(evidence, *FIGURES)
        if not columns:
            raise CannotTell("the manifest has no column that is published as means")
        least: int | None = None
        for name in columns:
            stated = support(lines, name)
            shown = evidence.distinct(f"({evidence.published_rows([name])})", evidence.column(name))
            if any(mean_of(label) not in stated for label in shown if label is not None and label != STAR):
                raise Refuted(f"'{FILE}' does not have every published number of '{name}'")
            least = min([*stated.values(), *([] if least is None else [least])], default=None)
        if least is None:
            return Finding({"people": None}, holds=True, note="no mean is published")
        return Finding({"people": least}, least >= required)
