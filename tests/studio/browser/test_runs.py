"""Runs that are stopped, left alone, looked at twice, and interrupted by the end of the studio."""

import signal
import time
from pathlib import Path

import pytest

ENDLESS = """\
data: data/patients.csv
attributes:
  age: {role: quasi, type: number, hierarchy: {type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}
  sex: {role: quasi, domain: [F, M]}
  region: {role: quasi, type: category}
  length_of_stay: {role: quasi, type: number, hierarchy: {type: intervals, domain: [0, 400], widths: [10, 20, 40, 80]}}
  disease: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 5}
method: {name: exhaustive, generalization: cell, time_limit: 600}
"""


@pytest.fixture
def project(studio):
    """A project whose run does not end by itself in the time of a test."""
    made = studio.uploaded((studio.data / "patients.csv").read_bytes(), "patients.csv")
    studio.looked(made)
    answer = studio.client.post(f"/projects/{made}/policy", data={"text": ENDLESS})
    assert answer.status_code == 200, answer.text
    return made


def children(process):
    """What a process has started and is there yet."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(status[1]) == process:
                found.append(int(entry.name))
    return found


def searching(tab, project):
    tab.go(f"/projects/{project}/run").press("Start the run").wait("text=Searching for the best release")
    return tab.page.url


def test_a_run_is_stopped_within_two_seconds_and_leaves_nothing(tab, project):
    before = set(children(tab.studio.process.pid))
    searching(tab, project)
    job = tab.page.url.rsplit("/", 1)[1]
    started = time.monotonic()
    tab.press("Stop the run").wait(".state-cancelled")
    assert time.monotonic() - started < 2.5  # the page is drawn within this time, too
    assert not (tab.studio.folder / "projects" / project / "runs" / job).exists()
    assert len(children(tab.studio.process.pid)) <= len(before) + 1, "the spare process aside nothing is left"
    assert "Start again" in tab.page.inner_text("main")


def test_a_second_run_waits_and_one_can_leave_and_come_back(tab, project):
    first = searching(tab, project)
    tab.go(f"/projects/{project}/run").press("Start the run").wait("text=Waiting for its turn")
    second = tab.page.url
    tab.page.reload()
    tab.wait("text=Waiting for its turn")
    other = tab.open()
    other.goto(first)
    other.wait_for_selector("text=Searching for the best release")
    other.get_by_role("button", name="Stop the run").click()
    other.wait_for_selector(".state-cancelled")
    # The first tab is told of it, and its own run begins.
    tab.wait("text=Searching for the best release")
    assert tab.page.url == second
    tab.press("Stop the run").wait(".state-cancelled")


def test_stages_are_told_to_ears_once_each(tab, project):
    searching(tab, project)
    live = tab.page.locator("p[aria-live=polite]")
    assert "Searching" in live.inner_text()
    tab.press("Stop the run").wait(".state-cancelled")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in /proc")
def test_a_run_is_interrupted_by_the_end_of_the_studio_and_the_queue_goes_on(open_tab, project, studio, places, start):
    tab = open_tab()
    first = searching(tab, project)
    waiting = studio.run(project)
    tab.known += tab.faults
    tab.go("/help")
    port = int(studio.base.rsplit(":", 1)[1])
    started = children(studio.process.pid)
    studio.stop(signal.SIGKILL)
    studio.until(
        lambda: not [child for child in started if Path(f"/proc/{child}").exists()], "the end of all processes"
    )
    again = start(*places, port=port)
    studio.process, studio.address, studio.client = again.process, again.address, again.client
    # The cookie of the browser is good for the studio that was started again.
    tab.page.goto(first)
    tab.wait(".state-interrupted")
    assert "Nothing was released" in tab.page.inner_text("main")
    tab.go(waiting).wait("text=Searching for the best release")
    tab.press("Stop the run").wait(".state-cancelled")
    tab.page.goto(first)
    tab.press("Start again").wait("text=Searching for the best release")
    tab.press("Stop the run").wait(".state-cancelled")
    tab.known += tab.faults
