"""The catalog of counterfeits of the published method, attacked."""

import pyarrow.csv as pacsv
import pytest

from medveil.app.anonymize import anonymize
from medveil.app.measure import measure
from medveil.datasets import patients
from medveil.risk.risk import EXACT

POLICY = {
    "attributes": {
        "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [10, 50]}},
        "sex": {"role": "quasi"},
        "disease": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 4}],
    "method": {"name": "h-ceiling", "max_counterfeits": 0.3, "price": 0, "protection": "published"},
    "seed": 4,
}


@pytest.fixture(scope="module")
def padded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("padded")
    table = patients(300, 7).select(["age", "sex", "disease"])
    pacsv.write_csv(table, folder / "patients.csv")
    policy = {**POLICY, "attributes": dict(POLICY["attributes"]), "output": {"report": False}}
    return folder / "patients.csv", anonymize(folder / "patients.csv", policy, out=folder / "out")


def test_it_is_tried_on_every_block_with_an_exact_interval(padded):
    original, release = padded
    found = measure(release.folder, original).risks["catalog-attack"]
    assert found.interval == EXACT
    assert found.low <= found.value <= found.high
    assert found.trials > 0
    assert found.value * found.trials == pytest.approx(round(found.value * found.trials))
    assert found.guesser == pytest.approx(release.manifest.rows["counterfeit"] / release.manifest.rows["published"])
    assert found.low <= found.parts["posterior"]


def test_without_the_original_it_is_weighed(padded):
    found = measure(padded[1].folder).risks["catalog-attack"]
    assert found.value == found.parts["posterior"]
    assert found.low is None
    assert "not tried" in found.note
