"""Each model: a claim that just holds, and the same after one cell was tampered with."""

import json

import pyarrow as pa
import pytest

from medveil.auditor import audit
from medveil.release.manifest import file_hash
from medveil.sources.opening import open_source
from medveil.workspace import Workspace

COLUMNS = {"age": "qc", "s": "sn"}
ROWS = [("a", "1"), ("a", "2"), ("a", "3"), ("b", "1"), ("b", "2"), ("b", "3")]
SOURCE = open_source(pa.table({"s": [row[1] for row in ROWS]}))
TREE = {"type": "taxonomy", "tree": {"low": ["1", "2"], "high": ["3"]}}
THIRD = 1 / 3
HOLD = {
    "k": ("k-anonymity", None, {"k": 3}),
    "distinct": ("l-diversity", "s", {"variant": "distinct", "l": 3}),
    "entropy": ("l-diversity", "s", {"variant": "entropy", "l": 3}),
    "recursive": ("l-diversity", "s", {"variant": "recursive", "l": 3, "c": 1.01}),
    "equal": ("t-closeness", "s", {"distance": "equal", "t": 0}),
    "variational": ("t-closeness", "s", {"distance": "variational", "t": 0}),
    "ordered": ("t-closeness", "s", {"distance": "ordered", "t": 0}),
    "hierarchical": ("t-closeness", "s", {"distance": "hierarchical", "t": 0}),
    "alpha": ("alpha-k-anonymity", "s", {"alpha": THIRD, "k": 3}),
    "value": ("alpha-k-anonymity", "s", {"alpha": THIRD, "k": 3, "value": "1"}),
    "p": ("p-sensitive-k-anonymity", "s", {"p": 3, "k": 3}),
    "lkc": ("lkc-privacy", "s", {"l": 1, "k": 3, "c": THIRD}),
    "disclosure": ("delta-disclosure", "s", {"delta": 1e-6, "absent": "refuse"}),
    "ignore": ("delta-disclosure", "s", {"delta": 1e-6, "absent": "ignore"}),
    "basic": ("beta-likeness", "s", {"variant": "basic", "beta": 1e-6}),
    "enhanced": ("beta-likeness", "s", {"variant": "enhanced", "beta": 1e-6}),
}


def holds(folder, source=SOURCE):
    (found,) = audit(folder, source).findings
    return found.finding.holds


def tamper(folder, old, new):
    """One row changed, and the manifest made to agree with the file."""
    path = folder / "release.csv"
    assert old in path.read_text()
    header, *rows = path.read_text().replace(old, new, 1).splitlines()
    path.write_text("\n".join([header, *sorted(rows)]) + "\n")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "files": {"release.csv": file_hash(path)}}))


@pytest.mark.parametrize("name", HOLD)
def test_a_claim_holds_at_its_bound_and_not_after_tampering(release, make_claim, name):
    model, attribute, required = HOLD[name]
    folder = release(COLUMNS, ROWS, [make_claim(model, attribute, **required)], extra={"s": {"hierarchy": TREE}})
    assert audit(folder, SOURCE).ok
    if name == "k":
        tamper(folder, "a,3", "b,3")
    else:
        tamper(folder, "a,3", "a,1")
    report = audit(folder, SOURCE)
    false_values = [problem for problem in report.problems if problem.startswith("1 published rows match no record")]
    assert list(report.problems) == false_values
    assert len(false_values) == (name != "k")
    assert holds(folder) is False


@pytest.mark.parametrize("name", HOLD)
def test_a_row_moved_to_another_class_is_found(release, make_claim, name):
    model, attribute, required = HOLD[name]
    folder = release(COLUMNS, ROWS, [make_claim(model, attribute, **required)], extra={"s": {"hierarchy": TREE}})
    tamper(folder, "b,3", "c,3")
    assert holds(folder) is False


@pytest.mark.parametrize("name", ["equal", "variational", "ordered", "hierarchical", "disclosure", "ignore", "basic"])
def test_the_input_is_the_source_and_not_what_is_left_of_it(release, make_claim, name):
    model, attribute, required = HOLD[name]
    folder = release(
        COLUMNS,
        ROWS,
        [make_claim(model, attribute, **required)],
        extra={"s": {"hierarchy": TREE}},
        rows={"published": 6, "input": 12, "suppressed": 6},
    )
    assert holds(folder, open_source(pa.table({"s": ["1", "2", "3"] * 4}))) is True
    assert holds(folder, open_source(pa.table({"s": ["1", "2", "3"] * 2 + ["3"] * 6}))) is False
    assert holds(folder, None) is None


def test_a_value_that_the_input_has_not_is_an_infinite_gain(release, make_claim):
    claims = [
        make_claim("beta-likeness", "s", variant="basic", beta=1e6),
        make_claim("delta-disclosure", "s", delta=1e6, absent="ignore"),
    ]
    folder = release(COLUMNS, ROWS, claims)
    report = audit(folder, open_source(pa.table({"s": ["1", "2", "1", "2", "1", "2"]})))
    assert [found.finding.holds for found in report.findings] == [False, False]
    assert [found.finding.achieved for found in report.findings] == [{"beta": None}, {"delta": None}]


@pytest.mark.parametrize("spelled", ["3.0", "03", " 3"])
def test_one_number_spelled_in_two_ways_is_one_value(release, make_claim, spelled):
    rows = [("a", "3"), ("a", spelled)]
    folder = release(COLUMNS, rows, [make_claim("l-diversity", "s", variant="distinct", l=2)])
    assert holds(folder, None) is False
    folder = release({**COLUMNS, "s": "sc"}, rows, [make_claim("l-diversity", "s", variant="distinct", l=2)])
    assert holds(folder, None) is True, "texts that are no numbers differ"


