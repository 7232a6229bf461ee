from __future__ import annotations

import itertools
import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from medveil.errors import CancelledError, PolicyError, UnreachableError
from medveil.methods.mondrian import Mondrian
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.t_closeness import TCloseness
from medveil.run import Run
from medveil.table.labels import parse_label
from medveil.table.schema import Kind

PATIENTS = {
    "age": ["25", "25", "26", "27", "27", "28"],
    "sex": ["m", "f", "m", "m", "f", "m"],
    "zip": ["53711", "53712", "53711", "53710", "53712", "53711"],
    "disease": ["flu", "hepatitis", "bronchitis", "broken arm", "aids", "hang nail"],
}


def published(problem, method=None, run=None):
    draft = (method or Mondrian()).anonymize(problem, run or Run())
    return draft, draft.published.to_arrow().to_pylist()


def rows_of(table):
    names = list(table)
    return [dict(zip(names, values, strict=True)) for values in zip(*table.values(), strict=True)]


def by_label(rows, names):
    classes = defaultdict(list)
    for row in rows:
        classes[tuple(row[name] for name in names)].append(row)
    return classes


class TestByHand:
    def test_six_patients(self, make_problem):
        """All attributes are equally wide, so the first is cut: zip, at its median. Of the four in 53710 and 53711,
        all men, age is then widest. The two women of 53712 are too few to be cut.
        """
        with make_problem(
            PATIENTS,
            quasi=["zip", "age", "sex"],
            sensitive=["disease"],
            models=[KAnonymity(k=2)],
            kinds={"zip": Kind.CODE, "age": Kind.NUMBER},
        ) as problem:
            draft, rows = published(problem, Mondrian(cuts="median"))
        classes = {labels: len(members) for labels, members in by_label(rows, ["age", "sex", "zip"]).items()}
        assert classes == {
            ("[25-26]", "m", "53711"): 2,
            ("[25-27]", "f", "53712"): 2,
            ("[27-28]", "m", "[53710 - 53711]"): 2,
        }
        assert draft.method["classes"] == 3
        assert draft.method["loss"] == pytest.approx((2 / 6) * (1 / 3 + 2 / 3 + 1 / 3 + 1 / 2) / 3)

    def test_one_number_is_cut_at_its_median(self, make_problem):
        with make_problem({"age": [str(a) for a in range(1, 9)]}, quasi=["age"], models=[KAnonymity(k=2)]) as problem:
            _, rows = published(problem, Mondrian(cuts="median"))
        assert Counter(row["age"] for row in rows) == {"[1-2]": 2, "[3-4]": 2, "[5-6]": 2, "[7-8]": 2}

    def test_by_loss_a_gap_is_cut_before_the_median(self, make_problem):
        ages = ["20", "21", "60", "61", "62", "63", "64"]
        with make_problem({"age": ages}, quasi=["age"], models=[KAnonymity(k=2)]) as problem:
            _, rows = published(problem)
            _, at_median = published(problem, Mondrian(cuts="median"))
        assert "[20-25]" in {row["age"] for row in rows}
        assert "[20-60]" in {row["age"] for row in at_median}

    def test_strict_keeps_a_value_together_and_relaxed_need_not(self, make_problem):
        """Five of six have the same age: strict cannot cut there, relaxed can, by the other attribute's order."""
        table = {"age": ["30"] * 5 + ["31"], "zip": ["a", "b", "c", "d", "e", "f"]}
        with make_problem(table, quasi=["age", "zip"], models=[KAnonymity(k=3)], weights={"zip": 1e-9}) as problem:
            _, strict = published(problem, Mondrian(cuts="median"))
            _, relaxed = published(problem, Mondrian(cuts="median", mode="relaxed"))
        assert {row["age"] for row in strict} == {"30", "[30-31]"}  # cut along the other attribute
        assert Counter(row["age"] for row in relaxed) == {"30": 3, "[30-31]": 3}
        assert {row["zip"] for row in relaxed} == {"{a, b, c}", "{d, e, f}"}

    def test_a_hierarchy_orders_the_cuts(self, make_problem):
        groups = [{"flu": "lung", "arm": "bone", "cold": "lung", "leg": "bone"}]
        table = {"why": ["flu", "arm", "cold", "leg"]}
        with make_problem(table, quasi=["why"], models=[KAnonymity(k=2)], hierarchies={"why": groups}) as problem:
            _, sets = published(problem)
            _, groups_published = published(problem, Mondrian(largest_set=1))
        assert {row["why"] for row in sets} == {"{arm, leg}", "{cold, flu}"}
        assert {row["why"] for row in groups_published} == {"bone", "lung"}

    def test_a_large_set_without_hierarchy_is_anything(self, make_problem):
        with make_problem({"why": ["a", "b", "c"]}, quasi=["why"], models=[KAnonymity(k=2)]) as problem:
            draft, rows = published(problem, Mondrian(largest_set=2))
        assert {row["why"] for row in rows} == {"*"}
        assert draft.method["loss"] == 1.0

    def test_dates_are_ranges(self, make_problem):
        days = ["03.01.2020", "10.02.2020", "01.06.2021", "30.06.2021"]
        with make_problem({"day": days}, quasi=["day"], models=[KAnonymity(k=2)]) as problem:
            _, rows = published(problem)
        assert {row["day"] for row in rows} == {"[2020-01-01 - 2020-02-29]", "[2021-06-01 - 2021-06-30]"}

    def test_missing_values_stand_apart_where_they_can(self, make_problem):
        table = {"age": ["20", "30", None, None, "40", "50"]}
        with make_problem(table, quasi=["age"], models=[KAnonymity(k=2)]) as problem:
            _, rows = published(problem)
        assert Counter(row["age"] for row in rows) == {"[20-30]": 2, "[40-50]": 2, None: 2}

    def test_a_lone_missing_value_is_shown_in_the_set(self, make_problem):
        with make_problem({"age": ["20", "30", None]}, quasi=["age"], models=[KAnonymity(k=3)]) as problem:
            draft, rows = published(problem)
        assert {row["age"] for row in rows} == {"{[20-30], ?}"}
        assert draft.method["loss"] == 1.0

    def test_weights_decide_what_is_cut(self, make_problem):
        table = {"a": ["1", "1", "9", "9"], "b": ["1", "9", "1", "9"]}
        for heavy, light in (("a", "b"), ("b", "a")):
            with make_problem(
                table, quasi=["a", "b"], models=[KAnonymity(k=2)], weights={heavy: 3.0, light: 1.0}
            ) as problem:
                draft, rows = published(problem)
            assert {row[heavy] for row in rows} == {"1", "9"}
            assert {row[light] for row in rows} == {"[1-9]"}
            assert draft.method["loss"] == pytest.approx(0.25)

    def test_a_minimum_level_is_the_finest_published(self, make_problem):
        groups = [{a: f"[{int(a) // 10 * 10}-{int(a) // 10 * 10 + 9}]" for a in ("21", "22", "35", "47", "48", "49")}]
        table = {"age": ["21", "22", "35", "47", "48", "49"]}
        options = {"quasi": ["age"], "hierarchies": {"age": groups}, "min_levels": {"age": 1}}
        with make_problem(table, models=[KAnonymity(k=1)], **options) as problem:
            _, fine = published(problem)
        assert Counter(row["age"] for row in fine) == {"[20-29]": 2, "[30-39]": 1, "[40-49]": 3}
        with make_problem(table, models=[KAnonymity(k=3)], **options) as problem:
            _, coarse = published(problem)
        assert Counter(row["age"] for row in coarse) == {"[20-39]": 3, "[40-49]": 3}
        assert parse_label("[20-39]").holds("35")

    def test_no_class_reaches_over_a_maximum_level(self, make_problem):
        groups = [{"a": "ab", "b": "ab", "c": "cd", "d": "cd"}]
        options = {"quasi": ["x"], "hierarchies": {"x": groups}, "max_levels": {"x": 1}}
        with make_problem({"x": list("abcd")}, models=[KAnonymity(k=2)], **options) as problem:
            _, rows = published(problem)
        assert {row["x"] for row in rows} == {"{a, b}", "{c, d}"}
        with (
            make_problem({"x": list("abcd")}, models=[KAnonymity(k=3)], **options) as problem,
            pytest.raises(UnreachableError, match=r"maximum levels.* k = 2"),
        ):
            Mondrian().anonymize(problem, Run())

    def test_attributes_in_no_shield_stay_as_they_are(self, make_problem):
        table = {"age": ["1", "2", "3", "4"], "eyes": ["a", "b", "c", "d"]}
        with make_problem(table, quasi=["age", "eyes"], models=[KAnonymity(k=2, on=("age",))]) as problem:
            draft, rows = published(problem)
        assert {row["eyes"] for row in rows} == set("abcd")
        assert Counter(row["age"] for row in rows) == {"[1-2]": 2, "[3-4]": 2}
        assert draft.method["classes"] == 4

    def test_people_are_counted_where_a_subject_is_declared(self, make_problem):
        table = {"age": ["1", "1", "2", "8", "9"], "who": ["a", "a", "a", "b", "c"]}
        with make_problem(table, quasi=["age"], subject="who", models=[KAnonymity(k=2)]) as problem:
            _, rows = published(problem)
        assert Counter(row["age"] for row in rows) == {"[1-9]": 5}

    def test_values_with_special_characters_come_back(self, make_problem):
        odd = ["a, b", "{c}", "[1-2]", "*"]
        with make_problem({"x": odd * 2}, quasi=["x"], models=[KAnonymity(k=2)]) as problem:
            _, alone = published(problem)
        assert {parse_label(row["x"]).values for row in alone} == {(value,) for value in odd}
        with make_problem({"x": odd}, quasi=["x"], models=[KAnonymity(k=4)]) as problem:
            _, together = published(problem)
        assert {frozenset(parse_label(row["x"]).values) for row in together} == {frozenset(odd)}


