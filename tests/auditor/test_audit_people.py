"""People are counted, not records, where a subject is declared; links are believed only where they are honest."""

import pyarrow as pa
import pytest

from medveil.auditor import audit
from medveil.sources.opening import open_source

COLUMNS = {"age": "qc", "cost": "sn", "ward": "pc"}
SOURCE = {
    "patient": ["ann", "ann", "ann", "bob", "bob", "cid", None, None, "dan"],
    "age": ["1", "2", "2", "1", "11", "11", "12", "13", "99"],
    "cost": ["5.0", "5", "7", "05", "7", "8", "9", "9", "1"],
    "ward": ["x", "x", "y", "x", "y", "y", "y", "y", "z"],
}
LABELS = ["[0-9]"] * 4 + ["[10-19]"] * 4 + ["[90-99]"]
COSTS = ["5", "5", "7", "5", "7", "8", "9", "9"]
ROWS = [(label, cost, ward) for label, cost, ward in zip(LABELS, COSTS, SOURCE["ward"], strict=False)]
LINKS = {" ": [True] * 8 + [False], "age": LABELS}
TOLD = {"published": 8, "input": 9, "suppressed": 1}


@pytest.fixture
def people(release, make_claim):
    def make(claims=None, rows=ROWS, links=LINKS, told=TOLD, source=SOURCE, **options):
        claims = claims or [make_claim("k-anonymity", k=2)]
        options = {"extra": {"age": {"level": 1}}, "subject": "patient", **options}
        folder = release(COLUMNS, rows, claims, links=links, rows=told, **options)
        return audit(folder, open_source(pa.table(source)) if source else None)

    return make


def only(report):
    (found,) = report.findings
    return found.finding


def test_records_of_one_person_count_once_and_those_of_nobody_as_one(people):
    report = people()
    assert report.ok
    assert only(report).achieved == {"k": 2}, "ann and bob; bob, cid and whoever has no name are three"


def test_pairs_of_person_and_value_are_counted(people, make_claim):
    report = people(
        [
            make_claim("alpha-k-anonymity", "cost", alpha=1, k=2),
            make_claim("t-closeness", "cost", distance="equal", t=1),
        ]
    )
    assert report.findings[0].finding.achieved == {"alpha": 1.0, "k": 2}, "both people below ten had a cost of 5"
    whole = {"5": 2, "7": 2, "8": 1, "9": 1, "1": 1}
    first = {"5": 2 / 3, "7": 1 / 3}
    second = {"7": 1 / 3, "8": 1 / 3, "9": 1 / 3}
    worst = max(sum(abs(part.get(v, 0) - n / 7) for v, n in whole.items()) / 2 for part in (first, second))
    assert report.findings[1].finding.achieved == {"t": pytest.approx(worst)}


def test_who_knows_less_may_be_surer_of_people(release, make_claim):
    """Each class has one ill person of two, but over both classes both people are ill."""
    source = {
        "patient": ["ann", "bob", "bob", "ann"],
        "u": ["x"] * 4,
        "v": ["1", "1", "2", "2"],
        "s": ["ill", "well"] * 2,
    }
    rows = list(zip(source["u"], source["v"], source["s"], strict=True))
    claims = [make_claim("lkc-privacy", "s", l=2, k=2, c=0.5), make_claim("alpha-k-anonymity", "s", alpha=0.5, k=2)]
    links = {" ": [True] * 4, "u": source["u"], "v": source["v"]}
    folder = release({"u": "qc", "v": "qc", "s": "sc"}, rows, claims, links=links, subject="patient")
    knows_little, knows_all = audit(folder, open_source(pa.table(source))).findings
    assert knows_little.finding.achieved == {"l": 2, "k": 2, "c": 1.0}
    assert knows_little.finding.holds is False
    assert knows_all.finding.achieved == {"alpha": 0.5, "k": 2}
    assert knows_all.finding.holds


def test_people_cannot_be_counted_without_source_and_links(people):
    for report in (people(source=None), people(links=None)):
        assert only(report).holds is None
        assert only(report).note == "people are not counted: needs --source and internal/links.parquet"
        assert only(report).in_records == {"k": 4}
        assert not report.ok


def test_links_name_their_lines_and_may_stand_in_any_order(people):
    """Those of 0.1, which name none, stand in the order of the source: all other tests here are of such."""
    lines = list(range(9))[::-1]
    links = {" ": LINKS[" "][::-1], "  ": lines, "age": LABELS[::-1]}
    assert only(people(links=links)).achieved == {"k": 2}
    unnumbered = {" ": LINKS[" "][::-1], "age": LABELS[::-1]}
    assert only(people(links=unnumbered)).holds is False


