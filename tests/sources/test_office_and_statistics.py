"""Excel, SAS, SPSS, Stata and JSON lines: read with labels, written with the same rows, broken ones in one sentence."""

import datetime as dt
import json
import sys

import pandas as pd
import pyarrow as pa
import pytest

import medveil
from medveil.errors import InputError, MedveilError, OutputError
from medveil.release import copies
from medveil.release.manifest import file_hash
from medveil.sources.opening import open_source

fastexcel = pytest.importorskip("fastexcel", reason="the extra files is not installed")
pyreadstat = pytest.importorskip("pyreadstat", reason="the extra files is not installed")
xlsxwriter = pytest.importorskip("xlsxwriter", reason="the extra files is not installed")

NAME = "Wilhelmina"


def columns(source):
    return {
        name: column.to_pylist() for name, column in zip(source.names, source.batches().read_all().columns, strict=True)
    }


@pytest.fixture
def workbook(tmp_path):
    path = tmp_path / "ward.xlsx"
    with xlsxwriter.Workbook(path) as book:
        days = book.add_format({"num_format": "yyyy-mm-dd"})
        sheet = book.add_worksheet("patients")
        for place, name in enumerate(("id", "age", "zip", "seen")):
            sheet.write_string(0, place, name)
        for row in range(1, 5):
            sheet.write_string(row, 0, f"{NAME}{row}")
            sheet.write_number(row, 1, 30 + row)
            sheet.write_string(row, 2, "02139")
            sheet.write_datetime(row, 3, dt.date(2020, 1, row), days)
        book.add_worksheet("empty")
    return path


def test_a_sheet_is_read_as_it_is_stored(workbook):
    assert columns(open_source(workbook)) == {
        "id": [f"{NAME}{row}" for row in range(1, 5)],
        "age": ["31", "32", "33", "34"],
        "zip": ["02139"] * 4,
        "seen": [f"2020-01-0{row}" for row in range(1, 5)],
    }
    described = {profile.name: guess.kind for profile, guess in zip(*_inspected(workbook), strict=True)}
    assert (described["age"], described["seen"]) == ("number", "date")


def _inspected(path):
    found = medveil.inspect(path)
    return found.profiles, found.guesses


@pytest.mark.parametrize(("sheet", "words"), [("empty", "is empty"), ("patient", "Did you mean 'patients'")])
def test_sheets_that_are_not_there_or_empty(workbook, sheet, words):
    policy = {
        "data": {"type": "excel", "path": str(workbook), "sheet": sheet},
        "attributes": {"age": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    with pytest.raises(InputError, match=words):
        medveil.anonymize(policy)


@pytest.fixture
def coded():
    return pd.DataFrame(
        {"sex": [1.0, 2.0, None], "age": [30.0, 41.5, 7.0], "seen": [dt.date(2020, 1, 1)] * 3, "who": [NAME, "b", ""]}
    )


@pytest.mark.parametrize(
    ("file", "write"),
    [("a.sav", pyreadstat.write_sav), ("a.dta", pyreadstat.write_dta), ("a.xpt", pyreadstat.write_xport)],
)
def test_value_labels_stand_for_codes(tmp_path, coded, file, write):
    labels = {} if file == "a.xpt" else {"variable_value_labels": {"sex": {1: "female", 2: "male"}}}
    write(coded, str(tmp_path / file), **labels)
    read = columns(open_source(tmp_path / file))
    assert read["sex"] == (["female", "male", None] if labels else [1, 2, None])
    assert read["age"] == [30.0, 41.5, 7.0]
    assert read["seen"] == [dt.date(2020, 1, 1)] * 3
    plain = {"type": "statistics", "path": str(tmp_path / file), "labels": False}
    assert columns(
        medveil.Policy(data=plain, attributes={}, privacy=[{"model": "k-anonymity", "k": 2}]).data.open(
            medveil.workspace.Workspace()
        )
    )["sex"] == [1, 2, None]


def test_json_lines_take_missing_keys_for_missing_values(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1, "b": "x"}\n{"a": 2}\n{"b": "y", "a": null}\n', encoding="utf-8")
    assert columns(open_source(path)) == {"a": [1, 2, None], "b": ["x", None, "y"]}
    path.write_text(f'{{"a": 1}}\n{{"a": "{NAME}"}}\n', encoding="utf-8")
    with pytest.raises(InputError) as refused:
        open_source(path)
    assert NAME not in str(refused.value)


@pytest.mark.parametrize("file", ["ward.xlsx", "a.sav", "a.dta", "a.xpt"])
@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
def test_a_file_that_was_cut_gets_one_sentence_without_its_values(tmp_path, workbook, coded, file, share):
    write = {"a.sav": pyreadstat.write_sav, "a.dta": pyreadstat.write_dta, "a.xpt": pyreadstat.write_xport}
    if file in write:
        write[file](coded, str(tmp_path / file))
    content = (tmp_path / file).read_bytes()
    (tmp_path / file).write_bytes(content[: int(len(content) * share)])
    told = "four columns"  # where what was cut off was padding
    try:
        assert len(open_source(tmp_path / file).names) == 4
    except MedveilError as refused:
        told = str(refused)
    assert NAME not in told
    assert "\n" not in told


def test_without_the_extra_a_sentence_says_what_to_install(workbook, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(InputError, match=r"medveil\[files\]"):
        open_source(workbook)


def released(folder, form):
    table = pa.table(
        {
            "age": [str(30 + i % 4) for i in range(24)],
            "job title": ["=1+1", "@SUM(A1)", "+49", "http://x.example"] * 6,
            "days": list(range(24)),
        }
    )
    policy = {
        "attributes": {
            "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [20, 59], "widths": [10]}},
            "job title": {"role": "sensitive"},
            "days": {"role": "plain", "insist": True},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "output": {"format": form, "report": False},
    }
    return medveil.anonymize(table, policy, out=folder)


@pytest.mark.parametrize(
    ("form", "file"), [("excel", "release.xlsx"), ("spss", "release.sav"), ("stata", "release.dta")]
)
def test_a_copy_has_the_rows_of_the_release_and_is_audited(tmp_path, form, file):
    folder = tmp_path / "out"
    release = released(folder, form)
    assert release.manifest.release == "release.csv"
    copy = columns(open_source(folder / file))
    mine = release.to_arrow()
    assert next(iter(copy)) == "age"
    assert [str(value) for value in copy["days"]] == [str(value) for value in mine["days"].to_pylist()]
    assert next(copy[name] for name in copy if name.startswith("job")) == mine["job title"].to_pylist()
    assert medveil.audit(folder).ok
    if form == "excel":
        content = (folder / file).read_bytes()
        assert (
            fastexcel.read_excel(content)
            .load_sheet(0)
            .to_arrow()["job title"]
            .to_pylist()[0]
            .startswith(("=", "@", "+", "h"))
        )


def test_a_copy_that_was_changed_is_found(tmp_path):
    folder = tmp_path / "out"
    released(folder, "excel")
    table = medveil.Release(folder, medveil.release.manifest.read_manifest(folder)).to_arrow()
    copies.write_copy(table.slice(1), folder, "excel")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"]["release.xlsx"] = file_hash(folder / "release.xlsx")
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert "does not have the rows of the release" in " ".join(medveil.audit(folder).problems)


def test_a_table_too_large_for_a_sheet_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(copies, "MOST_ROWS", 5)
    with pytest.raises(OutputError, match="An Excel sheet holds 5 records"):
        released(tmp_path / "out", "excel")
    assert not (tmp_path / "out").exists()
