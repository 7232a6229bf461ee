"""A release of linked tables, looked at with other tools than those that made or audit it."""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections import Counter, defaultdict
from itertools import combinations, pairwise

import pyarrow as pa
import pyarrow.csv
import pytest

import medveil
from medveil.errors import InputError, MedveilError, PolicyError
from medveil.policy import load_policy
from medveil.run import Run


def rows(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def made(folder, tmp_path_factory):
    """One release that many tests look at, and the policy that it was made by."""
    from tests.linked.conftest import POLICY  # noqa: PLC0415

    policy = {**POLICY, "tables": {n: {**t, "data": str(folder / t["data"])} for n, t in POLICY["tables"].items()}}
    out = tmp_path_factory.mktemp("linked") / "out"
    return medveil.anonymize(policy, out=out), policy


@pytest.fixture(scope="module")
def tables(made):
    release, _ = made
    return {name: rows(release.folder / table["file"]) for name, table in release.manifest.tables.items()}


def test_one_file_a_table_called_after_it_and_called_pseudonymous(made):
    release, _ = made
    files = sorted(path.name for path in release.folder.iterdir())
    assert files == ["conditions.csv", "encounters.csv", "internal", "manifest.json", "patients.csv"]
    assert release.manifest.status == "pseudonymous, not anonymous"
    assert release.manifest.subject == "patients.Id"


def test_foreign_keys_hold_and_nothing_of_the_source_is_left_in_them(tables, people):
    ids, visits = {row["Id"] for row in tables["patients"]}, {row["Id"]: row["PATIENT"] for row in tables["encounters"]}
    assert len(ids) == len(tables["patients"])
    assert set(visits.values()) <= ids
    assert all(visits[row["ENCOUNTER"]] == row["PATIENT"] for row in tables["conditions"])
    assert not ids & set(people.patients["Id"].to_pylist())
    assert all(re.fullmatch("[0-9a-f]{32}", key) for key in (*ids, *visits))


def test_every_combination_of_quasi_identifiers_is_shared_by_k_people(tables, made):
    counts = Counter((row["age"], row["GENDER"], row["REGION"]) for row in tables["patients"])
    assert min(counts.values()) >= 4
    assert made[0].manifest.claims[0]["achieved"] == {"k": min(counts.values())}


def sets_of(conditions):
    found = defaultdict(set)
    for row in conditions:
        found[row["PATIENT"]].add(row["CODE"])
    return list(found.values())


def least_support(sets, m):
    known = {c for codes in sets for size in range(1, m + 1) for c in combinations(sorted(codes), size)}
    return min(sum(set(one) <= codes for codes in sets) for one in known)


def test_any_two_codes_are_had_by_k_people_and_were_not_before(tables, made, people):
    least = least_support(sets_of(tables["conditions"]), 2)
    assert least >= 3
    assert made[0].manifest.claims[1]["achieved"] == {"k": least, "m": 2}
    original = [{"PATIENT": row["PATIENT"], "CODE": row["CODE"]} for row in people.conditions.to_pylist()]
    assert least_support(sets_of(original), 2) == 1


def test_whoever_is_suppressed_is_gone_from_every_table_and_others_are_whole(tables, made, people):
    told = made[0].manifest.rows
    assert told["input"] == 250
    assert 0 < told["suppressed"] <= 25
    assert len(tables["patients"]) == told["published"] == 250 - told["suppressed"]
    visits = Counter(row["PATIENT"] for row in tables["encounters"])
    original = Counter(people.encounters["PATIENT"].to_pylist())
    published = Counter(visits.get(row["Id"], 0) for row in tables["patients"])
    everybody = Counter(original.get(key, 0) for key in people.patients["Id"].to_pylist())
    assert not published - everybody


def test_one_offset_a_person_in_all_tables(tables, people):
    """A diagnosis is made on the day its visit begins, in the source and so in the release."""
    starts = {row["Id"]: row["START"] for row in tables["encounters"]}
    assert all(row["START"] == starts[row["ENCOUNTER"]] for row in tables["conditions"])

    def intervals(found):
        by_person = defaultdict(list)
        for row in found:
            by_person[row["PATIENT"]].append(dt.date.fromisoformat(row["START"][:10]))
        ordered = [sorted(dates) for dates in by_person.values()]
        return Counter(tuple((b - a).days for a, b in pairwise(d)) for d in ordered)

    assert not intervals(tables["encounters"]) - intervals(people.encounters.to_pylist())


def test_rows_stand_in_the_order_of_their_pseudonyms(tables):
    assert [row["Id"] for row in tables["encounters"]] == sorted(row["Id"] for row in tables["encounters"])


def test_the_order_of_the_source_says_nothing(policy, people, tmp_path):
    (tmp_path / "key").write_text("s" * 40)
    policy["pseudonyms"] = {"key_file": str(tmp_path / "key")}
    one = medveil.anonymize(policy)
    for name, table in people.tables.items():
        backwards = table.take(pa.array(range(table.num_rows - 1, -1, -1)))
        pa.csv.write_csv(backwards, tmp_path / f"{name}.csv")
        policy["tables"][name]["data"] = str(tmp_path / f"{name}.csv")
    two = medveil.anonymize(policy)
    assert one.manifest.files == two.manifest.files


def test_what_no_claim_covers_is_named_with_the_share_of_people_it_singles_out(tables, made):
    told = {left["what"]: left["singled_out"] for left in made[0].manifest.uncovered}
    visits = Counter(row["PATIENT"] for row in tables["encounters"])
    numbers = Counter(visits.get(row["Id"], 0) for row in tables["patients"])
    alone = sum(n for n in numbers.values() if n == 1) / len(tables["patients"])
    assert told["the number of records in encounters"] == pytest.approx(alone, abs=1e-4)
    dates = defaultdict(list)
    for row in tables["encounters"]:
        dates[row["PATIENT"]].append(dt.date.fromisoformat(row["START"]).toordinal())
    prints = Counter(
        tuple(day - min(d) for day in sorted(d)) if (d := dates.get(row["Id"])) else () for row in tables["patients"]
    )
    alone = sum(n for n in prints.values() if n == 1) / len(tables["patients"])
    assert told["intervals between the shifted dates in encounters.START"] == pytest.approx(alone, abs=1e-4)
    assert told["all of these together with the quasi-identifiers"] >= max(told.values()) - 1e-9


def test_mondrian_gives_each_person_labels_of_their_own(policy, tmp_path):
    policy["method"] = "mondrian"
    release = medveil.anonymize(policy, out=tmp_path / "out")
    counts = Counter((r["age"], r["GENDER"], r["REGION"]) for r in rows(release.folder / "patients.csv"))
    assert min(counts.values()) >= 4
    assert release.manifest.rows["suppressed"] == 0
    report = medveil.audit(release.folder, load_policy(policy)[0])
    assert report.ok


def test_quasi_identifiers_of_visits_are_counted_over_the_joined_view(policy, tmp_path):
    policy["tables"]["encounters"]["attributes"]["CLASS"] = {"role": "quasi"}
    policy["method"] = {"name": "optimal", "suppression": 0.2}
    release = medveil.anonymize(policy, out=tmp_path / "out")
    patients = {r["Id"]: (r["age"], r["GENDER"], r["REGION"]) for r in rows(release.folder / "patients.csv")}
    seen = defaultdict(set)
    visited = set()
    for row in rows(release.folder / "encounters.csv"):
        seen[*patients[row["PATIENT"]], row["CLASS"]].add(row["PATIENT"])
        visited.add(row["PATIENT"])
    for key, known in patients.items():
        if key not in visited:
            seen[*known, None].add(key)
    assert min(map(len, seen.values())) >= 4
    assert release.manifest.rows["suppressed"] <= 50
    assert medveil.audit(release.folder, load_policy(policy)[0]).ok


def test_diversity_of_a_column_of_another_table_counts_people(policy, tmp_path):
    policy["tables"]["encounters"]["attributes"]["CLASS"] = {"role": "sensitive"}
    policy["privacy"].append({"model": "l-diversity", "variant": "distinct", "l": 2, "attribute": "encounters.CLASS"})
    release = medveil.anonymize(policy, out=tmp_path / "out")
    claim = release.manifest.claims[1]
    assert (claim["attribute"], claim["holds"]) == ("encounters.CLASS", True)
    assert medveil.audit(release.folder, load_policy(policy)[0]).ok


@pytest.mark.parametrize("method", ["h-ceiling", "fixed-interval", "ipa", "iab"])
def test_methods_that_cannot_link_refuse_with_the_reason(policy, method):
    policy["method"] = method
    with pytest.raises(PolicyError, match="does not fit linked tables"):
        medveil.anonymize(policy)


def test_mondrian_refuses_quasi_identifiers_that_stand_in_several_records(policy):
    policy["tables"]["encounters"]["attributes"]["CLASS"] = {"role": "quasi"}
    policy["method"] = "mondrian"
    with pytest.raises(PolicyError, match="only quasi-identifiers of the table of people"):
        medveil.anonymize(policy)


def rewritten(policy, name, tmp_path, change):
    """The policy with one table changed, row by row."""
    source = rows_of(policy, name)
    path = tmp_path / f"{name}.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, source[0].keys())
        writer.writeheader()
        writer.writerows(change(source))
    policy["tables"][name]["data"] = str(path)
    return policy


def rows_of(policy, name):
    from pathlib import Path  # noqa: PLC0415

    return rows(Path(policy["tables"][name]["data"]))


def test_records_that_point_to_nothing_are_left_out_and_told(policy, tmp_path):
    def stray(found):
        return [{**found[0], "ENCOUNTER": "nowhere"}, {**found[1], "PATIENT": "nobody"}, *found[2:]]

    told = []
    changed = rewritten(policy, "conditions", tmp_path, stray)
    release = medveil.anonymize(changed, out=tmp_path / "out", progress=lambda event: told.append(event.words))
    assert release.manifest.tables["conditions"]["rows"]["strays"] == 2
    assert any("2 records of 'conditions' point to people who are not in the data" in words for words in told)
    assert medveil.audit(release.folder, load_policy(changed)[0]).ok


def test_a_diagnosis_in_somebody_elses_visit_links_nobody(policy, tmp_path):
    def crossed(found):
        other = next(row for row in found if row["PATIENT"] != found[0]["PATIENT"])
        return [{**found[0], "ENCOUNTER": other["ENCOUNTER"]}, *found[1:]]

    release = medveil.anonymize(rewritten(policy, "conditions", tmp_path, crossed))
    assert release.manifest.tables["conditions"]["rows"]["strays"] == 1


def test_a_missing_foreign_key_stays_missing(policy, tmp_path):
    changed = rewritten(policy, "conditions", tmp_path, lambda found: [{**row, "ENCOUNTER": ""} for row in found])
    release = medveil.anonymize(changed, out=tmp_path / "out")
    assert {row["ENCOUNTER"] for row in rows(release.folder / "conditions.csv")} == {""}
    assert medveil.audit(release.folder, load_policy(changed)[0]).ok


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda found: [found[0], *found], "does not name one record each: 1 are repeated"),
        (lambda found: [{**found[0], "Id": ""}, *found[1:]], "1 records have no 'Id'"),
        (lambda found: found[:0], "cannot be read|holds no"),
    ],
)
def test_keys_that_cannot_be_are_refused_without_a_value(policy, tmp_path, change, words):
    first = rows_of(policy, "patients")[0]["Id"]
    source = rows_of(policy, "patients")
    changed = change(source)
    path = tmp_path / "patients.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, source[0].keys())
        writer.writeheader()
        writer.writerows(changed)
    policy["tables"]["patients"]["data"] = str(path)
    with pytest.raises((InputError, PolicyError), match=words) as raised:
        medveil.anonymize(policy)
    assert first not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda p: p["tables"]["encounters"].update(key={"PATIENT": "patients.BIRTHDATE"}),
            "is not the key of another",
        ),
        (lambda p: p["tables"]["encounters"].update(key={"PATIENT": "people.Id"}), "is not the key of another"),
        (lambda p: p["tables"]["encounters"].pop("key"), "2 tables point to no other"),
        (lambda p: p.update(data="x.csv"), "'tables' replaces"),
        (lambda p: p["tables"].update(manifest=p["tables"].pop("conditions")), "a table's name becomes"),
        (lambda p: p["tables"]["encounters"]["attributes"].update(PATIENT={"role": "plain"}), "already points"),
        (lambda p: p["privacy"][1].update(attribute="conditions.START"), "no set-valued attribute"),
        (lambda p: p["output"].update(suppressed="stars"), "as stars"),
    ],
)
def test_what_cannot_be_meant_is_said(policy, change, words):
    change(policy)
    with pytest.raises(PolicyError, match=words):
        medveil.anonymize(policy)


