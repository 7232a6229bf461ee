"""Manifests that somebody changed: no traceback, no content where a claim is false, none of their words as ours."""

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from medveil.auditor import audit
from medveil.cli import app
from medveil.errors import MedveilError
from medveil.release.manifest import file_hash
from medveil.sources.opening import open_source

MADE = Path(__file__).parent / "made_by_0_1"
SOURCE = MADE / "patients.csv"
RELEASES = ["optimal", "people", "counterfeits", "code-book", "private"]
REMOVED = "(removed)"
VALUES = st.one_of(
    st.sampled_from([REMOVED, None, True, [], {}, ["age"], {"k": 1}, "../x", "\x00", 10**400, float("nan"), 1e308]),
    st.sampled_from(["quasi", "sensitive", "plain", "number", "by proof", "k-anonymity", "with-counterfeits", "age"]),
    st.integers(-2, 9),
    st.text(max_size=3),
)


@pytest.fixture
def copy(tmp_path):
    return lambda name: shutil.copytree(MADE / name, tmp_path / name)


def read(folder):
    return json.loads((folder / "manifest.json").read_text())


def rewrite(folder, **changed):
    (folder / "manifest.json").write_text(json.dumps({**read(folder), **changed}))


def places(node, place=()):
    if place:
        yield place
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, below in inside:
        yield from places(below, (*place, key))


def mutated(manifest, place, value):
    changed = json.loads(json.dumps(manifest))
    holder = changed
    for key in place[:-1]:
        holder = holder[key]
    if value == REMOVED:
        del holder[place[-1]]
    else:
        holder[place[-1]] = value
    return changed


def is_false(folder, claim, attributes):
    """Whether a claim about records fails, counted in a few lines of Python; only for what can be told so simply."""
    if claim["model"] not in {"k-anonymity", "l-diversity"}:
        return False
    with (folder / "release.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    on = claim.get("on")
    quasi = [a["name"] for a in attributes if a["role"] == "quasi"] if on is None else on
    asked = {**claim["parameters"], **claim["required"]}
    if claim["model"] == "k-anonymity":
        return min(Counter(tuple(row[name] for name in quasi) for row in rows).values()) < asked["k"]
    pairs = {(tuple(row[name] for name in quasi), row[claim["attribute"]]) for row in rows}
    return asked["variant"] == "distinct" and min(Counter(group for group, _ in pairs).values()) < asked["l"]


@pytest.mark.parametrize("name", RELEASES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_manifest_with_one_field_changed_is_refused_refuted_or_still_true(tmp_path, name, data):
    folder = tmp_path / name
    if not folder.exists():
        shutil.copytree(MADE / name, folder)
    good = json.loads((MADE / name / "manifest.json").read_text())
    place = data.draw(st.sampled_from(list(places(good))))
    changed = mutated(good, place, data.draw(VALUES))
    (folder / "manifest.json").write_text(json.dumps(changed))
    source = data.draw(st.sampled_from([None, open_source(SOURCE)]))
    try:
        report = audit(folder, source)
    except MedveilError as error:
        refused = error
    else:
        refused = None
    if refused is not None:
        assert refused.exit_code == 2
        assert "\n" not in str(refused)
        return
    for found in report.findings:
        assert not (found.proved and is_false(folder, found.claim, changed["attributes"]))


def test_a_manifest_without_its_subject_is_refuted_and_not_a_database_error(copy):
    folder = copy("people")
    rewrite(folder, subject=None)
    done = CliRunner().invoke(app, ["audit", str(folder), "--source", str(SOURCE)])
    assert done.exit_code == 4, done.output


def test_the_status_of_a_manifest_is_no_verdict(copy):
    folder = copy("optimal")
    rewrite(folder, status="certified by the ministry")
    done = CliRunner().invoke(app, ["audit", str(folder), "--source", str(SOURCE)])
    assert done.exit_code == 4
    assert "ministry" not in done.output
    assert "a status that medveil does not" in done.output


def test_no_free_text_of_a_manifest_is_repeated(copy):
    folder = copy("optimal")
    claims = [{**claim, "summary": "certified", "holds": "certified"} for claim in read(folder)["claims"]]
    rewrite(folder, claims=claims, method={"name": "certified"}, versions={"python": "certified"})
    done = CliRunner().invoke(app, ["audit", str(folder), "--source", str(SOURCE)])
    assert done.exit_code == 0
    assert "certified" not in done.output


@pytest.mark.parametrize("key", ["certainty", "k-anonymity\nEvery claim holds."])
def test_a_claim_may_not_require_more_than_is_checked(copy, key):
    folder = copy("optimal")
    first, *others = read(folder)["claims"]
    rewrite(folder, claims=[{**first, "required": {**first["required"], key: 1}}, *others])
    report = audit(folder, open_source(SOURCE))
    assert report.findings[0].finding.holds is False
    done = CliRunner().invoke(app, ["audit", str(folder), "--source", str(SOURCE)])
    assert done.exit_code == 4
    assert "\nEvery claim holds." not in done.output


def test_a_release_that_was_drawn_may_be_another_and_the_audit_says_so(copy):
    folder = copy("private")
    path = folder / "release.csv"
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join([header, *sorted([rows[0]] * len(rows))]) + "\n")
    rewrite(folder, files={"release.csv": file_hash(path)})
    report = audit(folder)
    assert report.ok, "no file shows that noise was added as the proof wants it"
    assert report.unchecked[0].startswith("whether these are the rows that the method drew")
    done = CliRunner().invoke(app, ["audit", str(folder)])
    assert "Not checked: whether these are the rows that the method drew" in done.output


def test_a_wrong_missing_is_told_as_the_cause_and_breaks_no_claim(tmp_path, copy):
    folder = copy("optimal")
    other = tmp_path / "patients.csv"
    with SOURCE.open(newline="") as stream:
        marked = [[cell or "?" for cell in row] for row in csv.reader(stream)]
    other.write_text("\n".join(",".join(row) for row in marked) + "\n")
    assert audit(folder, open_source(other, missing=["?"])).ok
    report = audit(folder, open_source(other))
    assert report.refuted
    (cause,) = report.problems
    assert cause.startswith("the source was not read with the --missing that the release was made with: 'ward' has 0")
    assert not any(found.finding.holds is False for found in report.findings)
    done = CliRunner().invoke(app, ["audit", str(folder), "--source", str(other)])
    assert done.exit_code == 4
    assert "does not keep what it claims" not in done.output


def test_a_recipient_gets_what_can_be_counted_and_is_told_which_is_which(copy):
    folder = copy("people")
    shutil.rmtree(folder / "internal")
    assert CliRunner().invoke(app, ["audit", str(folder)]).exit_code == 0
    size, values = (found.finding for found in audit(folder).findings)
    assert size.note == values.note == "people are not counted: needs --source and internal/links.parquet"
    assert size.in_records["k"] >= 3
    assert values.in_records["l"] >= 2
    claims = read(folder)["claims"]
    beyond = {"required": {"k": 50}, "parameters": {"k": 50}, "achieved": None}
    rewrite(folder, claims=[{**claims[0], **beyond}])
    (found,) = audit(folder).findings
    assert found.finding.holds is False, "people are no more than records"


def test_a_claim_may_not_hide_that_it_counts_counterfeits(copy):
    folder = copy("counterfeits")
    claims = [{**claim, "model": claim["model"].removesuffix(" with counterfeits")} for claim in read(folder)["claims"]]
    rewrite(folder, claims=claims)
    report = audit(folder, open_source(SOURCE))
    assert [found.finding.holds for found in report.findings[:2]] == [False, False]
