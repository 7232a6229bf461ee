"""How the release directories beside this file were made, by medveil 0.1.0; of `internal/` only
what the auditor reads is kept.

python make.py FOLDER
"""

import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

import medveil

RECORDS, PEOPLE = 60, 45
KEPT = {"links.parquet", "intervals.parquet"}
AGE = {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [20, 79], "widths": [10, 30]}}
SEX = {"role": "quasi", "hierarchy": {"type": "flat", "domain": ["f", "m"]}}
WEIGHT = {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 200], "widths": [20, 100]}}
ILLNESSES = ["asthma", "flu", "gout", "migraine"]
ILLNESS = {"role": "sensitive"}
COLUMNS = {"age": AGE, "sex": SEX, "illness": ILLNESS, "ward": {"role": "plain"}}
TWO_ILLNESSES = {"model": "l-diversity", "l": 2, "attribute": "illness"}
POLICIES = {
    "optimal": {
        "attributes": COLUMNS,
        "privacy": [
            {"model": "k-anonymity", "k": 3},
            TWO_ILLNESSES,
            {"model": "t-closeness", "t": 0.9, "attribute": "illness", "distance": "equal"},
        ],
        "method": "optimal",
    },
    "stars": {
        "attributes": COLUMNS,
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "method": {"name": "optimal", "suppression": 0.2},
        "output": {"format": "parquet", "suppressed": "stars"},
    },
    "people": {
        "attributes": {"patient": {"role": "subject"}, **COLUMNS},
        "privacy": [{"model": "k-anonymity", "k": 3}, TWO_ILLNESSES],
        "method": "mondrian",
    },
    "counterfeits": {
        "attributes": {"age": AGE, "sex": SEX, "illness": ILLNESS},
        "privacy": [{"model": "k-anonymity", "k": 5}, TWO_ILLNESSES],
        "method": {"name": "h-ceiling", "h": 0.1, "max_counterfeits": 1.0},
    },
    "code-book": {
        "attributes": {"age": AGE, "sex": SEX, "weight": WEIGHT, "illness": ILLNESS},
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": "fixed-interval",
    },
    "private": {
        "attributes": {
            "age": AGE,
            "sex": SEX,
            "illness": {"role": "sensitive", "hierarchy": {"type": "flat", "domain": ILLNESSES}},
        },
        "privacy": [{"model": "differential-privacy", "epsilon": 8}],
        "method": "dp-histogram",
    },
    "one-column": {
        "attributes": {"ward": {"role": "quasi", "hierarchy": {"type": "flat"}}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": "optimal",
    },
}


def patients() -> pa.Table:
    """Sixty records of some forty people; wards are missing here and there."""
    chance = np.random.default_rng(1)
    people = np.sort(chance.integers(0, PEOPLE, RECORDS))
    table = pa.table(
        {
            "patient": [f"P{number:03}" for number in people],
            "age": chance.integers(20, 80, PEOPLE)[people],
            "sex": chance.choice(["f", "m"], PEOPLE)[people],
            "weight": np.round(chance.normal(70, 9, RECORDS), 1),
            "ward": [None if chance.random() < 0.1 else ward for ward in chance.choice(["east", "west"], RECORDS)],
            "illness": chance.choice(ILLNESSES, RECORDS),
        }
    )
    return table.take(chance.permutation(RECORDS))


def make(out: Path) -> None:
    out.mkdir(parents=True)
    pa.csv.write_csv(patients(), out / "patients.csv", pa.csv.WriteOptions(quoting_style="needed"))
    for name, policy in POLICIES.items():
        wards = pa.table({"ward": ["east"] * 10 + [None] * 5})
        data = wards if name == "one-column" else str(out / "patients.csv")
        quiet = {**policy, "output": {"report": False, **policy.get("output", {})}}
        medveil.anonymize(data, quiet, out=out / name)
        for path in (out / name / "internal").iterdir():
            if path.name not in KEPT:
                path.unlink()
        if not any((out / name / "internal").iterdir()):
            shutil.rmtree(out / name / "internal")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
