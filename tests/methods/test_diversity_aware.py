"""The method as a whole: what it publishes, what it refuses, and for whom."""

import itertools
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.support import reported

import medveil
from medveil.errors import CancelledError, PolicyError, UnreachableError
from medveil.methods.diversity_aware import DiversityAware
from medveil.methods.diversity_aware.points import UnitColumn, Units, make_distances, read_units
from medveil.methods.diversity_aware.publishing import decimals_of, means, ranges, shares
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.t_closeness import TCloseness
from medveil.run import Run
from medveil.table.domain import domain_of
from medveil.table.schema import Kind


def patients(n=120, seed=1, values=("a", "b", "c")):
    chance = np.random.default_rng(seed)
    age = chance.integers(20, 90, n)
    return {
        "age": age.tolist(),
        "weight": np.round(chance.normal(70, 12, n), 1).tolist(),
        "sex": chance.choice(["f", "m"], n).tolist(),
        "ward": chance.choice(["north", "south", "east", "west"], n).tolist(),
        "ill": np.where(age + chance.normal(0, 20, n) > 60, values[0], chance.choice(values, n)).tolist(),
    }


def anonymize(table, k=5, privacy=(), subject=None, quasi=("age", "weight", "sex", "ward"), seed=None, **method):
    policy = {
        "attributes": {
            **{name: {"role": "quasi"} for name in quasi},
            "ill": {"role": "sensitive"},
            **({subject: {"role": "subject"}} if subject else {}),
        },
        "privacy": [{"model": "k-anonymity", "k": k}, *privacy],
        "method": {"name": "diversity-aware", **method},
        **({"seed": seed} if seed is not None else {}),
    }
    return medveil.anonymize(pa.table(table), policy)


def classes(release, quasi=("age", "weight", "sex", "ward")):
    """The sensitive values of each published class."""
    found = defaultdict(list)
    for row in release.to_arrow().to_pylist():
        found[tuple(row[name] for name in quasi)].append(row["ill"])
    return list(found.values())


# What holds


