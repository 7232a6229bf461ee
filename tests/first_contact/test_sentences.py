"""What a terminal says of a release is true."""

from types import SimpleNamespace

import pandas as pd
import pytest

import medveil
from medveil.app.inspect import write_policy
from medveil.risk.leakage_count import _tidy
from medveil.terminal.release import _share, _why_it_rises, show_release

K = [{"model": "k-anonymity", "k": 5}]


@pytest.fixture
def shown(tmp_path, capsys):
    def show(frame, attributes, method):
        policy = {"attributes": attributes, "privacy": K, "method": method}
        show_release(medveil.anonymize(frame, policy, out=tmp_path / "out"))
        return " ".join(capsys.readouterr().out.split())

    return show


def test_a_column_that_lost_everything_is_told_and_a_plain_one_too(shown):
    frame = {"code": [f"x{i}" for i in range(60)], "sex": ["f", "m"] * 30, "ward": ["a", "a", "b", "b"] * 15}
    quasi = {"role": "quasi", "type": "category"}
    said = shown(frame, {"code": quasi, "sex": quasi, "ward": {"role": "plain"}}, "optimal")
    assert "(everything hidden)" in said
    assert "part of no claim: ward" in said
    assert "-0.000" not in said


def test_a_group_that_everybody_is_in_is_not_called_hidden(shown):
    """`[0-9]` of 0 to 99 tells something, though every row has it."""
    tens = {"type": "intervals", "domain": [0, 99], "widths": [10]}
    said = shown({"age": range(10)}, {"age": {"role": "quasi", "type": "number", "hierarchy": tens}}, "optimal")
    assert "1 (the same for all)" in said
    assert "everything hidden" not in said


def test_leakage_that_rises_is_explained(shown):
    numbers = range(300)
    frame = {
        "job": [str(i * i % 7) for i in numbers],
        "ward": [str(i * i * i % 11) for i in numbers],
        "town": [str(i * i % 13 + i % 5) for i in numbers],
    }
    said = shown(frame, {name: {"role": "quasi", "type": "category"} for name in frame}, "mondrian")
    shares = [said.split(f"{name} quasi ")[1].split()[:2] for name in frame]
    assert any(float(after) > float(before) + 0.001 for before, after in shares), said
    assert "so that a label also tells the group" in said


def test_a_starter_policy_that_gives_one_class_says_so(tmp_path, capsys):
    numbers = range(60)
    frame = pd.DataFrame({name: [f"{name}{i % 29}" for i in numbers] for name in ("ward", "town", "job")})
    frame.to_csv(tmp_path / "data.csv", index=False)
    write_policy(medveil.inspect(tmp_path / "data.csv"), tmp_path / "data.csv", tmp_path / "policy.yaml")
    release = medveil.anonymize(tmp_path / "policy.yaml", out=tmp_path / "out")
    assert len(release.to_pandas().drop_duplicates()) == 1
    show_release(release)
    said = " ".join(capsys.readouterr().out.split())
    assert "What should I change? Everything is hidden in 3 of 3 quasi-identifiers" in said
    assert "All records look alike: there is a single group." in said


def test_leakage_that_rises_by_chance_is_not_called_a_cut():
    private = SimpleNamespace(claims=[{"model": "differential-privacy"}])
    assert _why_it_rises(private) == "Chance decided which rows there are, so that it may also rise a little."
    assert "cut in different places" in _why_it_rises(SimpleNamespace(claims=[{"model": "k-anonymity"}]))


def test_a_zero_has_no_sign():
    assert [str(number) for number in (_tidy(-0.0), _tidy(-1e-15), _tidy(0.25))] == ["0.0", "0.0", "0.25"]
    assert _share({"normalized": -0.0}) == "0.000"
