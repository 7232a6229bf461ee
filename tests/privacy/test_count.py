from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from medveil.cells import Subjects

QUASI = ("age", "sex")

records = st.fixed_dictionaries(
    {
        "age": st.sampled_from(["10", "20", "30", None]),
        "sex": st.sampled_from(["f", "m"]),
        "disease": st.sampled_from(["flu", "cold", "ulcer", None]),
        "ward": st.sampled_from(["a", "b"]),
        "patient": st.integers(0, 5),
    }
)
rows_of_records = st.lists(records, min_size=1, max_size=25)


def by_hand(rows, *, people):
    """Class -> size, records, value -> count, in plain Python."""
    found = defaultdict(lambda: {"who": set(), "records": 0, "disease": defaultdict(set), "ward": defaultdict(set)})
    for number, row in enumerate(rows):
        one = found[tuple(row[q] for q in QUASI)]
        who = row["patient"] if people else number
        one["who"].add(who)
        one["records"] += 1
        for name in ("disease", "ward"):
            one[name][row[name]].add(who)
    return {
        key: (
            len(one["who"]),
            one["records"],
            {value: len(who) for value, who in one["disease"].items()},
            {value: len(who) for value, who in one["ward"].items()},
        )
        for key, one in found.items()
    }


def unpacked(cells, classes, class_of_cell):
    """The same form from counted classes."""
    found = {}
    for number in np.unique(class_of_cell[class_of_cell >= 0]):
        cell = int(np.flatnonzero(class_of_cell == number)[0])
        key = tuple(cells.domains[q].values[cells.codes[j, cell]] for j, q in enumerate(QUASI))
        histograms = []
        for name in ("disease", "ward"):
            h = classes.histograms[name]
            pairs = slice(h.offsets[number], h.offsets[number + 1])
            assert np.all(np.diff(h.values[pairs]) > 0)
            names = cells.domains[name].values
            histograms.append({names[v]: int(n) for v, n in zip(h.values[pairs], h.counts[pairs], strict=True)})
        found[key] = (int(classes.sizes[number]), int(classes.records[number]), *histograms)
    return found


@given(rows=rows_of_records, people=st.booleans())
def test_counts_are_those_of_a_plain_loop(tables, rows, people):
    cells = tables.cells(rows, QUASI, ("disease", "ward"), subject="patient" if people else None)
    ids, number = tables.class_of_cell(cells)
    classes = tables.count(cells, ids, number)
    assert unpacked(cells, classes, ids) == by_hand(rows, people=people)


@given(rows=rows_of_records, people=st.booleans(), data=st.data())
def test_row_order_and_split_cells_change_nothing(tables, rows, people, data):
    subject = "patient" if people else None
    cells = tables.cells(rows, QUASI, ("disease", "ward"), subject=subject)
    ids, number = tables.class_of_cell(cells)
    expected = unpacked(cells, tables.count(cells, ids, number), ids)

    shuffled = tables.cells(data.draw(st.permutations(rows)), QUASI, ("disease", "ward"), subject=subject)
    ids, number = tables.class_of_cell(shuffled)
    assert unpacked(shuffled, tables.count(shuffled, ids, number), ids) == expected

    copies = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(cells), max_size=len(cells))))
    split = split_cells(cells, copies)
    ids, number = tables.class_of_cell(split)
    assert unpacked(split, tables.count(split, ids, number), ids) == expected


def split_cells(cells, copies):
    """Each cell in one to three parts: records are shared out; a person with several stays may be in each part."""
    which = np.repeat(np.arange(len(cells)), copies)
    part = np.concatenate([np.arange(n) for n in copies])
    counts = cells.counts[which] // copies[which] + (part < cells.counts[which] % copies[which])
    subjects = None
    if cells.subjects is not None:
        offsets, codes = cells.subjects.offsets, cells.subjects.codes
        lists = [codes[offsets[i] : offsets[i + 1]] if n else codes[:0] for i, n in zip(which, counts, strict=True)]
        subjects = Subjects(np.cumsum([0, *map(len, lists)]), np.concatenate(lists), cells.subjects.count)
    return dataclasses.replace(
        cells,
        codes=cells.codes[:, which],
        counts=counts,
        sensitive={name: codes[which] for name, codes in cells.sensitive.items()},
        subjects=subjects,
    )


