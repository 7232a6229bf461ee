"""Lee and Chung 2020, Differentially private release of medical microdata: Tables 1 to 8, with their noise given."""

from __future__ import annotations

import numpy as np
import pytest

from medveil.hierarchy.hierarchy import build
from medveil.lattice.space import Space
from medveil.methods.dp.grid import Grid
from medveil.methods.dp.ipa_published import ClassTable, Draws, perturb, rows_of


class Given(Draws):
    """Algorithm 1 with noise that is told: the threshold as it is, one record for each class, these values."""

    def __init__(self, values):
        super().__init__(np.random.default_rng(0), {})
        object.__setattr__(self, "told", values)

    def thresholds(self, threshold, classes):
        return np.full(classes, float(threshold))

    def insertions(self, classes):
        return np.ones(classes, dtype=np.int64)

    def values(self, classes, owner, known):  # noqa: ARG002
        return np.array(self.told, dtype=np.int32)


def numbered(columns, rows):
    """Codes of rows, one line a column, from the leaves of each column."""
    return np.array([[leaves.index(row[j]) for row in rows] for j, leaves in enumerate(columns)], dtype=np.int32)


def grid_of(hierarchies, values):
    return Grid(Space.of(hierarchies), len(values))


def written(grid, levels, values, keys, counts):
    """Published cells as rows of labels with their counts, in the order of the grid."""
    codes, informative = grid.decoded(levels, np.asarray(keys))
    labels = [
        [h.levels[level].labels[code] for code in row]
        for h, level, row in zip(grid.hierarchies, levels, codes, strict=True)
    ]
    return [(*(column[i] for column in labels), values[informative[i]], int(count)) for i, count in enumerate(counts)]


TABLE_1 = [
    ("10", "M", "Anemia"),
    ("14", "F", "Gastritis"),
    ("19", "F", "Pneumonia"),
    ("12", "F", "Anemia"),
    ("15", "M", "Pneumonia"),
]
AGES = [str(age) for age in range(10, 20)]
DISEASES = ["Anemia", "Gastritis", "Pneumonia"]


@pytest.fixture(scope="module")
def small():
    age = build(AGES, [["[10 - 19]"] * 10], None, 10.0, "age")
    gender = build(["M", "F"], [], None, 2.0, "gender")
    grid = grid_of([age, gender], DISEASES)
    codes = numbered([AGES, ["M", "F"], DISEASES], TABLE_1)
    return grid, grid.base(codes[:2], codes[2], np.ones(5, dtype=np.int64))


def test_table_2_the_contingency_table(small):
    grid, table = small
    order = np.argsort(grid.keys(table))
    cells = written(grid, (0, 0), DISEASES, grid.keys(table)[order], table.counts[order])
    assert sorted(cells) == sorted((*row, 1) for row in TABLE_1)
    assert [cell[0] for cell in cells] == ["10", "12", "14", "15", "19"]


def test_table_3_every_combination_of_the_domain_has_noise(small):
    """The table's first four and last two combinations are those of the grid; the printed counts are what noise of
    1, 0, 1, 0, ..., 1, 0 makes of the true ones.
    """
    grid, table = small
    assert grid.cells((0, 0)) == 10 * 2 * 3
    true = np.zeros(60, dtype=np.int64)
    true[grid.keys(table)] = table.counts
    shown = [0, 1, 2, 3, 58, 59]
    noise = np.array([1, 0, 1, 0, 1, 0])
    assert written(grid, (0, 0), DISEASES, shown, true[shown] + noise) == [
        ("10", "M", "Anemia", 2),
        ("10", "M", "Gastritis", 0),
        ("10", "M", "Pneumonia", 1),
        ("10", "F", "Anemia", 0),
        ("19", "F", "Gastritis", 1),
        ("19", "F", "Pneumonia", 1),
    ]


def test_table_4_generalization_leaves_three_combinations(small):
    grid, table = small
    general = grid.at(table, (1, 1))
    assert grid.cells((1, 1)) == 3
    order = np.argsort(grid.keys(general))
    assert general.counts[order].tolist() == [2, 1, 2]
    noisy = general.counts[order] + np.array([1, 0, -1])
    assert written(grid, (1, 1), DISEASES, [0, 1, 2], noisy) == [
        ("[10 - 19]", "*", "Anemia", 3),
        ("[10 - 19]", "*", "Gastritis", 1),
        ("[10 - 19]", "*", "Pneumonia", 1),
    ]


