"""Files, columns, row counts and claims that cannot be checked."""

import json

import pyarrow as pa
import pytest

from medveil.auditor import audit
from medveil.errors import InputError
from medveil.release.manifest import file_hash, read_manifest
from medveil.sources.opening import open_source

COLUMNS = {"age": "qc", "sex": "qc", "disease": "sc"}
ROWS = [("[0-9]", "f", "flu"), ("[0-9]", "f", "cold"), ("[10-19]", "m", "flu"), ("[10-19]", "m", "cough")]


@pytest.fixture
def two(make_claim):
    return make_claim("k-anonymity", k=2)


def rewrite(folder, **changed):
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))


def only(report):
    (found,) = report.findings
    return found.finding


@pytest.mark.parametrize("parquet", [False, True])
def test_an_honest_release_is_proved(release, two, parquet):
    report = audit(release(COLUMNS, ROWS, [two], parquet=parquet))
    assert report.ok
    assert not report.refuted
    assert only(report).achieved == {"k": 2}


@pytest.mark.parametrize("parquet", [False, True])
def test_a_claim_beyond_what_was_reached_fails(release, make_claim, parquet):
    report = audit(release(COLUMNS, ROWS, [make_claim("k-anonymity", k=3)], parquet=parquet))
    assert not report.ok
    assert only(report).holds is False
    assert only(report).achieved == {"k": 2}


def test_a_changed_file_is_found_even_where_its_claims_hold(release, two):
    folder = release(COLUMNS, ROWS, [two])
    path = folder / "release.csv"
    path.write_text(path.read_text().replace("cough", "cold"))
    report = audit(folder)
    assert report.problems == ("the file 'release.csv' was changed after it was written",)
    assert only(report).holds
    assert not report.ok


@pytest.mark.parametrize(
    "damage", [b"", b'age,sex,disease\n"', b"age,sex,disease\n1,2\n", b"PAR1 and no more", b"\xff\xfe"]
)
def test_a_damaged_file_proves_nothing(release, two, damage):
    folder = release(COLUMNS, ROWS, [two])
    (folder / "release.csv").write_bytes(damage)
    report = audit(folder)
    assert report.refuted
    assert only(report).holds is False
    assert report.problems


def test_missing_and_extra_files_are_found(release, two):
    folder = release(COLUMNS, ROWS, [two])
    listed = json.loads((folder / "manifest.json").read_text())["files"]
    rewrite(folder, files={**listed, "report.html": "0" * 64})
    (folder / "notes.txt").write_text("left behind")
    problems = audit(folder).problems
    assert problems == ("the file 'report.html' is missing", "the file 'notes.txt' is not listed in the manifest")
    (folder / "release.csv").unlink()
    assert "the file 'release.csv' is missing" in audit(folder).problems


def test_a_listed_file_needs_a_claim_about_it(release, two, make_claim):
    folder = release(COLUMNS, ROWS, [two])
    (folder / "notes.csv").write_text("age\n31\n")
    listed = json.loads((folder / "manifest.json").read_text())["files"]
    rewrite(folder, files={**listed, "notes.csv": file_hash(folder / "notes.csv")})
    assert audit(folder).problems == ("the file 'notes.csv' is published beside the release, and no claim is about it",)
    unheard = {**make_claim("unheard-of"), "parameters": {"notes": "notes.csv"}}
    rewrite(folder, claims=[*json.loads((folder / "manifest.json").read_text())["claims"], unheard])
    report = audit(folder)
    assert not report.problems
    assert report.status == "in part not checked by medveil"


def test_a_manifest_that_lists_no_files_is_not_enough(release, two):
    folder = release(COLUMNS, ROWS, [two])
    rewrite(folder, files={})
    assert not audit(folder).ok
    assert audit(folder, None, read_manifest(folder)).ok, "a release in the making has not listed them yet"


