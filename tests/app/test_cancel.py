"""Every use case can be cancelled within two seconds at any moment, and leaves nothing behind."""

import shutil
import tempfile
import threading
import time
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import medveil
from medveil.app.audit_dp import audit_dp
from medveil.app.demo import demo
from medveil.app.hierarchy import hierarchy
from medveil.app.preparation import opened
from medveil.app.reproduce import reproduce
from medveil.app.starting import started
from medveil.app.truthful import truthful
from medveil.errors import CancelledError
from medveil.methods import methods
from medveil.policy import load_policy
from medveil.reproduce.reproduction import Reproduction
from medveil.run import Run, Stage
from medveil.sources.opening import open_source

SOON = 2.0
MOMENTS = (1, 3, 6, 12, 24)
"""After how many events a run is cancelled."""
ATTRIBUTES = {
    "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [10, 50]}},
    "sex": {"role": "quasi", "hierarchy": {"type": "flat", "domain": ["f", "m"]}},
    "weight": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 200], "widths": [20, 100]}},
    "ill": {"role": "sensitive", "domain": ["a", "b", "c", "d"]},
}


@pytest.fixture(scope="module")
def table():
    chance = np.random.default_rng(7)
    rows = 600
    return pa.table(
        {
            "age": chance.integers(0, 100, rows),
            "sex": chance.choice(["f", "m"], rows),
            "weight": np.round(chance.normal(70, 9, rows), 1),
            "ill": chance.choice(["a", "b", "c", "d"], rows),
        }
    )


class Stopper:
    """Wants a run to stop after so many events, and knows when that was."""

    def __init__(self, events):
        self.left = events
        self.since = None
        self.seen = []

    def listen(self, event):
        self.seen.append(event.stage)
        self.left -= 1
        if self.left <= 0 and self.since is None:
            self.since = time.monotonic()

    def cancelled(self):
        return self.since is not None

    @property
    def waited(self):
        return time.monotonic() - self.since


@pytest.fixture
def passage(tmp_path, monkeypatch):
    """The folder of temporary files, to see that none is left."""
    folder = tmp_path / "passage"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def policy_of(name):
    private = methods()[name].proves
    model = {"model": "differential-privacy", "epsilon": 2.0} if private else {"model": "k-anonymity", "k": 3}
    return {"attributes": ATTRIBUTES, "privacy": [model], "method": name, "evaluation": {"attacks": True}}


@pytest.mark.parametrize("name", methods())
def test_a_release_can_be_cancelled_at_any_moment(name, table, tmp_path, passage):
    policy, workspace = load_policy(policy_of(name))
    with opened(policy, workspace, table) as (problem, _):
        if policy.method.why_refused(problem):
            pytest.skip("the method does not fit the table")
    stopped = 0
    for moment in MOMENTS:
        stopper = Stopper(moment)
        try:
            medveil.anonymize(table, policy, out=tmp_path / "out", progress=stopper.listen, cancelled=stopper.cancelled)
        except CancelledError:
            stopped += 1
            assert stopper.waited < SOON
            assert [path.name for path in tmp_path.iterdir()] == ["passage"]
            assert list(passage.iterdir()) == []
        else:
            break
    assert stopped >= 3


@pytest.mark.parametrize(
    "stage", [Stage.READ, Stage.COUNT, Stage.SEARCH, Stage.WRITE, Stage.PROVE, Stage.MEASURE, Stage.ATTACK, Stage.DRAW]
)
def test_every_stage_can_be_cancelled(stage, table, tmp_path, passage):
    since = []

    def listen(event):
        if event.stage is stage and not since:
            since.append(time.monotonic())

    with pytest.raises(CancelledError):
        medveil.anonymize(
            table, policy_of("optimal"), out=tmp_path / "out", progress=listen, cancelled=lambda: bool(since)
        )
    assert time.monotonic() - since[0] < SOON
    assert [path.name for path in tmp_path.iterdir()] == ["passage"]
    assert list(passage.iterdir()) == []


