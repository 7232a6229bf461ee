"""Linked tables without a browser: from several files or a FHIR export to a release that is audited and measured."""

import io
import json
import re
import zipfile

import pytest

from medveil.datasets import cohort

TABLES = ("patients", "encounters", "conditions")


@pytest.fixture(scope="module")
def people():
    return cohort(220, seed=11, visits=3, diagnoses=1.5)


@pytest.fixture(scope="module")
def files(people, tmp_path_factory):
    return people.write(tmp_path_factory.mktemp("cohort"))


def together(studio, *paths):
    sent = [("file", (path.name, path.read_bytes())) for path in paths]
    answer = studio.client.post("/upload", files=sent)
    assert answer.status_code == 200, answer.text
    return answer.url.path.split("/")[2]


@pytest.fixture(scope="module")
def project(studio, files):
    made = together(studio, *(files / f"{name}.csv" for name in TABLES))
    told = studio.looked(made)
    assert told["state"] == "done", told["error"]
    assert {table["name"] for table in told["tables"]} == set(TABLES)
    return made


@pytest.fixture(scope="module")
def job(studio, project):
    """A run of the starter policy."""
    studio.client.post(f"/projects/{project}/settings/output", data={"format": "csv"})
    path = studio.run(project)
    ended = studio.ended(path)
    assert ended["state"] == "done", ended["error"]
    return path


def exposure(studio, project):
    return studio.until(lambda: studio.json(f"/projects/{project}/columns")["exposure"], "what columns give away")


def test_columns_of_all_tables_are_shown_and_changed(studio, project):
    before = exposure(studio, project)
    assert before["counted"] == "people"
    listed = {(one["table"], one["name"]): one for one in studio.json(f"/projects/{project}/columns")["columns"]}
    assert listed["conditions", "PATIENT"]["points"] == "patients.Id"
    assert listed["patients", "BIRTHDATE"]["published"] == "age"
    assert listed["patients", "BIRTHDATE"]["leaks"] > listed["patients", "GENDER"]["leaks"] > 0
    assert listed["encounters", "CLASS"]["distinct"] > 1
    page = studio.client.get(f"/projects/{project}/columns").text
    assert "Points to patients.Id" in page
    region, text = listed["patients", "REGION"]["number"], studio.json(f"/projects/{project}/policy")["text"]
    studio.client.post(f"/projects/{project}/columns", data={f"role-{region}": "plain"})
    assert exposure(studio, project)["together"]["unique"] <= before["together"]["unique"]
    told = studio.json(f"/projects/{project}/policy")
    assert told["policy"]["tables"]["patients"]["attributes"]["REGION"]["role"] == "plain"
    assert "# A date of birth" in told["text"], "comments stay"
    # The key of another table is not changed by a form.
    pointer = listed["conditions", "PATIENT"]["number"]
    studio.client.post(f"/projects/{project}/columns", data={f"role-{pointer}": "plain"})
    assert studio.json(f"/projects/{project}/policy")["text"] == told["text"]
    studio.client.post(f"/projects/{project}/policy", data={"text": text})


def test_steps_of_a_derived_column_are_drawn_and_changed(studio, project):
    columns = studio.json(f"/projects/{project}/columns")["columns"]
    number = next(one["number"] for one in columns if one["name"] == "BIRTHDATE")
    path = f"/projects/{project}/columns/{number}"
    found = studio.until(lambda: studio.json(path)["levels"], "the levels")
    assert found["levels"][1]["groups"] < found["levels"][0]["groups"]
    form = {"widths": "10, 20, 40", "domain": ["0", "119"], "top": "90", "missing": "(missing)"}
    assert studio.client.post(f"{path}/intervals", data=form).status_code == 200
    attribute = studio.json(f"/projects/{project}/policy")["policy"]["tables"]["patients"]["attributes"]["BIRTHDATE"]
    assert attribute["hierarchy"]["widths"] == [10, 20, 40]
    assert attribute["derive"]["name"] == "age"


