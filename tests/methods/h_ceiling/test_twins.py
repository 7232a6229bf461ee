"""A block's classes have the same size and the same copies, and none of them looks more real than the others."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from medveil.methods.h_ceiling import copying
from medveil.methods.h_ceiling.copying import fill_to_twins
from medveil.methods.h_ceiling.twins import choose_twins


def story(real, others, copies):
    """The probability, but for a common factor, that `real` was copied into the others, by the formula of `twins`."""
    size, copied = sum(real.values()), sum(copies.values())
    chance = Fraction(math.factorial(size), math.prod(math.factorial(n) for n in real.values()))
    for other in others:
        rest = {s: n - copies.get(s, 0) for s, n in other.items()}
        chance *= Fraction(math.factorial(sum(rest.values())), math.prod(math.factorial(n) for n in rest.values()))
    chosen = math.prod(math.comb(real[s], n) for s, n in copies.items())
    return chance * Fraction(chosen, math.comb(size, copied))


@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=2, max_size=2), min_size=2, max_size=4),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4),
)
def test_every_story_of_a_block_is_equally_likely(rests, copies):
    """Whatever is left of the classes besides the copies, each of them may be the real one."""
    copied = Counter(copies)
    classes = [Counter(rest) + copied for rest in rests]
    chances = {story(c, classes[:i] + classes[i + 1 :], copied) for i, c in enumerate(classes)}
    assert len(chances) == 1


@given(st.lists(st.integers(1, 9), max_size=6), st.lists(st.integers(1, 12), max_size=8))
def test_twins_are_the_smallest_that_serve(least, sizes):
    least = sorted(least, reverse=True)
    chosen = choose_twins(np.array(least, dtype=np.int64), np.array(sizes, dtype=np.int64))
    possible = [
        sum(sizes[i] for i in picked)
        for picked in itertools.permutations(range(len(sizes)), len(least))
        if all(sizes[i] >= needed for i, needed in zip(picked, least, strict=True))
    ]
    if chosen is None:
        assert not possible
    else:
        assert len(set(chosen.tolist())) == len(least)
        assert all(sizes[i] >= needed for i, needed in zip(chosen.tolist(), least, strict=True))
        assert sum(sizes[i] for i in chosen.tolist()) == min(possible)


def random_classes(random, number, values=4):
    sizes = random.choice([1, 2, 3, 5, 6, 7, 9], size=number, p=[0.25, 0.15, 0.1, 0.2, 0.15, 0.1, 0.05])
    return np.array([random.multinomial(size, np.full(values, 1 / values)) for size in sizes])


def filled(make_holdings, table, random, most, k=5):
    holdings = make_holdings(table)
    thin = np.flatnonzero(holdings.people < k)
    enough = np.flatnonzero(holdings.people >= k)
    plan = fill_to_twins(holdings, thin, k - holdings.people[thin], enough, most, 10**9, random)
    return holdings, thin, plan


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_blocks_are_of_one_size_and_hold_the_same_copies(make_holdings, seed, most):
    random = np.random.default_rng(seed)
    table = random_classes(random, 40)
    holdings, thin, plan = filled(make_holdings, table, random, most)
    if plan is None:
        return
    table = table.copy()
    np.add.at(table, (plan.classes, plan.tuples), plan.counts)
    sizes = table.sum(axis=1)
    assert sizes.min() >= 5
    assert set(plan.classes.tolist()) == set(thin.tolist())
    blocks = {}
    for i in range(len(plan.rows)):
        listed = tuple(plan.rows.classes[plan.rows.offsets[i] : plan.rows.offsets[i + 1]].tolist())
        blocks.setdefault(listed, {})[int(plan.rows.tuples[i])] = int(plan.rows.counts[i])
    everywhere = [c for listed in blocks for c in listed]
    assert len(everywhere) == len(set(everywhere)), "a class is in one block"
    for listed, counts in blocks.items():
        real = [c for c in listed if c not in set(thin.tolist())]
        assert len(real) == 1
        assert 2 <= len(listed) <= most + 1
        assert len({int(sizes[c]) for c in listed}) == 1
        each = {value: count // (len(listed) - 1) for value, count in counts.items()}
        assert all(count % (len(listed) - 1) == 0 for count in counts.values())
        assert all(table[c, value] >= n for c in listed for value, n in each.items())
        assert all(holdings.records[c] + sum(each.values()) == sizes[c] for c in listed if c not in real)


def ranks_of_the_real(make_holdings, number):
    """In blocks of three, how often the real class has each rank by how uneven it is besides the copies."""
    random = np.random.default_rng(11)
    ranks = Counter()
    while sum(ranks.values()) < number:
        table = random_classes(random, 60)
        _, thin, plan = filled(make_holdings, table, random, 2)
        if plan is None:
            continue
        copies = np.zeros_like(table)
        for i in range(len(plan.rows)):
            listed = plan.rows.classes[plan.rows.offsets[i] : plan.rows.offsets[i + 1]]
            copies[listed, plan.rows.tuples[i]] = plan.rows.counts[i] // (len(listed) - 1)
        np.add.at(table, (plan.classes, plan.tuples), plan.counts)
        rest = np.square(table - copies).sum(axis=1) + random.random(len(table)) / 2
        blocks = {
            tuple(plan.rows.classes[plan.rows.offsets[i] : plan.rows.offsets[i + 1]].tolist())
            for i in range(len(plan.rows))
        }
        for block in blocks:
            if len(block) == 3:
                (real,) = (c for c in block if c not in set(thin.tolist()))
                ranks[sorted(block, key=lambda c: rest[c]).index(real)] += 1
    return ranks


def furthest(ranks):
    """How many standard deviations the most uneven rank is from a third of the blocks."""
    total = sum(ranks.values())
    return max(abs(ranks[rank] - total / 3) for rank in range(3)) / math.sqrt(total * 2 / 9)


def test_the_real_class_of_a_block_cannot_be_found_by_looking(make_holdings):
    """3,000 blocks: a share that is off by 0.035 would be four standard deviations away."""
    assert furthest(ranks_of_the_real(make_holdings, 3000)) < 4


def test_a_rule_that_copies_rare_values_would_be_found(make_holdings, monkeypatch):
    """The same test rejects copies that are not drawn at random: the twin is left with its frequent values."""

    def rare_first(self, random):
        frequency = np.zeros(len(self.block))
        for block in np.unique(self.block):
            here = np.flatnonzero(self.block == block)
            frequency[here] = np.bincount(self.tuples[here])[self.tuples[here]]
        order = np.lexsort((random.random(len(self.block)), frequency, self.block))
        return self.block[self.taken], self.tuples[order][self.taken]

    monkeypatch.setattr(copying._Records, "draw", rare_first)
    assert furthest(ranks_of_the_real(make_holdings, 1000)) > 4
