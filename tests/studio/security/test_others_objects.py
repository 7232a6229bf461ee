"""Objects of another project, and such as are not there: the same answer, which tells nothing."""

import pytest


@pytest.fixture(scope="module")
def two(studio):
    made = [studio.uploaded((studio.data / "patients.csv").read_bytes()) for _ in range(2)]
    for project in made:
        studio.looked(project)
    return made


def test_a_run_of_another_project_is_not_there(studio, two):
    job = studio.run(two[0]).rsplit("/", 1)[1]
    studio.ended(f"/projects/{two[0]}/runs/{job}")
    for path in ("", "/events", "/rows", "/policy.yaml", "/report/steward", "/report/recipient"):
        assert studio.client.get(f"/projects/{two[1]}/runs/{job}{path}").status_code == 404
    for path in ("cancel", "again", "delete", "download", "advice/0"):
        assert studio.client.post(f"/projects/{two[1]}/runs/{job}/{path}").status_code == 404
    assert studio.client.get(f"/projects/{two[0]}/runs/{job}").status_code == 200


@pytest.mark.parametrize("path", ["data", "columns", "privacy", "method", "run", "results", "policy", "columns/0"])
def test_a_project_that_is_not_there(studio, path):
    for name in ("0" * 32, "x", "%00", "' OR 1=1 --"):
        assert studio.client.get(f"/projects/{name}/{path}").status_code == 404


@pytest.mark.parametrize(
    "path", ["columns/999999", "privacy/99", "privacy/add/none", "settings/none", "columns/0/none", "method/none/use"]
)
def test_a_part_that_is_not_there(studio, two, path):
    assert studio.client.get(f"/projects/{two[0]}/{path}").status_code in {404, 405}
    assert studio.client.post(f"/projects/{two[0]}/{path}", data={}).status_code in {404, 405}
