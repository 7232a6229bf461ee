"""The attack by sizes: a fill that helps diversity is judged by how many people classes have.

Class A has three people and class B forty, of whom two in all have hiv. Where both are in B, A shows none, and two
counterfeits with hiv make it diverse; the catalog says that two of four such records are made up.
"""

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pyarrow as pa
import pytest

import medveil
from medveil.methods.h_ceiling.paper import PaperFill
from medveil.methods.h_ceiling.partition import at_node
from medveil.privacy.l_diversity import LDiversity
from medveil.release.catalog import catalog_of

IN_A, IN_B = 3, 40
PEOPLE = IN_A + IN_B
SURE = Fraction(9, 10)


def original(ill):
    return tuple(int(person in ill) for person in range(PEOPLE))


@pytest.fixture(scope="module")
def method(enumeration):
    random_case, made, _, _ = enumeration
    records = (("a", "a"),) * IN_A + (("d", "d"),) * IN_B
    case = replace(
        random_case(0), records=records, person=tuple(range(PEOPLE)), k=5, h=0.2, recoding="full-domain", models="l"
    )
    return made(case)


def believed(sizes, held, count):
    """For each class how likely the counterfeits of a row are all its own, and how many records are then real.

    sizes, held: the published records of each class, and those with the value. If the counterfeits are those of class
    i, the ill people of all others and of what is left of i may be any of theirs: prod_j C(sizes_j - c_j, held_j - c_j)
    ways, all of them as likely beforehand.
    """
    ways = []
    for own in range(len(sizes)):
        false = [count if place == own else 0 for place in range(len(sizes))]
        ways.append(
            0
            if held[own] < count
            else np.prod([comb(n - c, v - c) for n, v, c in zip(sizes, held, false, strict=True)], dtype=object)
        )
    return [Fraction(int(way), int(sum(ways))) for way in ways]


def test_weights_by_sizes():
    assert believed([5, 40], [2, 2], 2) == [Fraction(780, 790), Fraction(10, 790)]


def test_who_weighs_sizes_is_right_on_the_published_fill(method):
    """Where the catalog says one in two, an attacker is surer than nine in ten, and right every time."""
    random = np.random.default_rng(3)
    partition = at_node(method.residents.crowd, (0, 0))
    sure = right = 0
    for run in range(200):
        values = original(set(random.choice(PEOPLE, 2, replace=False).tolist()))
        fill = PaperFill(
            method.residents,
            np.arange(PEOPLE),
            method.values(values),
            5,
            "hideable",
            method.settings.objective,
            np.random.default_rng(run),
            [LDiversity(l=2, attribute="s")],
        )
        filled = fill.fill(partition, 10**6)
        assert filled is not None
        plan, classes = filled.plan, fill.class_of_row(partition)
        shown = Counter(zip(classes.tolist(), values, strict=True))
        for number, code, count in zip(plan.classes, fill.tuples[0][plan.tuples], plan.counts, strict=True):
            shown[int(number), int(code)] += int(count)
        if len(plan.listed) != 1 or fill.tuples[0][plan.listed.tuples[0]] != 1:
            continue
        count = int(plan.listed.counts[0])
        held = [shown[place, 1] for place in (0, 1)]
        if Fraction(count, sum(held)) > Fraction(1, 2):
            continue  # the catalog says as much itself
        beliefs = believed([shown[place, 0] + held[place] for place in (0, 1)], held, count)
        if max(beliefs) > SURE:
            sure += 1
            right += beliefs.index(max(beliefs)) == int(plan.classes[0])
    assert sure > 100
    assert right == sure


def test_sizes_say_nothing_more_on_the_default(method):
    """Whoever has hiv, the release is the same: everybody has it with probability 2/43, as the group says."""
    ill = [pair for pair in itertools.combinations(range(PEOPLE), 2) if sum(pair) % 9 == 0 or pair[0] < IN_A]
    seen = [method.run(original(pair), 0) for pair in ill]
    assert len({one.release for one in seen}) == 1
    assert {claim[1] for one in seen for claim in one.claimed.values()} == {Fraction(2, PEOPLE)}
    for person in (0, 1, 2):
        assert any(one.has[person][1] for one in seen)
        assert not all(one.has[person][1] for one in seen)


@pytest.mark.parametrize("privacy", [[], [{"model": "l-diversity", "l": 2}], [{"model": "t-closeness", "t": 0.5}]])
def test_the_published_method_keeps_models_with_counterfeits_and_claims_lemma_1_alone(privacy):
    table = pa.table(
        {
            "class": ["a"] * IN_A + ["b"] * IN_B,
            "disease": ["flu"] * (PEOPLE - 2) + ["hiv"] * 2,
        }
    )
    release = medveil.anonymize(
        table,
        {
            "attributes": {"class": {"role": "quasi", "max_level": 0}, "disease": {"role": "sensitive"}},
            "privacy": [{"model": "k-anonymity", "k": 5}, *privacy],
            "method": {"name": "h-ceiling", "protection": "published", "max_counterfeits": 0.2},
            "seed": 2,
        },
    )
    assert all(claim["holds"] for claim in release.manifest.claims)
    assert all(claim["counting"] == "with-counterfeits" for claim in release.manifest.claims[: 1 + len(privacy)])
    assert release.manifest.claims[-1]["summary"].startswith("Lemma 1 alone")
    if privacy and privacy[0]["model"] == "l-diversity":
        (entry,) = catalog_of(release.folder, release.manifest)
        assert (entry.values, entry.count, len(entry.class_ids)) == (("hiv",), 2, 2)
