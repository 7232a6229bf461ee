"""Releases of every kind, with their pages."""

import pytest

import medveil
from medveil.datasets import patients

ATTRIBUTES = {
    "patient_id": {"role": "subject"},
    "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [10, 50]}},
    "sex": {"role": "quasi", "domain": ["F", "M"]},
    "length_of_stay": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [1, 400], "cuts": [[8, 31]]}},
    "surgery": {"role": "plain", "insist": 0.2},  # h-ceiling draws its groups: now and then it tells 5 % of people
    "disease": {"role": "sensitive"},
}
PRIVATE = {"model": "differential-privacy", "epsilon": 4.0, "delta": 1e-3}
POLICIES = {
    "optimal": {"privacy": [{"model": "k-anonymity", "k": 4}, {"model": "t-closeness", "t": 0.9}]},
    "mondrian": {"privacy": [{"model": "k-anonymity", "k": 4}], "seed": 3},
    "h-ceiling": {"privacy": [{"model": "k-anonymity", "k": 4}]},
    "fixed-interval": {"privacy": [{"model": "k-anonymity", "k": 4}]},
    "iab": {"privacy": [{"model": "k-anonymity", "k": 4}]},
    "diversity-aware": {"privacy": [{"model": "k-anonymity", "k": 4}]},
    "ipa": {"privacy": [PRIVATE]},
}
PARAMETERS = {"h-ceiling": {"max_counterfeits": 0.5}, "diversity-aware": {"sensitive_value": "J00"}}


def policy_of(name):
    attributes = {key: value for key, value in ATTRIBUTES.items() if name != "ipa" or key != "surgery"}
    return {"attributes": attributes, "method": {"name": name, **PARAMETERS.get(name, {})}, **POLICIES[name]}


@pytest.fixture(scope="session")
def releases(tmp_path_factory):
    """One release directory for each method."""
    folder = tmp_path_factory.mktemp("releases")
    table = patients(1500, seed=5, patient_id=True)
    for name in POLICIES:
        medveil.anonymize(table, policy_of(name), out=folder / name)
    return folder
