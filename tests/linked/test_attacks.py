"""An attacker who has a linked release and knows something of a person: what the claims stop, and what is told.

The attacks succeed on a release made without the model, so that it is the model which stops them.
"""

from __future__ import annotations

import csv
import datetime as dt
from collections import Counter, defaultdict
from itertools import combinations

import pytest
from tests.linked.conftest import POLICY

import medveil


def rows(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def made(folder, out, privacy):
    tables = {name: {**table, "data": str(folder / table["data"])} for name, table in POLICY["tables"].items()}
    return medveil.anonymize({**POLICY, "tables": tables, "privacy": privacy}, out=out)


@pytest.fixture(scope="module")
def guarded(folder, tmp_path_factory):
    return made(folder, tmp_path_factory.mktemp("guarded") / "out", POLICY["privacy"])


@pytest.fixture(scope="module")
def bare(folder, tmp_path_factory):
    """The same release with k-anonymity alone: codes are published as they are."""
    return made(folder, tmp_path_factory.mktemp("bare") / "out", POLICY["privacy"][:1])


def fewest_with_two_codes(release):
    """How many people are left at the least to whoever knows any two published codes of a person."""
    sets = defaultdict(set)
    for row in rows(release.folder / "conditions.csv"):
        sets[row["PATIENT"]].add(row["CODE"])
    holders = Counter(pair for codes in sets.values() for pair in combinations(sorted(codes), 2))
    return min(holders.values())


def test_two_codes_leave_k_people_and_one_person_where_nothing_hides_them(guarded, bare):
    assert fewest_with_two_codes(guarded) >= 3
    assert fewest_with_two_codes(bare) == 1


def singled_out_by_intervals(release):
    """Whoever knows how many days lie between somebody's visits finds that person by them, shifted or not."""
    dates = defaultdict(list)
    for row in rows(release.folder / "encounters.csv"):
        dates[row["PATIENT"]].append(dt.date.fromisoformat(row["START"]).toordinal())
    everybody = [row["Id"] for row in rows(release.folder / "patients.csv")]
    prints = Counter(tuple(sorted(day - min(dates[p]) for day in dates[p])) if p in dates else () for p in everybody)
    return sum(n for n in prints.values() if n == 1) / len(everybody)


def test_intervals_are_fingerprints_and_the_manifest_tells_how_many_they_find(guarded):
    told = {left["what"]: left["singled_out"] for left in guarded.manifest.uncovered}
    found = singled_out_by_intervals(guarded)
    assert found > 0.5
    assert told["intervals between the shifted dates in encounters.START"] == pytest.approx(found, abs=1e-4)
    assert guarded.manifest.status == "pseudonymous, not anonymous"


def test_two_releases_with_keys_of_their_own_do_not_intersect_by_pseudonyms_or_dates(guarded, bare):
    """Pseudonyms of two releases have nothing in common, and the offsets of a person differ."""
    one, two = ({row["Id"] for row in rows(r.folder / "encounters.csv")} for r in (guarded, bare))
    assert not one & two
    starts = [Counter(row["START"] for row in rows(r.folder / "encounters.csv")) for r in (guarded, bare)]
    assert starts[0] != starts[1]


def test_pseudonyms_say_nothing_about_the_order_of_the_source(guarded, people):
    """In the order of pseudonyms, the first visits of the source are not earlier than the last: the file tells nothing
    of who came first. With a key of its own each release deals anew; 5,000 pairs give this test its power.
    """
    published = [row["START"] for row in rows(guarded.folder / "encounters.csv")]
    half = len(published) // 2
    early = sum(a < b for a, b in zip(published[:half], published[half:], strict=False))
    assert abs(early / half - 0.5) < 4 * 0.5 / half**0.5
    assert people.encounters.num_rows > 500


def test_a_known_date_tells_that_persons_offset_and_nobody_elses(guarded, people):
    """Offsets of different people are independent: knowing one does not move the others."""
    source = defaultdict(list)
    for row in people.encounters.to_pylist():
        source[row["PATIENT"]].append(row["START"][:10])
    prints = {}
    for dates in source.values():
        days = sorted(dt.date.fromisoformat(date).toordinal() for date in dates)
        prints.setdefault(tuple(day - days[0] for day in days), []).append(days[0])
    released = defaultdict(list)
    for row in rows(guarded.folder / "encounters.csv"):
        released[row["PATIENT"]].append(dt.date.fromisoformat(row["START"]).toordinal())
    offsets = []
    for days in released.values():
        first = min(days)
        known = prints.get(tuple(sorted(day - first for day in days)), [])
        if len(known) == 1:
            offsets.append(first - known[0])
    assert len(offsets) > 50
    assert all(1 <= abs(offset) <= 183 for offset in offsets)
    assert len(set(offsets)) > len(offsets) / 3
