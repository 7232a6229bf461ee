"""What a release claims, in words for people who are no statisticians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from medveil.privacy import model_of
from medveil.report.content import PageTable, Verdict
from medveil.report.words import figure

Claim = Mapping[str, Any]

PUBLISHABLE = "for publication"
_HOLDS: Mapping[Any, str] = {True: "yes", False: "NO", None: "not checked"}
WITH_COUNTERFEITS = " with counterfeits"


def in_words(claim: Claim) -> str:
    """One claim as a sentence; the model's own summary where nothing simpler is known."""
    name = str(claim["model"])
    model = model_of({**claim, "model": name.removesuffix(WITH_COUNTERFEITS)})
    words = None if model is None else model.in_words(claim.get("achieved") or {})
    if words is None:
        summary = str(claim["summary"])
        return f"{summary[0].upper()}{summary[1:]}."
    return f"{words} Counterfeit records are counted in." if name.endswith(WITH_COUNTERFEITS) else words


def verdict(claims: Sequence[Claim], status: str) -> Verdict:
    """Whether everything that is claimed holds, and what that means."""
    holds = bool(claims) and all(claim.get("holds") for claim in claims)
    points = [in_words(claim) for claim in claims]
    if not claims:
        return Verdict(good=False, sentence=f"This release claims no protection: it is {status}.")
    if not holds:
        return Verdict(good=False, sentence="Not every claim of this release was proved.", points=points)
    number = "Its one claim" if len(claims) == 1 else f"All {len(claims)} claims"
    by_proof = all(claim["basis"] == "by proof" for claim in claims)
    how = "by the proof of its method" if by_proof else "and were counted again from the files that were written"
    if len(claims) == 1:
        how = how.replace("were counted", "was counted")
    if status == PUBLISHABLE:
        verb = "holds" if len(claims) == 1 else "hold"
        return Verdict(good=True, sentence=f"This release is for publication. {number} {verb} {how}.", points=points)
    verb = "holds" if len(claims) == 1 else "hold"
    return Verdict(good=False, sentence=f"{number} {verb} {how}, but this release is {status}.", points=points)


def claims_table(claims: Sequence[Claim]) -> PageTable:
    """Each claim with what it requires, what was reached, and on what that rests."""
    rows = [
        [
            str(claim["summary"]),
            figure(claim["required"]),
            figure(claim.get("achieved") or {}),
            _HOLDS[claim.get("holds")],
            str(claim["basis"]),
        ]
        for claim in claims
    ]
    headers = ["claim", "required", "reached", "holds", "on what it rests"]
    return PageTable("Claims", headers, rows, numeric=False)
