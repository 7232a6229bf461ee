"""Ids that stand for values must not look like them."""

import re

import pandas as pd

import medveil


def frame():
    return pd.DataFrame({"age": [str(20 + i % 40) for i in range(120)], "died": [str(i % 3 // 2) for i in range(120)]})


POLICY = {
    "attributes": {"age": {"role": "quasi", "type": "number"}, "died": {"role": "sensitive", "type": "category"}},
    "privacy": [{"model": "k-anonymity", "k": 5}],
    "method": {"name": "fixed-interval"},
}


def test_an_id_is_never_a_value_of_the_column(tmp_path):
    release = medveil.anonymize(frame(), POLICY, out=tmp_path / "out")
    ids = {i for label in release.to_pandas()["died"] for i in re.findall(r"\w+", label)}
    assert ids
    assert not ids & {"0", "1"}


def test_the_recipients_page_shows_what_ids_stand_for(tmp_path):
    medveil.anonymize(frame().replace({"0": "alive", "1": "dead"}), POLICY, out=tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "{alive, dead}" in page or "{dead, alive}" in page
