"""A day's work on the Synthea sample: patients, conditions and immunizations to a linked, shifted, k-anonymous release
that is audited, attacked and loaded again by somebody else.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import medveil
from medveil.errors import PolicyError

CSV = Path(__file__).parents[3] / "shared/data/synthea/csv"
pytestmark = pytest.mark.skipif(not CSV.is_dir(), reason="the public data are not on this machine")

POLICY = f"""
tables:
  patients:
    data: {CSV}/patients.csv
    attributes:
      Id:        {{role: key}}
      BIRTHDATE:
        role: quasi
        derive: {{age_at: 2021-01-01, name: age}}
        hierarchy: {{type: intervals, widths: [5, 10, 20], top: 90}}
      DEATHDATE: {{role: date, shift: {{days: 183}}}}
      GENDER:    {{role: quasi}}
      RACE:      {{role: quasi}}
      ZIP:       {{role: quasi, type: code, hierarchy: {{type: mask, length: 5}}}}
  conditions:
    data: {CSV}/conditions.csv.gz
    key: {{PATIENT: patients.Id}}
    attributes:
      START: {{role: date, shift: {{days: 183}}}}
      STOP:  {{role: plain, derive: {{days_after: START, name: days}}}}
      CODE:  {{role: sensitive, type: code, set: true}}
  immunizations:
    data: {CSV}/immunizations.csv.gz
    key: {{PATIENT: patients.Id}}
    attributes:
      DATE: {{role: plain, derive: {{days_since: immunizations.DATE, name: day}}}}
      CODE: {{role: plain}}
privacy:
  - {{model: k-anonymity, k: 5}}
  - {{model: km-anonymity, k: 5, m: 2, attribute: conditions.CODE}}
method: {{name: optimal, suppression: 0.02}}
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("synthea")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return medveil.anonymize(str(folder / "policy.yaml"), out=folder / "out"), folder / "policy.yaml"


def ask(release, query):
    """What another reader finds in the files."""
    with duckdb.connect() as connection:
        for path in release.folder.glob("*.csv"):
            connection.execute(f"CREATE VIEW {path.stem} AS SELECT * FROM read_csv('{path}', all_varchar = true)")
        connection.execute(
            f"CREATE VIEW origin AS SELECT * FROM read_csv('{CSV}/conditions.csv.gz', all_varchar = true)"
        )
        return connection.execute(query).fetchall()


def test_the_release_is_loaded_again_and_holds_what_it_claims(release):
    made, _ = release
    assert made.manifest.rows["input"] == 1171
    assert made.manifest.rows["suppressed"] <= 23
    ((smallest,),) = ask(
        made, "SELECT min(n) FROM (SELECT count(*) AS n FROM patients GROUP BY age, GENDER, RACE, ZIP)"
    )
    assert smallest >= 5
    pairs = "SELECT DISTINCT PATIENT, CODE FROM conditions"
    ((smallest,),) = ask(
        made,
        f"SELECT min(n) FROM (SELECT a.CODE, b.CODE, count(*) AS n FROM ({pairs}) a, ({pairs}) b "
        "WHERE a.PATIENT = b.PATIENT AND a.CODE < b.CODE GROUP BY ALL)",
    )
    assert smallest >= 5
    ((dangling,),) = ask(made, "SELECT count(*) FROM conditions WHERE PATIENT NOT IN (SELECT Id FROM patients)")
    assert dangling == 0


def test_stays_and_intervals_are_those_of_the_source(release):
    gaps = (
        "SELECT list_sort(list(gap)) AS gaps FROM (SELECT PATIENT, date_diff('day', min(START::DATE) OVER "
        "(PARTITION BY PATIENT), START::DATE) AS gap FROM {table}) GROUP BY PATIENT"
    )
    published, original = (gaps.format(table=table) for table in ("conditions", "origin"))
    ((strange,),) = ask(release[0], f"SELECT count(*) FROM ({published} EXCEPT ALL {original})")
    assert strange == 0


def test_it_is_audited_with_its_policy_and_tells_what_it_leaves_open(release):
    made, policy = release
    report = medveil.audit(made.folder, policy)
    assert (report.ok, report.unchecked) == (True, ())
    told = {left["what"]: left["singled_out"] for left in report.uncovered}
    assert told["intervals between the shifted dates in conditions.START"] > 0.9
    assert told["the number of records in conditions"] < 0.05
    assert "pseudonymous" in str(report.status)
    page = (made.folder / "report.html").read_text(encoding="utf-8")
    assert "What no claim covers" in page
    assert "intervals between the shifted dates in conditions.START" in page


def test_no_name_number_or_key_of_the_source_is_in_what_leaves(release):
    made, _ = release
    text = "".join(path.read_text(encoding="utf-8") for path in made.folder.iterdir() if path.is_file())
    with duckdb.connect() as connection:
        columns = "Id, SSN, DRIVERS, PASSPORT, FIRST, LAST, ADDRESS"
        named = connection.execute(
            f"SELECT {columns} FROM read_csv('{CSV}/patients.csv', all_varchar = true) LIMIT 200"
        ).fetchall()
    assert not [name for names in named for name in names if name is not None and name in text]
    header = (made.folder / "patients.csv").read_text(encoding="utf-8").partition("\n")[0]
    assert header == "Id,age,DEATHDATE,GENDER,RACE,ZIP"


