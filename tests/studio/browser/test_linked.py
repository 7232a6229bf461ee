"""Linked tables in the browser: from three files that are dropped to a downloaded release."""

import json
import zipfile

import pytest

from medveil.datasets import cohort

TABLES = ("patients", "encounters", "conditions")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = cohort(220, seed=11, visits=3, diagnoses=1.5).write(tmp_path_factory.mktemp("cohort"))
    return [folder / f"{name}.csv" for name in TABLES]


def test_a_first_visit_with_linked_tables(tab, files, tmp_path):
    page = tab.go("/").page
    page.set_input_files("#file", files)
    tab.wait("dl.facts")
    assert "People are protected over all of them" in page.inner_text("main")
    tab.looks_right("linked-data")
    tab.press("Next: what each column is", "link").wait("#exposure .bar")
    assert "Points to patients.Id" in page.inner_text("table.columns")
    # Another role is saved and counted at once, and what follows from it stands in its row.
    page.select_option("select[aria-label='Role: REGION']", "plain")
    tab.wait("tr:has-text('REGION') td:has-text('not needed')").wait("#exposure .bar")
    tab.looks_right("linked-columns")
    tab.press("Change how BIRTHDATE may be coarsened", "link").wait(".levels .label")
    tab.press("Columns", "link")
    tab.press("Next: what must hold", "link")
    assert "5^2-anonymity of conditions.CODE" in page.inner_text("main")
    tab.press("Next: how it is done", "link").press("Next: run it", "link").press("Start the run").wait(".verdict")
    assert "Proved, and pseudonymous" in page.inner_text("h1")
    tab.wait("table.rows")
    assert page.locator("table.rows").count() == len(TABLES)
    tab.looks_right("linked-result")
    with page.expect_download() as downloading:
        tab.press("Download the release")
    downloading.value.save_as(tmp_path / "release.zip")
    with zipfile.ZipFile(tmp_path / "release.zip") as archive:
        assert set(json.loads(archive.read("release/manifest.json"))["tables"]) == set(TABLES)
        assert {f"release/{name}.csv" for name in TABLES} <= set(archive.namelist())


def test_files_are_ticked_without_script(open_tab, files):
    tab = open_tab(java_script_enabled=False)
    for path in files[:2]:
        (tab.studio.data / path.name).write_bytes(path.read_bytes())
    page = tab.go("/here").page
    for path in files[:2]:
        page.get_by_label(path.name, exact=True).check()
    tab.press("Use what is ticked together").wait("dl.facts")
    assert page.locator("tbody tr").count() == 2
