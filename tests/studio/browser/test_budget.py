"""Differential privacy in the browser: the budget is shown before it is spent, and one that is exhausted refuses."""

import pytest

POLICY = """\
data: data/patients.csv
attributes:
  sex: {role: quasi, domain: [F, M]}
  age: {role: quasi, hierarchy: {type: intervals, domain: [0, 119], widths: [10, 40]}}
  surgery: {role: sensitive, domain: ["yes", "no"]}
privacy:
  - {model: differential-privacy, epsilon: 0.6, budget: 1.0}
method: {name: dp-histogram}
"""


@pytest.fixture(scope="module")
def project(studio):
    made = studio.uploaded((studio.data / "patients.csv").read_bytes(), "patients.csv")
    studio.looked(made)
    answer = studio.client.post(f"/projects/{made}/policy", data={"text": POLICY})
    assert answer.status_code == 200, answer.text
    return made


def test_a_budget_is_spent_once_and_then_refuses(tab, project):
    pytest.importorskip("opendp", reason="differential privacy needs the extra 'dp'")
    page = tab.go(f"/projects/{project}/run").page
    tab.wait("text=This run spends 0.6 of a budget of 1; 1 is left before it.")
    tab.looks_right("run-private")
    # Nothing starts before it is said that it spends.
    assert tab.studio.client.post(f"/projects/{project}/run", follow_redirects=False).status_code == 422
    page.get_by_label("I know that this spends 0.6, for good.").check()
    tab.press("Start the run").wait(".verdict")
    tab.go(f"/projects/{project}/run").wait("text=0.4 is left before it")
    assert "That is more than is left" in page.inner_text("form.run")
    page.get_by_label("I know that this spends 0.6, for good.").check()
    tab.press("Start the run").wait(".state-failed")
    assert "budget" in page.inner_text(".refusal").lower()
    tab.go(f"/tools/budget/{project}").wait("table")
    assert page.locator("tbody tr").count() == 1
    tab.looks_right("budget")


def test_a_preview_never_looks_at_the_data(tab, project):
    tab.go(f"/projects/{project}/run").press("Preview").wait(".mark-preview")
    assert "made-up records" in tab.page.inner_text("#preview")
    assert tab.studio.json(f"/projects/{project}/run/preview")["result"]["of"] is None
