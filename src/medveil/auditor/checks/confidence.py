"""Models that bound how sure one may be of a sensitive value among k people, counted again."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from medveil.auditor.context import ROUNDING, Check, Finding, Terms, figure
from medveil.auditor.evidence import Evidence
from medveil.auditor.histogram import count


class AlphaKAnonymityCheck(Check):
    """Every class has k people, and at most a share alpha of them has one same watched value."""

    name: ClassVar[str] = "alpha-k-anonymity"
    terms: ClassVar[frozenset[str]] = frozenset({"alpha", "k", "value"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        alpha, k, value = terms.number("alpha"), terms.number("k"), terms.optional_word("value")
        watched = None if value is None else (value,)
        smallest, surest = _worst(evidence, evidence.shield(claim), evidence.attribute(claim), watched)
        return Finding({"alpha": figure(surest), "k": smallest}, smallest >= k and surest <= alpha + ROUNDING)


class LKCPrivacyCheck(Check):
    """The same for every set of at most L quasi-identifiers: K people, and confidence C at most.

    A class of fewer quasi-identifiers is a union of classes of more, so that sets of L decide where records are
    counted. People may be in several of the classes, and then every size is looked at.
    """

    name: ClassVar[str] = "lkc-privacy"
    terms: ClassVar[frozenset[str]] = frozenset({"l", "k", "c", "values"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        l, k, c = terms.positive("l"), terms.number("k"), terms.number("c")  # noqa: E741 - the literature's name
        watched = terms.optional_words("values")
        known, attribute = evidence.shield(claim), evidence.attribute(claim)
        most = min(int(l), len(known))
        sizes = range(min(1, most), most + 1) if evidence.counts_people else range(most, most + 1)
        shields = itertools.chain.from_iterable(itertools.combinations(known, size) for size in sizes)
        found = [_worst(evidence, shield, attribute, watched) for shield in shields]
        smallest, surest = min(people for people, _ in found), max(share for _, share in found)
        achieved = {"l": l, "k": smallest, "c": figure(surest)}
        return Finding(achieved, smallest >= k and surest <= c + ROUNDING)


def _worst(
    evidence: Evidence, shield: Sequence[str], attribute: str, watched: Sequence[str] | None
) -> tuple[int, float]:
    """The people of the smallest class, and the largest share of a class's people who have one same watched value."""
    histogram = count(evidence, shield, attribute)
    shares = histogram.counts / histogram.sizes[histogram.classes]
    if watched is not None:
        is_watched = np.array([value in watched for value in histogram.domain.values], dtype=np.bool_)
        shares = np.where(is_watched[histogram.codes], shares, 0.0)
    return int(histogram.sizes.min()), float(shares.max())
