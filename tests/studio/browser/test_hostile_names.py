"""Names of columns that want to be more: script, templates, endless, emoji, and written from right to left."""

import pytest

NAMES = [
    "<script>alert(1)</script>",
    "{{7*7}}",
    "x" * 10_000,
    "age 👵🏽",
    "\u202eegnahc\u202c עברית",
    "\"'><img src=x onerror=alert(2)>",
    "count",
    "../../etc/passwd",
    "=cmd|' /C calc'!A0",
]


@pytest.fixture(scope="module")
def project(studio):
    lines = [",".join('"' + name.replace('"', '""') + '"' for name in NAMES)]
    lines += [",".join(f"{(row * (column + 3)) % 7}" for column in range(len(NAMES))) for row in range(300)]
    made = studio.uploaded("\n".join(lines).encode(), "<img src=x onerror=alert(3)>.csv")
    assert studio.looked(made)["columns"] == len(NAMES)
    return made


@pytest.mark.parametrize("step", ["data", "columns", "columns/0", "columns/2", "privacy", "method", "policy", "run"])
def test_every_page_shows_them_as_text(tab, project, step):
    page = tab.go(f"/projects/{project}/{step}").page
    page.wait_for_load_state("networkidle")
    assert page.locator("main script, main img").count() == 0
    beyond = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert beyond <= 0
    assert "\u202e" not in page.title()


def test_they_are_shown_as_they_are(tab, project):
    tab.go(f"/projects/{project}/columns").wait("#exposure .bar")
    told = tab.page.inner_text("table.columns")
    assert "<script>alert(1)</script>" in told
    assert "{{7*7}}" in told
    assert "49" not in told.split("{{7*7}}")[0]


def test_a_release_of_them_is_made_and_shown(tab, studio, project):
    columns = studio.json(f"/projects/{project}/columns")["columns"]
    roles = {f"role-{column['number']}": "quasi" if column["number"] < 2 else "plain" for column in columns}
    studio.client.post(f"/projects/{project}/columns", data=roles)
    for column in columns[2:]:
        assert column["name"] in studio.json(f"/projects/{project}/policy")["policy"]["attributes"]
    page = tab.go(f"/projects/{project}/run").page
    page.get_by_role("button", name="Start the run").click()
    tab.wait(".verdict, .refusal")
    assert page.locator("main script, main img").count() == 0


LABEL = "<script>alert(4)</script>{{7*7}}"


def test_titles_comments_labels_and_reasons_are_text_even_without_the_policy_of_the_browser(open_tab, studio, project):
    """Escaping must not rest on the content security policy: it is switched off here."""
    first = studio.json(f"/projects/{project}/columns")["columns"][6]["name"]
    text = (
        f"# {LABEL}\ndata: 'data/{(studio.folder / 'projects' / project / 'data').iterdir().__next__().name}'\n"
        f"attributes:\n  {first}: {{role: quasi, type: number, "
        f"hierarchy: {{type: intervals, domain: [0, 9], cuts: [[3]], missing: '{LABEL}'}}}}\n"
        "privacy: [{model: k-anonymity, k: 2}]\n"
    )
    studio.client.post(f"/projects/{project}/rename", data={"title": LABEL})
    studio.client.post(f"/projects/{project}/peek", data={"reason": LABEL})
    assert studio.client.post(f"/projects/{project}/policy", data={"text": text}).status_code == 200
    tab = open_tab(bypass_csp=True)
    for path in (
        "/",
        "/log",
        "/tools/audit",
        *(f"/projects/{project}/{step}" for step in ("data", "columns/6", "run")),
    ):
        page = tab.go(path).page
        page.wait_for_load_state("networkidle")
        assert page.locator("main script, main img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert "{{7*7}}" in tab.go("/").page.inner_text("main")
    tab.go(f"/projects/{project}/policy")
    assert LABEL in tab.page.input_value("#text")
