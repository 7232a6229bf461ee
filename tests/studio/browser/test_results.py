"""What comes after a run: advice with one click, follow-ups, methods compared, and the tools' results."""

import io
import re
import zipfile

import pytest

COARSE = """\
data: data/patients.csv
attributes:
  patient_id: {role: subject}
  age: {role: quasi, type: number, hierarchy: {type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}
  sex: {role: quasi}
  region: {role: quasi}
  length_of_stay: {role: quasi, type: number}
  disease: {role: sensitive}
privacy: [{model: k-anonymity, k: 5}]
method: {name: optimal, suppression: 0.0}
output: {report: false}
"""
COUNTERFEIT = """\
data: data/patients.csv
attributes:
  age: {role: quasi, type: number, hierarchy: {type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}
  sex: {role: quasi}
  region: {role: quasi}
  disease: {role: sensitive}
privacy: [{model: k-anonymity, k: 3}]
method: {name: h-ceiling, h: 0.6, max_counterfeits: 0.9}
output: {report: false}
"""


def project_of(studio, text):
    made = studio.uploaded((studio.data / "patients.csv").read_bytes(), "patients.csv")
    studio.looked(made)
    answer = studio.client.post(f"/projects/{made}/policy", data={"text": text})
    assert answer.status_code == 200, answer.text
    return made


@pytest.fixture(scope="module")
def coarse(studio):
    """A run whose release is of little use, so that it comes with advice."""
    made = project_of(studio, COARSE)
    path = studio.run(made)
    ended = studio.ended(path)
    assert ended["state"] == "done", ended["error"]
    return path


def test_advice_is_tried_with_one_click_and_the_two_runs_are_compared(tab, studio, coarse):
    project = coarse.partition("/runs/")[0]
    page = tab.go(coarse).page
    advice = page.locator("section[aria-labelledby=advice-title]")
    assert "What should I change?" in advice.inner_text()
    tab.looks_right("result-advice")
    before = studio.json(f"{project}/policy")["number"]
    advice.get_by_role("button").first.click()
    page.wait_for_url(re.compile(r"/runs/(?!" + coarse.rsplit("/", 1)[1] + ")"))
    tab.wait(".verdict.good")
    follow = page.url
    assert studio.json(f"{project}/policy")["number"] == before + 1
    history = studio.json(f"{project}/results")["runs"]
    assert [run["state"] for run in history] == ["done", "done"]
    new, old = (run["figures"] for run in history)
    assert new["loss"] < old["loss"], "the advice keeps more, as it said"
    tab.go(f"{project}/results")
    for box in page.locator("tbody input[type=checkbox]").all():
        box.check()
    tab.press("Compare what is ticked").wait("figure.scatter")
    assert page.locator("circle.point").count() == 2
    tab.looks_right("results-compared")
    # A run that nobody needs any more is deleted with its files.
    page.goto(follow)
    tab.press("Delete this run").wait("table")
    assert len(studio.json(f"{project}/results")["runs"]) == 1


def test_all_methods_are_compared_and_one_is_taken(tab, studio, coarse):
    project = coarse.partition("/runs/")[0]
    page = tab.go(f"{project}/run").page
    tab.press("Compare all methods").wait(".stages")
    tab.wait("text=Comparing").looks_right("running")
    tab.wait("figure.scatter")
    assert "Did not run" in page.inner_text("main"), "what does not fit says why"
    assert "Mondrian" in page.inner_text("table")
    tab.looks_right("comparison")
    page.get_by_text("The whole comparison").click()
    assert page.frame_locator("details[open] iframe").locator("h1").first.inner_text()
    tab.press("Use Mondrian").wait(".notice")
    assert studio.json(f"{project}/policy")["policy"]["method"]["name"] == "mondrian"


def test_a_release_is_measured_again(tab, coarse):
    page = tab.go("/tools/measure").page
    page.select_option("#release", value=coarse.rsplit("/", 1)[1])
    tab.press("Start").wait("text=What it is still good for")
    assert "Detail lost (LM)" in page.inner_text("main")
    tab.looks_right("measure-result")


def test_a_table_that_medveil_did_not_make_is_measured(tab):
    page = tab.go("/tools/measure").page
    page.fill("#folder", "patients.csv")
    tab.press("Start").wait("text=What it reaches")
    assert "k-anonymity" in page.inner_text("main")
    tab.looks_right("measure-table")


def test_a_truthful_table_is_made_of_a_release_with_counterfeits(tab, studio):
    path = studio.run(project_of(studio, COUNTERFEIT))
    ended = studio.ended(path)
    assert ended["state"] == "done", ended["error"]
    assert ended["manifest"]["rows"]["counterfeit"] > 0
    page = tab.go("/tools/truthful").page
    page.select_option("#release", value=path.rsplit("/", 1)[1])
    tab.press("Start").wait("text=of which every one is real")
    tab.looks_right("truthful-result")
    with page.expect_download() as downloading:
        tab.press("Download the table")
    lines = downloading.value.path().read_text().splitlines()
    with zipfile.ZipFile(io.BytesIO(studio.client.post(f"{path}/download").content)) as archive:
        released = archive.read("release/release.csv").decode().splitlines()
    assert 1 < len(lines) < len(released)


def test_a_release_without_a_catalog_has_no_truthful_table(tab, coarse):
    page = tab.go("/tools/truthful").page
    page.select_option("#release", value=coarse.rsplit("/", 1)[1])
    tab.press("Start").wait(".refusal")
    assert "catalog" in page.inner_text(".refusal")
    tab.looks_right("tool-refused")
