"""From the first visit to a downloaded release on Adult, by mouse, by keyboard alone, and without script."""

import shutil
import zipfile

import pytest

ADULT = "adult.csv.gz"


@pytest.fixture(scope="module")
def places(tmp_path_factory, data_folder):
    """A studio whose folder of data holds Adult."""
    folder, data = tmp_path_factory.mktemp("studio"), tmp_path_factory.mktemp("data")
    shutil.copyfile(data_folder / "adult" / "arx" / ADULT, data / ADULT)
    return folder, data, tmp_path_factory.mktemp("state")


def check_release(download, folder):
    path = folder / "release.zip"
    download.save_as(path)
    with zipfile.ZipFile(path) as archive:
        assert {"release/manifest.json", "release/release.csv", "release/report.html"} <= set(archive.namelist())
        assert not [name for name in archive.namelist() if "internal" in name]
        assert len(archive.read("release/release.csv").splitlines()) > 20_000


def test_by_mouse(tab, tmp_path):
    page = tab.go("/").page
    page.set_input_files("#file", tab.studio.data / ADULT)
    tab.wait("dl.facts")
    assert "30,162" in page.inner_text("dl.facts")
    page.get_by_role("link", name="Next: what each column is").click()
    tab.wait("#exposure .bar")
    # Whether somebody earns much is what must not be learned; what else others do not know is left as it is.
    page.get_by_label("Role: salary-class").select_option("sensitive")
    tab.wait("#exposure .bar")
    page.get_by_role("link", name="Next: what must hold").click()
    page.get_by_role("link", name="Next: how it is done").click()
    tab.wait(".grey .reason")
    page.get_by_role("link", name="Next: run it").click()
    page.get_by_role("button", name="Start the run").click()
    tab.wait(".verdict.good")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download the release").click()
    check_release(downloading.value, tmp_path)


def tab_to(page, text, keys=90):
    """Press Tab until what has the focus says this."""
    for _ in range(keys):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "(document.activeElement.getAttribute('aria-label') || document.activeElement.innerText || '').trim()"
        )
        if text in found:
            return
    raise AssertionError(f"no way to '{text}' by Tab")


def test_by_keyboard_alone(tab, tmp_path):
    page = tab.go("/").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    tab_to(page, "Look for a file")
    page.keyboard.press("Enter")
    page.wait_for_url("**/here")
    tab_to(page, f"Use {ADULT}")
    page.keyboard.press("Enter")
    tab.wait("dl.facts")
    for key, step in (("c", "columns"), ("p", "privacy"), ("m", "method"), ("r", "run")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(f"**/{step}")
    page.keyboard.press("Control+Enter")
    tab.wait(".verdict.good")
    tab_to(page, "Download the release")
    with page.expect_download() as downloading:
        page.keyboard.press("Enter")
    check_release(downloading.value, tmp_path)
    page.keyboard.press("?")
    page.wait_for_url("**/help")


def test_without_script(open_tab, tmp_path):
    tab = open_tab(java_script_enabled=False)
    page = tab.go("/").page
    page.set_input_files("#file", tab.studio.data / ADULT)
    tab.press("Upload").wait("dl.facts")
    tab.press("Next: what each column is", "link").wait("#exposure .bar")
    page.select_option("select[aria-label='Role: race']", "plain")
    tab.press("Save the roles").wait(".notice")
    assert page.input_value("select[aria-label='Role: race']") == "plain"
    tab.press("Next: what must hold", "link").press("Change 5-anonymity", "link")
    page.fill("#f-k", "3")
    tab.press("Save").wait(".notice")
    tab.press("Next: how it is done", "link").press("Next: run it", "link").press("Start the run").wait(".verdict.good")
    with page.expect_download() as downloading:
        tab.press("Download the release")
    check_release(downloading.value, tmp_path)
