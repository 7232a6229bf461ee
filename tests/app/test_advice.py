"""Advice is computed: who follows it gets what was told, to the last digit."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import medveil
from medveil.advising.advice import Advice, ChangeKind, KeptDetail
from medveil.advising.advise import advise, little_use
from medveil.advising.clock import Clock
from medveil.advising.rehearsal import rehearse
from medveil.app.advice import advice, changed
from medveil.app.preparation import opened
from medveil.errors import CancelledError
from medveil.policy import load_policy
from medveil.run import Event, Run, Stage
from medveil.terminal.console import console
from medveil.terminal.release import show_release

AGES = {"type": "intervals", "domain": [0, 99], "widths": [10, 20, 40]}
ZIPS = {"type": "mask", "from": "right", "length": 5}


def people(rows: int = 400) -> pd.DataFrame:
    """Patients whose zip codes are nearly their own: a zip costs every other column its detail."""
    random = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "who": [f"p{i // 2}" for i in range(rows)],
            "age": random.integers(0, 99, rows),
            "zip": [f"{z:05d}" for z in random.choice([10_000, 20_000, 30_000], rows) + random.integers(0, 9999, rows)],
            "sex": random.choice(["f", "m"], rows),
            "region": random.choice(["north", "south", "east", "west", "abroad"], rows),
            "ill": random.choice(["flu", "asthma", "none"], rows),
        }
    )


def policy(**more: object) -> dict[str, object]:
    return {
        "attributes": {
            "age": {"role": "quasi", "type": "number", "hierarchy": AGES},
            "zip": {"role": "quasi", "type": "code", "hierarchy": ZIPS},
            "sex": {"role": "quasi"},
            "region": {"role": "quasi"},
            "ill": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "variant": "distinct"}],
        "output": {"report": False},
        **more,
    }


def given(folder: Path) -> dict[str, float]:
    """What a release gives, from what was measured of its files."""
    parts = json.loads((folder / "internal" / "measures.json").read_text())["lm"]["parts"]
    return {name: 1.0 - lost for name, lost in parts.items()}


@pytest.mark.parametrize(
    ("method", "subject"),
    [
        ({"name": "optimal"}, True),
        ({"name": "optimal", "suppression": 0.02}, False),
        ({"name": "mondrian", "largest_set": 1}, False),
    ],
)
def test_who_follows_a_suggestion_gets_what_it_told(method: dict[str, object], subject: bool, tmp_path: Path) -> None:
    asked = policy(method=method)
    if subject:
        asked["attributes"] = {**asked["attributes"], "who": {"role": "subject"}}
        asked["privacy"] = [{"model": "k-anonymity", "k": 20}]
    checked = load_policy(asked)[0]
    with opened(checked, Run().workspace, people()) as (problem, _):
        quasi = problem.schema.quasi
        now = rehearse(checked.method, problem, quasi, Run(), Clock(60))
        # Every kind of change is to be tried, so the release is said to hide two columns whatever it does.
        poor = replace(now, columns={**now.columns, "zip": 0.0, "region": 0.0})
        found = advise(problem, checked.method, poor, Run(), seconds=60)
    assert found is not None
    assert found.suggestions
    assert not found.untried
    one_of_each_kind = {suggestion.kind: suggestion for suggestion in found.suggestions}.values()
    for number, suggestion in enumerate(one_of_each_kind):
        out = tmp_path / str(number)
        followed = changed(checked, suggestion.change)
        manifest = medveil.anonymize(people(), followed, out=out).manifest
        expected = {name: kept for name, kept in suggestion.outcome.columns.items() if name in followed.attributes}
        assert given(out) == pytest.approx(expected, abs=1e-12)
        left_out = set(quasi) - set(followed.attributes)
        assert all(suggestion.outcome.columns[name] == 0 for name in left_out)
        assert manifest.rows["suppressed"] == suggestion.outcome.suppressed
        assert manifest.claims[0]["achieved"]["k"] == suggestion.outcome.smallest


def test_a_release_of_little_use_says_why_and_what_would_help(tmp_path: Path) -> None:
    release = medveil.anonymize(people(), policy(), out=tmp_path / "out")
    found = advice(tmp_path / "out")
    assert found is not None
    assert any("Everything is hidden in" in reason for reason in found.reasons)
    assert given(tmp_path / "out") == pytest.approx(dict(found.now.columns), abs=1e-12)
    details = [suggestion.outcome.detail for suggestion in found.suggestions]
    assert details == sorted(details, reverse=True)
    assert details[0] > found.now.detail
    assert {s.kind for s in found.suggestions} >= {ChangeKind.METHOD, ChangeKind.MAX_LEVEL, ChangeKind.WEIGHT}
    assert Advice.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    with console.capture() as told:
        show_release(release)
    assert "What should I change?" in told.get()
    assert found.suggestions[0].in_policy in " ".join(told.get().split())


def test_what_a_column_costs_is_what_the_others_would_keep() -> None:
    frame = people()
    frame["region"] = [f"r{i}" for i in range(len(frame))]
    checked = load_policy(policy(attributes={**policy()["attributes"], "region": {"role": "quasi", "max_level": 0}}))[0]
    checked = changed(
        checked, {"method": {"name": "optimal", "suppression": 0.9}, "privacy": [{"model": "k-anonymity", "k": 1}]}
    )
    with opened(checked, Run().workspace, frame) as (problem, _):
        now = KeptDetail({"age": 0.0, "zip": 0.0, "sex": 0.0, "region": 1.0}, 400, 1, 0)
        found = advise(problem, checked.method, now, Run(), seconds=60)
    assert found is not None
    (cost,) = [cost for cost in found.costs if cost.what == "'region'"]
    assert (cost.now, cost.without) == (0.0, 1.0)


def test_advice_stays_with_the_steward(tmp_path: Path) -> None:
    medveil.anonymize(people(), policy(output={"report": True}), out=tmp_path / "out")
    assert (tmp_path / "out" / "internal" / "advice.json").is_file()
    assert "What should I change?" in (tmp_path / "out" / "internal" / "report.html").read_text()
    for name in ("manifest.json", "report.html", "release.csv"):
        assert "should I change" not in (tmp_path / "out" / name).read_text()
        assert "would give" not in (tmp_path / "out" / name).read_text()


def test_a_useful_release_gets_no_advice(tmp_path: Path) -> None:
    frame = people()
    few = policy(attributes={"sex": {"role": "quasi"}, "ill": {"role": "sensitive"}})
    medveil.anonymize(frame, few, out=tmp_path / "out")
    assert advice(tmp_path / "out") is None


def test_advice_can_be_left_out(tmp_path: Path) -> None:
    medveil.anonymize(people(), policy(evaluation={"advice": False}), out=tmp_path / "out")
    assert advice(tmp_path / "out") is None


def test_no_advice_under_differential_privacy(tmp_path: Path) -> None:
    stages: list[Stage] = []
    private = {
        "attributes": {
            "region": {"role": "quasi", "domain": ["north", "south", "east", "west", "abroad"]},
            "ill": {"role": "sensitive", "domain": ["flu", "asthma", "none"]},
        },
        "privacy": [{"model": "differential-privacy", "epsilon": 0.01}],
        "method": "dp-histogram",
        "output": {"report": False},
    }
    medveil.anonymize(people(60), private, out=tmp_path / "out", progress=lambda event: stages.append(event.stage))
    assert Stage.MEASURE in stages
    assert Stage.ADVISE not in stages
    assert not (tmp_path / "out" / "internal" / "advice.json").exists()


def test_time_is_kept_and_told() -> None:
    checked = load_policy(policy())[0]
    with opened(checked, Run().workspace, people()) as (problem, _):
        poor = KeptDetail(dict.fromkeys(problem.schema.quasi, 0.0), 1, 400, 0)
        found = advise(problem, checked.method, poor, Run(), seconds=0.0)
    assert found is not None
    assert not found.suggestions
    assert found.untried > 5
    assert f"no time to try {found.untried} other" in " ".join(found.remarks)


def test_a_run_that_is_cancelled_stops_while_it_looks_for_advice(tmp_path: Path) -> None:
    stop: list[Event] = []

    def listen(event: Event) -> None:
        if event.stage is Stage.ADVISE:
            stop.append(event)

    with pytest.raises(CancelledError):
        medveil.anonymize(people(), policy(), out=tmp_path / "out", progress=listen, cancelled=lambda: bool(stop))
    assert stop
    assert not (tmp_path / "out").exists()


def test_why_a_release_is_of_little_use() -> None:
    assert little_use(KeptDetail({"a": 1.0, "b": 0.5}, 10, 7, 0), 5) == []
    (hidden,) = little_use(KeptDetail({"a": 1.0, "b": 0.0}, 10, 7, 0), 5)
    assert hidden == "Everything is hidden in 1 of 2 quasi-identifiers: 'b'."
    assert "single group" in little_use(KeptDetail({"a": 0.0}, 1, 12_165, 0), 5)[1]
    (far,) = little_use(KeptDetail({"a": 0.3}, 4, 12_165, 0), 5)
    assert far.startswith("The smallest group has 12,165 people, 2,433 times the 5 that were asked for")
    assert little_use(KeptDetail({"a": 0.8}, 4, 12_165, 0), 5) == []


def test_a_change_is_a_merge_patch() -> None:
    base = load_policy(policy(method={"name": "optimal", "suppression": 0.1}))[0]
    assert "zip" not in changed(base, {"attributes": {"zip": None}}).attributes
    assert changed(base, {"attributes": {"age": {"max_level": 2}}}).attributes["age"].hierarchy is not None
    assert changed(base, {"method": {"name": "mondrian", "suppression": None}}).method.name == "mondrian"
    assert base.attributes["age"].max_level is None