SAFE = f"""
profile: hipaa-safe-harbor
tables:
  patients:
    data: {CSV}/patients.csv
    attributes:
      Id:        {{role: key}}
      BIRTHDATE: {{role: quasi, derive: {{age_at: 2021-01-01, name: age}}}}
      DEATHDATE: {{role: quasi}}
      GENDER:    {{role: quasi}}
      ZIP:       {{role: quasi}}
  conditions:
    data: {CSV}/conditions.csv.gz
    key: {{PATIENT: patients.Id}}
    attributes:
      START: {{role: plain, derive: {{days_since: conditions.START, most: 32870, name: day}}}}
      STOP:  {{role: plain, derive: {{days_after: START, name: days}}}}
      CODE:  {{role: sensitive, type: code, set: true}}
  immunizations:
    data: {CSV}/immunizations.csv.gz
    key: {{PATIENT: patients.Id}}
    attributes:
      DATE: {{role: quasi}}
      CODE: {{role: plain}}
privacy:
  - {{model: k-anonymity, k: 5}}
  - {{model: km-anonymity, k: 5, m: 2, attribute: conditions.CODE}}
method: {{name: optimal, suppression: 0.05}}
"""


@pytest.fixture(scope="module")
def safe(tmp_path_factory):
    folder = tmp_path_factory.mktemp("safe")
    (folder / "policy.yaml").write_text(SAFE, encoding="utf-8")
    return medveil.anonymize(str(folder / "policy.yaml"), out=folder / "out"), folder / "policy.yaml"


def test_under_safe_harbor_years_and_days_are_published_and_no_date(safe):
    made, policy = safe
    assert made.manifest.claims[-1]["model"] == "hipaa-safe-harbor"
    report = medveil.audit(made.folder, policy)
    assert (report.ok, report.unchecked) == (True, ())
    ((finer,),) = ask(
        made,
        "SELECT count(*) FROM (SELECT DATE AS v FROM immunizations UNION ALL SELECT DEATHDATE FROM patients) "
        "WHERE v IS NOT NULL AND NOT regexp_full_match(v, '[0-9]{4}|[0-9]{3}0s|[*]')",
    )
    assert finer == 0
    ((areas, first),) = ask(
        made,
        "SELECT (SELECT count(*) FROM patients WHERE NOT regexp_full_match(ZIP, '[0-9]{0,3}[*]+')), min(day::INT) "
        "FROM conditions",
    )
    assert (areas, first) == (0, 0)
    page = (made.folder / "report.html").read_text(encoding="utf-8")
    assert "to be attested by a person" in page


def test_under_safe_harbor_nobodys_diagnoses_are_ninety_years_apart(safe):
    """The sample has people whose diagnoses are: days since the first would tell that they are over 89."""
    made, policy = safe
    ((longest,),) = ask(made, "SELECT max(day::INT) FROM conditions")
    assert 30_000 < longest <= 32_870
    bare = policy.with_name("bare.yaml")
    bare.write_text(SAFE.replace(", most: 32870", ""), encoding="utf-8")
    with pytest.raises(PolicyError, match=r"'conditions\.day' tells 90 years of a life: .* 'most: 32870'"):
        medveil.anonymize(str(bare))


def test_days_since_the_first_are_fingerprints_as_much_as_shifted_dates(safe):
    """An attacker who knows how far apart somebody's diagnoses are finds that person, without any date."""
    made, _ = safe
    told = {left["what"]: left["singled_out"] for left in made.manifest.uncovered}
    ((alone, everybody),) = ask(
        made,
        "SELECT sum(n) FILTER (n = 1), sum(n) FROM (SELECT count(*) AS n FROM (SELECT Id, list_sort(list(day)) AS own "
        "FROM patients LEFT JOIN conditions ON PATIENT = Id GROUP BY Id) GROUP BY own)",
    )
    assert alone / everybody > 0.9
    assert told["the values in conditions.day"] == pytest.approx(alone / everybody, abs=1e-4)


def test_the_two_releases_do_not_intersect_by_pseudonyms_but_by_intervals(release, safe):
    """Releases with keys of their own share no pseudonym; whoever has both links people by intervals all the same."""
    (shifted, _), (made, _) = release, safe
    with duckdb.connect() as connection:
        one, two = (f"read_csv('{r.folder}/conditions.csv', all_varchar = true)" for r in (shifted, made))
        ((shared,),) = connection.execute(
            f"SELECT count(*) FROM {one} AS a JOIN {two} AS b ON a.PATIENT = b.PATIENT"
        ).fetchall()
        gaps = (
            f"SELECT PATIENT, list_sort(list(day)) AS own FROM (SELECT PATIENT, date_diff('day', min(START::DATE) OVER "
            f"(PARTITION BY PATIENT), START::DATE) AS day FROM {one}) GROUP BY PATIENT"
        )
        days = f"SELECT PATIENT, list_sort(list(day::BIGINT)) AS own FROM {two} GROUP BY PATIENT"
        ((linked,),) = connection.execute(
            f"SELECT count(*) FROM ({gaps}) AS a JOIN ({days}) AS b ON a.own = b.own"
        ).fetchall()
    assert shared == 0
    assert linked > 0.9 * min(shifted.manifest.rows["published"], made.manifest.rows["published"])