def test_people_in_several_boxes_of_one_class(make_problem):
    """Boxes keep recursive diversity each; those of one age together do not, until their last cut is undone."""
    table = {
        "n": list("100212202"),
        "c": list("abaaabbba"),
        "s": list("uuwwvvwwv"),
        "who": list("444130114"),
    }
    model = LDiversity(variant="recursive", c=2, l=2, attribute="s", on=("n",))
    everything = rows_of(table)
    with make_problem(
        table, quasi=["n", "c"], sensitive=["s"], subject="who", models=[model, KAnonymity(k=1, on=("c",))]
    ) as problem:
        draft, rows = published(problem)
        linked = link(draft, rows, everything)
    classes = defaultdict(list)
    for source, row in linked:
        classes[row["n"]].append(source)
    assert all(keeps(model, members, everything) for members in classes.values())


class TestRefusals:
    def test_too_few_records(self, make_problem):
        with (
            make_problem({"age": ["1", "2"]}, quasi=["age"], models=[KAnonymity(k=3)]) as problem,
            pytest.raises(UnreachableError, match=r"all records in one class 3-anonymity does not hold.* k = 2"),
        ):
            Mondrian().anonymize(problem, Run())

    def test_too_few_people(self, make_problem):
        table = {"age": ["1", "2", "3"], "who": ["a", "a", "b"]}
        with (
            make_problem(table, quasi=["age"], subject="who", models=[KAnonymity(k=3)]) as problem,
            pytest.raises(UnreachableError, match="k = 2"),
        ):
            Mondrian().anonymize(problem, Run())

    def test_a_stopped_run_stops(self, make_problem):
        with (
            make_problem({"age": ["1", "2"]}, quasi=["age"], models=[KAnonymity(k=1)]) as problem,
            pytest.raises(CancelledError),
        ):
            Mondrian().anonymize(problem, Run(cancelled=lambda: True))

    def test_a_population_does_not_fit(self, make_problem):
        with make_problem({"age": ["1", "2"]}, quasi=["age"], models=[KAnonymity(k=1)]) as problem:
            counted = replace(problem, cells=replace(problem.cells, population=np.ones(2, dtype=np.int64)))
            assert Mondrian().why_not(problem) is None
            assert Mondrian().why_not(counted)
            with pytest.raises(PolicyError, match="mondrian"):
                Mondrian().anonymize(counted, Run())


