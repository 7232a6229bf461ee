"""The attacks on real records: Diabetes-130, where a fifth of the patients have several stays."""

from collections import Counter, defaultdict

import pyarrow.parquet
import pytest

import medveil
from medveil.datasets import load
from medveil.release.catalog import catalog_of
from medveil.release.truthful import derive
from medveil.reproduce.h_ceiling_data import DIABETES

K = {"model": "k-anonymity", "k": 5}
L = {"model": "l-diversity", "l": 3, "attribute": "diag_1"}


@pytest.fixture(scope="module")
def diabetes(data_folder):
    return load("diabetes130", data_folder)


def made(diabetes, protection, privacy):
    policy = {
        "attributes": DIABETES,
        "privacy": privacy,
        "method": {"name": "h-ceiling", "protection": protection, "h": 0.3},
        "seed": 1,
        "output": {"report": False},
        "evaluation": {"attacks": False},
    }
    return medveil.anonymize(diabetes, policy)


@pytest.fixture(scope="module")
def people(diabetes):
    return made(diabetes, "people", [K, L])


@pytest.fixture(scope="module")
def published(diabetes):
    return made(diabetes, "published", [K, L])


def certain(release):
    """Classes that the catalog lists in which one record alone has a value that it does not list there: whoever is
    really in the class has it for certain.
    """
    listed = defaultdict(set)
    for entry in catalog_of(release.folder, release.manifest):
        for number in entry.class_ids:
            listed[number].add(entry.values[0])
    values = defaultdict(Counter)
    for number, value in zip(*(release.to_arrow()[name].to_pylist() for name in ("class_id", "diag_1")), strict=True):
        values[int(number)][value] += 1
    return sum(any(value not in listed[number] for value in values[number]) for number in listed)


def classes_of_people(release, diabetes):
    links = pyarrow.parquet.read_table(release.folder / "internal" / "links.parquet")
    found = defaultdict(set)
    for kept, number, person in zip(
        links.column(0).to_pylist(), links["class_id"].to_pylist(), diabetes["patient_nbr"].to_pylist(), strict=True
    ):
        if kept:
            found[person].add(number)
    return found


def claim(release):
    return next(c for c in release.manifest.claims if c["model"] == "counterfeit-catalog")["achieved"]


def test_values_that_the_catalog_does_not_list_tell_people_of_the_published_fill_alone(people, published):
    assert certain(published) > 100
    assert certain(people) == 0


def test_nobody_is_in_two_classes(people, published, diabetes):
    assert max(map(len, classes_of_people(people, diabetes).values())) == 1
    assert sum(len(found) > 1 for found in classes_of_people(published, diabetes).values()) > 1000


def test_the_truthful_table_has_no_line_of_fewer_than_k_people(people, published):
    assert min(Counter(derive(people.folder).table["class_id"].to_pylist()).values()) >= 5
    alone = Counter(derive(published.folder).table["class_id"].to_pylist())
    assert sum(count == 1 for count in alone.values()) > 100


def test_the_attacker_who_learns_is_told_beside_the_claim(people):
    found = claim(people)
    assert found["k"] >= 5
    assert found["learner_sure"] < 0.05 * found["counterfeits"]
    told = Counter()
    for entry in catalog_of(people.folder, people.manifest):
        told[entry.class_ids] = sum(entry.people)
    assert min(told.values()) >= 5
