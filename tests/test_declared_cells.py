"""Declared domains: records are mapped one by one, and nothing is refused for what the data hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from medveil.declared_cells import OUTSIDE, declare, declared_cells, with_leaf
from medveil.errors import PolicyError
from medveil.hierarchy.dates import Dates
from medveil.hierarchy.flat import Flat
from medveil.hierarchy.intervals import Intervals
from medveil.hierarchy.mask import Mask
from medveil.hierarchy.taxonomy import Taxonomy
from medveil.hierarchy.top_bottom import TopBottom
from medveil.table.schema import Kind

HERE = Path()


def test_a_domain_is_what_the_policy_says():
    declared = declare(Intervals(domain=(0, 9), widths=(5,)), "age", Kind.NUMBER, HERE)
    assert declared.domain.values == tuple(str(n) for n in range(10))
    assert declared.hierarchy.levels[1].labels == ("[0-4]", "[5-9]")
    assert [declared.code(t) for t in ("3", "03", "3.0", "3.5", "10", "-1", "x", None)] == [3, 3, 3, *[OUTSIDE] * 5]


def test_top_and_bottom_codes_take_what_lies_beyond():
    declared = declare(TopBottom(domain=(0, 99), top=90, bottom=18), "age", Kind.NUMBER, HERE)
    assert [declared.code(t) for t in ("104", "-3", "5.5")] == [99, 0, OUTSIDE]
    only_top = declare(TopBottom(domain=(0, 99), top=90), "age", Kind.NUMBER, HERE)
    assert [only_top.code(t) for t in ("104", "-3")] == [99, OUTSIDE]


def test_a_catch_all_takes_everything_else():
    declared = declare(Flat(domain=("f", "m"), other="unknown"), "sex", None, HERE)
    assert declared.domain.values == ("f", "m", "unknown")
    assert [declared.code(t) for t in ("m", "x", None)] == [1, 2, 2]
    assert declared.hierarchy.levels[0].labels == ("f", "m", "unknown")
    assert declared.hierarchy.size == 3
    number = declare(Flat(domain={"range": (1, 3)}, other="none"), "n", None, HERE)
    assert number.domain.kind is Kind.NUMBER
    assert number.domain.values == ("1", "2", "3", None)
    assert number.hierarchy.levels[0].labels == ("1", "2", "3", "none")
    assert [number.code(t) for t in ("2", "2.0", "9", "word", None)] == [1, 1, 3, 3, 3]


def test_a_catch_all_may_be_a_value_or_a_group_that_is_there():
    value = declare(Flat(domain=("a", "b"), other="b"), "x", None, HERE)
    assert value.domain.values == ("a", "b")
    assert [value.code(t) for t in ("a", "z", None)] == [0, 1, 1]
    tree = Taxonomy(tree={"Heart": ["I21", "I50"], "Rest": {"Lung": ["J18"], "Other": ["K35"]}}, other="Other")
    declared = declare(tree, "disease", None, HERE)
    assert declared.code("?") == 4
    assert [level.labels[level.groups[4]] for level in declared.hierarchy.levels] == ["Other", "Other", "Rest", "*"]
    assert declared.hierarchy.size == 5


def test_missing_values_are_in_the_domain_only_where_the_policy_says_so():
    silent = declare(Flat(domain=("f", "m")), "sex", None, HERE)
    assert silent.code(None) == OUTSIDE
    own = declare(Flat(domain=("f", "m"), missing="own"), "sex", None, HERE)
    assert own.domain.values == ("f", "m", None)
    assert own.code(None) == 2
    assert own.code("x") == OUTSIDE
    assert own.hierarchy.levels[0].labels == ("f", "m", None)
    joined = declare(Intervals(domain=(0, 9), widths=(5,), missing="[5-9]"), "age", None, HERE)
    assert joined.code(None) == 10
    assert joined.hierarchy.levels[1].groups[10] == 1
    assert joined.hierarchy.levels[0].labels[10] is None, "a value that is missing is none of the values"


def test_missing_values_and_a_catch_all_may_both_be_declared():
    both = declare(Flat(domain=("f", "m"), other="rest", missing="own"), "sex", None, HERE)
    assert both.hierarchy.levels[0].labels == ("f", "m", "rest", None)
    assert [both.code(t) for t in ("f", "x", None)] == [0, 2, 3]
    number = declare(Intervals(domain=(0, 9), widths=(5,), other="rest", missing="none"), "age", None, HERE)
    assert [number.code(t) for t in ("4", "x", None)] == [4, 10, 11]
    assert number.hierarchy.levels[1].labels == ("[0-4]", "[5-9]", "rest", "none")
    same = declare(Flat(domain=("f", "m"), other="rest", missing="rest"), "sex", None, HERE)
    assert [same.code(t) for t in ("x", None)] == [2, 2]


@pytest.mark.parametrize("domain", [(), ("a", "*"), ("a", " b")])
def test_domains_that_no_record_can_be_read_into_are_refused(domain):
    with pytest.raises(
        PolicyError, match=r"The declared domain of 'sex' (is empty|holds an empty value, '\*', or one)"
    ):
        declare(Flat(domain=domain), "sex", None, HERE)


def test_whole_numbers_are_the_same_however_a_frame_writes_them():
    """One missing value turns a frame's column of integers into one of floats: nobody else's value may change."""
    codes = declare(Flat(domain=("1", "2", "07")), "code", Kind.CATEGORY, HERE)
    assert [codes.code(t) for t in ("1", "1.0", "07", "07.0", "1.5")] == [
        *(codes.code(t) for t in ("1", "1", "07", "07")),
        -1,
    ]
    specs = {**SPECS, "ill": Flat()}
    written = [cells_of([(("f", text), 3)], specs, undeclared_sensitive=True).cells for text in ("12", "12.0")]
    assert written[0].domains == written[1].domains


def test_dates_and_codes():
    dates = declare(Dates(domain=("2020-01-01", "2020-03-31"), levels=("month",)), "day", None, HERE)
    assert dates.code("2020-02-01") == 31
    assert dates.code("01.02.2020") == 31
    assert dates.code("2021-02-01") == OUTSIDE
    codes = declare(Mask(length=2), "zip", None, HERE)
    assert len(codes.domain) == 100
    assert codes.code("07") == 7
    assert codes.code("7") == OUTSIDE


def test_undeclared_domains_are_none():
    assert declare(Flat(), "x", None, HERE) is None
    assert declare(Intervals(widths=(5,)), "x", None, HERE) is None
    assert declare(Intervals(domain=(0, 9), quantiles=(4,)), "x", None, HERE) is None


@pytest.mark.parametrize("label", ["other", None, "[0-4]"])
def test_a_leaf_more_keeps_levels_nested_and_counts_itself(label):
    before = declare(Intervals(domain=(0, 9), widths=(5,)), "age", None, HERE).hierarchy
    after = with_leaf(before, "leaf", label)
    assert after.levels[0].labels[-1] == "leaf"
    assert after.size == before.size + 1
    for old, new in zip(before.levels, after.levels, strict=True):
        assert new.groups[:-1].tolist() == old.groups.tolist()
        assert new.covered.sum() == old.covered.sum() + 1
        assert len(new.labels) == len(new.covered) == new.groups.max() + 1
    assert after.levels[-1].labels == before.levels[-1].labels


def raw(rows):
    columns = list(zip(*[row for row, _ in rows], strict=True)) if rows else [(), ()]
    table = {f"q{j}": pa.array(column, pa.string()) for j, column in enumerate(columns)}
    return pa.table({**table, "records": pa.array([n for _, n in rows], pa.int64())})


SPECS = {"sex": Flat(domain=("f", "m")), "ill": Flat(domain=("a", "b"), other="rest")}


def cells_of(rows, specs=SPECS, **options):
    return declared_cells(raw(rows), ("sex",), ("ill",), specs, {}, HERE, **options)


def test_cells_over_declared_domains():
    found = cells_of([(("f", "a"), 3), (("m", "zzz"), 2), (("x", "a"), 7), ((None, "b"), 1)])
    assert found.cells.codes.tolist() == [[0, 1]]
    assert found.cells.sensitive["ill"].tolist() == [0, 2]
    assert found.cells.counts.tolist() == [3, 2]
    assert found.cells.domains["ill"].values == ("a", "b", "rest")
    assert found.outside == {"sex": 8, "ill": 2}
    assert found.left_out == 8
    assert len(found.raw) == 2


def test_no_record_at_all():
    found = cells_of([])
    assert found.cells.records == 0
    assert found.cells.domains["sex"].values == ("f", "m")
    assert found.cells.codes.shape == (1, 0)


def test_one_record_more_changes_one_cell_only():
    """What a record becomes depends on nothing but itself."""
    chance = np.random.default_rng(4)
    rows = [((str(s), str(i)), int(n)) for s, i, n in zip("fmx", "abz", chance.integers(1, 9, 3), strict=True)]
    before = cells_of(rows)
    for extra in (("f", "b"), ("f", "weird"), ("weird", "a"), (None, None)):
        after = cells_of([*rows, (extra, 1)])
        assert after.cells.domains == before.cells.domains
        assert after.cells.counts[: len(before.cells)].tolist() == before.cells.counts.tolist()
        assert len(after.cells) - len(before.cells) in {0, 1}


def test_an_undeclared_domain_is_a_clear_error():
    with pytest.raises(PolicyError, match=r"domain of 'sex'.*Give it a 'domain:'"):
        cells_of([(("f", "a"), 1)], {**SPECS, "sex": Flat()})
    with pytest.raises(PolicyError, match=r"domain of 'ill'.*'delta:' above 0"):
        cells_of([(("f", "a"), 1)], {**SPECS, "ill": Flat()})
    found = cells_of([(("f", "a"), 1), (("f", "zebra"), 2)], {**SPECS, "ill": Flat()}, undeclared_sensitive=True)
    assert found.cells.domains["ill"].values == ("a", "zebra")
    assert "ill" not in found.hierarchies
    with pytest.raises(PolicyError, match="domain of 'sex'"):
        cells_of([(("f", "a"), 1)], {**SPECS, "sex": Flat()}, undeclared_sensitive=True)
