"""What is no table of texts is known by its content, and nothing of it is repeated."""

import gzip
import io
import json
import sqlite3
import zipfile

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import medveil
from medveil.errors import InputError, MedveilError

NAME = "zzPLANTEDzz"
PERSON = {"resourceType": "Patient", "name": [{"family": NAME}], "address": [{"city": NAME, "line": ["1 Rd, X"]}]}
PLAIN = {"family": NAME, "city": f"{NAME}, {NAME}"}


def archive(*names):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name in names:
            made.writestr(name, NAME)
    return packed.getvalue()


def feather():
    packed = io.BytesIO()
    pyarrow.feather.write_feather(pa.table({NAME: [NAME]}), packed)
    return packed.getvalue()


def database(folder):
    with sqlite3.connect(folder / "made.db") as made:
        made.execute("CREATE TABLE patients (name TEXT)")
        made.execute("INSERT INTO patients VALUES (?)", (NAME,))
    return (folder / "made.db").read_bytes()


def lines(*records):
    return "\n".join(map(json.dumps, records)).encode()


GROUP = {"resourceType": "Group", "name": NAME}
FILES = {
    "json": (json.dumps([PLAIN, PLAIN], indent=1).encode(), "a JSON file"),
    "json-object": (json.dumps({"patients": [PLAIN]}).encode(), "a JSON file"),
    "json-lines": (lines(PLAIN, PLAIN) + b"\n{", "JSON lines"),
    "json-lines-gz": (gzip.compress(lines(PLAIN, {"name": [NAME]})), "holds lists or records"),
    "json-utf16": (json.dumps([PLAIN]).encode("utf-16"), "a JSON file"),
    "fhir-bundle": (json.dumps({"resourceType": "Bundle", "entry": [{"resource": GROUP}]}).encode(), "ready view"),
    "fhir-bulk": (lines(PERSON, PERSON) + b'\n{"Patient', "is not a FHIR resource"),
    "excel": (archive("[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook"),
    "old-excel": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + NAME.encode() * 9, "an old Excel workbook"),
    "word": (archive("[Content_Types].xml", "word/document.xml"), "an Office document"),
    "zip": (archive(f"{NAME}.csv"), "a zip archive"),
    "sas": (bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011") + bytes(100), "a SAS data set"),
    "sas-transport": (b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!000000", "a SAS transport file"),
    "spss": (b"$FL2@(#) SPSS DATA FILE " + NAME.encode(), "an SPSS file"),
    "stata": (b"<stata_dta><header>" + NAME.encode(), "a Stata file"),
    "pdf": (b"%PDF-1.7\n" + NAME.encode(), "a PDF document"),
    "xml": (f"<?xml version='1.0'?><p>{NAME}, {NAME}</p>".encode(), "an XML or HTML file"),
    "html": (f"<table><tr><td>{NAME}</td></tr></table>".encode(), "an XML or HTML file"),
    "hl7": (f"MSH|^~\\&|LAB|X|{NAME}\rPID|1||{NAME}\r".encode(), "HL7 messages"),
    "feather": (feather(), "an Arrow file"),
    "image": (b"\x89PNG\r\n" + NAME.encode(), "an image"),
    "binary": (bytes(range(256)) * 20, "a binary file"),
    "utf-16-without-mark": (f"{NAME},b\n1,2\n".encode("utf-16-le"), "UTF-16 without its mark"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_format_is_known_by_its_content(tmp_path, kind):
    content, words = FILES[kind]
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(MedveilError) as refused:
        medveil.inspect(path)
    assert words in str(refused.value)
    assert NAME not in str(refused.value)


def test_a_database_file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(database(tmp_path))
    with pytest.raises(InputError, match="an SQLite database"):
        medveil.inspect(path)


def test_a_policy_that_says_csv_does_not_make_it_one(tmp_path):
    (tmp_path / "data.csv").write_bytes(FILES["fhir-bulk"][0])
    policy = {
        "data": {"type": "csv", "path": str(tmp_path / "data.csv")},
        "attributes": {"a": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    with pytest.raises(InputError, match="a FHIR file") as refused:
        medveil.anonymize(policy)
    assert NAME not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["[id],[age]\na,1\nb,2\n", "BZ,BMI\na,1\nb,2\n", "<5,x\n1,2\n2,2\n", "ORCHID,x\na,1\n", "GIF8,x\na,1\n"]
)
def test_tables_that_begin_oddly_are_tables(tmp_path, text):
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    assert len(medveil.inspect(tmp_path / "data.csv").profiles) == 2


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://reader:hunter2@host/db", "a database"),
        ("jdbc:postgresql://host/db?password=hunter2", "a database"),
        ("Server=host;Database=x;Pwd=hunter2;", "a database"),
        ("https://reader:hunter2@example.org/patients.csv", "a web address"),
        ("s3://hunter2/patients.parquet", "an object store"),
    ],
)
def test_an_address_gets_a_true_sentence_without_its_password(address, words):
    for given in (lambda: medveil.inspect(address), lambda: medveil.anonymize(address, policy())):
        with pytest.raises(InputError) as refused:
            given()
        assert words in str(refused.value)
        assert "hunter2" not in str(refused.value)


def test_the_address_of_a_database_leads_to_a_connection():
    with pytest.raises(InputError, match="This is the address of a database") as refused:
        medveil.inspect("postgresql://reader:hunter2@host/db")
    assert "'data: {type: sql, connection: NAME, query: ...}'" in refused.value.remedy


def test_a_missing_file_is_told_with_the_one_that_may_be_meant(tmp_path):
    with pytest.raises(InputError, match=r"There is no file '.*patients\.csv'") as refused:
        medveil.inspect(tmp_path / "patients.csv")
    assert refused.value.remedy == "Check the path: in a policy it begins where the policy is."
    (tmp_path / "patients.csv.gz").write_bytes(b"")
    with pytest.raises(InputError) as refused:
        medveil.inspect(tmp_path / "patients.csv")
    assert refused.value.remedy == "Did you mean 'patients.csv.gz'?"


def policy(**data):
    return {"attributes": {"age": {"role": "quasi"}}, "privacy": [{"model": "k-anonymity", "k": 2}], **data}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[NAME, 1], [NAME, 2]]),
        pd.DataFrame([[NAME, 1], [NAME, 2]], columns=["age", 7]),
        {"age": [1, 2], 7: [NAME, NAME]},
        pd.DataFrame([[NAME, 1]], columns=["age", "half \ud800"]),
    ],
    ids=["numbered", "one number", "mapping", "half a character"],
)
def test_names_that_are_no_texts_get_one_sentence(frame):
    with pytest.raises(InputError, match="names are not texts") as refused:
        medveil.inspect(frame)
    assert NAME not in str(refused.value)