def test_every_column_must_be_declared_and_may_be_published(release, two):
    folder = release({**COLUMNS, "name": "pc"}, [(*row, "x") for row in ROWS], [two])
    attributes = json.loads((folder / "manifest.json").read_text())["attributes"]
    assert audit(folder).ok
    rewrite(folder, attributes=attributes[:-1])
    assert audit(folder).problems == ("the release has the column 'name', which is not declared",)
    rewrite(folder, attributes=[*attributes[:-1], {**attributes[-1], "role": "identifier"}])
    assert "may not be published" in audit(folder).problems[0]
    rewrite(folder, attributes=attributes, subject="name")
    assert "may not be published" in audit(folder).problems[0]
    rewrite(folder, attributes=[*attributes, {**attributes[-1], "name": "ward"}], subject=None)
    assert audit(folder).problems == ("the release lacks the column 'ward'",)


@pytest.mark.parametrize(
    ("rows", "right"),
    [
        ({"published": 4, "input": 4, "suppressed": 0}, True),
        ({"published": 4, "input": 6, "suppressed": 2}, True),
        ({"published": 4, "input": 5, "suppressed": 2, "counterfeit": 1}, False),
        ({}, True),
        ({"published": 5}, False),
        ({"published": 4, "input": 5, "suppressed": 2}, False),
        ({"published": 4, "input": 4, "suppressed": 0, "counterfeit": 1}, False),
    ],
)
def test_row_counts_that_are_told_must_be_right(release, two, rows, right):
    assert audit(release(COLUMNS, ROWS, [two], rows=rows)).ok is right


def test_the_source_must_have_as_many_records_as_told(release, two):
    folder = release(COLUMNS, ROWS, [two])
    diseases = [row[-1] for row in ROWS]
    assert audit(folder, open_source(pa.table({"disease": diseases}))).ok
    assert "5 records" in audit(folder, open_source(pa.table({"disease": [*diseases, "flu"]}))).problems[0]


def test_an_empty_release_satisfies_nothing(release, make_claim):
    claims = [make_claim("k-anonymity", k=1), make_claim("unheard-of", basis="by proof")]
    report = audit(release(COLUMNS, [], claims))
    assert [found.finding.holds for found in report.findings] == [False, False]


def test_a_missing_value_is_a_value_of_its_own(release, two):
    rows = [(None, "f", "flu"), (None, "f", "cold"), ("[0-9]", "f", "flu")]
    report = audit(release(COLUMNS, rows, [two]))
    assert only(report).achieved == {"k": 1}
    report = audit(release(COLUMNS, rows[:2], [two]))
    assert only(report).achieved == {"k": 2}, "missing values are equal to each other"


def test_a_missing_value_is_not_an_empty_text(release, two):
    report = audit(release(COLUMNS, [(None, "f", "flu"), ("", "f", "flu")], [two]))
    assert only(report).achieved == {"k": 1}


def test_one_column_with_missing_values(release, two):
    report = audit(release({"age": "qc"}, [(None,), (None,), ("a",), ("a",)], [two]))
    assert report.ok
    assert only(report).achieved == {"k": 2}


def test_a_shield_is_checked_on_its_columns_alone(release, make_claim):
    rows = [("a", "f", "flu"), ("a", "m", "flu"), ("b", "f", "flu"), ("b", "m", "flu")]
    claims = [make_claim("k-anonymity", k=2, on=on) for on in (["age"], ["sex"], ["age", "sex"])]
    report = audit(release(COLUMNS, rows, claims))
    assert [found.finding.achieved for found in report.findings] == [{"k": 2}, {"k": 2}, {"k": 1}]


@pytest.mark.parametrize("on", [["disease"], ["nobody"], []])
def test_a_shield_of_other_columns_is_refuted(release, make_claim, on):
    assert only(audit(release(COLUMNS, ROWS, [make_claim("k-anonymity", k=1, on=on)]))).holds is False


@pytest.mark.parametrize("attribute", [None, "age", "nobody"])
def test_a_claim_about_no_sensitive_attribute_is_refuted(release, make_claim, attribute):
    claims = [make_claim("l-diversity", attribute, variant="distinct", l=1)]
    assert only(audit(release(COLUMNS, ROWS, claims))).holds is False


