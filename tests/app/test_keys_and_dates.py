"""One table with keys, shifted dates and derived columns: published, told as pseudonymous, and audited."""

import datetime as dt
import json
from collections import defaultdict

import pyarrow as pa
import pyarrow.csv
import pytest

import medveil
from medveil.errors import InputError, MedveilError, PolicyError
from medveil.release.manifest import file_hash
from medveil.run import Run

BORN = {
    "role": "quasi",
    "derive": {"age_at": "2021-03-01", "name": "age"},
    "hierarchy": {"type": "intervals", "widths": [10, 50]},
}
POLICY = {
    "attributes": {
        "patient": {"role": "key"},
        "born": BORN,
        "sex": {"role": "quasi"},
        "start": {"role": "date", "shift": {"days": 100}},
        "stop": {"role": "plain", "derive": {"days_after": "start", "name": "stay"}},
        "seen": {"role": "plain", "derive": {"days_since": "start", "name": "day"}},
        "name": {"role": "identifier"},
    },
    "privacy": [{"model": "k-anonymity", "k": 3}],
    "output": {"report": False},
}


@pytest.fixture
def visits():
    rows = []
    for i in range(30):
        for visit in range(1 + i % 3):
            start = dt.date(2020, 1, 1) + dt.timedelta(days=11 * i + 40 * visit)
            rows.append(
                {
                    "patient": f"P{i:03}",
                    "born": str(dt.date(1950 + i, 1 + i % 12, 1 + i % 28)),
                    "sex": "fm"[i % 2],
                    "start": f"{start}T08:15:00Z",
                    "stop": str(start + dt.timedelta(days=visit)),
                    "seen": str(start),
                    "name": f"token-{i}",
                }
            )
    return pa.Table.from_pylist(rows)


def released(release):
    return release.to_arrow().to_pylist()


def test_intervals_survive_offsets_differ_and_every_person_has_one(visits):
    release = medveil.anonymize(visits, POLICY)
    rows = released(release)
    assert release.manifest.status == "pseudonymous, not anonymous"
    assert release.manifest.pseudonyms["key"] == "drawn for this release"
    starts = defaultdict(list)
    for row in rows:
        starts[row["patient"]].append(dt.date.fromisoformat(row["start"]))
    original = defaultdict(list)
    for row in visits.to_pylist():
        original[row["patient"]].append(dt.date.fromisoformat(row["start"][:10]))
    assert len(starts) == len(original) == 30
    assert not set(starts) & set(original)

    def intervals(dates):
        return tuple((b - a).days for a, b in zip(sorted(dates), sorted(dates)[1:], strict=False))

    assert sorted(map(intervals, starts.values())) == sorted(map(intervals, original.values()))
    first, last = min(min(d) for d in original.values()), max(max(d) for d in original.values())
    published = [date for dates in starts.values() for date in dates]
    assert first - dt.timedelta(100) <= min(published) <= max(published) <= last + dt.timedelta(100)
    assert {row["stay"] for row in rows} == {0, 1, 2}
    assert {row["day"] for row in rows} == {0, 40, 80}


def test_the_audit_recomputes_everything_with_the_key_and_says_what_it_cannot_without(visits, tmp_path):
    medveil.anonymize(visits, POLICY, out=tmp_path / "out")
    report = medveil.audit(tmp_path / "out", visits)
    assert report.ok
    assert not report.unchecked
    (tmp_path / "out/internal/release.key").unlink()
    report = medveil.audit(tmp_path / "out", visits)
    assert report.ok
    assert any("needs the key" in words for words in report.unchecked)


def forge(folder, change):
    """Rewrite the release file by a function of its rows, sorted and listed as an honest one would be."""
    path = folder / "release.csv"
    table = pa.csv.read_csv(path, convert_options=pa.csv.ConvertOptions(column_types={"start": pa.string()}))
    rows = change(table.to_pylist())
    forged = pa.Table.from_pylist(rows, schema=table.schema)
    forged = forged.sort_by([(name, "ascending") for name in forged.column_names])
    options = pa.csv.WriteOptions(quoting_style="none")
    pa.csv.write_csv(forged, path, options)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["release.csv"] = file_hash(path)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_date_that_moved_by_another_offset_is_found(visits, tmp_path):
    medveil.anonymize(visits, POLICY, out=tmp_path / "out")

    def one_day_later(rows):
        moved = dt.date.fromisoformat(rows[0]["start"]) + dt.timedelta(1)
        return [{**rows[0], "start": str(moved)}, *rows[1:]]

    forge(tmp_path / "out", one_day_later)
    report = medveil.audit(tmp_path / "out", visits)
    assert report.refuted
    assert any("match no record of the source" in problem for problem in report.problems)