def test_dates_are_compared_in_one_form(release, make_claim):
    folder = release(
        {"age": "qc", "s": "sd"},
        [("a", "2020-01-31"), ("a", "2020-02-01")],
        [make_claim("t-closeness", "s", distance="ordered", t=0)],
    )
    assert holds(folder, open_source(pa.table({"s": ["31.01.2020", "01.02.2020"]}))) is True
    assert holds(folder, open_source(pa.table({"s": ["31.01.2020", "02.02.2020"]}))) is False
    report = audit(folder, open_source(pa.table({"s": ["31.01.2020", "soon"]})))
    assert report.refuted
    assert report.findings[0].finding.holds is None, "such a source says nothing about the claim"


def test_missing_sensitive_values_count_as_one_value(release, make_claim):
    rows = [("a", None), ("a", None), ("a", "1")]
    folder = release(
        COLUMNS,
        rows,
        [make_claim("l-diversity", "s", variant="distinct", l=3), make_claim("alpha-k-anonymity", "s", alpha=0.5, k=3)],
    )
    report = audit(folder)
    assert [found.finding.achieved for found in report.findings] == [{"l": 2}, {"alpha": pytest.approx(2 / 3), "k": 3}]


def test_the_bound_of_recursive_diversity_is_not_within(release, make_claim):
    rows = [("a", "1"), ("a", "1"), ("a", "2")]
    for c, within in ((2, False), (2.0001, True)):
        folder = release(COLUMNS, rows, [make_claim("l-diversity", "s", variant="recursive", l=2, c=c)])
        assert holds(folder, None) is within


def test_hierarchical_closeness_needs_the_hierarchy(release, make_claim):
    folder = release(COLUMNS, ROWS, [make_claim("t-closeness", "s", distance="hierarchical", t=1)])
    assert holds(folder) is None
    described = {"s": {"hierarchy": {"type": "file", "path": "gone.csv"}}}
    folder = release(COLUMNS, ROWS, [make_claim("t-closeness", "s", distance="hierarchical", t=1)], extra=described)
    (found,) = audit(folder, SOURCE).findings
    assert found.finding.holds is None
    assert "cannot be built" in found.finding.note


@pytest.fixture
def presence(tmp_path, release, make_claim):
    """Ages published in tens: two of the population's three below ten, two of its two above."""
    tens = {"age": {"hierarchy": {"type": "intervals", "domain": [0, 19], "widths": [10]}, "level": 1}}
    (tmp_path / "everybody.csv").write_text("age,sex\n1,f\n2,f\n3,f\n11,f\n12,f\n")

    def make(low, high, rows=("[0-9]", "[0-9]", "[10-19]", "[10-19]"), ages=("1", "2", "11", "12"), extra=tens):
        required = {"delta_min": low, "delta_max": high}
        claims = [make_claim("delta-presence", parameters={"population": "everybody.csv"}, **required)]
        folder = release(
            {"age": "qn", "sex": "qc"}, [(row, "f") for row in rows], claims, extra={"sex": {"level": 0}, **extra}
        )
        source = open_source(pa.table({"age": list(ages), "sex": ["f"] * len(ages)}))
        (found,) = audit(folder, source, base=Workspace(tmp_path)).findings
        return found.finding

    return make


def test_presence_is_counted_over_the_population(presence):
    finding = presence(0.6, 1.0)
    assert finding.achieved == {"delta_min": pytest.approx(2 / 3), "delta_max": 1.0}
    assert finding.holds
    assert presence(0.7, 1.0).holds is False
    assert presence(0.6, 0.9).holds is False


def test_a_class_of_the_population_that_is_not_published_has_share_zero(presence):
    rows, ages = ["[0-9]"] * 2, ["1", "2"]
    assert presence(0.0, 1.0, rows, ages).achieved == {"delta_min": 0.0, "delta_max": pytest.approx(2 / 3)}
    assert presence(0.1, 1.0, rows, ages).holds is False


def test_a_published_class_outside_the_population_refutes_presence(presence):
    finding = presence(0.0, 1.0, rows=["[0-9]", "elsewhere"], ages=["1", "2"])
    assert finding.holds is False
    assert finding.achieved == {"delta_min": 0.0, "delta_max": None}


def test_presence_waits_for_what_it_needs(presence, tmp_path):
    local = {"age": {"hierarchy": None, "level": None}}
    assert presence(0.0, 1.0, extra=local).holds is None
    unknown = {"age": {"hierarchy": {"type": "novel"}, "level": 1}}
    assert presence(0.0, 1.0, extra=unknown).holds is None
    too_high = {"age": {"hierarchy": None, "level": 7}}
    assert presence(0.0, 1.0, extra=too_high).holds is None
    (found,) = audit(tmp_path / "out").findings
    assert found.finding.note == "needs --source"
    (tmp_path / "everybody.csv").write_text("age,height\n1,2\n")
    assert "does not fit" in presence(0.0, 1.0).note
    (tmp_path / "everybody.csv").write_text("age,sex\nold,f\n")
    assert "does not fit" in presence(0.0, 1.0).note
    (tmp_path / "everybody.csv").unlink()
    assert "population" in presence(0.0, 1.0).note


def test_groups_that_are_read_off_the_data_are_those_of_the_source(presence):
    halves = {"age": {"hierarchy": {"type": "intervals", "quantiles": [2]}, "level": 1}}
    finding = presence(0.6, 1.0, rows=["<3", "<3", "3+", "3+"], extra=halves)
    assert finding.achieved == {"delta_min": pytest.approx(2 / 3), "delta_max": 1.0}