@pytest.mark.parametrize("basis", ["proved again from the files", "by proof"])
def test_a_claim_without_a_check_of_ours_is_not_checked_and_says_so(release, make_claim, two, basis):
    report = audit(release(COLUMNS, ROWS, [two, make_claim("unheard-of", u=1, basis=basis)]))
    known, unknown = report.findings
    assert known.proved
    assert (unknown.finding.holds, unknown.finding.checked, unknown.proved) == (None, False, False)
    assert unknown.finding.note.startswith("not checked by medveil")
    assert unknown.basis == "not checked by medveil"
    assert not report.ok
    assert not report.refuted
    assert report.publishable
    assert report.status == "in part not checked by medveil"
    assert audit(release(COLUMNS, ROWS, [make_claim("unheard-of", u=1)])).status == "not checked by medveil"


def test_by_proof_does_not_excuse_what_can_be_counted(release, make_claim):
    assert audit(release(COLUMNS, ROWS, [make_claim("k-anonymity", k=3, basis="by proof")])).refuted


def test_figures_that_the_manifest_states_must_be_those_achieved(release, two):
    assert audit(release(COLUMNS, ROWS, [{**two, "achieved": {"k": 2}}])).ok
    report = audit(release(COLUMNS, ROWS, [{**two, "achieved": {"k": 7}}]))
    assert only(report).holds is False
    assert only(report).achieved == {"k": 2}


def test_parameters_may_not_contradict_what_is_required(release, make_claim):
    assert only(audit(release(COLUMNS, ROWS, [make_claim("k-anonymity", k=2, parameters={"k": 1})]))).holds is False


@pytest.mark.parametrize(
    ("model", "required"),
    [
        ("k-anonymity", {}),
        ("k-anonymity", {"k": "2"}),
        ("l-diversity", {"variant": "novel", "l": 2}),
        ("l-diversity", {"variant": "entropy", "l": 0}),
        ("t-closeness", {"distance": "novel", "t": 1}),
        ("t-closeness", {"distance": "hierarchical", "t": 1}),
        ("lkc-privacy", {"l": 1, "k": 1, "c": 1, "values": "flu"}),
        ("alpha-k-anonymity", {"alpha": 1, "k": 1, "value": 3}),
        ("delta-disclosure", {"delta": 9, "absent": "novel"}),
        ("beta-likeness", {"beta": 9, "variant": "novel"}),
    ],
)
def test_a_claim_that_is_not_complete_or_not_known_is_not_proved(release, make_claim, model, required):
    report = audit(release(COLUMNS, ROWS, [make_claim(model, "disease", **required)]))
    assert not only(report).holds
    assert only(report).note
    assert not report.ok


@pytest.mark.parametrize("missing", ["--source"])
def test_without_the_source_a_claim_about_the_input_waits(release, make_claim, missing):
    claims = [
        make_claim("t-closeness", "disease", distance="equal", t=1),
        make_claim("beta-likeness", "disease", variant="basic", beta=9),
        make_claim("delta-disclosure", "disease", delta=9, absent="ignore"),
    ]
    report = audit(release(COLUMNS, ROWS, claims, rows={"published": 4, "input": 6, "suppressed": 2}))
    assert [found.finding.holds for found in report.findings] == [None] * 3
    assert all(missing in found.finding.note for found in report.findings)
    assert not audit(release(COLUMNS, ROWS, claims)).ok, "the manifest alone does not tell that nothing was left out"