@given(rows=rows_of_records, people=st.booleans(), data=st.data())
def test_what_is_not_kept_is_as_if_not_there(tables, rows, people, data):
    cells = tables.cells(rows, QUASI, ("disease", "ward"), subject="patient" if people else None)
    ids, number = tables.class_of_cell(cells)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells))), dtype=np.bool_)

    def kept_row(row):
        key = [cells.domains[q].values.index(row[q]) for q in QUASI]
        sensitive = {name: cells.domains[name].values.index(row[name]) for name in cells.sensitive}
        match = np.all(np.equal(cells.codes.T, key), axis=1)
        for name, code in sensitive.items():
            match &= cells.sensitive[name] == code
        return bool(kept[match][0])

    left = [row for row in rows if kept_row(row)]
    expected = by_hand(left, people=people)
    for counted in (
        tables.count(cells, ids, number, kept),
        tables.count(cells, np.where(kept, ids, -1).astype(np.int32), number),
    ):
        assert len(counted) == number
        found = unpacked(cells, counted, ids)
        assert {key: one for key, one in found.items() if one[1]} == expected
        assert all(one == (0, 0, {}, {}) for key, one in found.items() if key not in expected)


def test_twenty_visits_of_one_patient_are_one_patient(tables):
    rows = [{"age": "10", "sex": "f", "disease": str(i % 4), "patient": 7} for i in range(20)]
    rows += [{"age": "10", "sex": "f", "disease": "0", "patient": 8}]
    classes = tables.classes(tables.cells(rows, QUASI, ("disease",), subject="patient"))
    assert classes.sizes.tolist() == [2]
    assert classes.records.tolist() == [21]
    assert classes.histograms["disease"].counts.tolist() == [2, 1, 1, 1]


def test_missing_quasi_value_is_a_class_of_its_own(tables):
    rows = [{"age": age, "sex": "f"} for age in ["10", None, None, "10", "10"]]
    assert sorted(tables.classes(tables.cells(rows, QUASI, ())).sizes.tolist()) == [2, 3]


def test_the_population_counts_only_as_population(tables):
    rows = [{"age": "10", "sex": "f", "disease": "flu"}] * 2
    population = [{"age": "10", "sex": "f"}] * 5 + [{"age": "20", "sex": "m"}] * 3
    classes = tables.classes(tables.cells(rows, QUASI, ("disease",), population=population))
    assert classes.sizes.tolist() == [2, 0]
    assert classes.records.tolist() == [2, 0]
    assert classes.population is not None
    assert classes.population.tolist() == [5, 3]
    assert classes.histograms["disease"].offsets.tolist() == [0, 1, 1]
    assert classes.histograms["disease"].counts.tolist() == [2]


def test_cells_whose_records_are_taken_away_count_nobody(tables):
    """A search takes the records of suppressed cells away and leaves their population."""
    rows = [{"age": "10", "sex": "f", "disease": d, "patient": p} for p, d in enumerate(["flu", "flu", "cold"])]
    cells = tables.cells(rows, QUASI, ("disease",), subject="patient")
    taken = dataclasses.replace(cells, counts=np.where(cells.sensitive["disease"] == 0, 0, cells.counts))
    classes = tables.classes(taken)
    assert cells.domains["disease"].values[0] == "cold"
    assert (classes.sizes.tolist(), classes.records.tolist()) == ([2], [2])
    assert classes.histograms["disease"].values.tolist() == [1]
    assert classes.histograms["disease"].counts.tolist() == [2]


def test_no_classes_at_all(tables):
    cells = tables.cells([{"age": "10", "sex": "f", "disease": "flu"}], QUASI, ("disease",))
    classes = tables.count(cells, np.array([-1]), 0)
    assert len(classes) == 0
    assert classes.histograms["disease"].offsets.tolist() == [0]


@given(rows=rows_of_records, people=st.booleans())
def test_reference_is_the_distribution_of_the_input(tables, rows, people):
    cells = tables.cells(rows, QUASI, ("disease",), subject="patient" if people else None)
    reference = tables.reference(cells)
    pairs = {(row["patient"], row["disease"]) for row in rows} if people else [(0, row["disease"]) for row in rows]
    expected = Counter(value for _, value in pairs)
    names = cells.domains["disease"].values
    assert {names[i]: n for i, n in enumerate(reference.counts["disease"].tolist())} == expected
    assert set(reference.domains) == {"disease"}
