"""A day's work on FHIR: exports of generated people to linked, pseudonymous, shifted, k-anonymous releases that are
audited, written as FHIR, and read again by somebody else.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from fhir.resources.R4B import get_fhir_model_class

import medveil
from medveil.app.inspect_folder import inspect_folder, write_folder_policy
from medveil.policy import load_policy
from medveil.policy_file import read_policy_file
from medveil.sources.fhir import fhir_files, resources

SHARED = Path(__file__).parents[3] / "shared/data"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the public data are not on this machine")


@pytest.fixture(scope="module", params=["fhir-bulk", "synthea/fhir"])
def work(request, tmp_path_factory):
    """A release by the starter policy of a folder, with k 2, since there are one or two dozen patients."""
    source, folder = SHARED / request.param, tmp_path_factory.mktemp("work")
    found = inspect_folder(source)
    write_folder_policy(found, source, folder / "policy.yaml")
    text = (folder / "policy.yaml").read_text(encoding="utf-8")
    text = text.replace("k: 5", "k: 2").replace("format: fhir", "format: fhir, report: false")
    (folder / "policy.yaml").write_text(text, encoding="utf-8")
    release = medveil.anonymize(str(folder / "policy.yaml"), out=folder / "out")
    return source, folder / "policy.yaml", release


def written(release):
    return {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in release.folder.glob("*.ndjson")
    }


def test_every_resource_that_is_written_is_valid(work):
    _, _, release = work
    found = written(release)
    assert {"Patient", "Encounter", "Condition", "MedicationRequest", "Procedure"} <= found.keys()
    for kind, ones in found.items():
        model = get_fhir_model_class(kind)
        for one in ones:
            model.model_validate(one)
        assert len(ones) == release.manifest.tables[kind]["rows"]["published"] > 0


def test_every_reference_leads_to_a_resource_and_no_id_or_name_of_the_source_is_left(work):
    source, _, release = work
    found = written(release)
    ids = {f"{kind}/{one['id']}" for kind, ones in found.items() for one in ones}
    references = [
        one[element]["reference"]
        for ones in found.values()
        for one in ones
        for element in ("subject", "patient", "encounter")
        if element in one
    ]
    assert len(references) > 1000
    assert set(references) <= ids
    text = "".join(path.read_text(encoding="utf-8") for path in release.folder.iterdir() if path.is_file())
    original = list(resources(fhir_files(source)))
    words = set(re.findall(r"[0-9A-Za-z-]{8,}", text))
    assert not words & {one["id"] for one in original}
    for one in original:
        if one["resourceType"] == "Patient":
            told = [one["name"][0]["family"], one["address"][0]["city"]]
            told += [number["value"] for number in one["identifier"] if "value" in number]
            assert not [word for word in told if word in text]


def days(texts):
    """The gaps between the dates of somebody, which shifting keeps."""
    dates = sorted(dt.date.fromisoformat(text[:10]) for text in texts)
    return tuple((date - dates[0]).days for date in dates)


def gaps(ones, kind, date):
    of_person: dict[str, list[str]] = {}
    for one in ones:
        if one["resourceType"] == kind and date(one):
            of_person.setdefault(one["subject"]["reference"], []).append(date(one))
    return Counter(map(days, of_person.values()))


def test_intervals_are_those_of_the_source_and_dates_are_not(work):
    source, _, release = work
    original = list(resources(fhir_files(source)))
    published = written(release)["Encounter"]
    assert gaps(published, "Encounter", lambda one: one["period"]["start"]) == gaps(
        original, "Encounter", lambda one: one["period"]["start"]
    )
    assert all(len(one["period"]["start"]) == 10 for one in published)
    visits = [one for one in original if one["resourceType"] == "Encounter"]
    shown, true = (Counter(one["period"]["start"][:10] for one in ones) for ones in (published, visits))
    assert sum((shown & true).values()) < 0.3 * len(visits)


def test_people_hide_each_other_by_what_others_know(work):
    _, _, release = work
    quasi = ("birthDate", "_birthDate", "gender", "_gender", "maritalStatus", "address", "extension")
    groups = Counter(
        json.dumps([one.get(name) for name in quasi], sort_keys=True) for one in written(release)["Patient"]
    )
    assert min(groups.values()) >= 2
    pairs: dict[tuple[str, str], set[str]] = {}
    codes: dict[str, set[str]] = {}
    for one in written(release)["Condition"]:
        coding = one["code"]["coding"][0]
        label = coding.get("code") or coding["_code"]["extension"][0]["valueString"]
        codes.setdefault(one["subject"]["reference"], set()).add(label)
    for person, own in codes.items():
        for first in own:
            for second in own:
                pairs.setdefault((first, second), set()).add(person)
    assert min(map(len, pairs.values())) >= 2


def test_it_is_audited_from_its_source_and_says_what_it_leaves_open(work):
    _, policy, release = work
    report = medveil.audit(release.folder, policy)
    assert (report.ok, report.unchecked) == (True, ())
    assert "pseudonymous" in str(report.status)
    told = {left["what"]: left["singled_out"] for left in report.uncovered}
    assert told["intervals between the shifted dates in Encounter.start"] > 0.9


@pytest.fixture(scope="module")
def safe(work, tmp_path_factory):
    """The same under Safe Harbor: years of birth, and days since the first date in the place of dates."""
    source, policy, _ = work
    asked, _ = read_policy_file(policy)
    asked["profile"] = "hipaa-safe-harbor"
    for name, table in asked["tables"].items():
        table["data"]["path"] = str(source)
        for column, attribute in table["attributes"].items():
            if attribute["role"] == "date":
                days = {"days_since": column, "name": f"{column}_day", "most": 16_000}
                of_people = name == "Patient"
                table["attributes"][column] = {"role": "identifier"} if of_people else {"role": "plain", "derive": days}
    for given in ("hierarchy", "min_level"):
        del asked["tables"]["Patient"]["attributes"]["birth_date"][given]
    return source, asked, medveil.anonymize(asked, out=tmp_path_factory.mktemp("safe") / "out")


def test_under_safe_harbor_resources_are_valid_hold_no_date_and_are_audited(safe):
    _, asked, release = safe
    claim = release.manifest.claims[-1]
    assert (claim["model"], claim["holds"]) == ("hipaa-safe-harbor", True)
    for kind, ones in written(release).items():
        model = get_fhir_model_class(kind)
        for one in ones:
            model.model_validate(one)
            assert not re.search(r"\b(18|19|20)\d\d-\d\d", json.dumps({**one, "id": ""}))
    report = medveil.audit(release.folder, load_policy(asked)[0])
    assert (report.ok, report.unchecked) == (True, ())


def test_under_safe_harbor_days_since_the_first_visit_are_those_of_the_source(safe):
    source, _, release = safe
    of_person: dict[str, list[int]] = {}
    for one in written(release)["Encounter"]:
        found = {e["url"].rpartition(":")[2]: e["valueString"] for e in one.get("extension", [])}
        if "start-5f-day" in found:
            of_person.setdefault(one["subject"]["reference"], []).append(int(found["start-5f-day"]))
    original = gaps(resources(fhir_files(source)), "Encounter", lambda one: one["period"]["start"])
    within: Counter[tuple[int, ...]] = Counter()
    for own, n in original.items():
        within[tuple(day for day in own if day <= 16_000)] += n
    assert Counter(tuple(sorted(own)) for own in of_person.values()) == within