# Random tables, checked by counting the published rows again with nothing of medveil but the reading of labels.

value = st.one_of(st.none(), st.sampled_from("abcde"))
number = st.one_of(st.none(), st.integers(0, 12).map(str))
record = st.tuples(number, value, value, st.sampled_from("uvw"), st.integers(0, 9).map(str))
records = st.lists(record, min_size=4, max_size=40)
QUASI = ["n", "c", "t"]
COLUMNS = ("n", "c", "t", "s", "who")
TREE = [{"a": "x", "b": "y", "c": "x", "d": "y", "e": "x", None: None}]
MODELS = {
    "k": [KAnonymity(k=2)],
    "k and distinct": [KAnonymity(k=3), LDiversity(l=2, attribute="s")],
    "entropy": [KAnonymity(k=2), LDiversity(variant="entropy", l=1.5, attribute="s")],
    "recursive": [LDiversity(variant="recursive", c=3, l=2, attribute="s")],
    "closeness": [KAnonymity(k=2), TCloseness(t=0.35, attribute="s")],
    "shields": [KAnonymity(k=3, on=("n", "c")), TCloseness(t=0.4, attribute="s", on=("t",))],
}


def keeps(model, members, everything):
    """Whether a class of records keeps a model, from its definition."""
    people = len({row["who"] for row in members})
    if isinstance(model, KAnonymity):
        return people >= model.k
    held = Counter(value for _, value in {(row["who"], row["s"]) for row in members})
    shares = np.array(sorted(held.values(), reverse=True)) / sum(held.values())
    if isinstance(model, TCloseness):
        whole = Counter(value for _, value in {(row["who"], row["s"]) for row in everything})
        total = sum(whole.values())
        distance = sum(abs(held[s] / sum(held.values()) - whole[s] / total) for s in whole) / 2
        return distance <= model.t + 1e-9
    if model.variant == "distinct":
        return len(held) >= model.l
    if model.variant == "entropy":
        return np.exp(-(shares * np.log(shares)).sum()) >= model.l - 1e-9
    return len(held) >= model.l and shares[0] < model.c * shares[int(model.l) - 1 :].sum()


