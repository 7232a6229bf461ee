"""What holds of every hierarchy, whatever was asked for and whatever the data hold."""

from __future__ import annotations

import datetime as dt
import itertools
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from medveil.hierarchy import builders
from medveil.hierarchy.dates import Dates
from medveil.hierarchy.draw import draw
from medveil.hierarchy.file import File
from medveil.hierarchy.flat import Flat
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.intervals import Intervals
from medveil.hierarchy.mask import Mask
from medveil.hierarchy.propose import facts_of, propose
from medveil.hierarchy.specification import HierarchySpec
from medveil.hierarchy.taxonomy import Taxonomy
from medveil.hierarchy.top_bottom import TopBottom
from medveil.table.domain import Domain, domain_of, encode, read_number
from medveil.table.labels import range_label
from medveil.table.schema import Kind
from medveil.workspace import Workspace

WORDS = ["ash", "beech", "cedar", "elm", "fir", "gorse", "hazel", "ivy"]
catch_alls = st.fixed_dictionaries({"missing": st.sampled_from(["own", "unknown"]), "other": st.just("rest")})
whole = st.integers(-300, 300)
decimal = st.decimals(-300, 300, places=2).map(float)


def multiples(first: float, factors: list[int]) -> tuple[float, ...]:
    return tuple(round(first * factor, 6) for factor in itertools.accumulate([1, *factors], lambda a, b: a * b))


@st.composite
def number_specs(draw_: st.DrawFn) -> HierarchySpec:
    number = draw_(st.sampled_from([whole, decimal]))
    options = draw_(catch_alls)
    ends = sorted(draw_(st.lists(number, min_size=2, max_size=2, unique=True)))
    low, high = ends
    if draw_(st.booleans()):
        options["domain"] = (low, high)
    inside = number.filter(lambda value: low < value <= high)
    codes = sorted(draw_(st.lists(inside, max_size=2)) if high - low > 10 else [])
    options |= dict(zip(("bottom", "top") if draw_(st.booleans()) else ("top",), codes, strict=False))
    way = draw_(st.sampled_from(["widths", "cuts", "quantiles", "codes"]))
    if way == "codes" and codes:
        return TopBottom(**options)
    if way == "cuts" and high - low > 10:
        cuts = sorted(draw_(st.lists(inside, min_size=2, max_size=9, unique=True)))
        return Intervals(**options, cuts=(tuple(cuts), tuple(cuts[:1])))
    if way == "quantiles":
        return Intervals(**options, quantiles=(12, 6, 2))
    factors = draw_(st.lists(st.integers(2, 5), max_size=3))
    first = draw_(st.integers(1, 20) if number is whole else st.sampled_from([0.1, 0.25, 0.3, 7.7, 1000.0]))
    return Intervals(**options, widths=multiples(first, factors))


@st.composite
def cases(draw_: st.DrawFn) -> tuple[HierarchySpec, Domain]:
    kind = draw_(st.sampled_from(["number", "mask", "date", "taxonomy", "flat"]))
    missing = [None] if draw_(st.booleans()) else []
    if kind == "number":
        values = draw_(st.lists(whole if draw_(st.booleans()) else decimal, max_size=40))
        return draw_(number_specs()), domain_of([*(read_number(str(value)) for value in values), *missing], Kind.NUMBER)
    options = draw_(catch_alls)
    if kind == "mask":
        spec: HierarchySpec = Mask(**options, length=3, alphabet="abc", side=draw_(st.sampled_from(["left", "right"])))
        texts = draw_(st.lists(st.text("abcd", min_size=2, max_size=4)))
        return spec, domain_of([*texts, *missing], Kind.CODE)
    if kind == "date":
        order = ["month", "quarter", "year", "decade"]
        levels = tuple(sorted(draw_(st.sets(st.sampled_from(order), min_size=1)), key=order.index))
        days = draw_(st.lists(st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1))))
        ends = draw_(st.sampled_from([None, (dt.date(1950, 2, 3), dt.date(2050, 5, 6))]))
        spec = Dates(**options, levels=draw_(st.sampled_from([levels, ("week",), ("day",)])), domain=ends)
        return spec, domain_of([*(day.isoformat() for day in days), *missing], Kind.DATE)
    texts = draw_(st.lists(st.sampled_from(WORDS)))
    if kind == "taxonomy":
        tree = {"low": WORDS[:2], "high": {"higher": WORDS[2:4], "highest": WORDS[4:5]}, "lone": None}
        spec = Taxonomy(**{**options, "other": draw_(st.sampled_from(["rest", "low", "higher"]))}, tree=tree)
        return spec, domain_of([*texts, *missing], Kind.CATEGORY)
    return Flat(**options, domain=draw_(st.sampled_from([None, tuple(WORDS[:4])]))), domain_of(
        [*texts, *missing], Kind.CATEGORY
    )


