"""Leakage, search trees and the IAB methods through the command line."""

import json
import sys
from dataclasses import dataclass

import pyarrow.csv
import pytest

from medveil.cli import main
from medveil.datasets import patients
from medveil.reproduce.weight_loss import NAMES, PEOPLE

QUASI = ("Zip", "Age", "Alcohol")
POLICY = """\
data: people.csv
attributes:
  Zip: {role: quasi, type: code, hierarchy: {type: mask, length: 5}}
  Age: {role: quasi, hierarchy: {type: intervals, domain: [20, 85], cuts: [[35, 45, 65], [45]]}}
  Alcohol: {role: quasi, hierarchy: {type: taxonomy, tree: ['No', {'Yes': [Low, Med, High]}]}}
  Genetic risk: {role: sensitive}
  Sex: {role: plain}
  Weight: {role: plain}
  Race: {role: plain}
privacy:
  - {model: k-anonymity, k: 3, on: [Zip, Age, Alcohol]}
method: {name: iab}
"""


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(project, monkeypatch, capsys):
    """The program in this process, in the project's folder: what it printed, and its exit code."""

    def run_here(*arguments):
        monkeypatch.chdir(project)
        monkeypatch.setattr(sys, "argv", ["medveil", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Done(int(ended.value.code), printed.out, printed.err)

    return run_here


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leakage")
    lines = [",".join(row) for row in (NAMES, *PEOPLE)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    (folder / "policy.yaml").write_text(POLICY)
    pyarrow.csv.write_csv(patients(500, seed=1, patient_id=True), folder / "patients.csv")
    return folder


def test_leakage_prints_a_sorted_table_with_bars(run):
    done = run("leakage", "people.csv")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0][:2] == ["60", "records;"]
    assert [line[0] for line in lines[2:6]] == ["Age", "Zip", "Race", "Weight"]
    assert lines[2][1:4] == ["13", "3.558", "0.602"]
    assert len(lines[2][4]) > len(lines[3][4]) > 0


def test_leakage_as_json_is_a_list(run):
    found = json.loads(run("leakage", "policy.yaml", "--up-to", 2, "--all", "--json").stdout)
    assert all(set(entry) == {"attributes", "values", "loss", "normalized"} for entry in found)
    assert [entry["loss"] for entry in found] == sorted((entry["loss"] for entry in found), reverse=True)
    assert sorted(map(len, (entry["attributes"] for entry in found))) == [1] * 7 + [2] * 3


def test_leakage_finds_the_smallest_set_that_makes_people_unique(run):
    done = run(
        "leakage",
        "people.csv",
        "--unique",
        0.05,
        "--column",
        "Zip",
        "--column",
        "Age",
        "--column",
        "Alcohol",
    )
    assert "more than 5.0% of the records unique: Zip, Age, Alcohol (6.7%)" in done.stdout
    assert "No set" in run("leakage", "people.csv", "--unique", 0.9).stdout


def test_leakage_counts_people(run):
    done = run("leakage", "patients.csv", "--subject", "patient_id")
    assert " people;" in done.stdout
    assert "patient_id" not in done.stdout


def test_a_release_shows_what_leaked_before_and_leaks_now_and_draws_its_tree(run, tmp_path):
    done = run("anonymize", "policy.yaml", "--out", tmp_path / "out", "--trace", tmp_path / "tree.json")
    assert done.returncode == 0, done.stderr
    shown = [line.split() for line in done.stdout.splitlines()]
    assert ["Zip", "quasi", "1", "0.467", "0.211"] in shown
    assert "21 of 22 distinct rows retained; 5 violating rows before, 0 now." in done.stdout
    tree = json.loads((tmp_path / "tree.json").read_text())
    assert tree == json.loads((tmp_path / "out" / "internal" / "search-tree.json").read_text())
    assert [(t["violating"], t["rows"]) for t in tree["tables"] if t["solution"]] == [(0, 21)]
    leaks = json.loads((tmp_path / "out" / "internal" / "leakage.json").read_text())
    assert [entry["attribute"] for entry in leaks["attributes"]] == [*QUASI, "Genetic risk", "Sex", "Weight", "Race"]
    published = run("leakage", tmp_path / "out" / "release.csv", "--json")
    after = {entry["attributes"][0]: entry["loss"] for entry in json.loads(published.stdout)}
    assert {e["attribute"]: e["after"]["loss"] for e in leaks["attributes"]} == pytest.approx(after)
    assert run("audit", tmp_path / "out").returncode == 0
    assert not [path for path in (tmp_path / "out").iterdir() if "search" in path.name or "leakage" in path.name]


def test_a_release_that_leaks_above_the_declared_level_is_not_published(run, project, tmp_path):
    """Zip, age and alcohol together leak 0.579 in the release that is made without a level."""
    for level, code in ((0.55, 3), (0.65, 0)):
        (project / "alert.yaml").write_text(f"{POLICY}leakage: {{most: {level}}}\n")
        done = run("anonymize", "alert.yaml", "--out", tmp_path / f"out-{code}")
        assert done.returncode == code, done.stderr
        assert (tmp_path / f"out-{code}").exists() == (code == 0)
    leaks = json.loads((tmp_path / "out-0" / "internal" / "leakage.json").read_text())
    together = leaks["all_quasi_identifiers"]["after"]["normalized"]
    assert 0.55 < together < 0.65
    (project / "alert.yaml").write_text(f"{POLICY}leakage: {{most: 0.55}}\n")
    told = " ".join(run("anonymize", "alert.yaml", "--out", tmp_path / "out").stderr.split())
    assert f"Zip, Age and Alcohol together would still leak {together:.3f}" in told
    assert not list(tmp_path.glob(".*"))


def test_the_level_may_be_for_some_columns(run, project, tmp_path):
    for column, code in (("Zip", 0), ("Race", 3)):
        (project / "alert.yaml").write_text(f"{POLICY}leakage: {{most: 0.3, columns: [{column}]}}\n")
        assert run("anonymize", "alert.yaml", "--out", tmp_path / column).returncode == code


@pytest.mark.parametrize(
    ("changes", "options", "code", "words"),
    [
        ({"method:": "leakage: {most: 1.5}\nmethod:"}, [], 2, "leakage.most"),
        ({"method:": "leakage: {most: 0.2, columns: [Wieght]}\nmethod:"}, [], 2, "Did you mean 'Weight'"),
        ({"method:": "leakage: {at_most: 0.2}\nmethod:"}, [], 2, "there is no such key. Did you mean 'most'"),
        (
            {
                "{model: k-anonymity, k: 3, on: [Zip, Age, Alcohol]}": "{model: differential-privacy, epsilon: 1}",
                "method: {name: iab}": "leakage: {most: 0.2}\nmethod: {name: ipa}",
            },
            [],
            2,
            "a refusal would tell something about the data",
        ),
        ({"on: [Zip, Age, Alcohol]": "on: [Zip, Agee]"}, [], 2, "'Agee', which is not a quasi-identifier"),
        ({"on: [Zip, Age, Alcohol]": "on: [Sex]"}, [], 2, "'Sex', which is not a quasi-identifier"),
        ({"k: 3": "k: 61"}, [], 3, "k = 61 cannot hold: the table has 60 people"),
        ({"k: 3": "k: 4", "length: 5}}": "length: 5}, max_level: 0}"}, [], 3, "'max_level'"),
        ({"name: iab": "name: optimal"}, ["--trace", "tree.json"], 2, "'optimal' draws no search tree"),
        ({}, ["--trace", "people.csv"], 2, "already exists"),
        ({}, ["--trace", "none/tree.json"], 2, "no folder"),
        ({"name: iab": "name: iab, generalization: rows"}, [], 2, "generalization"),
    ],
)
def test_bad_input_is_one_message_and_an_exit_code(run, project, changes, options, code, words):
    policy = POLICY
    for old, new in changes.items():
        assert old in policy
        policy = policy.replace(old, new)
    (project / "changed.yaml").write_text(policy)
    done = run("anonymize", "changed.yaml", "--out", "x", *options)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["people.csv", "--column", "Agee"], "Did you mean 'Age'"),
        (["none.csv"], "There is no file"),
        (["none.yaml"], "There is no policy"),
        (["people.csv", "--prior", "Sex"], "prior 'Sex'"),
        (["people.csv", "--unique", "2"], "from 0 to below 1"),
    ],
)
def test_leakage_refuses_what_it_cannot_measure(run, arguments, words):
    done = run("leakage", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
