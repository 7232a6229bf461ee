"""Paths that lead out: in names of uploads, in policies, in what can be chosen, and in addresses."""

import io
import zipfile

import pytest

from medveil.studio.security.uploads import safe_name

NAMES = [
    "../../../../tmp/evil.csv",
    "..\\..\\evil.csv",
    "/etc/cron.d/evil",
    "%2e%2e/%2e%2e/evil.csv",
    "evil\x00.csv",
    "..",
    ".",
    "",
    "CON.csv",
    "a" * 5000 + ".csv",
    "-rf.csv",
    "evil\r\nSet-Cookie: a=b.csv",
    "\u202egpj.csv",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_leads_nowhere(name):
    safe = safe_name(name)
    assert safe
    assert len(safe) <= 130
    assert not set(safe) & set("/\\\x00\r\n\u202e")
    assert safe not in {".", ".."}
    assert not safe.startswith(".")


@pytest.mark.parametrize("name", [name for name in NAMES if 0 < len(name) < 1000 and not set(name) & set("\x00\r")])
def test_an_upload_stays_in_its_project(studio, name):
    before = {path for path in studio.folder.parent.rglob("*") if "projects" not in path.parts}
    project = studio.uploaded(b"age,sex\n1,F\n2,M\n", name)
    folder = studio.folder / "projects" / project / "data"
    (file,) = folder.iterdir()
    assert file.resolve().parent == folder.resolve()
    after = {path for path in studio.folder.parent.rglob("*") if "projects" not in path.parts}
    assert not [path for path in after - before if "evil" in path.name]
    studio.client.post(f"/projects/{project}/delete", data={"sure": "on"})


@pytest.fixture(scope="module")
def project(studio):
    made = studio.uploaded((studio.data / "patients.csv").read_bytes())
    studio.looked(made)
    return made


@pytest.mark.parametrize(
    "data",
    ["/etc/passwd", "../../studio.sqlite", "data/../../../studio.sqlite", "{path: /etc/passwd}", "data/link.csv"],
)
def test_a_policy_reads_no_other_file(studio, project, data):
    link = studio.folder / "projects" / project / "data" / "link.csv"
    if not link.is_symlink():
        link.symlink_to("/etc/passwd")
    text = f"data: {data}\nattributes: {{age: {{role: quasi}}}}\nprivacy: [{{model: k-anonymity, k: 1}}]\n"
    studio.client.post(f"/projects/{project}/policy", data={"text": text})
    ended = studio.ended(studio.run(project))
    assert ended["state"] == "failed"
    assert "leads out of the workspace" in ended["error"]["problem"]


@pytest.mark.parametrize("path", ["../secret", "/etc", "..", "link", "/etc/passwd"])
def test_tools_read_only_what_can_be_chosen(studio, path):
    if not (studio.data / "link").exists():
        (studio.data / "link").symlink_to("/etc")
    for tool in ("audit", "measure", "truthful"):
        answer = studio.client.post(f"/tools/{tool}", data={"folder": path})
        assert answer.status_code == 422
        assert "leads out of the workspace" in answer.text


def test_a_folder_or_a_pattern_with_a_link_that_leads_out_is_not_read(studio, project):
    (studio.data / "inside").mkdir()
    (studio.data / "inside" / "a.csv").write_text("age,sex\n1,F\n")
    (studio.data / "inside" / "b.csv").symlink_to("/etc/passwd")
    (folder,) = [one["key"] for one in studio.json("/here")["entries"] if one["folder"]]
    answer = studio.client.post(f"/here/{folder}/use")
    told = studio.looked(answer.url.path.split("/")[2])
    assert told["state"] == "failed"
    assert "leads out of the workspace" in told["error"]["problem"]
    for data in (studio.data / "inside", studio.data / "inside" / "*.csv"):
        text = f"data: '{data}'\nattributes: {{age: {{role: quasi}}}}\nprivacy: [{{model: k-anonymity, k: 1}}]\n"
        studio.client.post(f"/projects/{project}/policy", data={"text": text})
        assert "leads out of the workspace" in studio.ended(studio.run(project))["error"]["problem"]


def test_what_can_be_chosen_shows_no_link_that_leads_out(studio):
    (studio.data / "out.csv").symlink_to("/etc/passwd")
    page = studio.client.get("/here").text
    assert "patients.csv" in page
    assert "out.csv" not in page
    (studio.data / "out.csv").unlink()
    assert studio.client.get("/here/guessed").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/static/../database.py",
        "/static/%2e%2e/database.py",
        "/static/..%2f..%2fstudio.sqlite",
        "/static//etc/passwd",
        "/projects/..%2f..%2fetc/data",
    ],
)
def test_no_address_leads_out(studio, path):
    answer = studio.client.get(path)
    assert answer.status_code in {403, 404}
    assert "root:" not in answer.text


def test_what_is_internal_is_on_no_address_and_in_no_download(studio):
    project = studio.uploaded((studio.data / "patients.csv").read_bytes())
    studio.looked(project)
    job = studio.run(project)
    assert studio.ended(job)["state"] == "done"
    folder = studio.folder / "projects" / project / "runs" / job.rsplit("/", 1)[1] / "release"
    (folder / "leak.json").symlink_to(folder / "internal" / "policy.json")
    with zipfile.ZipFile(io.BytesIO(studio.client.post(f"{job}/download").content)) as archive:
        assert not [name for name in archive.namelist() if "internal" in name or "leak" in name]
    for path in (
        "internal/policy.json",
        "report/internal",
        "report/..%2finternal",
        "report/%2e%2e",
        "release/release.csv",
    ):
        assert studio.client.get(f"{job}/{path}").status_code == 404