def test_records_of_two_people_under_one_pseudonym_are_found(visits, tmp_path):
    medveil.anonymize(visits, POLICY, out=tmp_path / "out")
    forge(tmp_path / "out", lambda rows: [{**row, "patient": rows[0]["patient"]} for row in rows])
    report = medveil.audit(tmp_path / "out", visits)
    assert report.refuted
    # One pseudonym for all is one person in every class.
    assert report.findings[0].finding.achieved == {"k": 1}


def test_a_release_with_keys_that_calls_itself_anonymous_is_refuted(visits, tmp_path):
    medveil.anonymize(visits, POLICY, out=tmp_path / "out")
    path = tmp_path / "out/manifest.json"
    path.write_text(path.read_text().replace("pseudonymous, not anonymous", "for publication"))
    assert any("pseudonymous" in problem for problem in medveil.audit(tmp_path / "out").problems)


def test_the_stewards_key_gives_the_same_pseudonyms_in_every_release(visits, tmp_path):
    (tmp_path / "key").write_text("k" * 40)
    policy = {**POLICY, "pseudonyms": {"key_file": str(tmp_path / "key")}}
    one, two = (medveil.anonymize(visits, policy) for _ in range(2))
    assert released(one) == released(two)
    assert one.manifest.pseudonyms["key"] == "the steward's own"
    assert not (one.folder / "internal/release.key").exists()
    drawn = [{row["patient"] for row in released(medveil.anonymize(visits, POLICY))} for _ in range(2)]
    assert not drawn[0] & drawn[1]


def test_pseudonyms_do_not_stand_in_the_order_of_what_they_stand_for(visits):
    key = medveil.anonymize(visits, POLICY)
    rows = released(key)
    mine = [row["patient"] for row in rows if (row["age"], row["sex"]) == (rows[0]["age"], rows[0]["sex"])]
    assert mine == sorted(mine)


def test_a_later_birth_is_missing_and_told(visits):
    table = visits.set_column(1, "born", pa.array(["2030-01-01", *visits["born"].to_pylist()[1:]]))
    told = []
    policy = {**POLICY, "privacy": [{"model": "k-anonymity", "k": 1}]}
    release = medveil.anonymize(table, policy, progress=lambda event: told.append(event.words))
    assert [row["age"] for row in released(release)].count(None) == 1
    assert any("'age' is missing in 1 records" in words for words in told)


def test_ages_on_the_day_before_and_on_a_birthday():
    born = ["2000-02-29", "2000-03-01", "2000-03-02"] * 2
    table = pa.table({"born": born, "at": ["2021-02-28"] * 3 + ["2024-02-29"] * 3})
    policy = {
        "attributes": {"born": {"role": "quasi", "derive": {"age_at": "at", "name": "age"}}, "at": {"role": "plain"}},
        "privacy": [{"model": "k-anonymity", "k": 1}],
        "output": {"report": False},
    }
    release = medveil.anonymize(table, policy)
    assert sorted((row["at"], row["age"]) for row in released(release)) == [
        ("2021-02-28", "20"),
        ("2021-02-28", "20"),
        ("2021-02-28", "20"),
        ("2024-02-29", "23"),
        ("2024-02-29", "23"),
        ("2024-02-29", "24"),
    ]
    assert release.manifest.status == "for publication"


