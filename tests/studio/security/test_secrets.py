"""The password of a database: in no page, no message, no file of the studio and no list of processes."""

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def project(studio):
    """A look at a database where nobody answers."""
    pytest.importorskip("adbc_driver_postgresql", reason="databases need the extra 'databases'")
    answer = studio.client.post("/source/sql/look", data={"connection": "hospital", "query": "SELECT * FROM patients"})
    made = str(answer.url).split("/projects/")[1].split("/")[0]
    told = studio.looked(made)
    assert told["state"] == "failed"
    assert told["error"]["kind"] != "fault", told["error"]
    return made


def test_it_is_on_no_page(studio, project, secret):
    for path in (f"/projects/{project}/data", "/", "/log", "/help", "/source/sql"):
        assert secret not in studio.client.get(path).text
        assert secret not in str(studio.json(path))


def test_it_is_in_no_file(studio, project, secret):
    del project
    for path in studio.folder.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path.name


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are looked at in /proc")
def test_it_is_in_no_list_of_processes(studio, project, secret):
    del studio, project
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert secret.encode() not in entry.read_bytes()
        except OSError:
            continue


def test_a_database_that_nobody_named_is_not_there(studio):
    answer = studio.client.post("/source/sql/look", data={"connection": "payroll", "query": "SELECT 1"})
    told = studio.looked(str(answer.url).split("/projects/")[1].split("/")[0])
    assert "no connection called 'payroll'" in told["error"]["problem"]
