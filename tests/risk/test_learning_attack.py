"""The attacker who learns from a release of h-ceiling, tried on the people of its groups."""

import pyarrow.csv as pacsv
import pytest

from medveil.app.anonymize import anonymize
from medveil.app.measure import measure
from medveil.datasets import patients
from medveil.risk.risk import EXACT


@pytest.fixture(scope="module")
def grouped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grouped")
    pacsv.write_csv(patients(400, 7).select(["age", "sex", "disease"]), folder / "patients.csv")
    policy = {
        "attributes": {
            "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [10, 50]}},
            "sex": {"role": "quasi"},
            "disease": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "method": {"name": "h-ceiling", "max_counterfeits": 0.5, "price": 0},
        "seed": 4,
        "output": {"report": False},
    }
    return folder / "patients.csv", anonymize(folder / "patients.csv", policy, out=folder / "out")


def test_it_is_tried_on_everybody_in_groups(grouped):
    original, release = grouped
    found = measure(release.folder, original).risks["learning-attack"]
    assert found.interval == EXACT
    assert found.low <= found.value <= found.high
    assert found.trials == found.parts["people"] > 0
    assert 0 < found.guesser < 1


def test_the_catalog_is_not_attacked_where_it_tells_everything(grouped):
    found = measure(grouped[1].folder).risks
    assert "how likely each record is real" in found["catalog-attack"].reason
