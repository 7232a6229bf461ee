"""What an adversary tried once: each of these published or proved something false, or told a value."""

import json
import shutil

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import medveil
from medveil.auditor import audit
from medveil.engine import Limits
from medveil.errors import InputError, MedveilError, PolicyError
from medveil.release.manifest import file_hash
from medveil.table.domain import read_number

POLICY = {
    "attributes": {"a": {"role": "quasi"}, "s": {"role": "sensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
}


def test_columns_of_a_parquet_file_that_differ_in_case_are_told_apart(tmp_path):
    path = tmp_path / "c.parquet"
    pa.parquet.write_table(pa.table({"ID": ["n1", "n2", "n3", "n4"], "id": list("xxyy"), "s": list("pppp")}), path)
    policy = {
        "attributes": {"ID": {"role": "identifier"}, "id": {"role": "plain", "insist": True}, "s": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    assert sorted(medveil.anonymize(path, policy).to_pandas()["id"]) == ["x", "x", "y", "y"]


def test_a_path_names_one_file(tmp_path):
    (tmp_path / "p[1].csv").write_text("a,s\nx,1\nx,2\n")
    (tmp_path / "p1.csv").write_text("a,s\ny,1\ny,2\n")
    (tmp_path / "q*.csv").write_text("a,s\nx,1\nx,2\n")
    (tmp_path / "q2.csv").write_text("a,s\ny,1\ny,2\n")
    for name in ("p[1].csv", "q*.csv"):
        assert set(medveil.anonymize(tmp_path / name, POLICY).to_pandas()["a"]) == {"x"}


@pytest.fixture
def release(tmp_path):
    frame = pd.DataFrame({"a": ["x", "x", "y", "y"], "s": ["1", "2", "1", "2"]})
    return medveil.anonymize(frame, POLICY, out=tmp_path / "good").folder


def tampered(release, tmp_path, name="bad", *, rows=None, **changes):
    folder = tmp_path / name
    shutil.copytree(release, folder)
    if rows is not None:
        (folder / "release.csv").write_text("a,s\n" + "".join(f"{row}\n" for row in rows))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= changes
    if rows is not None:
        manifest["rows"] |= {"published": len(rows), "input": len(rows), "suppressed": 0}
        manifest["files"]["release.csv"] = file_hash(folder / "release.csv")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


UNIQUE = ["w,1", "x,2", "y,1", "z,2"]


def test_the_auditor_reads_the_folder_it_was_given(release, tmp_path):
    shutil.copytree(release, tmp_path / "g1")
    bad = tampered(release, tmp_path, "g[1]", rows=UNIQUE)
    assert audit(bad).refuted


@pytest.mark.parametrize(
    "claim",
    [
        {"on": []},
        {"model": "foo-anonymity", "basis": "by proof"},
        {"basis": "by proof"},
        {"required": {"k": "2"}, "parameters": {"k": "2"}},
        {"model": "foo-anonymity"},
    ],
)
def test_a_claim_cannot_be_worded_so_that_it_passes(release, tmp_path, claim):
    (good,) = json.loads((release / "manifest.json").read_text())["claims"]
    report = audit(tampered(release, tmp_path, rows=UNIQUE, claims=[{**good, "achieved": None, **claim}]))
    assert not report.ok
    assert report.refuted or report.not_ours


def test_a_quasi_identifier_cannot_be_declared_as_made_up(release, tmp_path):
    manifest = json.loads((release / "manifest.json").read_text())
    attributes = [{**a, "made": a["name"] == "a"} for a in manifest["attributes"]]
    (good,) = manifest["claims"]
    claims = [{**good, "achieved": None, "parameters": {**good["parameters"], "column": "a"}}]
    assert audit(tampered(release, tmp_path, rows=UNIQUE, attributes=attributes, claims=claims)).refuted


def test_no_model_is_limited_to_no_column():
    with pytest.raises(PolicyError, match="on"):
        medveil.anonymize({"a": ["x"], "s": ["1"]}, {**POLICY, "privacy": [{"model": "k-anonymity", "k": 2, "on": []}]})


def test_a_shield_is_named_in_the_claim():
    frame = {"a": ["x", "x", "y", "y"], "b": list("1234"), "s": list("1212")}
    policy = {
        "attributes": {**POLICY["attributes"], "b": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 2, "on": ["a"]}],
    }
    assert medveil.anonymize(frame, policy).manifest.claims[0]["summary"] == "2-anonymity on a"


def test_spaces_around_a_value_are_no_diversity():
    frame = {"a": ["x"] * 3, "s": ["flu", "flu ", " flu\t"]}
    with pytest.raises(MedveilError):
        medveil.anonymize(frame, {**POLICY, "privacy": [{"model": "l-diversity", "l": 2}]})


def test_spaces_around_a_subject_are_no_other_person():
    frame = {"who": ["1", "1 ", " 1"], "a": ["x"] * 3}
    policy = {
        "attributes": {"who": {"role": "subject"}, "a": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    with pytest.raises(MedveilError):
        medveil.anonymize(frame, policy)


def test_a_large_number_has_one_spelling():
    assert read_number("1e16") == read_number("10000000000000000") == read_number("1e16 ")
    assert read_number("1e300") == read_number("1" + "0" * 300)


def test_a_plain_column_of_names_is_refused():
    names = ["Ann Lee", "Bo Li", "Cy Ray", "Di Fox", "Ed Orr", "Flo Ash"] * 5
    frame = {"a": ["x"] * 30, "name": [f"{name} {i}" for i, name in enumerate(names)]}
    policy = {
        "attributes": {"a": {"role": "quasi"}, "name": {"role": "plain"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    with pytest.raises(PolicyError, match="insist"):
        medveil.anonymize(frame, policy)


def test_mixed_values_of_a_mapping_are_not_told():
    frame = {"a": [1, 2, "zzPLANTEDzz", 2], "s": list("pqpq")}
    assert medveil.anonymize(frame, POLICY).manifest.rows["published"] == 4


def test_a_column_called_kept_beside_a_subject():
    frame = {"who": list("abcd"), "kept": ["x", "x", "y", "y"]}
    policy = {
        "attributes": {"who": {"role": "subject"}, "kept": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    assert medveil.anonymize(frame, policy).manifest.claims[0]["achieved"] == {"k": 2}


def test_where_a_hierarchy_lies_on_this_machine_is_not_told(tmp_path):
    (tmp_path / "h.csv").write_text("x;g;*\ny;g;*\n")
    attributes = {"a": {"role": "quasi", "hierarchy": {"type": "file", "path": str(tmp_path / "h.csv")}}}
    release = medveil.anonymize({"a": ["x", "x", "y"]}, {**POLICY, "attributes": attributes})
    assert str(tmp_path) not in (release.folder / "manifest.json").read_text()


@pytest.mark.parametrize("options", [{"encoding": "rot13"}, {"encoding": "a\0"}, {"encoding": "utf-16"}])
def test_odd_encodings(tmp_path, options):
    path = tmp_path / "t.csv"
    path.write_text("a,s\nx,1\nx,2\nx,3\n")
    with pytest.raises(MedveilError):
        medveil.anonymize({**POLICY, "data": {"path": str(path), **options}})


def test_odd_limits():
    for memory in ("foo", "0", "-1GB"):
        with pytest.raises(InputError, match="memory"):
            medveil.anonymize({"a": ["x"], "s": ["1"]}, POLICY, limits=Limits(memory=memory))


@pytest.mark.parametrize(
    "changes",
    [
        {"method": {"name": "optimal", "loss": {}}},
        {"method": {"name": "optimal", "time_limit": float("inf")}},
        {"attributes": {"a": {"role": "quasi", "weight": float("inf")}}},
        {"privacy": [{"model": "k-anonymity", "k": 10**30}]},
    ],
)
def test_odd_parameters(changes):
    with pytest.raises(PolicyError):
        medveil.anonymize({"a": ["x", "x"], "s": ["1", "2"]}, {**POLICY, **changes})


def test_a_frame_with_two_columns_of_one_name():
    with pytest.raises(InputError, match="several columns"):
        medveil.anonymize(pd.DataFrame([[1, 2]], columns=["a", "a"]), POLICY)
