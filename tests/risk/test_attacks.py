"""Attacks that are run: on releases of which it is known how they must end."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.support import make_problem

from medveil.evaluation.comparison import Comparison, Skipped
from medveil.evaluation.settings import EvaluationPolicy
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.risk import risks
from medveil.risk.attribute_inference import AttributeInference, Homogeneity
from medveil.risk.catalog_attack import CatalogAttack
from medveil.risk.downcoding import Downcoding
from medveil.risk.intersection import Intersection
from medveil.risk.membership import Membership, made_up
from medveil.risk.minimality import Minimality
from medveil.risk.record_linkage import RecordLinkage
from medveil.risk.risk import RiskFinding, assess_risks, counted_rate
from medveil.risk.targets import draw_targets

ATTACKS = [RecordLinkage, AttributeInference, Homogeneity, Membership]


def test_the_identity_release_is_the_worst(identity):
    for attack in ATTACKS:
        found = attack().assess(identity)
        assert found.value == 1.0, attack.name
        assert found.low < 1.0 <= found.high
        assert found.guesser < 1.0
        assert found.interval


def test_full_suppression_gives_nothing_away(starred):
    for attack in (RecordLinkage, AttributeInference, Homogeneity, Downcoding):
        assert isinstance(attack().assess(starred), Skipped), attack.name
    assert Membership().assess(starred).value == pytest.approx(0.5)


def test_inference_by_hand(decades):
    """Women in their twenties and thirties have flu, men in their thirties gout; of the men in their twenties one has
    flu and one a cold, so that whatever is said of them is right once.
    """
    found = AttributeInference().assess(decades)
    assert found.value == pytest.approx(7 / 8)
    assert found.guesser == pytest.approx(5 / 8)
    # The cold was 1 of 8 and is 1 of 2, gout was 2 of 8 and is certain.
    assert found.parts["belief doubled, ill"] == pytest.approx(3 / 8)
    assert Homogeneity().assess(decades).value == pytest.approx(6 / 8)
    assert Homogeneity().assess(decades).guesser == 0.0


def test_linkage_finds_one_in_as_many_as_there_are_candidates():
    random = np.random.default_rng(2)
    age = np.arange(4000)
    labels = [f"[{n // 5 * 5}-{n // 5 * 5 + 4}]" for n in age]
    table = pa.table({"age": age, "ill": random.choice(list("xyz"), 4000)})
    with make_problem(table, quasi=["age"], sensitive=["ill"]) as problem:
        published = pa.table({"age": labels, "ill": table["ill"]})
        found = RecordLinkage().assess(Comparison(problem, published, settings=EvaluationPolicy(targets=2000)))
    # 0.2 of 2000: a standard deviation is 0.009.
    assert found.value == pytest.approx(0.2, abs=0.04)
    assert found.low < found.value < found.high
    assert found.trials == 2000
    assert found.parts["median candidates"] == 5.0


def test_who_is_not_published_is_not_found(people, release):
    """Only those in their twenties are published: a release of the others gives nobody else away."""
    half = Comparison(people, release(["20", "21", "22", "23"], list("ffmm"), ["flu", "flu", "flu", "cold"]))
    assert RecordLinkage().assess(half).value == pytest.approx(1 / 2)


def test_means_are_attacked_by_the_nearest():
    table = {"age": [1, 3, 11, 13], "ill": list("xxyy")}
    with make_problem(table, quasi=["age"], sensitive=["ill"]) as problem:
        published = pa.table({"age": ["2", "2", "12", "12"], "ill": table["ill"]})
        comparison = Comparison(problem, published)
        assert draw_targets(comparison, np.random.default_rng(1)).candidates.tolist() == [2] * 4
        assert Homogeneity().assess(comparison).value == 1.0


def test_strangers_are_nobody_in_the_data(identity):
    cells = identity.problem.cells
    strangers = made_up(identity, 50, np.random.default_rng(1))
    assert strangers.shape[1] == 50
    real = {tuple(column) for column in cells.codes.T.tolist()}
    assert not real & {tuple(column) for column in strangers.T.tolist()}


def test_everybody_seems_to_be_in_a_release_of_one_class(people, release):
    found = Membership().assess(Comparison(people, release(["*"] * 8, ["f", "m"] * 4)))
    assert found.value == pytest.approx(0.5)
    assert found.parts == {"yes to members": 1.0, "yes to strangers": 1.0}


def test_two_releases_tell_more_than_one():
    """One release pairs people as x y, x z, the other as x z, y x: the first and the third must have x."""
    table = {"age": [1, 2, 3, 4], "ill": list("xyxz")}
    with make_problem(table, quasi=["age"], sensitive=["ill"]) as problem:
        first = Comparison(problem, pa.table({"age": ["{1, 2}"] * 2 + ["{3, 4}"] * 2, "ill": list("xyxz")}))
        second = pa.table({"age": ["{1, 4}", "{2, 3}", "{2, 3}", "{1, 4}"], "ill": list("xyxz")})
        found = Intersection().assess(replace(first, other=Comparison(problem, second)))
        assert found.value == pytest.approx(1 / 2)
        assert found.guesser == 0.0
        assert "--other" in Intersection().assess(first).reason


def test_ranges_that_fit_their_class_are_undone():
    """Two people in each town, of whom one has the lower end; elsewhere everybody is 50, which the ranges cover too."""
    towns = [f"t{i:02}" for i in range(20)]
    ages = [(i, 60 + i) for i in range(20)]
    table = {
        "age": [age for pair in ages for age in pair] + [50] * 15,
        "town": [town for town in towns for _ in range(2)] + ["city"] * 15,
        "ill": ["x"] * 55,
    }
    fitted = [f"[{low}-{high}]" for low, high in ages for _ in range(2)] + ["50"] * 15
    with make_problem(table, quasi=["age", "town"], sensitive=["ill"]) as problem:
        published = pa.table({"age": fitted, "town": table["town"], "ill": table["ill"]})
        found = Downcoding().assess(Comparison(problem, published))
        assert found.trials == 40
        assert found.value == pytest.approx(1 / 2)
        assert found.guesser == 0.0


def test_groups_of_the_hierarchy_are_not_undone(decades):
    found = Downcoding().assess(decades)
    assert found.value == found.guesser


@pytest.fixture
def merged_towns():
    """In each town a couple with the same disease was merged with four others, because it was too easy to see."""
    table = {
        "town": [f"t{i}" for i in range(10) for _ in range(6)],
        "street": list("aabbbb") * 10,
        "ill": ["hiv", "hiv", "flu", "cold", "gout", "tb"] * 10,
    }
    model = LDiversity(variant="distinct", l=2, attribute="ill")
    with make_problem(table, quasi=["town", "street"], sensitive=["ill"], models=[model]) as problem:
        yield Comparison(problem, pa.table({"town": table["town"], "street": ["*"] * 60, "ill": table["ill"]}))


def test_minimality_tells_why_a_class_was_merged(merged_towns):
    """Only the couple could fail: it must have the disease that is there twice. Of the four others one is right."""
    found = Minimality().assess(merged_towns)
    assert found.trials == 60
    assert found.value == pytest.approx(3 / 6)
    assert found.guesser == pytest.approx(2 / 6)


def test_minimality_needs_a_model_that_looks_at_sensitive_values(merged_towns):
    plain = replace(merged_towns, problem=replace(merged_towns.problem, models=[KAnonymity(k=2)]))
    assert "minimality tells nothing" in Minimality().assess(plain).reason


def test_targets_are_people():
    table = {"age": [20, 21, 22, 30], "who": ["a", "a", "a", "b"], "ill": list("xyzx")}
    with make_problem(table, quasi=["age"], sensitive=["ill"], subject="who") as problem:
        comparison = Comparison(problem, pa.table({"age": ["20"], "ill": ["x"]}))
        drawn = {tuple(draw_targets(comparison, np.random.default_rng(seed)).cells.tolist()) for seed in range(20)}
        people = [
            {problem.cells.subjects.codes[problem.cells.subjects.offsets[cell]] for cell in cells} for cells in drawn
        ]
        assert all(len(cells) == 2 for cells in drawn)
        assert all(len(found) == 2 for found in people)
        assert len(drawn) > 1
        some = draw_targets(comparison, np.random.default_rng(1), 1)
        assert len(some) == 1


def test_intervals_are_exact():
    """Clopper and Pearson for 5 of 10, as tables give it."""
    rate, low, high = counted_rate(5, 10)
    assert (rate, round(low, 4), round(high, 4)) == (0.5, 0.1871, 0.8129)
    assert counted_rate(10, 10)[2] == 1.0


def test_without_the_original_attacks_are_skipped_with_the_reason(decades):
    found = assess_risks(replace(decades, original=False), risks(), cheap_only=False)
    assert found["record-linkage"] == Skipped("the original is not given")
    assert isinstance(found["prosecutor"], RiskFinding)
    assert isinstance(CatalogAttack().assess(decades), Skipped)


def test_cheap_risks_alone(decades):
    cheap = assess_risks(decades, risks(), cheap_only=True)
    assert "record-linkage" not in cheap
    assert {"prosecutor", "marketer", "sample-uniqueness", "leakage"} <= set(cheap)


def test_every_risk_is_named_and_explained():
    for name, risk in risks().items():
        assert name == risk.name
        assert risk.title
        assert risk.__doc__
