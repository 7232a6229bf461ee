"""What a terminal says of a release is true."""

import pytest

import medveil
from medveil.terminal.release import show_release

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


def test_leakage_that_rises_is_explained(shown):
    frame = {"age": [str(i % 9) for i in range(180)], "dose": [str(i * 7 % 40) for i in range(180)]}
    quasi = {"role": "quasi", "type": "number"}
    said = shown(frame, {"age": quasi, "dose": quasi}, "mondrian")
    before, after = said.split("age quasi ")[1].split()[:2]
    assert (float(after) > float(before) + 0.0005) <= ("a label then also tells the group" in said)