def use_cases(table, release, tmp_path):
    return {
        "inspect": lambda **run: medveil.inspect(table, **run),
        "leakage": lambda **run: medveil.leakage(table, up_to=2, **run),
        "audit": lambda **run: medveil.audit(release, table, **run),
        "measure": lambda **run: medveil.measure(release, table, **run),
        "measure columns": lambda **run: medveil.measure(table, quasi=["age", "sex"], sensitive=["ill"], **run),
        "hierarchy": lambda **run: hierarchy(table, "age", run=as_run(**run)),
        "truthful": lambda **run: truthful(with_catalog(table, tmp_path), run=as_run(**run)),
        "audit-dp": lambda **run: audit_dp(policy_of("ipa"), runs=100, run=as_run(**run)),
        "compare": lambda **run: compared(table, tmp_path, **run),
        "demo": lambda **run: demo(300, tmp_path / "demo", run=as_run(**run)),
        "reproduce": lambda **run: list(reproduce("endless", tmp_path, run=as_run(**run))),
    }


def as_run(progress=None, cancelled=None):
    return started(None, progress=progress, cancelled=cancelled)


def with_catalog(table, tmp_path):
    """A release with counterfeits, made once."""
    out = tmp_path / "catalogued"
    if not out.exists():
        medveil.anonymize(table, policy_of("h-ceiling"), out=out)
    return out


def compared(table, tmp_path, **run):
    out, data = tmp_path / "compared", tmp_path / "table.csv"
    shutil.rmtree(out, ignore_errors=True)
    pyarrow.csv.write_csv(table, data)
    return medveil.compare(policy_of("optimal"), out=out, data=data, chosen=["optimal"], **run)


class Endless(Reproduction):
    """A paper whose tables would take for ever, in steps and then without any."""

    name = "endless"
    paper = "Nobody (2000): On and on"

    def sections(self, data, run, *, quick):  # noqa: ARG002 - nothing is read
        for number in range(5):
            run.step(Stage.REPRODUCE, None, f"table {number}")
        work_for_ever()
        yield


@pytest.mark.parametrize("name", ["audit-dp", "compare", "demo", "reproduce"])
def test_what_takes_long_can_be_cancelled(name, table, tmp_path, passage, monkeypatch):
    monkeypatch.setattr("medveil.app.reproduce.reproductions", lambda: {Endless.name: Endless})
    call = use_cases(table, None, tmp_path)[name]
    for moment in (1, 5):
        stopper = Stopper(moment)
        with pytest.raises(CancelledError):
            call(progress=stopper.listen, cancelled=stopper.cancelled)
        assert stopper.waited < SOON
        assert list(passage.iterdir()) == []
        assert not (tmp_path / "demo").exists()


@pytest.mark.parametrize("name", ["inspect", "leakage", "audit", "measure", "measure columns", "hierarchy", "truthful"])
def test_every_use_case_tells_its_progress_and_can_be_cancelled(name, table, tmp_path, passage):
    medveil.anonymize(table, policy_of("optimal"), out=tmp_path / "release")
    call = use_cases(table, tmp_path / "release", tmp_path)[name]
    events = []
    call(progress=events.append)
    assert events
    assert all(event.share is None or 0 <= event.share <= 1 for event in events)
    for moment in (1, len(events) // 2 or 1, len(events)):
        stopper = Stopper(moment)
        with pytest.raises(CancelledError):
            call(progress=stopper.listen, cancelled=stopper.cancelled)
        assert stopper.waited < SOON
        assert list(passage.iterdir()) == []


def work_for_ever():
    while True:
        sum(range(100))


def swallow_for_ever():
    while True:
        with suppress(Exception):
            work_for_ever()


@pytest.mark.parametrize("work", [work_for_ever, swallow_for_ever])
def test_python_that_never_takes_a_step_is_stopped_too(work):
    began = time.monotonic()
    run = Run(cancelled=lambda: time.monotonic() > began + 0.3)
    with pytest.raises(CancelledError), run.stoppable():
        work()
    assert time.monotonic() - began < SOON


def test_nothing_is_raised_after_a_run_has_ended():
    flag = threading.Event()
    run = Run(cancelled=flag.is_set)
    with run.stoppable():
        pass
    flag.set()
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline:
        sum(range(100))
    assert threading.active_count() < 50


def test_a_query_is_interrupted(table):
    """One that DuckDB would compute for hours."""

    began = time.monotonic()
    run = Run(cancelled=lambda: time.monotonic() > began + 0.3)
    with pytest.raises(CancelledError), run.engine(open_source(table), ["age"]) as engine:
        engine._session.run("SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range * b.range = 7")
    assert time.monotonic() - began < SOON


def test_an_error_of_a_run_that_nobody_cancelled_stays_what_it_is():
    run = Run(cancelled=lambda: False)
    with pytest.raises(ZeroDivisionError), run.stoppable(), run.interrupting(lambda: None):
        1 / 0  # noqa: B018
