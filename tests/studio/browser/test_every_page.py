"""Every page in a real browser: what it says, that axe finds nothing, and that it fits three widths."""

import re

import pytest


@pytest.fixture(scope="module")
def project(studio):
    """A project with a release, made without the browser."""
    made = studio.uploaded((studio.data / "patients.csv").read_bytes(), "patients.csv")
    studio.looked(made)
    studio.client.post(
        f"/projects/{made}/settings/evaluation", data={"attacks": "on", "workload": "50", "targets": "50"}
    )
    return made


@pytest.fixture(scope="module")
def run(studio, project):
    path = studio.run(project)
    assert studio.ended(path)["state"] == "done"
    studio.until(lambda: studio.json(f"{path}/rows").get("tables"), "the rows")
    return path


@pytest.mark.parametrize(
    ("name", "path"),
    [("here", "/here"), ("source", "/source"), ("tools", "/tools"), ("log", "/log"), ("help", "/help")]
    + [(tool, f"/tools/{tool}") for tool in ("audit", "measure", "truthful")],
)
def test_pages_without_a_project(tab, name, path):
    tab.go(path).looks_right(name)


def test_the_first_page(tab, project):
    tab.go("/").looks_right("home")


@pytest.mark.parametrize(
    ("name", "path", "ready"),
    [
        ("data", "data", "dl.facts"),
        ("columns", "columns", "#exposure .bar"),
        ("column", "columns/1", ".levels .label"),
        ("cuts", "columns/1/intervals", ".levels .label"),
        ("privacy", "privacy", "ul.cards"),
        ("privacy-form", "privacy/add/l-diversity", "form.form"),
        ("method", "method", ".grey .reason"),
        ("policy", "policy", "textarea.code"),
        ("run", "run", "form.run"),
    ],
)
def test_the_steps_of_a_project(tab, project, name, path, ready):
    tab.go(f"/projects/{project}/{path}").wait(ready).looks_right(name)


def test_the_leak_of_each_column_appears_without_a_reload(tab, project):
    tab.go(f"/projects/{project}/columns").wait("td.leak .bar")
    assert tab.page.locator("td.leak .bar").count() >= 5


def test_a_result_and_the_history(tab, run):
    tab.go(run).wait("table.rows")
    assert "Ready to be handed over" in tab.page.inner_text("main")
    tab.looks_right("result")
    tab.go(re.sub(r"/runs/.*", "/results", run)).looks_right("results")


def test_a_result_is_printed_whole_and_without_buttons(tab, run):
    page = tab.go(run).wait("table.rows").page
    page.set_viewport_size({"width": 794, "height": 1123})  # A4
    page.emulate_media(media="print")
    assert not [button for button in page.locator("button, .button, nav").all() if button.is_visible()]
    for what in ("What holds", "What it gives away of who somebody is", "20 published rows"):
        assert page.get_by_role("heading", name=what).is_visible()
    cut = "[...document.querySelectorAll('.scroll')].filter(one => one.scrollHeight > one.clientHeight + 1).length"
    assert page.evaluate(cut) == 0, "nothing has to be scrolled on paper"
    assert page.pdf().startswith(b"%PDF")


def test_reports_are_shown_in_a_sandbox(tab, run):
    tab.go(run)
    tab.page.get_by_text("The report for recipients").click()
    frame = tab.page.frame_locator("details[open] iframe")
    assert frame.locator("h1").first.inner_text()
    assert tab.page.locator("details[open] iframe").get_attribute("sandbox") == ""


def test_an_audit_from_the_list(tab, run):
    tab.go("/tools/audit")
    tab.page.select_option("#release", index=1)
    tab.press("Start").wait(".verdict")
    assert "Every claim is proved" in tab.page.inner_text("main")
    tab.looks_right("audit-result")


def test_a_wrong_policy_is_told_at_its_lines(tab, project):
    tab.go(f"/projects/{project}/policy")
    text = tab.page.input_value("#text")
    tab.page.fill("#text", text.replace("k: 5", "k: many"))
    tab.press("Save the text").wait(".faults")
    tab.known += [fault for fault in tab.faults if "422" in fault]
    tab.page.wait_for_function("document.activeElement.className == 'faults'")
    assert "k: many" in tab.page.inner_text(".wrong")
    tab.looks_right("policy-faults")
    tab.page.fill("#text", text)
    tab.press("Save the text").wait(".notice")


def test_an_error_page(tab):
    tab.go("/nothing").looks_right("error")
    tab.known += tab.faults


def test_two_tabs_do_not_lose_what_the_other_changed(tab, project):
    """Forms change the policy as it stands when they are sent, not as it stood when they were opened."""
    first, second = tab.page, tab.open()
    first.goto(f"{tab.studio.base}/projects/{project}/privacy/0")
    second.goto(f"{tab.studio.base}/projects/{project}/method")
    first.fill("#f-k", "4")
    first.get_by_role("button", name="Save").first.click()
    first.wait_for_selector(".notice")
    second.fill("#f-suppression", "5")
    second.get_by_role("button", name="Save the settings").click()
    second.wait_for_selector(".notice")
    policy = tab.studio.json(f"/projects/{project}/policy")["policy"]
    assert policy["privacy"][0]["k"] == 4
    assert policy["method"]["suppression"] == 0.05


def test_a_preview_stands_beside_what_is_edited(tab, project):
    tab.go(f"/projects/{project}/privacy").press("Preview").wait("aside .mark-preview")
    assert "not for publication" in tab.page.inner_text("aside")
    assert tab.page.url.endswith("/privacy")
    tab.looks_right("privacy-preview")