def check(hierarchy: Hierarchy, domain: Domain) -> None:
    count = len(domain)
    leaves, root = hierarchy.levels[0], hierarchy.levels[-1]
    assert leaves.groups.tolist() == list(range(count))
    assert leaves.labels == domain.values
    assert len(root.labels) == 1
    assert root.covered.tolist() == [hierarchy.size]
    for level in hierarchy.levels:
        assert level.groups.dtype == np.int32
        assert len(level.groups) == count
        assert len(set(level.labels)) == len(level.labels) == len(level.covered)
        assert set(level.groups.tolist()) == set(range(len(level.labels))) or not count
        assert np.all(level.covered >= 1) or not count
    for lower, upper in itertools.pairwise(hierarchy.levels):
        parents = {(a, b) for a, b in zip(lower.groups.tolist(), upper.groups.tolist(), strict=True)}
        assert len(parents) == len(lower.labels) or not count
        assert np.all(upper.covered[upper.groups] >= lower.covered[lower.groups] - 1e-9)
    for lower, upper in itertools.pairwise(hierarchy.losses):
        assert np.all(lower <= upper + 1e-12)
    assert all(np.all((losses >= 0) & (losses <= 1 + 1e-12)) for losses in hierarchy.losses)


@given(cases())
def test_levels_are_nested_and_cover_more_and_more(case):
    spec, domain = case
    hierarchy = spec.bind(domain, "column", Workspace())
    check(hierarchy, domain)
    for number, level in enumerate(hierarchy.levels[1:-1], start=1):
        if domain.has_missing and spec.missing == "own":
            assert level.labels[level.groups[-1]] is None
            assert int(np.sum(level.groups == level.groups[-1])) == 1, number


@given(cases())
def test_groups_of_counted_leaves_hold_no_more_leaves_than_they_cover(case):
    spec, domain = case
    hierarchy = spec.bind(domain, "column", Workspace())
    counted = not isinstance(spec, Intervals) or all(v is None or "." not in v for v in domain.values)
    whole_policy = not isinstance(spec, Intervals) or all(float(n).is_integer() for n in spec._policy_numbers())
    if counted and whole_policy:
        for level in hierarchy.levels:
            assert np.all(np.bincount(level.groups, minlength=len(level.labels)) <= level.covered)


@given(cases())
def test_a_value_is_grouped_alike_whatever_else_the_data_hold(case):
    """Where the domain is declared, the same leaf gets the same label and coverage on its own."""
    spec, domain = case
    if spec.leaves("column", Workspace()) is None or not domain.present:
        return
    leaves = encode(spec.leaves("column", Workspace()), domain.kind, "column")[0]
    known = [value for value in domain.present if value in leaves.values]
    if not known:
        return
    full, alone = (spec.bind(d, "column", Workspace()) for d in (leaves, domain_of(known[:1], domain.kind)))
    code = leaves.values.index(known[0])
    assert full.size == alone.size == len(leaves)
    assert full.height == alone.height
    for one, other in zip(full.levels, alone.levels, strict=True):
        assert one.labels[one.groups[code]] == other.labels[0]
        assert one.covered[one.groups[code]] == other.covered[0]
        assert one.covered.sum() == full.size


@given(cases(), st.booleans())
def test_what_is_proposed_fits_and_is_drawn(case, declared):
    _, domain = case
    spec = propose(facts_of(domain), declare_domain=declared) or Flat()
    assert type(spec).model_validate(spec.model_dump()) == spec
    hierarchy = spec.bind(domain, "column", Workspace())
    check(hierarchy, domain)
    assert hierarchy.levels[-1].labels[0] in draw(hierarchy, 5)


@given(st.lists(st.integers(-300, 300), min_size=1, max_size=30), st.integers(1, 20), st.integers(2, 4))
def test_intervals_against_counting(values, width, factor):
    """Each label says which whole numbers its group holds; counting them one by one gives the same."""
    spec = Intervals(domain=(-301, 305), widths=(width, width * factor))
    hierarchy = spec.bind(domain_of(map(str, values), Kind.NUMBER), "column", Workspace())
    for number, step in ((1, width), (2, width * factor)):
        level = hierarchy.levels[number]
        for leaf, group in zip(hierarchy.levels[0].labels, level.groups.tolist(), strict=True):
            index = (int(leaf or 0) + 301) // step
            members = [n for n in range(-301, 306) if (n + 301) // step == index]
            assert level.labels[group] == range_label(str(members[0]), str(members[-1]))
            assert level.covered[group] == len(members)


@given(st.lists(st.sampled_from(WORDS), min_size=1, unique=True), st.randoms(use_true_random=False))
def test_a_file_and_a_tree_say_the_same(tmp_path_factory, words, random):
    group_of = {word: random.choice(["a", "b", "c"]) for word in words}
    above = {group: random.choice(["up", "down"]) for group in "abc"}
    folder = tmp_path_factory.mktemp("files")
    lines = [f"{word};{group_of[word]};{above[group_of[word]]};*" for word in words]
    (folder / "h.csv").write_text("\n".join(lines))
    tree: dict[str, dict[str, list[str]]] = {}
    for word in words:
        tree.setdefault(above[group_of[word]], {}).setdefault(group_of[word], []).append(word)
    domain = domain_of(words, Kind.CATEGORY)
    read = File(path=Path("h.csv")).bind(domain, "column", Workspace(folder))
    written = Taxonomy(tree={"*": tree}).bind(domain, "column", Workspace(folder))
    assert [level.labels for level in read.levels] == [level.labels for level in written.levels]
    assert [level.covered.tolist() for level in read.levels] == [level.covered.tolist() for level in written.levels]


def test_every_builder_tells_its_schema():
    for word, spec in builders().items():
        schema = spec.model_json_schema()
        assert schema["properties"]["type"]["const"] == word
        undescribed = [name for name, field in schema["properties"].items() if "description" not in field]
        assert undescribed == ["type"]
