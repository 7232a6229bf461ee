"""The attacker on the catalog against all placements, written out."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from medveil.auditor.catalog_flow import most_in_class, place, posteriors
from medveil.auditor.catalog_listing import Listing


def listing_of(sizes, rows):
    """Rows as (count, {class: records of the value})."""
    pairs = [(i, c, n) for i, (_, held) in enumerate(rows) for c, n in sorted(held.items())]
    row, of_class, held = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    counts = np.array([count for count, _ in rows], dtype=np.int64)
    return Listing(np.array(sizes, dtype=np.int64), counts, row, of_class, held)


def placements(listing, cap):
    """Every placement within the caps, as counterfeits by pair, with how many choices of records it stands for."""
    by_row = []
    for i, count in enumerate(listing.counts.tolist()):
        pairs = np.flatnonzero(listing.row == i)
        ranges = [range(min(int(listing.held[p]), count) + 1) for p in pairs]
        by_row.append([choice for choice in itertools.product(*ranges) if sum(choice) == count])
    for chosen in itertools.product(*by_row):
        flow = np.array([n for part in chosen for n in part], dtype=np.int64)
        load = np.bincount(listing.of_class, flow, minlength=len(cap))
        if np.all(load <= cap):
            yield flow, math.prod(math.comb(int(h), int(n)) for h, n in zip(listing.held, flow, strict=True))


@st.composite
def listings(draw):
    classes = draw(st.integers(2, 4))
    rows = []
    held = np.zeros(classes, dtype=np.int64)
    for _ in range(draw(st.integers(1, 3))):
        members = draw(st.lists(st.integers(0, classes - 1), min_size=1, max_size=classes, unique=True))
        records = {c: draw(st.integers(1, 3)) for c in members}
        for c, n in records.items():
            held[c] += n
        rows.append((draw(st.integers(1, sum(records.values()))), records))
    sizes = [int(n) + draw(st.integers(0, 2)) for n in held]
    cap = np.array([draw(st.integers(0, max(size, 1))) for size in sizes], dtype=np.int64)
    return listing_of(sizes, rows), cap


@given(listings())
def test_what_is_told_is_what_every_placement_has(case):
    listing, cap = case
    every = [flow for flow, _ in placements(listing, cap)]
    found = place(listing, cap)
    if not every:
        assert found is None
        return
    assert found is not None
    assert np.array_equal(np.bincount(listing.row, found.flow, minlength=len(listing.counts)), listing.counts)
    assert np.all(np.bincount(listing.of_class, found.flow, minlength=len(cap)) <= cap)
    assert found.forced().tolist() == np.min(every, axis=0).tolist()


@given(listings())
def test_a_class_holds_at_most_what_some_placement_puts_there(case):
    listing, cap = case
    every = [flow for flow, _ in placements(listing, cap)]
    assume(every)
    most = [max(int(flow[listing.of_class == c].sum()) for flow in every) for c in range(len(cap))]
    assert most_in_class(listing, cap).tolist() == most


@given(listings())
def test_posteriors_are_shares_of_all_choices_of_records(case):
    listing, cap = case
    every = list(placements(listing, cap))
    found = place(listing, cap)
    assume(every and found is not None)
    shares, estimated = posteriors(found)
    total = sum(weight for _, weight in every)
    exact = sum(Fraction(weight, total) * Fraction(1) * flow for flow, weight in every) / listing.held
    tolerance = 0.15 if estimated else 1e-9
    assert [float(x) for x in exact] == pytest.approx(shares.tolist(), abs=tolerance)


@given(listings())
def test_lemma_1_is_read_off_the_published_numbers(case):
    """It fails where some placement of one row alone leaves its pair never empty."""
    listing, _ = case
    everyone = np.full(len(listing.sizes), 10**6, dtype=np.int64)
    least = np.min([flow for flow, _ in placements(listing, everyone)], axis=0)
    assert listing.lemma_failures() == np.count_nonzero(least)


def test_components_are_what_hangs_together():
    listing = listing_of([9] * 5, [(1, {0: 1, 1: 1}), (1, {1: 1, 2: 1}), (1, {3: 1, 4: 1})])
    assert listing.components.tolist() == [0, 0, 0, 0, 1, 1]


def test_published_padding_gives_away_what_larger_classes_cannot_hold():
    """Of two classes of the catalog one is larger than k = 4, so that it was never filled: Lemma 1 does not see it."""
    listing = listing_of([4, 9], [(2, {0: 2, 1: 5})])
    assert listing.lemma_failures() == 0
    found = place(listing, np.where(listing.sizes == 4, 3, 0))
    assert found is not None
    assert found.forced().tolist() == [2, 0]


def test_estimates_repeat():
    listing = listing_of([6, 6, 6], [(3, {0: 3, 1: 3, 2: 3}), (3, {0: 3, 1: 3, 2: 3})])
    cap = np.array([2, 3, 3], dtype=np.int64)
    first, second = (posteriors(place(listing, cap)) for _ in range(2))
    assert first[1]
    assert second[1]
    assert first[0].tolist() == second[0].tolist()
    assert Counter(first[0] > 0) == Counter({True: 6})
