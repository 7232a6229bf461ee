"""Cells that a spreadsheet would run are told to the steward and to recipients."""

import pandas as pd
import pytest

import medveil

PLAIN = ["flu", "-5", "+1.5", "-1e3", "a=b", "[-3-6]"]
FORMULAS = ["=cmd|' /C calc'!A0", "@SUM(A1)", "+x()", "-x()", "\t=1+1"]


def released(folder, values):
    frame = pd.DataFrame({"sex": ["f", "m"] * 10, "ill": (values * 20)[:20]})
    policy = {
        "attributes": {"sex": {"role": "quasi"}, "ill": {"role": "sensitive", "type": "category"}},
        "privacy": [{"model": "k-anonymity", "k": 5}],
    }
    events = []
    medveil.anonymize(frame, policy, out=folder / "out", progress=events.append)
    told = [event.detail for event in events if "formulas" in event.detail]
    return told, "spreadsheet" in (folder / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("formula", FORMULAS[:4])
def test_a_formula_is_told_to_the_steward_and_the_recipient(tmp_path, formula):
    told, shown = released(tmp_path, [formula, "flu"])
    assert len(told) == 1
    assert told[0].startswith("10 cells")
    assert formula not in told[0]
    assert shown


def test_signed_numbers_are_no_formulas(tmp_path):
    assert released(tmp_path, PLAIN) == ([], False)