def test_models_and_methods_know_the_tables(studio, project):
    page = studio.client.get(f"/projects/{project}/privacy").text
    assert "It is for one table, and these are several." in page
    studio.client.post(
        f"/projects/{project}/privacy/1/km-anonymity", data={"k": "4", "m": "2", "attribute": "conditions.CODE"}
    )
    model = studio.json(f"/projects/{project}/privacy")["privacy"][1]
    assert (model["k"], model["attribute"]) == (4, "conditions.CODE")
    fits = studio.until(lambda: studio.json(f"/projects/{project}/method")["fits"], "which methods fit")
    assert fits["optimal"] is None
    assert fits["mondrian"] is None
    assert fits["iab"] is not None


def test_a_fault_is_told_at_its_line(studio, project):
    text = studio.json(f"/projects/{project}/policy")["text"]
    wrong = text.replace("PATIENT: patients.Id", "PATIENT: patients.Name", 1)
    answer = studio.client.post(
        f"/projects/{project}/policy", data={"text": wrong}, headers={"accept": "application/json"}
    )
    assert answer.status_code == 422
    assert "is not the key of another table" in answer.json()["faults"][0]["sentence"]
    wrong = text.replace("role: date", "role: day", 1)
    answer = studio.client.post(
        f"/projects/{project}/policy", data={"text": wrong}, headers={"accept": "application/json"}
    )
    (fault,) = answer.json()["faults"]
    assert "role: day" in wrong.splitlines()[fault["line"] - 1]


def test_a_preview_is_of_people(studio, project):
    studio.client.post(f"/projects/{project}/run/preview")
    told = studio.until(
        lambda: (
            (told := studio.json(f"/projects/{project}/run/preview"))["state"] not in {"queued", "running"} and told
        ),
        "the preview",
    )
    assert told["state"] == "done", told["error"]
    assert told["result"]["sampled"] == 220
    assert "Id" in told["result"]["names"]


def test_original_values_are_of_the_table_that_was_asked_for(studio, project):
    shown = studio.client.post(f"/projects/{project}/peek", data={"reason": "to see", "table": "encounters"})
    assert shown.status_code == 200
    assert "CLASS" in re.search(r'<table class="rows">.*?</thead>', shown.text, re.DOTALL)[0]


def test_the_release_is_shown_and_downloaded(studio, job):
    told = studio.json(job)
    assert told["manifest"]["status"].startswith("pseudonymous")
    rows = studio.until(lambda: studio.json(f"{job}/rows").get("tables"), "rows of every table")
    assert {one["table"] for one in rows} == set(TABLES)
    page = studio.client.get(job).text
    assert "Proved, and pseudonymous" in page
    assert "220 people published of 220" in page or "left out" in page
    assert "What no claim covers" in page
    assert "5-anonymity" in page
    with zipfile.ZipFile(io.BytesIO(studio.client.post(f"{job}/download").content)) as archive:
        names = set(archive.namelist())
        assert json.loads(archive.read("release/manifest.json"))["tables"]
    assert {f"release/{name}.csv" for name in TABLES} <= names
    assert not [name for name in names if "internal" in name]
    runs = studio.json(job.partition("/runs/")[0] + "/results")["runs"]
    assert any(job.endswith(run["id"]) and run["figures"]["published"] for run in runs)


def test_the_release_is_audited_and_measured_beside_its_tables(studio, job):
    for tool in ("audit", "measure"):
        answer = studio.client.post(f"/tools/{tool}", data={"release": job.rsplit("/", 1)[1], "quick": "on"})
        told = studio.ended(answer.url.path)
        assert told["state"] == "done", told["error"]
        if tool == "audit":
            assert told["result"]["ok"] is True
        else:
            assert told["result"]["rows"]["original"] == 220
            assert "lm" in told["result"]["measures"]


