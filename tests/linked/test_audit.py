"""The audit of a linked release refutes what was forged, whatever it was."""

from __future__ import annotations

import csv
import json
import shutil

import pytest
from tests.linked.conftest import POLICY

import medveil
from medveil.policy import load_policy
from medveil.release.manifest import file_hash


@pytest.fixture(scope="module")
def honest(folder, tmp_path_factory):
    policy = {**POLICY, "tables": {n: {**t, "data": str(folder / t["data"])} for n, t in POLICY["tables"].items()}}
    out = tmp_path_factory.mktemp("honest") / "out"
    medveil.anonymize(policy, out=out)
    return out, load_policy(policy)[0]


@pytest.fixture
def copied(honest, tmp_path):
    shutil.copytree(honest[0], tmp_path / "out")
    return tmp_path / "out"


def read(folder, name):
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write(folder, name, rows, manifest=None):
    """Rows in the order that an honest release has, with a manifest that lists the file and its rows."""
    rows = sorted(rows, key=lambda row: [(value == "", value) for value in row.values()])
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    told = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    told["files"][f"{name}.csv"] = file_hash(folder / f"{name}.csv")
    told["tables"][name]["rows"]["published"] = len(rows)
    told["uncovered"] = []
    (manifest or (lambda _told: None))(told)
    (folder / "manifest.json").write_text(json.dumps(told), encoding="utf-8")


def faults(report):
    return [*report.problems, *(found.finding.note for found in report.findings if not found.proved)]


def test_an_honest_release_is_proved_with_and_without_its_source(honest):
    folder, policy = honest
    report = medveil.audit(folder, policy)
    assert (report.ok, report.unchecked) == (True, ())
    assert report.uncovered
    alone = medveil.audit(folder)
    assert alone.ok
    assert any("needs --source POLICY" in words for words in alone.unchecked)


def test_without_its_key_the_source_cannot_be_compared(copied, honest):
    (copied / "internal/release.key").unlink()
    report = medveil.audit(copied, honest[1])
    assert report.ok
    assert any("needs the key" in words for words in report.unchecked)


def test_a_source_that_is_one_table_is_refused(copied, folder):
    with pytest.raises(medveil.InputError, match="audited with its policy"):
        medveil.audit(copied, folder / "patients.csv")


def test_a_record_that_is_left_out_is_missed(copied, honest):
    rows = read(copied, "conditions")
    write(copied, "conditions", rows[1:])
    assert any("1 people have other numbers of records" in fault for fault in faults(medveil.audit(copied, honest[1])))


def test_a_record_that_is_made_up_is_found(copied, honest):
    rows = read(copied, "conditions")
    write(copied, "conditions", [*rows, {**rows[0], "START": "2018-01-01"}])
    told = faults(medveil.audit(copied, honest[1]))
    assert any("match no record of the source" in fault for fault in told)


def test_a_date_that_moved_by_another_offset_is_found(copied, honest):
    rows = read(copied, "encounters")
    rows[0]["START"] = "2017-07-07"
    write(copied, "encounters", rows)
    assert any("'encounters'" in fault for fault in faults(medveil.audit(copied, honest[1])))


def test_a_foreign_key_that_points_to_nothing_is_found_without_the_source(copied):
    rows = read(copied, "conditions")
    rows[0]["ENCOUNTER"] = "0" * 32
    write(copied, "conditions", rows)
    assert any("points to nothing in 1 records" in fault for fault in faults(medveil.audit(copied)))


def test_a_visit_of_somebody_else_is_found_without_the_source(copied):
    rows = read(copied, "conditions")
    other = next(row for row in rows if row["PATIENT"] != rows[0]["PATIENT"])
    rows[0]["ENCOUNTER"] = other["ENCOUNTER"]
    write(copied, "conditions", rows)
    assert any("points to another person's record" in fault for fault in faults(medveil.audit(copied)))


def test_keys_of_the_source_are_no_pseudonyms(copied, people):
    rows = read(copied, "patients")
    original = people.patients["Id"][0].as_py()
    write(copied, "patients", [{**rows[0], "Id": original}, *rows[1:]])
    told = faults(medveil.audit(copied))
    assert any("1 keys that are no pseudonyms" in fault for fault in told)
    assert not any(original in fault for fault in told)


def test_a_person_twice_is_found(copied):
    rows = read(copied, "patients")
    write(copied, "patients", [rows[0], *rows])
    assert any("does not name one record each" in fault for fault in faults(medveil.audit(copied)))


def test_a_class_of_one_is_counted(copied):
    rows = read(copied, "patients")
    write(copied, "patients", [{**rows[0], "REGION": "nowhere"}, *rows[1:]])
    report = medveil.audit(copied)
    assert report.findings[0].finding.achieved == {"k": 1}
    assert report.refuted


def test_a_pair_of_codes_that_one_person_has_is_counted(copied):
    rows = read(copied, "conditions")
    first = rows[0]["PATIENT"]
    changed = [{**row, "CODE": "Q99"} if row["PATIENT"] == first else row for row in rows]
    write(copied, "conditions", changed)
    report = medveil.audit(copied)
    assert report.findings[1].finding.achieved == {"k": 1, "m": 2}


def test_a_code_under_a_label_that_is_no_group_of_it_is_found(copied, honest):
    """The steward's own mapping is believed only as far as the hierarchy of the manifest has it."""
    mapping = json.loads((copied / "internal/recoding.json").read_text())
    labels = mapping["conditions.CODE"]["labels"]
    value = next(value for value, label in labels.items() if label == value)
    labels[value] = "Z**"
    (copied / "internal/recoding.json").write_text(json.dumps(mapping))
    told = faults(medveil.audit(copied, honest[1]))
    assert any("published as no group of theirs" in fault or "match no record of the source" in fault for fault in told)


def test_figures_that_make_the_rest_look_small_are_found(copied):
    path = copied / "manifest.json"
    told = json.loads(path.read_text())
    told["uncovered"] = [{**left, "singled_out": 0.0} for left in told["uncovered"]]
    path.write_text(json.dumps(told))
    assert any("other shares of people" in fault for fault in faults(medveil.audit(copied)))


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["tables"]["conditions"].pop("foreign"),
        lambda told: told["tables"]["conditions"].update(foreign={"PATIENT": "nowhere.Id"}),
        lambda told: told["tables"]["conditions"].update(key=7),
        lambda told: told["tables"].update(conditions=[]),
        lambda told: told["tables"]["conditions"]["attributes"][0].update(change="x"),
        lambda told: told["tables"]["conditions"].update(file="../conditions.csv"),
        lambda told: told.update(uncovered="x"),
    ],
)
def test_a_manifest_that_medveil_did_not_write_is_refused_or_refuted(copied, change):
    path = copied / "manifest.json"
    told = json.loads(path.read_text())
    change(told)
    path.write_text(json.dumps(told))
    try:
        assert medveil.audit(copied).refuted
    except medveil.InputError as error:
        assert "not one that medveil wrote" in str(error)  # noqa: PT017 - either answer is right


def test_called_anonymous_it_is_refuted(copied):
    path = copied / "manifest.json"
    path.write_text(path.read_text().replace("pseudonymous, not anonymous", "for publication"))
    assert any("does not call it pseudonymous" in fault for fault in faults(medveil.audit(copied)))
