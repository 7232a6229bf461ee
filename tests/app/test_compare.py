"""Methods on the same data: what each reaches, and why others do not fit."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.csv
import pytest
from ruamel.yaml import YAML
from tests.report.reading import read_page

from medveil.app.compare import ComparedRun, Sweep, Trial, compare, run_trials, write_comparison
from medveil.app.elsewhere import Answer
from medveil.datasets import patients
from medveil.errors import InputError, OutputError, PolicyError
from medveil.report.words import percent

POLICY = """\
data: patients.csv
attributes:
  age: {role: quasi, hierarchy: {type: intervals, domain: [0, 99], widths: [10, 50]}}
  sex: {role: quasi}
  disease: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 4}
method: {name: optimal, suppression: 0.05, time_limit: 33}
"""


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    pyarrow.csv.write_csv(patients(800, seed=2), folder / "patients.csv")
    (folder / "policy.yaml").write_text(POLICY)
    return folder / "policy.yaml"


@pytest.fixture(scope="module")
def compared(policy, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "comparison"
    chosen = ["optimal", "iab", "ipa"]
    return out, compare(policy, out=out, chosen=chosen, sweep=Sweep("k", (2, 20)))


def test_what_fits_is_run_and_what_does_not_is_listed_with_the_reason(compared):
    _, outcomes = compared
    done = [(o.name, o.setting["k"]) for o in outcomes if o.reason is None]
    assert done == [(name, k) for name in ("optimal", "iab") for k in (2, 20)]
    (refused,) = [o for o in outcomes if o.reason is not None]
    assert refused.name == "ipa"
    assert "differential-privacy" in refused.reason


def test_every_run_keeps_its_own_goal_and_has_its_own_figures(compared):
    _, outcomes = compared
    for outcome in outcomes:
        if outcome.reason is None:
            (claim,) = outcome.claims
            assert claim["holds"]
            assert claim["required"]["k"] == outcome.setting["k"] <= claim["achieved"]["k"]
            assert outcome.seconds > 0
            assert 2**20 < outcome.program <= outcome.memory < 2**33
            assert outcome.rows["input"] == 800
    loss = {(o.name, o.setting["k"]): o.measures["lm"]["value"] for o in outcomes if o.reason is None}
    assert loss["optimal", 2] < loss["optimal", 20]


def test_parameters_that_another_method_knows_are_passed_on(compared):
    _, outcomes = compared
    given = {outcome.name: outcome.method["parameters"] for outcome in outcomes if outcome.reason is None}
    assert given["iab"]["time_limit"] == given["optimal"]["time_limit"] == 33
    assert given["optimal"]["suppression"] == 0.05
    assert "suppression" not in given["iab"]


def test_a_method_that_may_leave_records_out_is_run_with_and_without(policy, tmp_path):
    found = compare(policy, out=tmp_path / "out", chosen=["optimal", "iab"])
    assert [(o.name, o.setting) for o in found] == [
        ("optimal", {"suppression": 0.05}),
        ("optimal", {"suppression": 0}),
        ("iab", {}),
    ]
    kept = {o.setting.get("suppression"): o for o in found if o.name == "optimal"}
    assert kept[0].rows["suppressed"] == 0
    assert kept[0].measures["lm"]["value"] >= kept[0.05].measures["lm"]["value"]


def test_what_is_written_is_a_table_and_a_page_and_no_release(compared):
    out, outcomes = compared
    assert {path.name for path in out.iterdir()} == {"comparison.json", "comparison.html"}
    assert len(json.loads((out / "comparison.json").read_text())) == len(outcomes)
    text = (out / "comparison.html").read_text()
    root = read_page(text)
    assert "INTERNAL" in text
    titles = [heading.text for heading in root.all("h2")]
    assert "Privacy against utility" in titles
    assert "What did not fit" in titles
    named = {cell.text for cell in root.all("th")}
    assert {"optimal (k = 2)", "iab (k = 20)", "ipa"} <= named
    for figure in root.all("figure"):
        assert next(figure.all("svg")).attributes["aria-label"]
        assert list(figure.all("table"))
    names = [element.attributes["id"] for element in root.all() if "id" in element.attributes]
    assert len(names) == len(set(names))


def test_those_who_compare_are_told_how_many_records_of_people_were_left_out(tmp_path):
    """Recipients are not, where records belong to people: the share comes from the steward's files."""
    pyarrow.csv.write_csv(patients(400, seed=2, patient_id=True), tmp_path / "patients.csv")
    asked = POLICY.replace("attributes:\n", "attributes:\n  patient_id: {role: subject}\n")
    asked = asked.replace("{role: quasi, hier", "{role: quasi, max_level: 1, hier").replace("n: 0.05", "n: 0.9")
    (tmp_path / "policy.yaml").write_text(asked)
    out = tmp_path / "out"
    (outcome,) = compare(tmp_path / "policy.yaml", out=out, chosen=["optimal"], sweep=Sweep("k", (10,)))
    assert outcome.rows["input"] == 400
    assert outcome.rows["suppressed"] > 0
    share = percent(outcome.rows["suppressed"] / 400)
    assert share in (out / "comparison.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"chosen": ["optimel"]}, "Did you mean 'optimal'"),
        ({"chosen": ["optimal"], "sweep": Sweep("kk", (2,))}, "no method has a parameter 'kk'"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(policy, tmp_path, options, words):
    with pytest.raises(PolicyError, match=words):
        compare(policy, out=tmp_path / "out", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_there_is_not_touched(policy, tmp_path):
    with pytest.raises(OutputError, match="already exists"):
        compare(policy, out=tmp_path)


def test_a_sweep_is_read_and_a_wrong_one_explained():
    assert Sweep.read("h=0.1, 0.2") == Sweep("h", (0.1, 0.2))
    assert Sweep.read("mode=strict,relaxed") == Sweep("mode", ("strict", "relaxed"))
    with pytest.raises(InputError, match="k=2,5,10"):
        Sweep.read("k")


def test_a_run_that_takes_too_long_or_fails_has_a_reason(policy, tmp_path):
    whole = Trial("optimal", YAML(typ="safe").load(POLICY))
    (late,) = run_trials([whole], tmp_path, owned=tmp_path, base=policy.parent, seconds=0.001)
    assert "stopped after" in late.reason
    (wrong,) = run_trials([Trial("optimal", {"data": "patients.csv"})], tmp_path, owned=tmp_path, base=policy.parent)
    assert "is required" in wrong.reason
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_ended_leaves_nothing_of_the_data(policy, tmp_path, monkeypatch):
    def ended(use_case, arguments, **_options):
        release = Path(arguments["out"])
        (release.parent / f".{release.name}.medveil-1" / "internal").mkdir(parents=True)
        return Answer(reason="it was stopped")

    monkeypatch.setattr("medveil.app.compare.run_elsewhere", ended)
    for keep in (False, True):
        run_trials([Trial("optimal", {})], tmp_path, owned=tmp_path, base=policy.parent, keep=keep)
        assert list(tmp_path.iterdir()) == []


def test_under_differential_privacy_epsilon_is_the_protection(tmp_path):
    outcome = ComparedRun(
        "ipa",
        {},
        seconds=1.0,
        memory=2**28,
        program=2**27,
        rows={"published": 10},
        claims=[{"summary": "private", "required": {"epsilon": 0.5}, "achieved": {}}],
        measures={"lm": {"value": 0.5}},
        risks={"prosecutor": {"value": 0.1}},
    )
    write_comparison([outcome], tmp_path, private=True)
    cells = [cell.text for cell in read_page((tmp_path / "comparison.html").read_text()).all("td")]
    assert "epsilon 0.5" in cells
    assert "1 in 10" not in cells


def test_attacks_put_every_method_on_one_scale(compared, tmp_path):
    """Runs under differential privacy have no risk by groups, but attacks can be tried on them like on all others."""
    _, outcomes = compared
    attacked = next(outcome for outcome in outcomes if outcome.name == "optimal")
    assert attacked.risks["record-linkage"]["low"] <= attacked.risks["record-linkage"]["value"]
    private = replace(
        attacked,
        name="ipa",
        claims=[{"summary": "private", "required": {"epsilon": 0.5}, "achieved": {}}],
        risks={"record-linkage": {"value": 0.25, "guesser": 0.125}, "membership": {"reason": "none"}},
    )
    write_comparison([attacked, private], tmp_path, private=False, swept="k")
    page = read_page((tmp_path / "comparison.html").read_text())
    rows = [[cell.text for cell in row.all("td")] for row in page.all("tr")]
    assert [row[1] for row in rows if len(row) == 2].count("0.125") == 1
    assert "in the last picture only" in (tmp_path / "comparison.html").read_text()
