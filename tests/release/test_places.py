"""Files that a policy names by a place of this machine: recipients do not learn it, the steward's audit finds them."""

import json

import pyarrow.csv
import pytest

import medveil
from medveil import audit
from medveil.datasets import patients


@pytest.fixture
def made(tmp_path):
    table = patients(400, seed=5)
    diseases = sorted(set(table["disease"].to_pylist()))
    (tmp_path / "steward").mkdir()
    tree, codes = tmp_path / "steward" / "tree.csv", tmp_path / "steward" / "codes.csv"
    tree.write_text("".join(f"{disease};{disease[0]};*\n" for disease in diseases))
    codes.write_text("".join(f"{region};*\n" for region in sorted(set(table["region"].to_pylist()))))
    pyarrow.csv.write_csv(table, tmp_path / "patients.csv")
    pyarrow.csv.write_csv(table, tmp_path / "steward" / "everybody.csv")
    policy = {
        "data": str(tmp_path / "patients.csv"),
        "attributes": {
            "sex": {"role": "quasi"},
            "region": {"role": "quasi", "domain": {"path": str(codes)}},
            "disease": {"role": "sensitive", "hierarchy": {"type": "file", "path": str(tree)}},
        },
        "privacy": [
            {"model": "t-closeness", "t": 0.9, "distance": "hierarchical"},
            {
                "model": "delta-presence",
                "delta_min": 0.0,
                "delta_max": 1.0,
                "population": str(tmp_path / "steward" / "everybody.csv"),
            },
        ],
        "output": {"report": False},
    }
    medveil.anonymize(policy, out=tmp_path / "out")
    return tmp_path


def test_recipients_are_told_names_and_not_places(made):
    text = (made / "out" / "manifest.json").read_text()
    assert str(made) not in text
    told = {a["name"]: a for a in json.loads(text)["attributes"]}
    assert told["disease"]["hierarchy"]["path"] == "tree.csv"
    assert told["region"]["hierarchy"]["domain"] == {"path": "codes.csv"}
    assert len(told["region"]["hierarchy_sha256"]) == 64


def test_the_steward_proves_every_claim_again(made):
    report = audit(made / "out", made / "patients.csv")
    assert report.ok
    assert [found.finding.holds for found in report.findings] == [True, True]


def test_who_lacks_the_files_is_told_which(made):
    (made / "steward").rename(made / "moved")
    report = audit(made / "out", made / "patients.csv")
    assert not report.refuted
    assert not report.ok
    assert [found.finding.note for found in report.findings] == [
        "needs the hierarchy file of 'disease', 'tree.csv', where the policy named it or beside the source",
        "needs the population file that the claim names",
    ]


def test_another_file_under_the_same_name_refutes_nothing(made):
    tree = made / "steward" / "tree.csv"
    tree.write_text("".join(f"{line.split(';')[0]};all;*\n" for line in tree.read_text().splitlines()))
    close, _ = audit(made / "out", made / "patients.csv").findings
    assert close.finding.holds is None
    assert "not the one that the release was made with" in close.finding.note