TABLE_5 = [
    ("17", "M", "28912", "Gastritis"),
    ("16", "M", "23512", "Pneumonia"),
    ("13", "M", "24231", "Pneumonia"),
    ("24", "F", "31891", "Anemia"),
    ("29", "F", "34225", "Anemia"),
    ("25", "F", "37756", "Diabetes"),
    ("67", "M", "80061", "Stroke"),
]
YOUNG = ("[10 - 19]", "M", "[20000 - 29999]")
TWENTIES = ("[20 - 29]", "F", "[30000 - 39999]")
OLD = ("[60 - 69]", "M", "[80000 - 89999]")
INFORMATIVE = ["Anemia", "Diabetes", "Gastritis", "Pneumonia", "Stroke"]
LEVELS = (1, 0, 1)


@pytest.fixture(scope="module")
def large():
    columns = [sorted({row[j] for row in TABLE_5}) for j in range(3)]
    ages, genders, zips = columns

    def interval(text, width):
        low = int(text) // width * width
        return f"[{low} - {low + width - 1}]"

    hierarchies = [
        build(ages, [[interval(age, 10) for age in ages]], [[10.0] * len(ages)], 100.0, "age"),
        build(genders, [], None, 2.0, "gender"),
        build(zips, [[interval(code, 10_000) for code in zips]], [[10_000.0] * len(zips)], 100_000.0, "zip"),
    ]
    grid = grid_of(hierarchies, INFORMATIVE)
    codes = numbered([*columns, INFORMATIVE], TABLE_5)
    return grid, grid.base(codes[:3], codes[3], np.ones(7, dtype=np.int64))


def test_table_6_generalization(large):
    grid, table = large
    general = grid.at(table, LEVELS)
    cells = written(grid, LEVELS, INFORMATIVE, grid.keys(general), general.counts)
    assert sorted(cells) == sorted(
        [
            (*YOUNG, "Gastritis", 1),
            (*YOUNG, "Pneumonia", 2),
            (*TWENTIES, "Anemia", 2),
            (*TWENTIES, "Diabetes", 1),
            (*OLD, "Stroke", 1),
        ]
    )


def candidate(large, values):
    grid, table = large
    classes = ClassTable.of(grid, grid.at(table, LEVELS))
    return grid, classes, perturb(LEVELS, classes, 2, np.arange(5, dtype=np.int32), Given(values))


def test_table_7_suppression_of_classes_of_two_or_fewer(large):
    grid, classes, made = candidate(large, [INFORMATIVE.index("Gastritis"), INFORMATIVE.index("Anemia")])
    assert classes.sizes.tolist() == [3, 3, 1]
    assert made.kept.tolist() == [True, True, False]
    _, _, stars = rows_of(grid, classes, made)
    assert dict(zip(INFORMATIVE, stars.tolist(), strict=True)) == {
        "Anemia": 0,
        "Diabetes": 0,
        "Gastritis": 0,
        "Pneumonia": 0,
        "Stroke": 1,
    }


def test_table_8_insertion_of_one_record_into_each_class(large):
    grid, classes, made = candidate(large, [INFORMATIVE.index("Gastritis"), INFORMATIVE.index("Anemia")])
    keys, counts, stars = rows_of(grid, classes, made)
    assert sorted(written(grid, LEVELS, INFORMATIVE, keys, counts)) == sorted(
        [
            (*YOUNG, "Gastritis", 2),
            (*YOUNG, "Pneumonia", 2),
            (*TWENTIES, "Anemia", 3),
            (*TWENTIES, "Diabetes", 1),
        ]
    )
    assert stars.sum() == 1


def test_losses_of_table_8(large):
    """By hand. NCP: 8 rows lose (10/100 + 0 + 10000/100000) / 3, one row of * loses 1. Rate: one of four rows in both
    classes. EMD: of the cells 1/7, 2/7, 2/7, 1/7, 1/7 become 2/9, 2/9, 3/9, 1/9, 1/9.
    """
    _, _, made = candidate(large, [INFORMATIVE.index("Gastritis"), INFORMATIVE.index("Anemia")])
    assert made.losses.ncp == pytest.approx((8 * 0.2 / 3 + 1) / 9)
    assert made.losses.rate == pytest.approx(0.25)
    shares = np.array([1, 2, 2, 1, 1]) / 7, np.array([2, 2, 3, 1, 1]) / 9
    assert made.losses.emd == pytest.approx(np.abs(shares[0] - shares[1]).sum() / 2)
    assert made.losses.total == pytest.approx(made.losses.ncp + made.losses.emd + made.losses.rate)
