"""What a release claims, in words for people who are no statisticians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from medveil.privacy import model_of
from medveil.release.claim import Basis, Counting
from medveil.release.status import NOT_CHECKED, Status
from medveil.report.content import PageTable, Verdict
from medveil.report.terms import claim_figures

Claim = Mapping[str, Any]

_HOLDS: Mapping[Any, str] = {True: "yes", False: "NO", None: NOT_CHECKED}

_COUNTED: Mapping[Any, str] = {
    Counting.WITH_COUNTERFEITS.value: " Counterfeit records are counted in.",
    Counting.IN_GROUPS.value: " This holds of the people of groups whose classes publish everybody's records, whatever "
    "is known of who is in which class.",
}


NOT_TOLD = "not told"
"""What stands for a figure that holds by proof, or that would tell the values of records that are left out."""


def in_words(claim: Claim) -> str:
    """One claim as a sentence; the model's own summary where nothing simpler is known."""
    model = model_of(claim)
    words = None if model is None else model.in_words(claim.get("achieved") or {})
    if words is None:
        summary = str(claim["summary"])
        words = f"{summary[0].upper()}{summary[1:]}."
    if claim["basis"] == Basis.NOT_CHECKED.value:
        return f"{NOT_CHECKED.capitalize()}: {words}"
    return f"{words}{_COUNTED.get(claim.get('counting'), '')}"


def verdict(claims: Sequence[Claim], status: str, plain: Sequence[str] = ()) -> Verdict:
    """Whether everything that is claimed holds, and what that means. `plain` columns take part in no claim: the first
    sentence says so.
    """
    holds = bool(claims) and all(claim.get("holds") for claim in claims)
    points = [in_words(claim) for claim in claims]
    if not claims:
        return Verdict(good=False, sentence=f"This release claims no protection: it is {status}.")
    foreign = [claim for claim in claims if claim["basis"] == Basis.NOT_CHECKED.value]
    if foreign and all(claim.get("holds") or claim in foreign for claim in claims):
        return Verdict(good=False, sentence=_not_ours(foreign, len(claims), status), points=points)
    if not holds:
        return Verdict(good=False, sentence="Not every claim of this release was proved.", points=points)
    number = "Its one claim" if len(claims) == 1 else f"All {len(claims)} claims"
    by_proof = all(claim["basis"] == "by proof" for claim in claims)
    how = "by the proof of its method" if by_proof else "and were counted again from the files that were written"
    if len(claims) == 1:
        how = how.replace("were counted", "was counted")
    if status == Status.FOR_PUBLICATION.value:
        verb = "holds" if len(claims) == 1 else "hold"
        apart = f"; what {_named(plain)} takes no part in its claims" if plain else ""
        first = f"This release is for publication{apart}."
        return Verdict(good=True, sentence=f"{first} {number} {verb} {how}.", points=points)
    verb = "holds" if len(claims) == 1 else "hold"
    return Verdict(good=False, sentence=f"{number} {verb} {how}, but this release is {status}.", points=points)


def _named(plain: Sequence[str]) -> str:
    """Plain columns as the subject of a sentence.

    >>> _named(["ward"]), _named(["ward", "unit"])
    ("the plain column 'ward' tells", "the plain columns 'ward', 'unit' tell")
    """
    quoted = ", ".join(f"'{name}'" for name in plain)
    return f"the plain column {quoted} tells" if len(plain) == 1 else f"the plain columns {quoted} tell"


def _not_ours(foreign: Sequence[Claim], number: int, status: str) -> str:
    """That medveil has no check for some claims, before anything else."""
    models = ", ".join(f"'{claim['model']}'" for claim in foreign)
    rest = "" if len(foreign) == number else " Its other claims hold."
    return f"This release is {status}: medveil has no check of its own for {models}.{rest}"


def claims_table(claims: Sequence[Claim]) -> PageTable:
    """Each claim with what it requires, what was reached, and on what that rests."""
    rows = [
        [
            str(claim["summary"]),
            claim_figures(claim["required"]),
            NOT_TOLD if claim.get("achieved") is None else claim_figures(claim["achieved"]),
            _HOLDS[claim.get("holds")],
            str(claim["basis"]),
        ]
        for claim in claims
    ]
    headers = ["claim", "required", "reached", "holds", "rests on"]
    return PageTable("Claims", headers, rows, numeric=False)
