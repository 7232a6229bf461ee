from __future__ import annotations

import gzip

import pytest

from medveil.datasets import load
from medveil.datasets.loaders import PUBLIC_SETS
from medveil.errors import InputError


def test_values_are_trimmed_named_and_missing_ones_are_null(tmp_path):
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult" / "adult.data").write_text(
        "39, ?, 77516, Bachelors, 13, Divorced, Sales, Wife, White, Female, 0, 0, 40, ?, <=50K\n\n"
    )
    table = load("adult", tmp_path)
    assert table.column_names[:3] == ["age", "workclass", "fnlwgt"]
    assert table.to_pylist()[0]["education"] == "Bachelors"
    assert table["workclass"].to_pylist() == [None]
    assert table["income"].to_pylist() == ["<=50K"]


def test_a_comment_line_and_the_dot_after_the_label_go(tmp_path):
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult" / "adult.test").write_text(
        "|1x3 Cross validator\n25, Private, 1, 11th, 7, Divorced, Sales, Wife, White, Male, 0, 0, 40, Peru, >50K.\n"
    )
    assert load("adult-test", tmp_path)["income"].to_pylist() == [">50K"]


def test_a_gzipped_file_with_a_header_and_a_quoted_delimiter(tmp_path):
    (tmp_path / "nhanes").mkdir()
    with gzip.open(tmp_path / "nhanes" / "NHANESraw.csv.gz", "wt") as file:
        file.write('ID,Note\n007,"a, b"\n8,\n')
    assert load("nhanes", tmp_path).to_pylist() == [{"ID": "007", "Note": "a, b"}, {"ID": "8", "Note": None}]


def test_several_files_follow_each_other(tmp_path):
    (tmp_path / "heart").mkdir()
    for site in ("cleveland", "hungarian", "switzerland", "va"):
        (tmp_path / "heart" / f"processed.{site}.data").write_text("63,1,1,145,233,1,2,150,0,2.3,3,?,6,0\n")
    table = load("heart", tmp_path)
    assert table.num_rows == 4
    assert table["ca"].null_count == 4


def test_an_unknown_name_and_an_absent_file(tmp_path):
    with pytest.raises(InputError, match="Did you mean 'adult'"):
        load("aduld", tmp_path)
    with pytest.raises(InputError, match=r"needs the file 'fars/fars_int.csv'"):
        load("fars", tmp_path)


@pytest.mark.parametrize(
    ("name", "rows", "columns", "missing"),
    [
        ("adult", 32_561, 15, {"workclass", "occupation", "native-country"}),
        ("adult-test", 16_281, 15, {"workclass", "occupation", "native-country"}),
        ("adult-arx", 30_162, 9, set()),
        ("fars", 100_937, 8, set()),
        ("fars-subset", 10_093, 8, set()),
        ("heart-cleveland", 303, 14, {"ca", "thal"}),
    ],
)
def test_public_sets(data_folder, name, rows, columns, missing):
    table = load(name, data_folder)
    assert table.shape == (rows, columns)
    assert {column for column in table.column_names if table[column].null_count} == missing


def test_complete_records_and_literal_none(data_folder):
    assert load("adult", data_folder).drop_null().num_rows == 30_162
    diabetes = load("diabetes130", data_folder)
    assert diabetes.shape == (101_766, 50)
    assert len(diabetes["patient_nbr"].unique()) == 71_518
    assert diabetes["A1Cresult"].null_count == 0
    assert load("heart", data_folder).num_rows == 920
    assert load("nhanes", data_folder).shape == (20_293, 78)
    assert load("heart76", data_folder).shape == (899, 77)


def test_every_set_is_named_in_the_help():
    assert all(name in (load.__doc__ or "") for name in PUBLIC_SETS)