def test_a_seed_repeats_byte_for_byte_and_is_not_for_publication(policy):
    policy["seed"] = 5
    one, two = medveil.anonymize(policy), medveil.anonymize(policy)
    assert one.manifest.files == two.manifest.files
    assert one.manifest.status == "repeatable, not for publication"


def test_only_sets_are_asked_for(policy, tmp_path):
    policy["privacy"] = policy["privacy"][1:]
    release = medveil.anonymize(policy, out=tmp_path / "out")
    assert [claim["model"] for claim in release.manifest.claims] == ["km-anonymity"]
    assert release.manifest.rows["suppressed"] == 0


def test_recipients_are_told_what_a_linked_release_is_called_and_what_its_columns_mean(policy, tmp_path):
    policy["release"] = {"title": "Visits of a cohort", "purpose": "Teaching", "contact": "data@ward.example"}
    policy["tables"]["encounters"]["attributes"]["CLASS"]["description"] = "How the visit was booked"
    policy["output"]["report"] = True
    release = medveil.anonymize(policy, out=tmp_path / "out")
    about = dict(release.manifest.about)
    assert about.pop("date")
    assert about == policy["release"]
    columns = {a["name"]: a for a in release.manifest.tables["encounters"]["attributes"]}
    assert columns["CLASS"]["description"] == "How the visit was booked"
    page = (tmp_path / "out" / "report.html").read_text()
    assert all(words in page for words in policy["release"].values())
    assert medveil.audit(tmp_path / "out").publishable


def test_tables_that_are_shifted_in_two_windows_are_refused(policy):
    policy["tables"]["conditions"]["attributes"]["START"]["shift"]["days"] = 30
    with pytest.raises(PolicyError, match=r"'encounters\.START' is shifted by up to 183 days, 'conditions\.START'"):
        medveil.anonymize(policy)


def test_too_little_memory_for_the_proof_of_tables_is_said(policy, tmp_path):
    medveil.anonymize(policy, out=tmp_path / "out")
    short = Run(limits=medveil.Limits(memory="1MB"))
    with pytest.raises(MedveilError, match=r"The proof needs more than the 976.5 KiB of memory"):
        medveil.audit(tmp_path / "out", load_policy(policy)[0], run=short)
    with pytest.raises(MedveilError, match=r"Counting needs more than the 976.5 KiB of memory"):
        medveil.anonymize(policy, run=short)
