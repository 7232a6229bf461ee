"""Cells that a spreadsheet takes for formulas: shown as text, told, and never altered in the release."""

import io
import zipfile

POLICY = """\
data: data/table.csv
attributes: {sex: {role: quasi}, note: {role: plain, insist: true}}
privacy: [{model: k-anonymity, k: 2}]
"""


def test_they_are_told_and_never_altered(studio):
    formula = "=HYPERLINK(A1)"
    rows = "\n".join(f"{'FM'[n % 2]},{formula}" for n in range(60))
    project = studio.uploaded(f"sex,note\n{rows}\n".encode())
    studio.looked(project)
    assert studio.client.post(f"/projects/{project}/policy", data={"text": POLICY}).status_code == 200
    job = studio.run(project)
    assert studio.ended(job)["state"] == "done"
    studio.until(lambda: studio.json(f"{job}/rows").get("tables"), "the rows")
    page = studio.client.get(job).text
    assert "begin like a formula" in page
    with zipfile.ZipFile(io.BytesIO(studio.client.post(f"{job}/download").content)) as archive:
        assert archive.read("release/release.csv").decode().count(formula) == 60
