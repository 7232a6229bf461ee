"""What a careless or a nasty user does: every answer is one sentence that says what to do, and nothing is misread."""

import warnings

import pandas as pd
import pytest

import medveil
from medveil.app.inspect import write_policy
from medveil.terminal.console import console
from medveil.terminal.inspection import show_inspection
from medveil.terminal.leakage import show_leakage
from medveil.terminal.release import show_release

FRAME = pd.DataFrame({"age": [30, 31, 32, 33] * 5, "sex": ["f", "m"] * 10})
POLICY = """\
data: people.csv
attributes:
  age: {role: quasi, type: number, hierarchy: {type: intervals, widths: [5, 10]}}
  sex: {role: quasi}
privacy:
  - {model: k-anonymity, k: 2}
method: optimal
"""


@pytest.fixture
def folder(tmp_path):
    FRAME.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def printed(show, *given):
    with console.capture() as capture:
        show(*given)
    return capture.get()


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("k: 2", "k: yes-please", "Line 6, privacy.0.k: must be a whole number."),
        ("k: 2", "k: 2.5", "Line 6, privacy.0.k: must be a whole number."),
        ("k: 2", "k: true", "Line 6, privacy.0.k: must be a whole number."),
        ("sex: {role: quasi}", "sex: quasi", "Line 4, attributes.sex: must be a mapping, such as {role: quasi}."),
        ("sex: {role: quasi}", "sex:", "Line 4, attributes.sex: must be a mapping, such as {role: quasi}."),
        ("[5, 10]", "5", "Line 3, attributes.age.hierarchy.widths: must be a list, such as [1, 2]."),
        ("  - {model: k-anonymity, k: 2}", "  k-anonymity: 2", "Line 5, privacy: must be a list, such as [1, 2]."),
        ("method: optimal", "method:", "Line 7, method: must have the key 'name', such as {name: "),
        ("data: people.csv", "data: [people.csv]", "Line 1, data: must be one text, or a mapping."),
        (
            "  sex: {role: quasi}",
            "  sex: {role: quasi}\n  sex: {role: plain}",
            "Line 5 of 'policy.yaml' is not YAML: the key 'sex' appears twice. Keep one of them.",
        ),
        ("  sex", "\tsex", "Line 4 of 'policy.yaml' is not YAML: it is indented with a tab. Indent with spaces."),
    ],
)
def test_slips_in_a_policy_are_told_in_words_of_policies(right, wrong, told, folder):
    assert right in POLICY
    (folder / "policy.yaml").write_text(POLICY.replace(right, wrong))
    with pytest.raises(medveil.PolicyError) as caught:
        medveil.anonymize(folder / "policy.yaml")
    assert told in str(caught.value)


def test_brackets_in_names_are_no_markup(folder):
    frame = FRAME.rename(columns={"sex": "sex [bold]:smile:"})
    policy = {
        "attributes": {"age": {"role": "quasi", "type": "number"}, "sex [bold]:smile:": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"report": False},
    }
    release = medveil.anonymize(frame, policy, out=folder / "[red]release")
    shown = printed(show_release, release)
    assert f"Release written to {folder / '[red]release'}" in shown
    assert "sex [bold]:smile:" in shown
    assert "sex [bold]:smile:" in printed(show_inspection, medveil.inspect(frame))


def test_groups_of_one_are_told():
    told = []
    policy = {"attributes": {"age": {"role": "quasi"}}, "privacy": [{"model": "k-anonymity", "k": 1}]}
    medveil.anonymize(FRAME, {**policy, "output": {"report": False}}, progress=lambda event: told.append(event.detail))
    assert any("with k 1 hides nobody" in detail for detail in told)


def test_the_largest_numbers_are_advised_on_without_a_warning_of_numpy(folder):
    frame = pd.DataFrame({"x": [1e308, -1e308, 1.7e308, 5.0] * 15, "sex": ["f"] * 31 + ["m"] * 29})
    policy = {
        "attributes": {"x": {"role": "quasi", "type": "number"}, "sex": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 5}],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        medveil.anonymize(frame, {**policy, "output": {"report": False}}, out=folder / "release")


def test_decimal_commas_get_intervals_too(tmp_path):
    lines = [f"{50 + i % 40},{i % 10};{'fm'[i % 2]}" for i in range(60)]
    (tmp_path / "weights.csv").write_text("\n".join(["weight;sex", *lines]) + "\n")
    write_policy(medveil.inspect(tmp_path / "weights.csv"), tmp_path / "weights.csv", tmp_path / "policy.yaml")
    assert "hierarchy: {type: intervals" in (tmp_path / "policy.yaml").read_text()
    release = medveil.anonymize(tmp_path / "policy.yaml")
    assert release.manifest.rows["published"] >= 59


def test_one_is_one(tmp_path):
    (tmp_path / "one.csv").write_text("age\n30\n")
    assert printed(show_inspection, medveil.inspect(tmp_path / "one.csv")).startswith("1 record, 1 column\n")
    leaking = medveil.leakage(pd.DataFrame({"who": ["a", "a"], "age": ["30", "31"]}), subject="who")
    assert printed(show_leakage, leaking).startswith("1 person; an attacker")
    assert "1 person; an attacker" in leaking._repr_html_()
    one = medveil.leakage(tmp_path / "one.csv")
    assert printed(show_leakage, one).startswith("1 record; an attacker")
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(medveil.InputError, match="Line 3 has 1 field where the header has 2"):
        medveil.inspect(tmp_path / "ragged.csv")


def test_a_text_with_zero_bytes_is_told_as_one(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"age,sex\n1,f\n2,\x00m\n")
    with pytest.raises(medveil.InputError, match="or a text with zero bytes"):
        medveil.inspect(tmp_path / "a.csv")


def test_the_pattern_for_a_folder_of_folders_begins_where_the_folder_is(tmp_path):
    (tmp_path / "visits" / "2020").mkdir(parents=True)
    with pytest.raises(medveil.InputError) as caught:
        medveil.inspect(tmp_path / "visits")
    assert str(tmp_path / "visits" / "*" / "*.parquet") in caught.value.remedy


def test_dates_that_can_be_read_in_two_ways_leak_all_the_same():
    frame = FRAME.assign(born=[f"0{1 + i % 3}/0{1 + i % 4}/1980" for i in range(20)])
    (found,) = [one for one in medveil.leakage(frame).singles if one.attributes == ("born",)]
    assert found.to_dict()["values"] == 12


def test_figures_beside_another_table_say_so(folder):
    policy = {
        "attributes": {"age": {"role": "quasi", "type": "number"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"report": False},
    }
    medveil.anonymize(FRAME, policy, out=folder / "release")
    assert not any("made from" in note for note in medveil.measure(folder / "release", FRAME, quick=True).notes)
    notes = medveil.measure(folder / "release", FRAME[:12], quick=True).notes
    assert any("has 12 records and the release was made from 20" in note for note in notes)
