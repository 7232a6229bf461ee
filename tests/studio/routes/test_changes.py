"""Changes that meet: two tabs, an old text, roles that do not fit, and sources of every kind."""

import gzip
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

PRIVATE = """\
data: data/table.csv
attributes: {sex: {role: quasi, domain: [F, M]}}
privacy: [{model: differential-privacy, epsilon: 0.5, budget: 1.0}]
method: {name: dp-histogram}
"""


@pytest.fixture(scope="module")
def project(studio):
    made = studio.uploaded((studio.data / "patients.csv").read_bytes())
    studio.looked(made)
    return made


def test_an_old_text_does_not_replace_what_was_saved_in_the_meantime(studio, project):
    path = f"/projects/{project}/policy"
    opened = studio.json(path)
    studio.client.post(f"/projects/{project}/privacy/0/k-anonymity", data={"k": "9"})
    mine = opened["text"].replace("k: 5", "k: 4")
    answer = studio.client.post(path, data={"text": mine, "number": opened["number"]})
    assert answer.status_code == 409
    assert "changed in the meantime" in answer.text
    assert "k: 9" in answer.text
    assert "k: 4" in answer.text, "what was written is not lost"
    assert studio.json(f"/projects/{project}/privacy")["privacy"][0]["k"] == 9
    # Whoever has seen both may replace it.
    newest = studio.json(path)["number"]
    assert studio.client.post(path, data={"text": mine, "number": newest}).status_code == 200
    assert studio.json(f"/projects/{project}/privacy")["privacy"][0]["k"] == 4


def test_changes_at_the_same_moment_are_all_kept(studio, project):
    columns = studio.json(f"/projects/{project}/columns")["columns"]
    some = [column for column in columns if column["role"] == "quasi"][:4]

    def post(column):
        form = {f"role-{column['number']}": "plain"}
        return studio.client.post(f"/projects/{project}/columns", data=form).status_code

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(post, some)) == {200}
    policy = studio.json(f"/projects/{project}/policy")["policy"]
    assert {policy["attributes"][column["name"]]["role"] for column in some} == {"plain"}


def test_a_role_that_does_not_fit_is_refused_with_the_reason(studio, project):
    before = studio.json(f"/projects/{project}/policy")
    columns = {column["name"]: column["number"] for column in studio.json(f"/projects/{project}/columns")["columns"]}
    text = before["text"].replace("privacy:", "privacy:\n  - {model: l-diversity, l: 2, attribute: disease}", 1)
    assert studio.client.post(f"/projects/{project}/policy", data={"text": text}).status_code == 200
    two = {f"role-{columns['age']}": "subject"}
    refused = studio.client.post(f"/projects/{project}/columns", data=two)
    assert refused.status_code == 422
    assert "only one column can be the subject" in refused.text
    part = studio.client.post(f"/projects/{project}/columns", data=two, headers={"hx-request": "true"})
    assert "only one column can be the subject" in part.text
    dates = {f"role-{columns['age']}": "date"}
    assert studio.client.post(f"/projects/{project}/columns", data=dates).status_code == 200
    told = studio.json(f"/projects/{project}/policy")["policy"]
    assert told["attributes"]["age"]["shift"] == {"days": 183}
    studio.client.post(f"/projects/{project}/policy", data={"text": before["text"]})


def test_a_file_without_names_is_read_as_it_is_said(studio):
    lines = "\n".join(f"{n % 60 + 20},{'FM'[n % 2]},?" for n in range(80))
    made = studio.uploaded(lines.encode(), "headless.data")
    told = studio.looked(made)
    assert told["state"] == "failed"
    assert "Then read it again" in studio.client.get(f"/projects/{made}/data").text
    form = {"columns": "age\nsex\nincome", "missing": "?"}
    studio.client.post(f"/projects/{made}/data/read", data={**form, "missing": ""})
    assert studio.looked(made)["missing_words"] == {"?": ["income"]}
    assert "<code>?</code> (income)" in studio.client.get(f"/projects/{made}/data").text
    studio.client.post(f"/projects/{made}/data/read", data=form)
    assert studio.looked(made)["missing_words"] == {}
    assert studio.looked(made)["columns"] == 3
    listed = studio.json(f"/projects/{made}/columns")["columns"]
    assert [column["name"] for column in listed] == ["age", "sex", "income"]
    assert listed[2]["missing"] == 80
    # Nothing but the data themselves is a reason to look at them again.
    studio.client.post(f"/projects/{made}/privacy/0/k-anonymity", data={"k": "3"})
    assert studio.json(f"/projects/{made}/data")["state"] == "done"
    studio.client.post(f"/projects/{made}/data/read", data={**form, "columns": "years\nsex\nincome"})
    assert studio.looked(made)["state"] == "done"
    assert studio.json(f"/projects/{made}/columns")["columns"][0]["name"] == "years"


def test_what_spends_is_started_again_only_by_the_page_that_shows_the_budget(studio, project):
    assert studio.client.post(f"/projects/{project}/policy", data={"text": PRIVATE}).status_code == 200
    job = studio.run(project, spend="on")
    studio.client.post(f"{job}/cancel")
    studio.ended(job)
    again = studio.client.post(f"{job}/again")
    assert again.url.path == f"/projects/{project}/run"
    assert len(studio.json(f"/projects/{project}/results")["runs"]) == 1


def described(studio, kind, **form):
    answer = studio.client.post(f"/source/{kind}/look", data=form)
    assert answer.status_code == 200, answer.text
    return studio.looked(str(answer.url).split("/projects/")[1].split("/")[0])


def test_every_source_of_the_command_line_is_offered(studio):
    page = studio.client.get("/source").text
    for kind in ("csv", "parquet", "json-lines", "excel", "statistics", "fhir", "sql"):
        assert f"/source/{kind}" in page


def test_fhir_and_json_lines_are_read(studio):
    people = [
        {"resourceType": "Patient", "id": str(n), "gender": "female", "birthDate": f"19{n % 90 + 10}-01-02"}
        for n in range(40)
    ]
    (studio.data / "export").mkdir(exist_ok=True)
    lines = "\n".join(map(json.dumps, people))
    (studio.data / "export" / "Patient.ndjson.gz").write_bytes(gzip.compress(lines.encode()))
    told = described(studio, "fhir", path="export", view="Patient")
    assert (told["state"], told["rows"]) == ("done", 40)
    (studio.data / "people.ndjson").write_text("\n".join(json.dumps({"age": n, "sex": "FM"[n % 2]}) for n in range(30)))
    told = described(studio, "json-lines", path="people.ndjson")
    assert (told["state"], told["rows"]) == ("done", 30)


def test_a_database_is_read_by_its_name(start, tmp_path):
    pytest.importorskip("adbc_driver_sqlite", reason="databases need the extra 'databases'")
    for name in ("folder", "data", "state"):
        (tmp_path / name).mkdir()
    with sqlite3.connect(tmp_path / "hospital.db") as database:
        database.execute("CREATE TABLE visits (patient TEXT, age INTEGER, sex TEXT)")
        database.executemany("INSERT INTO visits VALUES (?, ?, ?)", [(f"p{n}", n % 80, "FM"[n % 2]) for n in range(90)])
    database.close()
    address = {"MEDVEIL_CONNECTION_HOSPITAL": f"sqlite:///{tmp_path / 'hospital.db'}"}
    studio = start(tmp_path / "folder", tmp_path / "data", tmp_path / "state", environment=address)
    try:
        told = described(studio, "sql", connection="hospital", query="SELECT * FROM visits;")
        assert (told["state"], told["rows"], told["columns"]) == ("done", 90, 3)
    finally:
        studio.stop()