@pytest.mark.parametrize("n", [120, 123, 9])
@pytest.mark.parametrize("caps", ["upper", "both"])
def test_classes_are_even_in_size_and_in_every_value(n, caps):
    table = patients(n)
    release = anonymize(table, caps=caps, digits=6, sizes="equal")
    found = classes(release)
    c = n // 5
    assert len(found) == c
    assert {len(values) for values in found} <= {n // c, -(-n // c)}
    for value, count in Counter(table["ill"]).items():
        assert all(values.count(value) <= -(-count // c) for values in found)
        if caps == "both":
            assert all(values.count(value) >= count // c for values in found)
    assert release.manifest.rows["published"] == n
    assert all(claim["holds"] for claim in release.manifest.claims)


@pytest.mark.parametrize("caps", ["upper", "both"])
def test_clusters_of_at_least_k_cost_no_more_than_equal_ones(caps):
    """Three heaps of eight: three clusters cost less than four of six, which must part heaps."""
    heaps = {"age": [10 * (i // 8) + i % 8 / 8 for i in range(24)], "ill": ["a", "b"] * 12}
    free, equal = (
        anonymize(heaps, quasi=("age",), caps=caps, sizes=sizes, digits=6) for sizes in ("at-least-k", "equal")
    )
    assert equal.manifest.method["sizes"] == [6, 6]
    assert free.manifest.method["sizes"] == [8, 8]
    assert reported(free)["cost"] < 0.6 * reported(equal)["cost"]
    assert sorted(map(Counter, classes(free, ["age"])), key=str) == [Counter(a=4, b=4)] * 3
    assert all(claim["holds"] for claim in free.manifest.claims)


def test_clusters_are_equal_where_a_model_asks_for_it():
    """Heaps of five and nine with two ill each: as they are 40 % and 22 % are ill, in clusters of seven 29 %."""
    table = {"age": [*range(5), *range(100, 109)], "ill": ["a", "a", *"bbb", "a", "a", *"bbbbbbb"]}
    close = [{"model": "t-closeness", "t": 0.05, "attribute": "ill", "distance": "variational"}]
    for privacy, sizes in (((), [5, 9]), (close, [7, 7])):
        release = anonymize(table, quasi=("age",), caps="both", sensitive_value="a", privacy=privacy, digits=6)
        assert release.manifest.method["sizes"] == sizes
        assert all(claim["holds"] for claim in release.manifest.claims)


def test_one_value_alone_is_capped_where_it_is_named():
    table = patients(200)
    count = table["ill"].count("b")
    found = classes(anonymize(table, k=10, sensitive_value="b", digits=6))
    assert max(values.count("b") for values in found) <= -(-count // 20)
    assert max(values.count("a") for values in found) > -(-table["ill"].count("a") // 20)


def test_the_objective_and_its_bound_are_in_the_manifest():
    method = reported(anonymize(patients(), sizes="equal"))
    assert method["cost"] >= method["bound"] > 0
    assert method["gap"] == pytest.approx(method["cost"] - method["bound"], abs=1e-12)
    assert method["gap"] < 1e-6
    assert method["clusters"] == 24
    assert method["excess"] == 0


def test_figures_of_the_worst_class_are_claims_that_the_auditor_proves():
    table = patients(200, values=("a", "b"))
    release = anonymize(table, k=10)
    figures = release.manifest.method["privacy"]["ill"]
    found = classes(release)
    shares_of = [Counter(values) for values in found]
    input_share = table["ill"].count("a") / 200
    apart = max(2 * abs(c["a"] / sum(c.values()) - input_share) for c in shares_of)
    assert figures["variational"]["t"] == pytest.approx(apart)
    assert figures["distinct_l"]["l"] == min(len(c) for c in shares_of)
    worst = max(max(c.values()) / min(c.values()) for c in shares_of)
    assert figures["recursive"]["c"] == pytest.approx(worst)
    claims = {(c["model"], c["required"].get("variant")): c for c in release.manifest.claims}
    assert claims["t-closeness", None]["achieved"]["t"] == pytest.approx(apart)
    assert claims["l-diversity", "recursive"]["achieved"]["c"] == pytest.approx(worst)
    assert claims["l-diversity", "recursive"]["required"]["c"] > worst


def test_what_the_policy_asks_for_is_not_claimed_twice():
    release = anonymize(
        patients(),
        privacy=[{"model": "l-diversity", "l": 2}, {"model": "t-closeness", "t": 1, "distance": "variational"}],
    )
    kinds = [(c["model"], c["required"].get("variant")) for c in release.manifest.claims]
    assert len(kinds) == len(set(kinds)) == 5


def test_both_solvers_cost_the_same():
    table = patients(60)
    flow, milp = (reported(anonymize(table, k=6, rounds=1, starts=1, solver=solver)) for solver in ("flow", "milp"))
    assert flow["cost"] == pytest.approx(milp["cost"], abs=1e-6)


def test_without_diversity_there_is_no_cap():
    method = reported(anonymize(patients(), diversity=False))
    assert "least_alpha" not in method
    assert method["gap"] < 1e-6


def test_a_seed_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        anonymize(patients(), seed=3, blocks_above=50).save(tmp_path / name)
    assert (tmp_path / "one" / "release.csv").read_bytes() == (tmp_path / "two" / "release.csv").read_bytes()


@pytest.mark.parametrize("seed", [5, 6])
def test_the_order_of_records_makes_no_difference(seed):
    table = patients(seed=seed)
    shuffled = np.random.default_rng(seed).permutation(len(table["age"]))
    again = {name: [column[i] for i in shuffled] for name, column in table.items()}
    one, other = (anonymize(given, seed=1) for given in (table, again))
    assert reported(one)["cost"] == pytest.approx(reported(other)["cost"], rel=1e-9)
    assert one.to_arrow().equals(other.to_arrow())


# What is published


def column(values, kind, units=None):
    domain = domain_of(values, kind)
    codes = np.array([domain.values.index(value) for value in values], dtype=np.int32)
    units = units or Units(np.arange(len(values)), len(values))
    numbers = units.mean(domain.numbers[codes]) if kind in {Kind.NUMBER, Kind.DATE} else None
    categories = np.isnan(numbers).astype(np.int32) if numbers is not None else units.most_frequent(codes)
    return UnitColumn("x", domain, codes, numbers, categories, 1.0)


def published(labels):
    return [labels.labels[code] for code in labels.codes]


def test_means_of_numbers_and_dates_and_the_most_frequent_category():
    cluster = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    numbers = column(["1", "2", "4", "10", "10", "11"], Kind.NUMBER)
    assert published(means(numbers, cluster, 2, 2)) == ["2.33", "10.33"]
    assert published(means(numbers, cluster, 2, 0)) == ["2", "10"]
    dates = column(["2020-01-01", "2020-01-03", "2020-01-05", "2021-01-01", "2021-01-01", "2021-01-01"], Kind.DATE)
    assert published(means(dates, cluster, 2, None)) == ["2020-01-03", "2021-01-01"]
    categories = column(["a", "b", "b", "c", None, None], Kind.CATEGORY)
    assert published(means(categories, cluster, 2, None)) == ["b", None]
    assert published(shares(categories, cluster, 2)) == ["b 67%, a 33%", "? 67%, c 33%"]


def test_a_mean_is_never_one_persons_own_number():
    cluster = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2], dtype=np.int32)
    some = column(["5", None, None, "6", "8", None, None, None, None], Kind.NUMBER)
    assert published(means(some, cluster, 3, 1)) == [None, "7", None]
    pair = column(["5", None, "6", "8"], Kind.NUMBER)
    assert published(means(pair, np.array([0, 0, 1, 1], dtype=np.int32), 2, 1)) == [None, "7"]


def test_ranges_and_sets_hold_every_record():
    cluster = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    units = Units(np.arange(6), 6)
    numbers = column(["36", "40", "7", "7", "1", None], Kind.NUMBER)
    assert published(ranges(numbers, units, cluster, 3)) == ["[36-40]", "7", "{1, ?}"]
    categories = column(["a", "b", "c", "c", None, None], Kind.CATEGORY)
    assert published(ranges(categories, units, cluster, 3)) == ["{a, b}", "c", None]


@pytest.mark.parametrize(("deviation", "decimals"), [(9.0, 1), (51.0, 0), (1.1, 2), (5000.0, -2), (0.47, 3)])
def test_rounding_moves_no_mean_by_more_than_a_hundredth_of_the_deviation(deviation, decimals):
    values = (np.array([-1.0, 1.0]) * deviation).round(6)
    found = decimals_of(column([str(value) for value in values], Kind.NUMBER))
    assert found == decimals
    assert 10.0**-found / 2 <= deviation / 100 < 10.0 ** (1 - found) / 2


def test_a_constant_column_is_published_as_it_is_and_does_not_count():
    table = patients() | {"weight": [0.1 + 0.2] * 120}
    release = anonymize(table, starts=1)
    assert set(release.to_arrow()["weight"].to_pylist()) == {"0.30000000000000004"}
    rest = anonymize(table, quasi=("age", "sex", "ward"), starts=1)
    assert reported(release)["cost"] == pytest.approx(reported(rest)["cost"])


def test_ranges_are_published_on_request():
    rows = anonymize(patients(), publish="ranges").to_arrow().to_pylist()
    assert all(row["age"].startswith("[") or row["age"].isdigit() for row in rows)
    assert {row["sex"] for row in rows} <= {"f", "m", "{f, m}"}


def test_clusters_of_one_published_tuple_are_one_class():
    """Rounded means coincide: the figures are those of the classes that recipients see."""
    chance = np.random.default_rng(2)
    table = {"age": chance.integers(40, 42, 60).tolist(), "ill": chance.choice(["a", "b"], 60).tolist()}
    release = anonymize(table, k=3, quasi=("age",), digits=0)
    found = classes(release, ("age",))
    assert len(found) <= 2
    assert release.manifest.method["privacy"]["k"] == min(len(values) for values in found)


# Distances


def test_a_category_of_two_values_is_as_far_apart_as_a_number():
    values = ["0", "1", "1", "0", "0", "1", "1", "1"]
    as_number = make_distances([column(values, Kind.NUMBER)], standardized=True)
    as_category = make_distances([column(values, Kind.CATEGORY)], standardized=True)
    deviation = np.std([float(value) for value in values])
    assert np.ptp(as_number.numbers) == pytest.approx(1 / deviation)
    assert as_category.scales[0] == pytest.approx(1 / deviation)


def test_every_standardized_column_has_variance_one():
    chance = np.random.default_rng(4)
    values = chance.choice(["a", "b", "c", "d"], 300, p=[0.6, 0.2, 0.1, 0.1]).tolist()
    points = make_distances([column(values, Kind.CATEGORY)], standardized=True)
    differ = np.mean([a != b for a, b in itertools.product(values, values)])
    assert 0.5 * differ * points.scales[0] ** 2 == pytest.approx(1.0)


def test_weights_stretch_columns_and_missing_numbers_lie_apart():
    heavy = column(["1", "3", None, "2"], Kind.NUMBER)
    heavy = UnitColumn("x", heavy.domain, heavy.codes, heavy.numbers, heavy.categories, 3.0)
    points = make_distances([heavy], standardized=False)
    assert points.numbers[:, 0].tolist() == [-3.0, 3.0, 0.0, 0.0]
    assert points.categories[:, 0].tolist() == [0, 0, 1, 0]
    assert points.scales.tolist() == [3.0]


# People


def visits(people=60, seed=3):
    """Three visits of each person, who always has the same illness."""
    chance = np.random.default_rng(seed)
    table = patients(people, seed)
    repeated = {name: np.repeat(np.array(column), 3).tolist() for name, column in table.items()}
    repeated["age"] = [age + int(chance.integers(0, 3)) for age in repeated["age"]]
    return repeated | {"person": np.repeat(np.arange(people), 3).tolist()}


def test_people_are_counted_and_keep_together():
    table = visits()
    release = anonymize(table, k=5, subject="person", digits=6)
    assert release.manifest.method["clusters"] == 12
    assert release.manifest.method["sizes"] == [5, 5]
    assert release.manifest.method["privacy"]["k"] == 5
    assert {len(values) for values in classes(release)} == {15}
    k = next(claim for claim in release.manifest.claims if claim["model"] == "k-anonymity")
    assert k["achieved"]["k"] == 5


def test_people_of_several_values_need_one_that_is_named():
    table = visits()
    table["ill"] = ["a" if i % 3 == 0 else value for i, value in enumerate(table["ill"])]
    with pytest.raises(PolicyError, match="several sensitive values"):
        anonymize(table, subject="person")
    release = anonymize(table, subject="person", sensitive_value="b", digits=6)
    people = defaultdict(set)
    for person, ill in zip(table["person"], table["ill"], strict=True):
        people[person].add(ill)
    having = sum("b" in values for values in people.values())
    assert release.manifest.method["least_alpha"] == str(Fraction(12 * -(-having // 12), having))


def test_records_of_nobody_known_are_one_person(make_problem):
    table = patients(12) | {"person": [None, None, None, *range(9)]}
    with make_problem(table, quasi=["age"], sensitive=["ill"], subject="person", models=[KAnonymity(k=2)]) as problem:
        units = read_units(problem)
    assert units.count == 10
    assert len(set(units.of_record[:3])) == 1


# What is refused


@pytest.mark.parametrize(
    ("method", "table", "message"),
    [
        ({"sensitive_value": "z"}, patients(), "does not occur"),
        ({"attribute": "age"}, patients(), "not have the role sensitive"),
        ({"solver": "milp"}, patients(1200), "milp"),
    ],
)
def test_what_cannot_be_meant_is_refused(method, table, message):
    with pytest.raises(PolicyError, match=message):
        anonymize(table, **method)


@pytest.mark.parametrize("alpha", [0, -1, "x", "1/0", "1/2/3"])
def test_an_alpha_is_a_positive_number(alpha):
    with pytest.raises(PolicyError, match="alpha"):
        anonymize(patients(), alpha=alpha)


def test_more_people_than_there_are_cannot_be_hidden_among():
    with pytest.raises(UnreachableError, match="only 120"):
        anonymize(patients(), k=121)


def test_an_alpha_that_cannot_be_kept_names_the_least_one_and_the_excess_may_be_allowed():
    table = patients(205)
    counts = Counter(table["ill"])
    least = max(Fraction(20 * -(-n // 20), n) for n in counts.values())
    with pytest.raises(UnreachableError, match=str(least)) as refused:
        anonymize(table, k=10, alpha=1)
    assert refused.value.exit_code == 3
    allowed = anonymize(table, k=10, alpha=1, excess="minimize")
    assert allowed.manifest.method["excess"] == sum(n - 20 * (n // 20) for n in counts.values())
    anonymize(table, k=10, alpha=str(least))


def test_a_model_that_the_clusters_do_not_keep_says_how_near_they_come():
    table = patients(200, values=("a", "b"))
    with pytest.raises(
        UnreachableError, match=r"0\.01-closeness of ill does not hold in \d+ of 20 clusters; they reach t"
    ):
        anonymize(table, k=10, caps="both", privacy=[{"model": "t-closeness", "t": 0.01}])


def test_a_model_on_some_columns_is_checked_on_them(make_problem):
    table = patients(60, values=("a", "b"))
    models = [
        KAnonymity(k=6),
        LDiversity(l=2, attribute="ill", on=("sex",)),
        TCloseness(t=1.0, attribute="ill", on=("sex",)),
    ]
    with make_problem(table, quasi=["age", "sex"], sensitive=["ill"], models=models) as problem:
        draft = DiversityAware().anonymize(problem, Run())
    assert [promise.model for promise in draft.promises[:3]] == ["k-anonymity", "l-diversity", "t-closeness"]


def test_what_does_not_fit_is_named(make_problem):
    table = patients() | {"other": ["x", "y"] * 60}

    def why_not(method, **options):
        given = {"quasi": ["age"], "sensitive": ["ill"], "models": [KAnonymity(k=5)]} | options
        with make_problem(table, **given) as problem:
            return method.why_not(problem)

    assert why_not(DiversityAware()) is None
    assert "needs a k" in why_not(DiversityAware(), models=[])
    assert "no sensitive" in why_not(DiversityAware(), sensitive=[])
    assert why_not(DiversityAware(diversity=False), sensitive=[]) is None
    assert "2 sensitive" in why_not(DiversityAware(), sensitive=["ill", "other"])
    assert why_not(DiversityAware(attribute="other"), sensitive=["ill", "other"]) is None
    assert "level" in why_not(DiversityAware(), min_levels={"age": 1})
    assert "no quasi" in why_not(DiversityAware(), quasi=[])


# Odd data


def test_sensitive_values_may_be_missing():
    table = patients()
    table["ill"] = [None if i % 7 == 0 else value for i, value in enumerate(table["ill"])]
    found = classes(anonymize(table, digits=6))
    missing = sum(value is None for value in table["ill"])
    assert max(sum(value is None for value in values) for values in found) <= -(-missing // 24)


def test_every_record_may_have_a_value_of_its_own():
    table = patients() | {"ill": [f"v{i}" for i in range(120)]}
    release = anonymize(table)
    assert release.manifest.method["privacy"]["ill"]["distinct_l"]["l"] == 5


def test_all_records_may_be_identical():
    table = {name: [column[0]] * 30 for name, column in patients().items()}
    release = anonymize(table)
    assert reported(release)["cost"] == 0
    assert release.manifest.method["privacy"]["k"] == 30


def test_a_column_may_be_missing_everywhere():
    table = patients() | {"weight": pa.array([None] * 120, pa.float64())}
    assert set(anonymize(table).to_arrow()["weight"].to_pylist()) == {None}


def test_one_cluster_of_all():
    release = anonymize(patients(9), k=5)
    assert len(classes(release)) == 1


def test_more_starts_cost_no_more():
    table = patients()
    one, many = (reported(anonymize(table, seed=1, starts=starts))["cost"] for starts in (1, 10))
    assert many <= one


def test_it_can_be_stopped(make_problem):
    table = patients(500)
    seen = []

    def cancelled():
        seen.append(1)
        return len(seen) > 4

    with (
        make_problem(table, quasi=["age", "weight"], sensitive=["ill"], models=[KAnonymity(k=5)]) as problem,
        pytest.raises(CancelledError),
    ):
        DiversityAware().anonymize(problem, Run(cancelled=cancelled))