def test_a_policy_of_one_table_becomes_one_of_several(studio, files):
    """Where the text names other tables, those are looked at."""
    made = studio.uploaded((files / "patients.csv").read_bytes(), "patients.csv")
    studio.looked(made)
    (studio.data / "visits.csv").write_bytes((files / "encounters.csv").read_bytes())
    text = f"""\
tables:
  patients: {{data: data/patients.csv, attributes: {{Id: {{role: key}}, GENDER: {{role: quasi}}}}}}
  visits: {{data: {studio.data}/visits.csv, key: {{PATIENT: patients.Id}}, attributes: {{CLASS: {{role: plain}}}}}}
privacy: [{{model: k-anonymity, k: 2}}]
"""
    assert studio.client.post(f"/projects/{made}/policy", data={"text": text}).status_code == 200
    told = studio.looked(made)
    assert [table["name"] for table in told["tables"]] == ["patients", "visits"]
    listed = {(one["table"], one["name"]): one for one in studio.json(f"/projects/{made}/columns")["columns"]}
    assert listed["visits", "CLASS"]["distinct"] > 1
    assert listed["visits", "START"]["role"] is None


def test_a_folder_of_fhir_is_chosen_on_this_computer(studio, people):
    (studio.data / "export").mkdir()
    people.write_fhir(studio.data / "export")
    entries = studio.json("/here")
    (folder,) = [one["key"] for one in entries["entries"] if one["folder"]]
    answer = studio.client.post(f"/here/{folder}/use")
    told = studio.looked(answer.url.path.split("/")[2])
    assert told["state"] == "done", told["error"]
    assert {table["name"] for table in told["tables"]} >= {"Patient", "Encounter", "Condition"}
    text = studio.json(answer.url.path.replace("/data", "/policy"))["text"]
    assert "output: {format: fhir}" in text


def test_files_are_ticked_on_this_computer(studio, files):
    for name in TABLES[:2]:
        (studio.data / f"{name}.csv").write_bytes((files / f"{name}.csv").read_bytes())
    page = studio.client.get("/here").text
    keys = [re.search(rf'value="(\w+)" form="together"> {name}\.csv', page)[1] for name in TABLES[:2]]
    answer = studio.client.post("/here/together", data={"file": keys})
    told = studio.looked(answer.url.path.split("/")[2])
    assert {table["name"] for table in told["tables"]} == set(TABLES[:2])
    assert studio.client.post("/here/together", data={"file": ["guessed"]}).status_code == 404
    assert studio.client.post("/here/together").status_code == 400


def test_parts_of_one_table_are_one_table(studio, files):
    content = (files / "patients.csv").read_bytes()
    answer = studio.client.post("/upload", files=[("file", (f"{n}.csv", content)) for n in (1, 2)])
    told = studio.looked(answer.url.path.split("/")[2])
    assert (told["state"], told["rows"], told["tables"]) == ("done", 440, [])


@pytest.mark.parametrize(
    ("names", "contents", "reason"),
    [
        (["a.csv", "a.csv"], [b"x\n1\n", b"y\n1\n"], "one name"),
        (["a.csv", "b.csv"], [b"x\n1\n", b""], "empty"),
        ([f"{n}.csv" for n in range(101)], [b"x\n1\n"] * 101, "more than 100 files"),
    ],
)
def test_uploads_that_are_no_tables_are_refused(studio, names, contents, reason):
    before = set((studio.folder / "projects").iterdir())
    answer = studio.client.post("/upload", files=[("file", pair) for pair in zip(names, contents, strict=True)])
    assert answer.status_code == 400
    assert reason in answer.text
    assert set((studio.folder / "projects").iterdir()) == before, "nothing of it is kept"


def test_tables_that_nothing_connects_are_refused_with_the_reason(studio):
    sent = [("file", (f"{name}.csv", f"{name}\n1\n2\n2\n".encode())) for name in "ab"]
    answer = studio.client.post("/upload", files=sent)
    told = studio.looked(answer.url.path.split("/")[2])
    assert told["state"] == "failed"
    assert "No table holds people" in told["error"]["problem"]