def test_rows_of_stars_stand_for_suppressed_records(release, two):
    stars = [("*", "*", "*")]
    told = {"published": 5, "input": 5, "suppressed": 1}
    assert audit(release(COLUMNS, ROWS + stars, [two], rows=told, suppressed="stars")).ok
    assert only(audit(release(COLUMNS, ROWS + stars, [two], rows={}, suppressed="removed"))).achieved == {"k": 1}
    report = audit(release(COLUMNS, ROWS, [two], rows={**told, "published": 4, "input": 4}, suppressed="stars"))
    assert "0 rows of '*' for 1 suppressed" in report.problems[0]
    shown = [("*", "*", "flu")]
    assert only(audit(release(COLUMNS, ROWS + shown, [two], rows={}, suppressed="stars"))).achieved == {"k": 1}


def test_rows_of_stars_alone_are_an_empty_release(release, two):
    told = {"published": 2, "input": 2, "suppressed": 2}
    assert only(audit(release(COLUMNS, [("*", "*", "*")] * 2, [two], rows=told, suppressed="stars"))).holds is False


def test_more_rows_of_stars_than_suppressed_records_are_a_class(release, make_claim):
    told = {"published": 5, "input": 5, "suppressed": 2}
    claims = [make_claim("k-anonymity", k=3)]
    assert audit(release({"age": "qc"}, [("*",)] * 5, claims, rows=told, suppressed="stars")).ok
    claims = [make_claim("k-anonymity", k=4)]
    assert not audit(release({"age": "qc"}, [("*",)] * 5, claims, rows=told, suppressed="stars")).ok


@pytest.mark.parametrize("parquet", [False, True])
def test_any_column_name_will_do(release, make_claim, parquet):
    names = ["count", "select", 'a "quoted" name', "with space", "naïve 🙂", "A", "a", "c0", "n", "line\nbreak", "kept"]
    columns = {**dict.fromkeys(names, "qc"), "S": "sc", "s": "sc", "person": "pc"}
    rows = [("x",) * len(names) + (value, "same", "p") for value in ("u", "v")]
    rows += [(*("y" if name == "a" else "x" for name in names), "w", "same", "p")]
    claims = [
        make_claim("k-anonymity", k=1),
        make_claim("k-anonymity", k=3, on=["A"]),
        make_claim("k-anonymity", k=1, on=["a"]),
        make_claim("l-diversity", "S", variant="distinct", l=1),
        make_claim("l-diversity", "s", variant="distinct", l=1, on=["count"]),
        make_claim("l-diversity", "S", variant="distinct", l=3, on=["count"]),
    ]
    report = audit(release(columns, rows, claims, parquet=parquet))
    assert report.ok, report
    assert [found.finding.achieved for found in report.findings] == [
        {"k": 1},
        {"k": 3},
        {"k": 1},
        {"l": 1},
        {"l": 1},
        {"l": 3},
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"release": "../release.csv"},
        {"release": "manifest.json"},
        {"files": {"internal/links.parquet": ""}},
        {"attributes": [{"name": "age"}]},
        {"attributes": [{"name": "age", "role": "quasi", "type": "novel"}]},
        {"claims": [{"model": "k-anonymity"}]},
        {"claims": "k-anonymity"},
        {"rows": {"published": "4"}},
        {"rows": {"published": -4}},
        {"suppressed": "somehow"},
        {"subject": 3},
    ],
)
def test_a_manifest_changed_by_hand_gets_a_clear_message(release, two, changed):
    folder = release(COLUMNS, ROWS, [two])
    rewrite(folder, **changed)
    with pytest.raises(InputError, match="manifest"):
        audit(folder)


def test_nothing_published_is_in_a_finding(release, make_claim):
    canary = "Zweibrückenbach"
    rows = [(canary, "f", canary), ("*", "f", "flu")]
    claims = [
        make_claim("k-anonymity", k=9),
        make_claim("l-diversity", "disease", variant="distinct", l=9),
        make_claim("t-closeness", "disease", distance="ordered", t=0),
    ]
    folder = release({**COLUMNS, "disease": "sn"}, rows, claims)
    source = open_source(pa.table({"disease": [canary, "1"]}))
    for report in (audit(folder), audit(folder, source)):
        assert report.refuted
        assert canary not in repr([(found.finding, report.problems) for found in report.findings])
