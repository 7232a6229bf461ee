"""A hierarchy with gaps: the steward sees the values that it lacks, messages do not tell them."""

import subprocess
import sys

import pytest

from medveil.app.missing_values import missing_values
from medveil.errors import InputError, PolicyError


def run(*arguments):
    command = [sys.executable, "-m", "medveil", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data.csv").write_text("my job,ill\nnurse,flu\ncook,flu\nsmith,cold\nsmith,cold\n")
    (tmp_path / "jobs.csv").write_text("nurse;care;*\ndoctor;care;*\n")
    (tmp_path / "policy.yaml").write_text(
        "data: data.csv\nattributes:\n  my job: {role: quasi, hierarchy: {type: file, path: jobs.csv}}\n"
        "  ill: {role: sensitive}\nprivacy: [{model: k-anonymity, k: 2}]\n"
    )
    return tmp_path


def test_the_values_are_listed_the_most_frequent_first(folder):
    found = missing_values(folder / "policy.yaml", "my job")
    assert (found.distinct, list(found.values.items())) == (3, [("smith", 2), ("cook", 1)])
    by_file = missing_values(folder / "data.csv", "my job", file=folder / "jobs.csv")
    assert by_file == found


def test_nothing_is_listed_where_nothing_lacks(folder):
    with (folder / "jobs.csv").open("a") as file:
        file.write("cook;food;*\nsmith;iron;*\n")
    assert missing_values(folder / "policy.yaml", "my job").values == {}


def test_what_cannot_be_compared_is_told(folder):
    with pytest.raises(InputError, match="Give the policy instead"):
        missing_values(folder / "data.csv", "my job")
    with pytest.raises(PolicyError, match="gives 'ill' no hierarchy"):
        missing_values(folder / "policy.yaml", "ill")
    with pytest.raises(PolicyError, match="Did you mean 'my job'"):
        missing_values(folder / "policy.yaml", "my jb")


def test_the_error_names_the_command_and_no_value(folder):
    failed = run("anonymize", folder / "policy.yaml", "--out", folder / "out")
    assert "medveil hierarchy POLICY 'my job' --missing" in failed.stderr
    assert not any(value in failed.stderr for value in ("cook", "smith"))
    listed = run("hierarchy", folder / "policy.yaml", "my job", "--missing")
    assert "smith" in listed.stdout
    assert "2 of 3 values" in listed.stdout
