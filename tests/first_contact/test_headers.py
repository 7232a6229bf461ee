"""A file without header line must never publish, or show, its first patient as the names of columns."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

import medveil
from medveil.errors import InputError
from medveil.sources.header import holds_a_record

SEXES, ILLNESSES = ("female", "male"), ("flu", "asthma", "measles")


def records(count=60):
    return [
        [f"19{30 + i % 60}-0{1 + i % 9}-1{i % 10}", SEXES[i % 2], str(10115 + i % 7), ILLNESSES[i % 3]]
        for i in range(count)
    ]


def written(folder, rows, delimiter=","):
    path = folder / "data.csv"
    path.write_text("".join(delimiter.join(row) + "\n" for row in rows), encoding="utf-8")
    return path


HEADER = ["birth_date", "sex", "zip", "diagnosis"]
HEADERLESS = {
    "mixed": records(),
    "numbers": [[str(i % 7), str(20 + i)] for i in range(30)],
    "one column": [[str(i)] for i in range(30)],
    "categories": [[SEXES[i % 2], ILLNESSES[i % 3]] for i in range(30)],
    "codes": [[f"P-{i:04}", f"{'ABC'[i % 3]}{i % 10}.{i % 10}"] for i in range(30)],
    "phones": [[f"({i:03}) 555-{i:04}"] for i in range(30)],
    "a rare value first": [["40", "rarest"], *([str(20 + i), SEXES[i % 2]] for i in range(30))],
    "with missing values": [["40", "?"], *([str(20 + i) if i % 2 else "?", SEXES[i % 2]] for i in range(30))],
    "same values twice": [["1", "1", "x"], *([str(i % 3), str(i % 2), "xy"[i % 2]] for i in range(30))],
    "blood pressures": [["120/80"], *([f"{110 + i}/{70 + i % 9}"] for i in range(30))],
    "times": [["03.04.2020 12:30"], *([f"{1 + i % 28:02}.05.2021 10:1{i % 10}"] for i in range(30))],
}
HEADED = {
    "mixed": [HEADER, *records()],
    "numbers": [["a", "b"], *HEADERLESS["numbers"]],
    "categories": [["sex", "illness"], *HEADERLESS["categories"]],
    "codes": [["patient", "icd10"], *HEADERLESS["codes"]],
    "one record": [["name", "age"], ["Ann", "30"]],
    "a name that is also a value": [["asthma", "age"], *([("asthma", "none")[i % 2], str(i)] for i in range(30))],
    "years among names": [["id", "2019"], *([f"x{i}", str(i)] for i in range(2))],
    "mostly missing": [["lab", "age"], *(["NA" if i % 9 else "1.5", str(i)] for i in range(30))],
    "long questions": [["How often did you drink in the last month? " * 6, "age"], *([f"{i}", "3"] for i in range(9))],
}


@pytest.mark.parametrize("rows", HEADERLESS.values(), ids=HEADERLESS)
def test_a_file_without_header_is_refused_without_a_value(tmp_path, rows):
    path = written(tmp_path, rows)
    for look in (medveil.inspect, medveil.leakage):
        with pytest.raises(InputError, match="looks like a record") as refused:
            look(path)
        assert "columns:" in str(refused.value)
        assert not any(cell in str(refused.value) for cell in rows[0] if len(cell) > 2)


@pytest.mark.parametrize("rows", [rows for name, rows in HEADED.items() if not name.startswith("years")],
                         ids=[name for name in HEADED if not name.startswith("years")])  # fmt: skip
def test_a_file_with_header_is_read(tmp_path, rows):
    found = medveil.inspect(written(tmp_path, rows, ";"))
    assert [column.name for column in found.profiles] == [name.strip() for name in rows[0]]


def test_names_that_look_like_values_can_be_vouched_for(tmp_path):
    path = written(tmp_path, [["2019", "2020"], *HEADERLESS["numbers"]])
    with pytest.raises(InputError, match="header: true"):
        medveil.inspect(path)
    assert [column.name for column in medveil.inspect(path, header=True).profiles] == ["2019", "2020"]


def policy(path, **data):
    return {
        "data": {"path": str(path), **data},
        "attributes": {"female": {"role": "quasi"}, "flu": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }


def test_it_cannot_be_published_by_mistake(tmp_path):
    """Even a policy that names the first record's values as columns does not get it published."""
    path = written(tmp_path, HEADERLESS["categories"])
    with pytest.raises(InputError, match="looks like a record"):
        medveil.anonymize(policy(path), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_columns_name_them(tmp_path):
    path = written(tmp_path, HEADERLESS["categories"])
    named = {**policy(path, columns=["sex", "illness"]), "attributes": {"sex": {"role": "quasi"}}}
    assert len(medveil.anonymize(named).to_pandas()) == 30


def test_new_names_may_replace_a_header_line(tmp_path):
    path = written(tmp_path, [["", "x"], *HEADERLESS["categories"]])
    with pytest.raises(InputError, match=r"without a name \(column 1\).*header: true"):
        medveil.inspect(path)
    found = medveil.inspect(path, columns=["sex", "illness"], header=True)
    assert found.rows == 30
    assert [column.name for column in found.profiles] == ["sex", "illness"]


def medveil_command(*arguments):
    command = [sys.executable, "-m", "medveil", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, encoding="utf-8")


@pytest.mark.parametrize("how", [("--columns", "birth_date, sex,zip,diagnosis"), ("--no-header",)])
def test_inspect_reads_it_and_writes_a_policy_that_remembers(tmp_path, how):
    path = written(tmp_path, [*records(), ["?", "?", "?", "?"]], ";")
    made = medveil_command("inspect", path, *how, "--missing", "?", "--policy-out", tmp_path / "policy.yaml")
    assert made.returncode == 0, made.stderr
    assert "61 records" in made.stdout
    read = YAML(typ="safe").load((tmp_path / "policy.yaml").read_text(encoding="utf-8"))
    names = HEADER if how[0] == "--columns" else ["column_1", "column_2", "column_3", "column_4"]
    assert read["data"]["columns"] == names
    assert read["data"]["missing"] == ["?"]
    assert list(read["attributes"]) == names
    release = medveil.anonymize(tmp_path / "policy.yaml")
    assert release.manifest.rows["input"] == 61


def test_under_differential_privacy_the_policy_alone_decides(tmp_path):
    """The first line is names, or none, as the policy says: nothing is refused for how it looks."""
    private = {
        "data": str(written(tmp_path, HEADERLESS["categories"])),
        "attributes": {
            "female": {"role": "quasi", "domain": list(SEXES)},
            "flu": {"role": "sensitive", "domain": list(ILLNESSES)},
        },
        "privacy": [{"model": "differential-privacy", "epsilon": 1.0}],
        "method": {"name": "dp-histogram"},
    }
    assert medveil.anonymize(private).manifest.attributes[0]["name"] == "female"


cell = st.text("ab1-/. ", max_size=4)


@given(st.lists(st.lists(cell, min_size=1, max_size=4), min_size=1, max_size=20))
def test_any_lines_are_decided(rows):
    assert holds_a_record(rows) in {True, False}


def test_an_encoding_that_was_guessed_is_told(tmp_path):
    (tmp_path / "a.csv").write_bytes("name,age\nJos\u00e9,1\nAna,2\n".encode("latin-1"))
    told = []
    medveil.inspect(tmp_path / "a.csv", progress=lambda event: told.append(event.detail))
    assert any("not in UTF-8, and is read as cp1252" in words for words in told)
    told.clear()
    medveil.inspect(tmp_path / "a.csv", encoding="latin-1", progress=lambda event: told.append(event.detail))
    assert not any("UTF-8" in words for words in told)
