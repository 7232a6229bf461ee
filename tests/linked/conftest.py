"""A small cohort on disk, and the policy of its linked release."""

import copy

import pytest

from medveil.datasets import cohort

PATIENTS = {
    "data": "patients.csv",
    "attributes": {
        "Id": {"role": "key"},
        "BIRTHDATE": {
            "role": "quasi",
            "derive": {"age_at": "2021-01-01", "name": "age"},
            "hierarchy": {"type": "intervals", "widths": [10, 20, 40], "domain": [0, 119]},
        },
        "GENDER": {"role": "quasi"},
        "REGION": {"role": "quasi"},
    },
}
ENCOUNTERS = {
    "data": "encounters.csv",
    "key": {"PATIENT": "patients.Id"},
    "attributes": {
        "Id": {"role": "key"},
        "START": {"role": "date", "shift": {"days": 183}},
        "STOP": {"role": "plain", "derive": {"days_after": "START", "name": "stay"}},
        "CLASS": {"role": "plain"},
    },
}
CONDITIONS = {
    "data": "conditions.csv",
    "key": {"PATIENT": "patients.Id", "ENCOUNTER": "encounters.Id"},
    "attributes": {
        "START": {"role": "date", "shift": {"days": 183}},
        "CODE": {
            "role": "sensitive",
            "type": "code",
            "set": True,
            "hierarchy": {"type": "mask", "length": 3, "alphabet": "alphanumeric"},
        },
    },
}
POLICY = {
    "tables": {"patients": PATIENTS, "encounters": ENCOUNTERS, "conditions": CONDITIONS},
    "privacy": [
        {"model": "k-anonymity", "k": 4},
        {"model": "km-anonymity", "k": 3, "m": 2, "attribute": "conditions.CODE"},
    ],
    "method": {"name": "optimal", "suppression": 0.1},
    "output": {"report": False},
}


@pytest.fixture(scope="session")
def people():
    return cohort(250, seed=11, visits=4, diagnoses=1.5)


@pytest.fixture(scope="session")
def folder(people, tmp_path_factory):
    return people.write(tmp_path_factory.mktemp("cohort"))


@pytest.fixture
def policy(folder):
    """The policy, with paths to the files of the cohort; a copy that a test may change."""
    found = copy.deepcopy(POLICY)
    for table in found["tables"].values():
        table["data"] = str(folder / table["data"])
    return found