def test_shifted_dates_make_a_release_pseudonymous_without_a_key_too(tmp_path):
    table = pa.table(
        {
            "who": ["p1", "p1", "p2", "p2"],
            "age": ["1"] * 4,
            "start": ["2020-01-01", "2020-01-09", "2020-02-01", "2020-03-01"],
        }
    )
    policy = {
        "attributes": {
            "who": {"role": "subject"},
            "age": {"role": "quasi"},
            "start": {"role": "date", "shift": {"days": 30}},
        },
        "privacy": [{"model": "k-anonymity", "k": 1}],
        "output": {"report": False},
    }
    release = medveil.anonymize(table, policy, out=tmp_path / "release")
    assert release.manifest.status == "pseudonymous, not anonymous"
    path = tmp_path / "release" / "manifest.json"
    path.write_text(path.read_text().replace("pseudonymous, not anonymous", "for publication"))
    assert any("shifted dates" in problem for problem in medveil.audit(tmp_path / "release").problems)


def test_a_date_that_stands_for_no_end_would_tell_the_offset_and_is_refused(visits):
    table = visits.set_column(3, "start", pa.array(["9999-12-31", *visits["start"].to_pylist()[1:]]))
    with pytest.raises(InputError, match="1 dates before 1800 or after 2200") as raised:
        medveil.anonymize(table, POLICY)
    assert "9999" not in str(raised.value)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"a": {"role": "date"}}, "needs 'shift"),
        ({"a": {"role": "date", "shift": {"days": 3}}}, "goes by person"),
        ({"a": {"role": "key"}, "b": {"role": "key"}}, "several columns are keys"),
        ({"a": {"role": "plain", "shift": {"days": 3}}}, "only a column of role date"),
        ({"a": {"role": "quasi", "derive": {"name": "x"}}}, "needs one of"),
        ({"a": {"role": "key", "derive": {"age_at": "b"}}}, "what is derived is quasi, sensitive or plain"),
        ({"a": {"role": "quasi", "subject": True}}, "belongs to a key"),
        (
            {"a": {"role": "date", "shift": {"days": 3}}, "b": {"role": "date", "shift": {"days": 4}}},
            "goes by person",
        ),
        (
            {
                "a": {"role": "date", "shift": {"days": 3}},
                "b": {"role": "date", "shift": {"days": 4}},
                "c": {"role": "key"},
            },
            "'a' is shifted by up to 3 days, 'b' by up to 4",
        ),
    ],
)
def test_what_cannot_be_meant_is_said(attributes, words):
    with pytest.raises(PolicyError, match=words):
        medveil.anonymize(pa.table({"a": ["1"], "b": ["2"]}), {**POLICY, "attributes": attributes})


def test_a_manifest_of_two_windows_is_none_of_ours(visits, tmp_path):
    attributes = {**POLICY["attributes"], "seen": {"role": "date", "shift": {"days": 100}}}
    medveil.anonymize(visits, {**POLICY, "attributes": attributes}, out=tmp_path / "out")
    assert medveil.audit(tmp_path / "out", visits).ok
    path = tmp_path / "out/manifest.json"
    path.write_text(path.read_text().replace('"days": 100', '"days": 101', 1))
    with pytest.raises(InputError, match="not one that medveil wrote"):
        medveil.audit(tmp_path / "out", visits)


def test_what_tells_offsets_is_said(visits, tmp_path):
    (tmp_path / "key").write_text("k" * 40)
    attributes = {**POLICY["attributes"], "seen": {"role": "quasi", "type": "date"}}
    policy = {**POLICY, "attributes": attributes, "pseudonyms": {"key_file": str(tmp_path / "key")}}
    told = []
    medveil.anonymize(visits, policy, progress=lambda event: told.append(event.words))
    assert any("'start' is shifted and 'seen' is not" in words for words in told)
    assert any("shift by 100 days in all of them" in words for words in told)
    told.clear()
    medveil.anonymize(visits, POLICY, progress=lambda event: told.append(event.words))
    assert not any("shift" in words for words in told)


def test_two_columns_of_one_published_name_are_refused(visits):
    attributes = {**POLICY["attributes"], "stop": {"role": "plain", "derive": {"days_after": "start", "name": "sex"}}}
    with pytest.raises(PolicyError, match="Two columns are published as 'sex'"):
        medveil.anonymize(visits, {**POLICY, "attributes": attributes})


def test_methods_that_do_not_keep_records_refuse_keys(visits):
    with pytest.raises(PolicyError, match="which this method does not publish"):
        medveil.anonymize(visits, {**POLICY, "method": "iack"})


