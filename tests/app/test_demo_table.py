"""What people judge us by: the figures of the demo's table, on its own patients and policies."""

import json

import pyarrow.csv
import pytest

import medveil
from medveil.app.demo import DISEASES, TOUR
from medveil.datasets import patients
from medveil.datasets.diseases import diseases


@pytest.fixture(scope="module")
def losses(tmp_path_factory):
    """LM of the methods that are compared on equal terms, nobody left out by choice, and of ipa."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "policies").mkdir()
    pyarrow.csv.write_csv(patients(20_000, seed=1, patient_id=True), folder / "patients.csv")
    (folder / "policies" / DISEASES).write_text("\n".join(diseases().codes) + "\n", encoding="utf-8")
    found = {}
    for shown in TOUR:
        if shown.folder in {"optimal-suppression-0", "h-ceiling", "ipa"}:
            path = folder / "policies" / f"{shown.folder}.yaml"
            text = shown.policy.replace("evaluation: {attacks: true}", "evaluation: {attacks: false}")
            path.write_text(f"{text}output: {{report: false}}\n", encoding="utf-8")
            release = medveil.anonymize(path, out=folder / shown.folder)
            told = json.loads((release.folder / "internal" / "measures.json").read_text())
            found[shown.method] = told["lm"]["value"]
    return found


def test_h_ceiling_and_ipa_keep_the_detail_that_the_tour_promises(losses):
    assert losses["h-ceiling"] <= 0.1
    assert losses["ipa"] <= 0.75


def test_on_equal_terms_h_ceiling_loses_less_than_full_domain_k_anonymity(losses):
    """The same columns, models and people; neither may choose whom to leave out."""
    assert losses["h-ceiling"] < losses["optimal"]
