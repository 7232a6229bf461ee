"""Who runs the method on every original that could be behind a release believes what the release says, and no more.

Ten small tables here; `make attack` takes a hundred.
"""

import itertools
import os
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from medveil.methods.h_ceiling.bundles import judge
from medveil.methods.h_ceiling.partition import at_node
from medveil.methods.h_ceiling.planner import Planner, seat
from medveil.methods.h_ceiling.search import Filled
from medveil.privacy.l_diversity import LDiversity

TABLES = int(os.environ.get("MEDVEIL_ATTACK_TABLES", "10"))
SEEDS = 3


@pytest.mark.parametrize("seed", range(TABLES))
def test_nobody_is_told_by_the_default(enumeration, seed):
    random_case, method, told, _ = enumeration
    found = told(method(random_case(seed)), SEEDS)
    assert not found, found[:3]


@pytest.mark.parametrize("models", ["k", "l", "t"])
@pytest.mark.parametrize("recoding", ["full-domain", "mondrian", "clustering"])
def test_the_published_method_tells_people(enumeration, recoding, models):
    """In some class that shows both values somebody's is certain, though Lemma 1 holds everywhere."""
    random_case, _, _, paper_told = enumeration
    cases = (replace(random_case(seed), recoding=recoding, models=models, h=h) for seed in range(8) for h in (0.2, 0.4))
    assert any(paper_told(case, 4) for case in cases)


def failing_groups(method, filled, original, random):
    """How many groups really fail: what no choice may depend on."""
    made = seat(method.residents, filled, method.case.k, random, shared=True)
    if not made.groups:
        return 1, made, np.zeros(0, dtype=np.bool_)
    models = [LDiversity(l=2, attribute="s")]
    held = judge(made, method.values(original), models, method.reference(original))
    return int(np.count_nonzero(~held)), made, held


def caught(enumeration, broken, seeds=range(12)):
    """Whether a broken copy is told on one of some tables with l-diversity."""
    random_case, method, told, _ = enumeration
    copy = type("Broken", (broken, method), {})
    cases = [replace(random_case(seed), models="l", recoding="full-domain", k=2, h=1.0) for seed in seeds]
    return any(told(copy(case), 1) for case in cases)


class NodeByFailures:
    """The node with the fewest groups that really fail, the cheapest of them."""

    def plan(self, original, failing, random):  # noqa: ARG002 - as the method has it
        planner = Planner(self.residents.crowd, self.settings, random, lambda _share, _detail: None)
        found = []
        for node in planner.search.space.every_node().T:
            levels = tuple(int(level) for level in node)
            filled = planner.fill(at_node(self.residents.crowd, levels), 10**6)
            failures, _, _ = failing_groups(self, filled, original, np.random.default_rng(0))
            found.append((failures, filled.cost, levels, filled))
        return min(found, key=lambda one: one[:3])[3]


class JoinedForValues:
    """Groups that fail are joined to the first that does not."""

    def plan(self, original, failing, random):
        filled = super().plan(original, failing, random)
        _, _, held = failing_groups(self, filled, original, np.random.default_rng(0))
        grouping = filled.plan
        if held.all() or not held.any() or len(held) != len(grouping.people):
            return filled
        target = int(np.flatnonzero(held)[0])
        group = grouping.group_of_class.copy()
        group[np.isin(group, np.flatnonzero(~held))] = target
        inside = group >= 0
        numbers = np.full(len(group), -1, dtype=np.int64)
        numbers[inside] = np.unique(group[inside], return_inverse=True)[1]
        people = np.bincount(numbers[inside], filled.partition.people[inside]).astype(np.int64)
        joined = type(grouping)(numbers, people, np.bincount(numbers[inside]).astype(np.int64))
        return Filled(filled.partition, joined, filled.cost, joined.counterfeits)


def test_a_node_chosen_by_failing_groups_is_caught(enumeration):
    assert caught(enumeration, NodeByFailures)


def test_a_class_joined_for_its_values_is_caught(enumeration):
    assert caught(enumeration, JoinedForValues)


def test_a_person_in_two_classes_is_caught(enumeration):
    """Her records are two people's to the planner, and one disease of hers to whoever meets both classes.

    Everybody has one value, the same in all records: so the values of both her classes must be hers.
    """
    random_case, method, _, _ = enumeration
    records = (("a", "a"), ("a", "b"), ("d", "c"), ("d", "d"), ("d", "d"), ("a", "a"))
    person = (0, 1, 0, 2, 3, 4)
    case = replace(random_case(0), records=records, person=person, k=3, h=0.4, recoding="full-domain", models="k")

    class Twice(method):
        def whose(self):
            return None

    def beliefs(made, lines):
        runs = defaultdict(list)
        for values in itertools.product((0, 1), repeat=5):
            original = tuple(values[p] for p in person)
            seen = made.run(original, 0)
            claims = [seen.claimed[line] for line in lines if line in seen.claimed]
            runs[seen.release].append((values[0], claims))
        for every in runs.values():
            yield Fraction(sum(value for value, _ in every), len(every)), every[0][1]

    told = [
        belief for belief, claims in beliefs(Twice(case), (0, 2)) if claims and belief not in {c[1] for c in claims}
    ]
    assert told, "the classes together tell more than either claims"
    kept = [belief for belief, claims in beliefs(method(case), (0,)) if claims and belief not in {c[1] for c in claims}]
    assert not kept
