"""Values that nobody could mistake are planted in every cell, and searched for in every page, address, log and file."""

import re

import pytest

CANARY = "zqxcanary"


@pytest.fixture(scope="module")
def project(studio):
    rows = [f"{CANARY}id{n},{n % 40 + 20},{'FM'[n % 2]},{CANARY}{n % 3}" for n in range(300)]
    made = studio.uploaded(("patient_id,age,sex,disease\n" + "\n".join(rows) + "\n").encode(), "table.csv")
    assert studio.looked(made)["state"] == "done"
    return made


def crawl(studio, project):
    """Every page that links lead to from the first one, without those of other projects."""
    seen, queue, pages = set(), ["/", f"/projects/{project}/data"], {}
    while queue:
        path = queue.pop()
        if path in seen or "/download" in path:
            continue
        seen.add(path)
        answer = studio.client.get(path)
        pages[path] = answer.text
        if "text/html" in answer.headers.get("content-type", ""):
            found = re.findall(r'(?:href|src|hx-get|action)="(/[^"#?]*)', answer.text)
            queue += [link for link in found if not link.startswith("/projects/") or project in link]
    return pages


def test_no_page_shows_a_value_before_a_release_does(studio, project):
    studio.until(lambda: studio.json(f"/projects/{project}/columns")["exposure"], "the exposure")
    pages = crawl(studio, project)
    assert len(pages) > 25
    assert not [path for path, text in pages.items() if CANARY in text.lower()]


def test_no_page_of_linked_tables_shows_a_value(studio):
    people = "".join(f"{CANARY}id{n},{CANARY}{n % 3}\n" for n in range(60))
    visits = "".join(f"{CANARY}id{n % 60},{CANARY}{n % 5}\n" for n in range(200))
    sent = [("people.csv", f"id,region\n{people}"), ("visits.csv", f"patient,code\n{visits}")]
    answer = studio.client.post("/upload", files=[("file", (name, text.encode())) for name, text in sent])
    made = answer.url.path.split("/")[2]
    assert studio.looked(made)["state"] == "done"
    studio.until(lambda: studio.json(f"/projects/{made}/columns")["exposure"], "the exposure")
    pages = crawl(studio, made)
    assert f"/projects/{made}/columns/1" in pages
    assert not [path for path, text in pages.items() if CANARY in text.lower()]


def test_no_database_and_no_log_holds_one_even_after_a_peek(studio, project):
    shown = studio.client.post(f"/projects/{project}/peek", data={"reason": "a test"})
    assert CANARY in shown.text, "a peek shows them, once"
    for path in studio.folder.rglob("*"):
        if path.is_file() and "data" not in path.relative_to(studio.folder).parts:
            assert CANARY.encode() not in path.read_bytes(), path.name


def test_no_identifier_and_no_title_holds_one_after_a_run(studio, project):
    job = studio.run(project)
    assert studio.ended(job)["state"] == "done"
    page = studio.client.get(job).text
    assert f"{CANARY}id" not in page
    assert CANARY not in re.search(r"<title>.*</title>", page)[0]
    assert CANARY not in job


def test_a_refusal_names_no_value(studio):
    rows = "\n".join(f"{CANARY}{n},{CANARY} likes long words and many of them {n}" for n in range(200))
    made = studio.uploaded(f"name,remarks\n{rows}\n".encode())
    studio.looked(made)
    text = "data: data/table.csv\nattributes: {name: {role: quasi, hierarchy: {type: intervals, widths: [5]}}}\n"
    text += "privacy: [{model: k-anonymity, k: 900}]\n"
    assert studio.client.post(f"/projects/{made}/policy", data={"text": text}).status_code == 200
    ended = studio.ended(studio.run(made))
    assert ended["state"] == "failed"
    assert CANARY not in str(ended).lower()
