"""What tests of fixed intervals share: a policy, patients, and how the files of a release are read."""

import csv
import json

from medveil.datasets import patients
from medveil.table.labels import parse_label

ATTRIBUTES = {
    "age": {"role": "quasi"},
    "sex": {"role": "quasi"},
    "length_of_stay": {"role": "quasi"},
    "region": {"role": "quasi"},
    "disease": {"role": "sensitive"},
    "surgery": {"role": "plain", "insist": True},
}
POLICY = {
    "attributes": ATTRIBUTES,
    "privacy": [{"model": "k-anonymity", "k": 5}],
    "method": {"name": "fixed-interval"},
    "seed": 3,
}


def some_patients():
    return patients(1500, seed=5, patient_id=True).to_pandas().astype(str)


def read_book(folder):
    with (folder / "codebook.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def internal(folder):
    return json.loads((folder / "internal" / "fixed_interval.json").read_text())


def members(label):
    return set() if label is None else set(parse_label(label).values)