@pytest.mark.parametrize(
    "links",
    [
        {**LINKS, "age": [*LABELS[:3], "[10-19]", "[0-9]", *LABELS[5:]]},
        {**LINKS, " ": [True] * 9},
        {**LINKS, " ": [False, *[True] * 7, False]},
        {" ": LINKS[" "][:-1], "age": LABELS[:-1]},
        {" ": LINKS[" "]},
        {"age": LABELS},
        {" ": ["perhaps"] * 9, "age": LABELS},
        {" ": LINKS[" "], "  ": [1, 1, 2, 3, 4, 5, 6, 7, 8], "age": LABELS},
        {" ": LINKS[" "], "  ": list(range(1, 10)), "age": LABELS},
        {" ": LINKS[" "], "  ": [0, 1, 2, 7, 4, 5, 6, 3, 8], "age": LABELS},
        {" ": LINKS[" "], "  ": [*range(8), None], "age": LABELS},
    ],
    ids=[
        "labels swapped",
        "suppressed kept",
        "kept suppressed",
        "too short",
        "no labels",
        "no kept",
        "not a truth value",
        "a line twice",
        "lines beyond the source",
        "lines swapped",
        "no line",
    ],
)
def test_dishonest_links_are_not_believed(people, links):
    report = people(links=links)
    assert only(report).holds is False
    assert "links.parquet" in only(report).note


def test_links_that_only_swap_people_of_like_records_are_caught_by_the_level(people):
    """Two records with the same cost and ward swap their labels: the release stays, but one age has two labels."""
    source = {
        "patient": ["ann", "ann", "bob", "bob"],
        "age": ["1", "1", "11", "11"],
        "cost": ["5"] * 4,
        "ward": ["x"] * 4,
    }
    rows = [("[0-9]", "5", "x")] * 2 + [("[10-19]", "5", "x")] * 2
    told = {"published": 4, "input": 4, "suppressed": 0}
    honest = {" ": [True] * 4, "age": ["[0-9]", "[0-9]", "[10-19]", "[10-19]"]}
    report = people(rows=rows, links=honest, told=told, source=source)
    assert only(report).achieved == {"k": 1}
    swapped = {" ": [True] * 4, "age": ["[0-9]", "[10-19]", "[0-9]", "[10-19]"]}
    report = people(rows=rows, links=swapped, told=told, source=source)
    assert only(report).holds is False
    assert "different labels" in only(report).note


def test_damaged_links_are_not_believed(people, tmp_path):
    people()
    (tmp_path / "out" / "internal" / "links.parquet").write_bytes(b"PAR1")
    finding = only(audit(tmp_path / "out", open_source(pa.table(SOURCE))))
    assert finding.holds is False
    assert "cannot be read" in finding.note


def test_another_source_is_not_believed(people):
    assert only(people(source={**SOURCE, "ward": list("xyxxyyyyz")})).holds is False
    report = people(source={**SOURCE, "cost": [*SOURCE["cost"][:-1], "dear"]})
    assert report.refuted
    assert only(report).holds is None, "such a source says nothing about the claim"


def test_a_changed_release_does_not_match_its_links(people):
    assert only(people(rows=[*ROWS[:-1], ("[10-19]", "8", "y")])).holds is False
    assert only(people(rows=[*ROWS[:-1], ROWS[0]])).holds is False


def test_suppressed_records_as_rows_of_stars(people):
    told = {"published": 9, "input": 9, "suppressed": 1}
    assert people(rows=[*ROWS, ("*", "*", "*")], told=told, suppressed="stars").ok


def test_counterfeits_are_nobody(people, make_claim):
    rows = [*ROWS, ("[0-9]", "6", "x"), ("[0-9]", "6", "x")]
    told = {"published": 10, "input": 9, "suppressed": 1, "counterfeit": 2}
    report = people(rows=rows, told=told)
    assert report.ok
    assert only(report).achieved == {"k": 2}
    assert not people([make_claim("k-anonymity", k=3)], rows=rows, told=told).ok
    assert only(people(rows=rows, told={**told, "counterfeit": 1})).holds is False


def test_names_that_differ_in_case_only(release, make_claim):
    columns = {"A": "qc", "a": "qc", "kept": "qc"}
    source = {"patient": ["u", "v"], "A": ["1", "1"], "a": ["x", "x"], "kept": ["no", "no"]}
    links = {" ": [True, True], "A": ["1", "1"], "a_1": ["x", "x"], "kept_1": ["no", "no"]}
    folder = release(columns, [("1", "x", "no")] * 2, [make_claim("k-anonymity", k=2)], links=links, subject="patient")
    assert audit(folder, open_source(pa.table(source))).ok


def test_the_order_of_many_records_is_kept(release, make_claim):
    """More than one row group on both sides: person i is in class i // 3."""
    number = 300_000
    classes = [str(i // 3) for i in range(number)]
    source = {
        "patient": [str(i) for i in range(number)],
        "age": classes,
        "cost": ["05"] * number,
        "ward": ["x"] * number,
    }
    links = {" ": [i % 3 != 2 for i in range(number)], "age": classes}
    rows = [(label, "5", "x") for label, kept in zip(classes, links[" "], strict=True) if kept]
    told = {"published": len(rows), "input": number, "suppressed": number - len(rows)}
    claims = [make_claim("k-anonymity", k=2)]
    folder = release(COLUMNS, rows, claims, links=links, rows=told, subject="patient", extra={"age": {"level": 0}})
    report = audit(folder, open_source(pa.table(source)))
    assert report.ok
    assert only(report).achieved == {"k": 2}
