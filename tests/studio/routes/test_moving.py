"""The one folder of a studio: closed, it can be moved with all that it holds, and deleted."""

import io
import shutil
import zipfile


def test_a_folder_that_was_moved_is_as_good_as_before(start, places, tmp_path):
    _, data, state = places
    studio = start(tmp_path / "before", data, state)
    project = studio.uploaded((data / "patients.csv").read_bytes())
    studio.looked(project)
    studio.client.post(f"/projects/{project}/settings/output", data={"format": "csv"})
    job = studio.run(project)
    assert studio.ended(job)["state"] == "done"
    assert studio.stop() == 0
    (tmp_path / "before").rename(tmp_path / "after")
    studio = start(tmp_path / "after", data, state)
    try:
        assert "Ready to be handed over" in studio.client.get(job).text
        with zipfile.ZipFile(io.BytesIO(studio.client.post(f"{job}/download").content)) as archive:
            assert "release/release.csv" in archive.namelist()
        assert studio.until(lambda: studio.json(f"{job}/rows").get("tables"), "the rows")
        assert studio.ended(studio.run(project))["state"] == "done"
        assert not (tmp_path / "before").exists()
    finally:
        studio.stop()
    shutil.rmtree(tmp_path / "after")
    assert (data / "patients.csv").is_file(), "what was chosen on this computer stays"
