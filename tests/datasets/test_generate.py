from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from medveil.datasets import patients
from medveil.datasets.calibration import PEOPLE, RECORDS, REGIONS, STROKE_DAYS, STROKES, people_by_age
from medveil.datasets.diseases import BLOCKS, SEXES, STROKE, diseases
from medveil.datasets.generate import draw, model
from medveil.errors import InputError

STROKE_BY_GROUP = (
    "select age // {width}, {answer} from records "
    f"where sex = '{{sex}}' and surgery = 'no' and disease = '{STROKE}' group by 1"
)


def ask(records: pa.Table, query: str) -> list[tuple[Any, ...]]:
    """The answer to a query over `records`."""
    with duckdb.connect() as connection:
        connection.register("records", records)
        return connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def sample() -> pa.Table:
    """As many records as the paper had; a table of this size takes well under two seconds."""
    return patients(RECORDS, seed=2020)


def test_a_seed_gives_the_same_table_and_another_seed_another():
    assert patients(500, seed=7, patient_id=True).equals(patients(500, seed=7, patient_id=True))
    assert not patients(500, seed=7).equals(patients(500, seed=8))
    assert not patients(500, seed=None).equals(patients(500, seed=None))


def test_none_and_one_and_fewer_than_none():
    assert patients(0, seed=1).num_rows == 0
    assert patients(0, seed=1, patient_id=True).num_rows == 0
    assert patients(1, seed=1, patient_id=True).num_rows == 1
    with pytest.raises(InputError, match="cannot be -1 records"):
        patients(-1, seed=1)


def test_domains(sample):
    age, stay = sample["age"].to_numpy(), sample["length_of_stay"].to_numpy()
    assert (age.min(), age.max()) == (0, 99)
    assert (stay.min(), stay.max()) == (1, 400)
    assert set(sample["sex"].unique().to_pylist()) == {"F", "M"}
    assert set(sample["surgery"].unique().to_pylist()) == {"no", "yes"}
    assert set(sample["region"].unique().to_pylist()) == {name for name, _, _ in REGIONS}
    assert len(REGIONS) == 16
    assert all(pa.types.is_dictionary(sample[c].type) for c in ("sex", "region", "surgery", "disease"))


def test_at_least_300_diseases_with_a_long_tail(sample):
    counts = np.sort(sample["disease"].value_counts().field("counts").to_numpy())[::-1]
    assert len(counts) >= 300
    assert counts[:30].sum() > 0.4 * sample.num_rows
    assert counts[len(counts) // 2 :].sum() < 0.1 * sample.num_rows


def test_codes_are_listed_once_and_look_like_icd_10():
    codes = [code for block in BLOCKS for code in block.codes.split()]
    assert len(codes) == len(set(codes))
    assert STROKE not in codes
    assert all(len(code) == 3 and code[0].isupper() and code[1:].isdigit() for code in codes)
    assert list(diseases().codes) == sorted([*codes, STROKE])


def test_disease_depends_on_age_and_sex(sample):
    facts = {
        disease: rest
        for disease, *rest in ask(
            sample,
            "select disease, count(*), count(*) filter (sex = 'F'), avg(age), min(age), max(age) "
            "from records group by 1",
        )
    }
    births, women, _, youngest, oldest = facts["O80"]
    assert births == women > 0
    assert youngest > 5
    assert oldest < 60
    assert facts["C61"][1] == 0
    assert facts["F03"][2] > facts["F90"][2] + 40


def test_the_model_meets_the_published_counts_exactly():
    known = model()
    stroke = known.diseases.codes.index(STROKE)
    expected = RECORDS * known.person * known.disease[..., stroke] * (1 - known.diseases.surgery[stroke])
    by_group = np.add.reduceat(expected, np.arange(0, 100, 5), axis=1)[:, :18]
    np.testing.assert_allclose(by_group, [STROKES[sex] for sex in SEXES], rtol=1e-9)


@pytest.mark.parametrize("shares", ["person", "region", "disease"])
def test_the_model_holds_distributions(shares):
    array = getattr(model(), shares)
    assert (array >= 0).all()
    np.testing.assert_allclose(array.sum() if shares == "person" else array.sum(axis=-1), 1, rtol=1e-9)


@pytest.mark.parametrize("sex", SEXES)
def test_years_add_up_to_their_five_year_groups(sex):
    np.testing.assert_allclose(people_by_age(sex).reshape(-1, 5).sum(axis=1), PEOPLE[sex])


@pytest.mark.parametrize("sex", SEXES)
def test_queries_1_and_2_come_out_near_the_paper(sample, sex):
    """Counts are nearly Poisson around the published ones: the sum of (observed - expected)^2 / expected over the
    groups with at least 5 is nearly chi-squared with as many degrees of freedom d, so it stays under d + 4 sqrt(2 d).
    """
    observed = np.zeros(20)
    for group, count in ask(sample, STROKE_BY_GROUP.format(width=5, sex=sex, answer="count(*)")):
        observed[group] = count
    expected = np.array(STROKES[sex], dtype=float)
    enough = expected >= 5
    distance = ((observed[:18] - expected)[enough] ** 2 / expected[enough]).sum()
    assert distance < enough.sum() + 4 * np.sqrt(2 * enough.sum())
    assert (np.abs(observed[:18] - expected) <= 4.5 * np.sqrt(expected) + 3).all()


@pytest.mark.parametrize("sex", SEXES)
def test_queries_3_and_4_come_out_near_the_paper(sample, sex):
    """A stay is geometric with mean m, so the mean of c stays has the standard error
    sqrt(m (m - 1) / c): at most four of them.
    """
    found = ask(sample, STROKE_BY_GROUP.format(width=10, sex=sex, answer="count(*), avg(length_of_stay)"))
    means = {decade: (count, mean) for decade, count, mean in found}
    for decade, mean in enumerate(STROKE_DAYS[sex]):
        count, observed = means[decade]
        assert abs(observed - mean) <= 4 * np.sqrt(mean * (mean - 1) / count) + 1e-9


def test_patients_with_several_stays():
    records = patients(50_000, seed=3, patient_id=True)
    found = ask(
        records,
        "select count(*), count(distinct sex), count(distinct region), max(age) - min(age), count(distinct disease) "
        "from records group by patient_id",
    )
    stays, sexes, regions, years, distinct = np.array(found).T
    assert stays.sum() == 50_000
    assert 0.3 < (stays > 1).mean() < 0.6
    assert stays.max() > 5
    assert (sexes == 1).all()
    assert (regions == 1).all()
    assert set(years) == {0, 1}
    # By chance alone two stays would share one of 800 diseases in about one case in fifty.
    assert (distinct[stays == 2] == 1).mean() > 0.3


def test_rows_of_one_patient_do_not_stand_together():
    numbers = patients(5_000, seed=3, patient_id=True)["patient_id"].to_numpy()
    assert (numbers[1:] == numbers[:-1]).mean() < 0.01


def test_drawing_follows_the_shares_and_never_takes_what_cannot_be():
    shares = np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.2, 0.3, 0.5]])
    row = np.repeat([0, 1, 2], 20_000)
    drawn = draw(np.random.default_rng(1), shares, row)
    for index, expected in enumerate(shares):
        observed = np.bincount(drawn[row == index], minlength=3) / 20_000
        assert (observed[expected == 0] == 0).all()
        # Four standard errors of a share of a half over 20,000 draws.
        np.testing.assert_allclose(observed, expected, atol=4 * np.sqrt(0.25 / 20_000))