@st.composite
def cases(draw):
    """A table, what is asked of it, and a method."""
    everything = [dict(zip(COLUMNS, row, strict=True)) for row in draw(records)]
    people = draw(st.booleans())
    for position, row in enumerate(everything):
        row["who"] = row["who"] if people else str(position)
    options = {
        "quasi": QUASI,
        "sensitive": ["s"],
        "models": draw(st.sampled_from(list(MODELS.values()))),
        "subject": "who" if people else None,
        "plain": [] if people else ["who"],
        "hierarchies": {"t": TREE},
        "kinds": {"n": Kind.NUMBER},
    }
    method = Mondrian(
        mode=draw(st.sampled_from(["strict", "relaxed"])),
        cuts=draw(st.sampled_from(["loss", "median"])),
        largest_set=draw(st.sampled_from([1, 2, 50])),
    )
    return everything, options, method


def columns_of(everything):
    return {name: pa.array([row[name] for row in everything], pa.string()) for name in COLUMNS}


@given(case=cases())
@settings(max_examples=120)
def test_every_class_keeps_every_model(make_problem, case):
    everything, options, method = case
    models = options["models"]
    with make_problem(columns_of(everything), **options) as problem:
        if not all(keeps(model, everything, everything) for model in models):
            with pytest.raises(UnreachableError):
                method.anonymize(problem, Run())
            return
        draft, rows = published(problem, method)
        linked = link(draft, rows, everything)
    assert len(rows) == len(everything)
    for source, row in linked:
        for name in QUASI:
            cover = parse_label(row[name])
            by_group = name == "t" and source[name] and TREE[0][source[name]] in cover.values
            assert cover.holds(source[name]) or by_group
    for model in models:
        classes = defaultdict(list)
        for source, row in linked:
            classes[tuple(row[name] for name in model.on or QUASI)].append(source)
        for members in classes.values():
            assert keeps(model, members, everything)
    assert draft.method["classes"] == len(by_label(rows, QUASI))
    assert 0.0 <= draft.method["loss"] <= 1.0