def test_mondrian_takes_keys_and_dates(visits, tmp_path):
    medveil.anonymize(visits, {**POLICY, "method": "mondrian"}, out=tmp_path / "out")
    assert medveil.audit(tmp_path / "out", visits).ok


def test_the_manifest_does_not_tell_how_many_records_left_out_people_have(tmp_path):
    """One person is left out; records before less records after would be that person's."""
    rows = [{"patient": f"P{i}", "sex": "f", "kind": "x"} for i in range(10)]
    rows += [{"patient": "P-alone", "sex": "m", "kind": "x"}] * 7
    policy = {
        "attributes": {"patient": {"role": "subject"}, "sex": {"role": "quasi"}, "kind": {"role": "plain"}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "optimal", "suppression": 0.6},
    }
    release = medveil.anonymize(pa.Table.from_pylist(rows), policy, out=tmp_path / "out")
    assert release.manifest.rows["suppressed"] == 7
    told = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert told["rows"] == {"published": 10}
    assert "of 17 suppressed" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert medveil.audit(tmp_path / "out", pa.Table.from_pylist(rows)).ok


def test_dates_that_tell_no_day_are_missing_and_counted(visits, tmp_path):
    """FHIR may give a year or a month; nothing can be shifted or counted from them."""
    texts = visits["start"].to_pylist()
    given = visits.set_column(3, "start", pa.array(["2020", "2020-02", *texts[2:]]))
    release = medveil.anonymize(given, POLICY, out=tmp_path / "out")
    rows = released(release)
    assert sum(row["start"] is None for row in rows) == 2
    assert sum(row["stay"] is None for row in rows) == 2
    assert medveil.audit(tmp_path / "out", given).ok


def test_counted_dates_that_tell_no_day_are_missing_and_counted_too(visits, tmp_path):
    texts = visits["seen"].to_pylist()
    given = visits.set_column(5, "seen", pa.array(["2020", "2020-02", *texts[2:]]))
    for role in ({"role": "quasi", "hierarchy": {"type": "dates", "levels": ["year"]}}, {"role": "sensitive"}):
        attributes = {"patient": {"role": "subject"}, "sex": {"role": "quasi"}, "seen": {"insist": True, **role}}
        told = []
        release = medveil.anonymize(
            given,
            {**POLICY, "attributes": attributes, "privacy": [{"model": "k-anonymity", "k": 1}]},
            out=tmp_path / role["role"],
            progress=lambda event, told=told: told.append(event.words),
        )
        assert sum(row["seen"] is None for row in released(release)) == 2
        assert any("'seen' has only a year or a month in 2 records" in words for words in told)
        assert medveil.audit(tmp_path / role["role"], given).ok


def test_too_little_memory_is_said_with_how_much_there_was(visits, tmp_path):
    medveil.anonymize(visits, POLICY, out=tmp_path / "out")
    short = Run(limits=medveil.Limits(memory="1MB"))
    with pytest.raises(MedveilError, match=r"The proof needs more than the 976.5 KiB of memory.*--memory"):
        medveil.audit(tmp_path / "out", visits, run=short)
    with pytest.raises(MedveilError, match=r"Counting needs more than the 976.5 KiB of memory.*--memory"):
        medveil.anonymize(visits, POLICY, run=short)


def test_days_beyond_the_most_are_missing_and_counted(visits, tmp_path):
    derived = {"role": "plain", "derive": {"days_since": "start", "most": 40, "name": "day"}}
    told = []
    policy = {**POLICY, "attributes": {**POLICY["attributes"], "seen": derived}}
    release = medveil.anonymize(visits, policy, out=tmp_path / "out", progress=lambda event: told.append(event.words))
    assert {row["day"] for row in released(release)} == {0, 40, None}
    assert any("'day' is missing in 10 records" in words for words in told)
    assert medveil.audit(tmp_path / "out", visits).ok
    path = tmp_path / "out/manifest.json"
    path.write_text(path.read_text().replace('"most": 40', '"most": 39'))
    assert medveil.audit(tmp_path / "out", visits).refuted
    with pytest.raises(PolicyError, match="'most' is for days"):
        medveil.anonymize(visits, {**POLICY, "attributes": {"born": {**BORN, "derive": {"age_at": "seen", "most": 9}}}})
