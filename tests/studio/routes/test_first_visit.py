"""From the first visit to a downloaded release without a browser, and what JSON says on the way."""

import io
import json
import zipfile

import pytest


@pytest.fixture(scope="module")
def project(studio):
    made = studio.generated()
    assert studio.looked(made)["rows"] == 10_000
    return made


@pytest.fixture(scope="module")
def job(studio, project):
    """A run of the starter policy, as it came out of the first look."""
    path = studio.run(project)
    ended = studio.ended(path)
    assert ended["state"] == "done", ended
    return path


def test_the_columns_say_what_they_give_away(studio, project):
    found = studio.until(
        lambda: (told := studio.json(f"/projects/{project}/columns"))["exposure"] and told, "what columns give away"
    )
    roles = {column["name"]: column["role"] for column in found["columns"]}
    assert roles["patient_id"] == "subject"
    assert roles["disease"] == "sensitive"
    assert 0 < found["exposure"]["together"]["unique"] <= 1
    assert all(0 <= column["leaks"] <= 1 for column in found["columns"] if column["role"] != "subject")


def test_the_share_of_unique_people_changes_with_a_role(studio, project):
    def unique():
        found = studio.until(lambda: studio.json(f"/projects/{project}/columns")["exposure"], "the exposure")
        return found["together"]["unique"]

    before = unique()
    columns = studio.json(f"/projects/{project}/columns")["columns"]
    age = next(column["number"] for column in columns if column["name"] == "age")
    studio.client.post(f"/projects/{project}/columns", data={f"role-{age}": "plain"})
    less = unique()
    studio.client.post(f"/projects/{project}/columns", data={f"role-{age}": "quasi"})
    assert less < before
    assert unique() == before


def test_a_release_is_made_and_its_download_holds_nothing_of_the_original(studio, job):
    told = studio.json(job)
    assert told["manifest"]["status"] == "for publication"
    assert [stage for stage, _ in told["stages"]][:3] == ["read", "count", "search"]
    answer = studio.client.post(f"{job}/download")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
        listed = json.loads(archive.read("release/manifest.json"))["files"]
    assert names == {"release/manifest.json", *(f"release/{name}" for name in listed)}
    assert not [name for name in names if "internal" in name]


def test_the_rows_and_the_reports_are_shown(studio, job):
    studio.until(lambda: studio.json(f"{job}/rows").get("tables"), "20 published rows")
    page = studio.client.get(job).text
    assert "Ready to be handed over" in page
    steward = studio.client.get(f"{job}/report/steward")
    assert steward.status_code == 200
    assert "sandbox" in steward.headers["content-security-policy"]


def test_the_run_is_in_the_history(studio, project, job):
    runs = studio.json(f"/projects/{project}/results")["runs"]
    assert any(job.endswith(run["id"]) and run["figures"]["risk"] <= 0.2 for run in runs)


def test_a_wrong_policy_is_refused_at_its_lines_and_the_right_one_stays(studio, project):
    before = studio.json(f"/projects/{project}/policy")
    wrong = before["text"].replace("k: 5", "k: many")
    answer = studio.client.post(
        f"/projects/{project}/policy", data={"text": wrong}, headers={"accept": "application/json"}
    )
    assert answer.status_code == 422
    (fault,) = answer.json()["faults"]
    assert wrong.splitlines()[fault["line"] - 1].strip().startswith("- {model: k-anonymity")
    assert studio.json(f"/projects/{project}/policy") == before
    broken = studio.client.post(f"/projects/{project}/policy", data={"text": "a: [1"})
    assert broken.status_code == 422
    assert "Line 1" in broken.text


def test_forms_change_the_text_and_the_text_changes_forms(studio, project):
    path = f"/projects/{project}"
    comment = next(line for line in studio.json(f"{path}/policy")["text"].splitlines() if "suggests an age" in line)
    studio.client.post(f"{path}/privacy/0/k-anonymity", data={"k": "7"})
    text = studio.json(f"{path}/policy")["text"]
    assert "k: 7" in text
    assert comment in text
    studio.client.post(f"{path}/policy", data={"text": text.replace("k: 7", "k: 5")})
    assert studio.json(f"{path}/privacy")["privacy"][0]["k"] == 5


def test_methods_that_do_not_fit_say_why(studio, project):
    fits = studio.until(lambda: studio.json(f"/projects/{project}/method")["fits"], "which methods fit")
    assert fits["optimal"] is None
    assert "differential-privacy" in fits["ipa"]
    assert "which must be the only model" in studio.client.get(f"/projects/{project}/method").text


def test_a_preview_is_marked_as_one(studio, project):
    studio.client.post(f"/projects/{project}/run/preview")
    found = studio.until(
        lambda: (told := studio.json(f"/projects/{project}/run/preview"))["state"] == "done" and told["result"],
        "the preview",
    )
    assert found["generated"] is False
    assert found["sampled"] == 2000
    assert "not for publication" in studio.client.get(f"/projects/{project}/run").text


def test_a_peek_needs_a_reason_and_is_logged(studio, project):
    refused = studio.client.post(f"/projects/{project}/peek", data={"reason": " "})
    assert refused.status_code == 422
    shown = studio.client.post(f"/projects/{project}/peek", data={"reason": "to check the dates"})
    assert shown.text.count("<tr>") >= 21
    entries = studio.json("/log")["entries"]
    assert [entry["detail"] for entry in entries if entry["action"] == "peek"] == ["to check the dates"]


def test_an_audit_proves_the_release_again(studio, job):
    answer = studio.client.post("/tools/audit", data={"release": job.rsplit("/", 1)[1]})
    told = studio.ended(answer.url.path)
    assert told["result"]["ok"] is True


def test_a_project_is_deleted_with_all_its_files(studio):
    made = studio.uploaded(b"age,sex\n1,F\n2,M\n3,F\n")
    studio.looked(made)
    kept = studio.client.post(f"/projects/{made}/delete")
    assert kept.status_code == 200
    assert (studio.folder / "projects" / made).is_dir()
    studio.client.post(f"/projects/{made}/delete", data={"sure": "on"})
    assert not (studio.folder / "projects" / made).exists()
    assert studio.client.get(f"/projects/{made}/data").status_code == 404