def test_an_inspection_shows_no_value():
    frame = pd.DataFrame({"age": [4711.5, 815.25] * 20, "city": [NAME, "b"] * 20})
    shown = repr(medveil.inspect(frame))
    assert "city" in shown
    assert NAME not in shown
    assert "4711" not in shown


PRIVATE = {
    "attributes": {"sex": {"role": "quasi", "domain": ["f", "m"]}, "ill": {"role": "sensitive", "domain": ["a", "b"]}},
    "privacy": [{"model": "differential-privacy", "epsilon": 1.0}],
    "method": {"name": "dp-histogram"},
}
SAFE = {**PRIVATE, "privacy": [{"model": "k-anonymity", "k": 2}], "method": {"name": "optimal"}}


@pytest.mark.parametrize("policy", [PRIVATE, SAFE], ids=["differential privacy", "k-anonymity"])
@pytest.mark.parametrize("make", [pd.DataFrame, dict], ids=["frame", "mapping"])
def test_half_a_character_is_no_reason_to_refuse(policy, make):
    frame = make({"sex": ["f", "m"] * 20, "ill": ["a", "b", "half \ud800", "half \ud800"] * 10})
    if policy is SAFE:
        policy = {**policy, "attributes": {"sex": {"role": "quasi"}, "ill": {"role": "sensitive"}}}
    medveil.anonymize(frame, policy)


def test_a_nested_column_is_left_out_and_told(tmp_path):
    table = pa.table({"age": [30, 31, 32] * 4, "visits": [[1, 2], [], [3]] * 4, "sex": ["f", "m", "f"] * 4})
    pa.parquet.write_table(table, tmp_path / "data.parquet")
    told = []
    found = medveil.inspect(tmp_path / "data.parquet", progress=told.append)
    assert [column.name for column in found.profiles] == ["age", "sex"]
    assert any("'visits'" in event.detail for event in told)
    release = medveil.anonymize(tmp_path / "data.parquet", {**policy(), "attributes": {"sex": {"role": "quasi"}}})
    assert sorted(release.to_pandas()["sex"]) == ["f"] * 8 + ["m"] * 4
    release.save(tmp_path / "out")
    assert medveil.audit(tmp_path / "out", tmp_path / "data.parquet").ok


def test_a_file_of_nested_columns_alone(tmp_path):
    pa.parquet.write_table(pa.table({"visits": [[1, 2], []]}), tmp_path / "data.parquet")
    with pytest.raises(InputError, match="lists or records"):
        medveil.inspect(tmp_path / "data.parquet")
