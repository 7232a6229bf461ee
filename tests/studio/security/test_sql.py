"""SQL where names, paths, levels and filters stand: it stays a name, and nothing is dropped, read or joined."""

import pytest

HOSTILE = [
    'age"; DROP TABLE cells; --',
    "sex' OR '1'='1",
    "x) FROM read_text('/etc/passwd') --",
    "${SELECT 1}",
    "a\\';--",
]


@pytest.fixture(scope="module")
def project(studio):
    header = ",".join('"' + name.replace('"', '""') + '"' for name in HOSTILE)
    rows = "\n".join(",".join(str((row * (n + 2)) % 5) for n in range(len(HOSTILE))) for row in range(200))
    made = studio.uploaded(f"{header}\n{rows}\n".encode(), "t'; DROP TABLE project; --.csv")
    assert studio.looked(made)["columns"] == len(HOSTILE)
    return made


def test_names_of_columns_stay_names(studio, project):
    roles = {f"role-{number}": "quasi" if number < 3 else "plain" for number in range(len(HOSTILE))}
    assert studio.client.post(f"/projects/{project}/columns", data=roles).status_code == 200
    found = studio.until(lambda: studio.json(f"/projects/{project}/columns")["exposure"], "the exposure")
    assert found["together"]["unique"] >= 0
    ended = studio.ended(studio.run(project))
    assert ended["state"] == "done", ended["error"]
    assert {one["name"] for one in ended["manifest"]["attributes"]} == set(HOSTILE)


@pytest.mark.parametrize("text", ["x'; DROP TABLE project; --", '"; DELETE FROM job; --', "%' OR 1=1 --"])
def test_what_is_typed_is_kept_as_it_is(studio, project, text):
    studio.client.post(f"/projects/{project}/rename", data={"title": text})
    assert studio.json(f"/projects/{project}/data")["title"] == text
    studio.client.post(f"/projects/{project}/peek", data={"reason": text})
    assert text in [entry["detail"] for entry in studio.json("/log")["entries"]]


def test_a_setting_that_is_varied_is_one_that_there_is(studio, project):
    sweep = "__class__=1); DROP TABLE project; --"
    answer = studio.client.post(f"/projects/{project}/run/compare", data={"sweep": sweep})
    ended = studio.ended(answer.url.path)
    assert ended["state"] == "failed"
    assert ended["error"]["kind"] != "fault", ended["error"]


def test_runs_that_are_chosen_by_sql_are_none(studio, project):
    answer = studio.client.get(f"/projects/{project}/results", params={"run": "' OR 1=1 --"})
    assert answer.status_code == 200
