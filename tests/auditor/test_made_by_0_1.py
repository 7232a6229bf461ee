"""Release directories that medveil 0.1.0 made are audited as their own are (`made_by_0_1/make.py` made them)."""

import json
import shutil
from pathlib import Path

import pytest

from medveil.auditor import audit
from medveil.errors import InputError
from medveil.release.manifest import read_manifest
from medveil.sources.opening import open_source

MADE = Path(__file__).parent / "made_by_0_1"
SOURCE = MADE / "patients.csv"
ALL_HOLD = ["optimal", "stars", "people", "code-book", "private"]


@pytest.mark.parametrize("name", ALL_HOLD)
def test_what_held_then_holds_now(name):
    report = audit(MADE / name, open_source(SOURCE))
    assert report.ok, report
    assert report.status == "for publication"
    stated = [claim["achieved"] for claim in read_manifest(MADE / name).claims]
    assert [found.finding.achieved for found in report.findings] == stated


def test_what_was_claimed_of_concealed_padding_is_withdrawn():
    """Who runs the method tells its counterfeits: the other claims of such a release hold, that one is not proved."""
    report = audit(MADE / "counterfeits", open_source(SOURCE))
    found = {finding.claim["model"]: finding.finding for finding in report.findings}
    withdrawn = found.pop("counterfeit-catalog")
    assert withdrawn.holds is None
    assert "claimed too much" in withdrawn.note
    assert all(finding.holds for finding in found.values())
    assert not report.ok
    assert not report.refuted


def test_claims_with_counterfeits_are_read_as_a_field():
    first, second, *others = read_manifest(MADE / "counterfeits").claims
    assert (first["model"], first["counting"]) == ("k-anonymity", "with-counterfeits")
    assert (second["model"], second["counting"]) == ("l-diversity", "with-counterfeits")
    assert all("counting" not in claim for claim in others)


def test_people_are_still_counted_by_their_links():
    report = audit(MADE / "people", open_source(SOURCE))
    assert [found.basis for found in report.findings] == ["proved again from files and source"] * 2
    assert [found.finding.holds for found in audit(MADE / "people").findings] == [None, None]


def test_the_blank_lines_that_it_wrote_are_found():
    report = audit(MADE / "one-column")
    assert report.refuted
    assert report.problems == ("the release has 5 blank lines, which readers of CSV files skip",)


def test_a_format_of_tomorrow_is_refused_in_one_sentence(tmp_path):
    folder = shutil.copytree(MADE / "optimal", tmp_path / "out")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "format": 3}))
    with pytest.raises(InputError, match="format that this version cannot read"):
        audit(folder)
