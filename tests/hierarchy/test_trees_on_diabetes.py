"""What a code tree saves: Diabetes-130 with the tree of ICD-9-CM, and with codes that have no groups."""

import json
from pathlib import Path

import pytest

import medveil

DATA = Path(__file__).parents[3] / "shared/data/diabetes130/diabetic_data.csv.gz"
pytestmark = pytest.mark.skipif(not DATA.is_file(), reason="the public data are not on this machine")


def measured(folder, diagnosis):
    policy = {
        "data": {"type": "csv", "path": str(DATA), "missing": ["?"]},
        "attributes": {
            "patient_nbr": {"role": "subject"},
            **{name: {"role": "quasi"} for name in ("race", "gender", "age")},
            "diag_1": {"role": "quasi", "type": "code", **diagnosis},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "optimal", "suppression": 0.02},
        "output": {"report": False},
    }
    release = medveil.anonymize(policy, out=folder)
    measures = json.loads((folder / "internal" / "measures.json").read_text(encoding="utf-8"))
    shown = {row["diag_1"] for row in release.to_arrow().select(["diag_1"]).to_pylist()}
    return measures["lm"]["value"], measures["non-uniform-entropy"]["value"], shown


def test_diagnoses_are_kept_as_chapters_where_codes_alone_would_all_be_hidden(tmp_path):
    tree = measured(tmp_path / "tree", {"hierarchy": {"type": "icd-9-cm", "other": "other codes"}})
    flat = measured(tmp_path / "flat", {})
    assert flat[2] == {"*"}
    assert {"390-459", "240-279"} <= tree[2]
    # As docs/codes.md has them.
    assert (round(tree[0], 3), round(flat[0], 3)) == (0.022, 0.25)
    assert (round(tree[1], 3), round(flat[1], 3)) == (0.147, 0.251)
