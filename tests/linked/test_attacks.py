"""An attacker who has a linked release and knows something of a person: what the claims stop, and what is told.

The attacks succeed on a release made without the model, so that it is the model which stops them.
"""

from __future__ import annotations

import copy
import csv
import datetime as dt
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from tests.linked.conftest import POLICY

import medveil
from medveil.auditor.uncovered import singled_out_by_a_date


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


def whole_people(release):
    """Everything that the files tell of each person, but for pseudonyms: whole records, each beside its visit, with
    dates as days since the person's first.
    """
    patients = {row.pop("Id"): row for row in rows(release.folder / "patients.csv")}
    visits = {row["Id"]: row for row in rows(release.folder / "encounters.csv")}
    conditions = rows(release.folder / "conditions.csv")
    first = {}
    for row in (*visits.values(), *conditions):
        day = dt.date.fromisoformat(row["START"]).toordinal()
        first[row["PATIENT"]] = min(day, first.get(row["PATIENT"], day))

    def shown(row):
        day = dt.date.fromisoformat(row["START"]).toordinal() - first[row["PATIENT"]]
        return (day, *(value for name, value in row.items() if name not in {"Id", "PATIENT", "ENCOUNTER", "START"}))

    own = {key: [tuple(row.values())] for key, row in patients.items()}
    for row in visits.values():
        own[row["PATIENT"]].append(("visit", *map(str, shown(row))))
    for row in conditions:
        own[row["PATIENT"]].append(("condition", *map(str, (*shown(row), *shown(visits[row["ENCOUNTER"]])))))
    return Counter(tuple(sorted(records)) for records in own.values())


def test_who_compares_whole_records_finds_as_many_as_the_manifest_tells(guarded):
    """No more is to be had by putting columns, tables and dates together than what is told of all together."""
    told = {left["what"]: left["singled_out"] for left in guarded.manifest.uncovered}
    prints = whole_people(guarded)
    alone = sum(n for n in prints.values() if n == 1) / prints.total()
    assert told["all of these together with the quasi-identifiers"] == pytest.approx(alone, abs=1e-4)
    assert told["intervals between all shifted dates"] <= alone


def test_how_often_somebody_has_a_code_is_no_more_than_is_told(guarded):
    told = {left["what"]: left["singled_out"] for left in guarded.manifest.uncovered}
    codes = defaultdict(list)
    for row in rows(guarded.folder / "conditions.csv"):
        codes[row["PATIENT"]].append(row["CODE"])
    everybody = [row["Id"] for row in rows(guarded.folder / "patients.csv")]
    prints = Counter(tuple(sorted(codes[person])) for person in everybody)
    alone = sum(n for n in prints.values() if n == 1) / len(everybody)
    assert told["more than 2 of the values in conditions.CODE, or how often"] == pytest.approx(alone, abs=1e-4)


def test_who_knows_one_true_date_finds_no_more_than_is_told(folder, people, tmp_path):
    """With few people and a narrow window a shifted date still tells whose it is: on average as often as is told."""
    tables = {"patients": POLICY["tables"]["patients"], "encounters": copy.deepcopy(POLICY["tables"]["encounters"])}
    tables["encounters"]["attributes"]["START"]["shift"]["days"] = 2
    tables = {name: {**table, "data": str(folder / table["data"])} for name, table in tables.items()}
    (tmp_path / "key").write_text("s" * 40)
    kept = {"key_file": str(tmp_path / "key")}
    policy = {**POLICY, "tables": tables, "privacy": POLICY["privacy"][:1], "pseudonyms": kept}
    release = medveil.anonymize(policy, out=tmp_path / "out")
    (told,) = [
        left["singled_out"]
        for left in release.manifest.uncovered
        if left["what"] == "one true date, known to be within 2 days of a shifted one in encounters.START"
    ]
    published = defaultdict(set)
    for row in rows(release.folder / "encounters.csv"):
        published[row["PATIENT"]].add(dt.date.fromisoformat(row["START"]).toordinal())
    near = defaultdict(set)
    for person, days in published.items():
        for day in days:
            for t in range(day - 2, day + 3):
                near[t].add(person)
    source = defaultdict(set)
    for row in people.encounters.to_pylist():
        source[row["PATIENT"]].add(dt.date.fromisoformat(row["START"][:10]).toordinal())
    found = sum(any(len(near[day]) == 1 for day in days) for days in source.values())
    everybody = len(rows(release.folder / "patients.csv"))
    assert 0.1 < told < 0.9
    # What is told is an average over offsets, what is found goes by the ones that this key gives.
    assert told == pytest.approx(found / everybody, abs=0.06)


def test_the_share_found_by_a_date_is_that_of_every_offset_tried():
    random = np.random.default_rng(5)
    for _ in range(100):
        number, window = int(random.integers(1, 9)), int(random.integers(1, 9))
        dates = sorted({(int(random.integers(0, 60)), int(random.integers(0, 5))) for _ in range(number)})
        days, people = (np.array(side) for side in zip(*dates, strict=True))
        alone = 0
        for person in set(people.tolist()):
            for offset in (*range(-window, 0), *range(1, window + 1)):
                known = [day - offset for day, whose in dates if whose == person]
                others = [day for day, whose in dates if whose != person]
                alone += any(all(abs(day - t) > window for day in others) for t in known)
        assert singled_out_by_a_date(people, days, window) == pytest.approx(alone / (2 * window))


def test_the_manifest_does_not_tell_how_many_records_the_people_have_who_are_left_out(guarded):
    assert guarded.manifest.rows["suppressed"] > 0
    for table in guarded.manifest.tables.values():
        assert table["rows"].keys() == {"published", "strays"}
