"""What a release claims, in words for people who are no statisticians."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from medveil.report.content import Table, Verdict
from medveil.report.words import figure

Claim = Mapping[str, Any]

PUBLISHABLE = "for publication"
_HOLDS: Mapping[Any, str] = {True: "yes", False: "NO", None: "not checked"}
WITH_COUNTERFEITS = " with counterfeits"


def _k(claim: Claim, found: Mapping[str, Any]) -> str | None:
    if found.get("k") is None:
        return None
    who = f" by {', '.join(claim['on'])}" if claim.get("on") else ""
    if found["k"] < 2:
        return f"Some records are alone in their group{who}: nothing hides whose they are."
    return (
        f"Nobody can be told from fewer than {found['k'] - 1:,} others{who}: the smallest group of records that look "
        f"alike holds {found['k']:,}."
    )


def _l(claim: Claim, found: Mapping[str, Any]) -> str | None:
    if found.get("l") is None:
        return None
    kind, about = claim["parameters"].get("variant", "distinct"), claim["attribute"]
    if found["l"] < 2:
        return f"In some group '{about}' hardly varies: knowing somebody's group may tell it."
    if kind != "distinct":
        return f"Every such group has at least {figure(found['l'])} values of '{about}', counted by {kind} l-diversity."
    return (
        f"Within every such group '{about}' takes at least {figure(found['l'])} different values, so knowing "
        "somebody's group does not tell it for certain."
    )


def _t(claim: Claim, found: Mapping[str, Any]) -> str | None:
    if found.get("t") is None:
        return None
    return (
        f"In no group is '{claim['attribute']}' spread further from the whole table than a distance of "
        f"{figure(found['t'])}; at 0 a group would tell nothing about it."
    )


def _epsilon(claim: Claim, _found: Mapping[str, Any]) -> str | None:
    epsilon, delta = claim["required"].get("epsilon"), claim["required"].get("delta")
    if epsilon is None:
        return None
    beyond = f", but for a probability of {figure(delta)} in which it may change by more" if delta else ""
    return (
        f"Whether or not a person is in the data changes the chance of anything in this release by a factor of at most "
        f"e to the power {figure(epsilon)}{beyond}. This holds by proof: it cannot be counted in a file."
    )


_WORDS: Mapping[str, Callable[[Claim, Mapping[str, Any]], str | None]] = {
    "k-anonymity": _k,
    "l-diversity": _l,
    "t-closeness": _t,
    "differential-privacy": _epsilon,
}


def in_words(claim: Claim) -> str:
    """One claim as a sentence; the model's own summary where nothing simpler is known."""
    model = str(claim["model"])
    words = _WORDS.get(model.removesuffix(WITH_COUNTERFEITS))
    told = words(claim, claim.get("achieved") or {}) if words else None
    if told is None:
        summary = str(claim["summary"])
        return f"{summary[0].upper()}{summary[1:]}."
    return f"{told} Counterfeit records are counted in." if model.endswith(WITH_COUNTERFEITS) else told


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


def claims_table(claims: Sequence[Claim]) -> Table:
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
    return Table("Claims", headers, rows, numeric=False)