@given(case=cases(), seed=st.integers(0, 5))
@settings(max_examples=30)
def test_the_order_of_records_does_not_matter(make_problem, case, seed):
    everything, options, method = case
    assume(all(keeps(model, everything, everything) for model in options["models"]))
    order = np.random.default_rng(seed).permutation(len(everything))
    with make_problem(columns_of(everything), **options) as problem:
        draft, rows = published(problem, method)
    with make_problem(columns_of([everything[i] for i in order]), **options) as problem:
        again, rows_again = published(problem, method)
    assert again.method == draft.method
    assert rows_again == rows


def link(draft, rows, everything):
    """Each record with what was published for it: by a plain column, or by the links for checks that count people."""
    if draft.links is None:
        by_who = {row["who"]: row for row in rows}
        return [(row, by_who[row["who"]]) for row in everything]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "links.parquet"
        draft.links(path)
        return list(zip(everything, pyarrow.parquet.read_table(path).to_pylist(), strict=True))


@given(drawn=records, cuts=st.sampled_from(["loss", "median"]))
@settings(max_examples=30)
def test_strict_boxes_are_disjoint(make_problem, drawn, cuts):
    table = {name: pa.array([row[i] for row in drawn], pa.string()) for i, name in enumerate(COLUMNS)}
    with make_problem(table, quasi=["n", "c"], models=[KAnonymity(k=2)], kinds={"n": Kind.NUMBER}) as problem:
        domains = problem.cells.domains
        _, rows = published(problem, Mondrian(cuts=cuts))
    boxes = {(row["n"], row["c"]): None for row in rows}
    points = itertools.product(domains["n"].values, domains["c"].values)
    for n, c in points:
        inside = [box for box in boxes if parse_label(box[0]).holds(n) and parse_label(box[1]).holds(c)]
        assert len(inside) <= 1


@given(drawn=records, k=st.integers(2, 4))
@settings(max_examples=30)
def test_no_class_could_be_cut_further(make_problem, drawn, k):
    """A class of 2k or more distinct numbers has a cut that leaves k on each side."""
    table = {"n": pa.array([row[0] or "0" for row in drawn], pa.string())}
    with make_problem(table, quasi=["n"], models=[KAnonymity(k=k)], kinds={"n": Kind.NUMBER}) as problem:
        _, rows = published(problem)
    for label, members in by_label(rows, ["n"]).items():
        counts = Counter(n for n in table["n"].to_pylist() if parse_label(label[0]).holds(n))
        assert sum(counts.values()) == len(members)
        before = np.cumsum([counts[n] for n in sorted(counts, key=int)])
        assert not any(k <= b <= len(members) - k for b in before)


def test_adult(make_problem, data_folder):
    source = data_folder / "adult" / "arx" / "adult.csv.gz"
    table = pa.csv.read_csv(source, parse_options=pa.csv.ParseOptions(delimiter=";"))
    quasi = ["age", "workclass", "education", "marital-status", "race", "sex"]
    with make_problem(table, quasi=quasi, models=[KAnonymity(k=5)]) as problem:
        draft, rows = published(problem)
        relaxed, _ = published(problem, Mondrian(mode="relaxed"))
    classes = Counter(tuple(row[name] for name in quasi) for row in rows)
    assert min(classes.values()) >= 5
    assert len(classes) == draft.method["classes"] > 2800
    assert draft.method["loss"] < 0.0140
    assert relaxed.method["loss"] < 0.0140
