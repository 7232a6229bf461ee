"""Generated patients: records like a national patients sample, seeded, of any size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.datasets.calibration import RECORDS, REGIONS, STROKE_DAYS, STROKES, people_by_age
from medveil.datasets.diseases import AGES, SEXES, STROKE, Diseases, diseases
from medveil.errors import InputError

Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]

LONGEST_STAY = 400
REPEAT = 0.35
"""The share of a patient's later stays that are for the same disease as the first."""
MORE_STAYS = 0.45
"""After each stay, the probability that the patient comes again within the year."""


@dataclass(frozen=True)
class Model:
    """The probabilities that patients are drawn from. A person is a sex and an age: `sex * 100 + age`."""

    diseases: Diseases
    person: Numbers
    """[sex, age], sums to 1."""
    region: Numbers
    """[age, region], each row sums to 1."""
    disease: Numbers
    """[sex, age, disease], each last row sums to 1."""
    stroke_days: Numbers
    """[sex, age]: the mean length of a stay for stroke without surgery."""


@cache
def model() -> Model:
    """The model: the share of stroke without surgery in each group of people is the published one, exactly.

    P(stroke | sex, age) = published(sex, age group) / (records * P(sex, age group) * P(no surgery | stroke))

    and the other diseases share the rest. Beyond the published ages the last group's rate goes on.
    """
    table = diseases()
    people = np.stack([people_by_age(sex) for sex in SEXES])
    person = people / people.sum()
    stroke = table.codes.index(STROKE)
    groups = np.add.reduceat(person, np.arange(0, AGES, 5), axis=1)
    published = np.array([STROKES[sex] for sex in SEXES], dtype=np.float64)
    rate = published / (RECORDS * groups[:, : published.shape[1]] * (1 - table.surgery[stroke]))
    rate = np.pad(rate, ((0, 0), (0, groups.shape[1] - rate.shape[1])), mode="edge").repeat(5, axis=1)
    others = table.weight / table.weight.sum(axis=-1, keepdims=True)
    disease = others * (1 - rate)[..., None]
    disease[..., stroke] = rate
    days = np.array([STROKE_DAYS[sex] for sex in SEXES], dtype=np.float64)
    days = np.pad(days, ((0, 0), (0, 1)), mode="edge").repeat(10, axis=1)
    lean = (np.arange(AGES)[:, None] - 40) / 40 * np.array([lean for _, _, lean in REGIONS])
    region = np.array([people for _, people, _ in REGIONS]) * np.exp(lean)
    return Model(table, person, region / region.sum(axis=1, keepdims=True), disease, days)


def draw(random: np.random.Generator, shares: Numbers, row: Codes) -> Codes:
    """For each entry of `row`, an index drawn from that row of shares (the inverse of the cumulative distribution).

    Row r's cumulative shares are laid end to end as r + cumulative, so one sorted search serves all rows.
    """
    cumulative = np.cumsum(shares, axis=1)
    cumulative /= cumulative[:, -1:]
    width = shares.shape[1]
    ladder = (cumulative + np.arange(len(shares))[:, None]).ravel()
    # A draw just below 1 may round up to the next row's first rung: the last index is the most that a row has.
    return np.minimum(np.searchsorted(ladder, random.random(len(row)) + row, side="right") - row * width, width - 1)


def patients(n: int, seed: int | None, *, patient_id: bool = False) -> pa.Table:
    """`n` hospital records: age 0-99, sex F/M, length_of_stay 1-400 days, region, surgery yes/no and disease.

    The same seed gives the same table; None draws from the operating system. With `patient_id`, patients have
    several stays within a year each: sex and region stay, the age may rise by one, a disease often comes back.
    Without it every record is another patient. On 1,361,000 records the numbers of patients with stroke and without
    surgery, and their mean stay, are near those of `medveil.datasets.calibration` (Lee, Chung 2020).

    >>> patients(1000, seed=1).column_names
    ['age', 'sex', 'length_of_stay', 'region', 'surgery', 'disease']
    """
    if n < 0:
        raise InputError(f"There cannot be {n} records.", "Ask for 0 or more.")
    random = np.random.default_rng(seed)
    known = model()
    owner = _owners(random, n) if patient_id else np.arange(n)
    people = int(owner.max()) + 1 if n else 0
    person = draw(random, known.person.reshape(1, -1), np.zeros(people, dtype=np.int64))
    region = draw(random, known.region, person % AGES)
    disease = draw(random, known.disease.reshape(-1, known.disease.shape[-1]), person[owner])
    age = person[owner] % AGES
    if patient_id:
        first = np.zeros(people, dtype=np.int64)
        first[owner[::-1]] = np.arange(n)[::-1]
        again = random.random(n) < REPEAT
        disease = np.where(again, disease[first[owner]], disease)
        # The day of the stay against the birthday: somebody at the top of the domain had it before the year began.
        age = np.minimum(age + (random.random(n) > random.random(people)[owner]), AGES - 1)
    sex = person[owner] // AGES
    surgery = random.random(n) < known.diseases.surgery[disease]
    columns = {
        "age": pa.array(age.astype(np.int16)),
        "sex": _text(sex, SEXES),
        "length_of_stay": pa.array(_stays(random, known, person[owner], disease, surgery).astype(np.int16)),
        "region": _text(region[owner], [name for name, _, _ in REGIONS]),
        "surgery": _text(surgery, ("no", "yes")),
        "disease": _text(disease, known.diseases.codes),
    }
    if patient_id:
        number = random.permutation(people) + 1
        columns = {"patient_id": pa.array(number[owner].astype(np.int32))} | columns
    return pa.table(columns)


def _owners(random: np.random.Generator, n: int) -> Codes:
    """For each record the patient it belongs to, 0, 1, ..., in mixed order: stays per patient are geometric."""
    stays = random.geometric(1 - MORE_STAYS, size=n)
    return random.permutation(np.repeat(np.arange(n), stays)[:n])


def _stays(
    random: np.random.Generator, known: Model, person: Codes, disease: Codes, surgery: NDArray[np.bool_]
) -> Codes:
    """Lengths of stay: geometric from 1 day, the mean by disease and age, longer with surgery, at most 400."""
    age = person % AGES
    mean = 1 + (known.diseases.days[disease] - 1) * (0.7 + 0.6 * age / AGES)
    stroke = disease == known.diseases.codes.index(STROKE)
    mean[stroke] = known.stroke_days.ravel()[person[stroke]]
    mean = np.where(surgery, 2.5 + 1.3 * mean, mean)
    return np.minimum(random.geometric(1 / mean), LONGEST_STAY)


def _text(codes: NDArray[np.generic], values: tuple[str, ...] | list[str]) -> pa.DictionaryArray:
    """A dictionary-encoded text column."""
    width = np.int8 if len(values) < 128 else np.int16
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(width)), pa.array(values))
