"""Whether a release is its source's, whatever its claims are; and what is said where nobody can tell."""

import pyarrow as pa
import pytest

from medveil.auditor import audit
from medveil.release.manifest import file_hash
from medveil.sources.opening import open_source
from medveil.workspace import Workspace

COLUMNS = {"age": "qn", "sex": "qc", "disease": "sc", "ward": "pc"}
TENS = {"type": "intervals", "domain": [0, 19], "widths": [10]}
FLAT = {"type": "flat", "domain": None}
LEVELS = {"age": {"hierarchy": TENS, "level": 1}, "sex": {"hierarchy": FLAT, "level": 0}}
SOURCE = {
    "age": ["1", "2", "11", "12", "13"],
    "sex": ["f", "f", "m", "m", "m"],
    "disease": ["flu", "cold", "flu", "cough", "flu"],
    "ward": ["x", "x", None, "y", "y"],
}
ROWS = [
    ("[0-9]", "f", "flu", "x"),
    ("[0-9]", "f", "cold", "x"),
    ("[10-19]", "m", "flu", None),
    ("[10-19]", "m", "cough", "y"),
]
TOLD = {"published": 4, "input": 5, "suppressed": 1}


@pytest.fixture
def found(release, make_claim):
    def make(rows=ROWS, source=SOURCE, extra=LEVELS, told=TOLD, claims=None, **options):
        claims = [make_claim("k-anonymity", k=2)] if claims is None else claims
        folder = release(COLUMNS, rows, claims, extra=extra, rows=told, **options)
        return audit(folder, open_source(pa.table(source)) if source else None)

    return make


def test_a_release_of_the_source_is_true_and_nothing_is_left_unchecked(found):
    report = found()
    assert report.ok
    assert report.unchecked == ()


@pytest.mark.parametrize(
    ("row", "changed"),
    [
        (0, ("[0-9]", "f", "cough", "x")),  # another disease
        (3, ("[10-19]", "m", "cough", "x")),  # another ward
        (1, ("[0-9]", "m", "cold", "x")),  # another sex
        (2, ("[0-9]", "m", "flu", None)),  # another age
        (0, ROWS[1]),  # a record taken twice
    ],
)
def test_a_row_that_nobody_has_is_found_though_every_claim_holds(found, make_claim, row, changed):
    rows = [changed if i == row else known for i, known in enumerate(ROWS)]
    report = found(rows, claims=[make_claim("k-anonymity", k=1)])
    assert all(claim.proved for claim in report.findings)
    assert report.refuted
    assert report.problems[0].startswith("1 published rows match no record of the source")


def test_shuffled_sensitive_values_are_found(found):
    diseases = [ROWS[i][2] for i in (2, 3, 0, 1)]
    rows = [(*row[:2], disease, row[3]) for row, disease in zip(ROWS, diseases, strict=True)]
    report = found(rows)
    assert report.findings[0].proved
    assert report.refuted


def test_counterfeits_and_stars_need_no_record(found, make_claim):
    told = {"published": 5, "input": 5, "suppressed": 1, "counterfeit": 1}
    counted_in = {**make_claim("k-anonymity", k=2), "counting": "with-counterfeits"}
    rows = [*ROWS, ("[0-9]", "f", "gout", "x")]
    assert found(rows, told=told, claims=[counted_in]).ok
    assert found(rows, told=told).refuted, "the claim must say that counterfeits are counted in"
    told = {"published": 5, "input": 5, "suppressed": 1}
    assert found([*ROWS, ("*",) * 4], told=told, suppressed="stars").ok
    assert found([*ROWS[:3], ("*",) * 4, ("*",) * 4], told=told, suppressed="stars").refuted, "a row of * too many"


def test_without_the_source_truth_is_not_claimed(found):
    report = found(source=None)
    assert report.ok
    assert report.unchecked == ("whether the records are those of the original, which needs --source",)


def test_columns_without_one_level_are_named_and_the_rest_is_compared(found):
    local = {"age": {"hierarchy": TENS, "level": None}, "sex": {"hierarchy": FLAT, "level": 0}}
    report = found(extra=local)
    assert report.ok
    assert report.unchecked == ("which values of the original are behind 'age': they were not published at one level",)
    rows = [("[0-9]", "f", "flu", "y"), *ROWS[1:]]
    assert found(rows, extra=local).refuted


def test_drawn_records_are_nobodys(found, make_claim):
    by_proof = make_claim("differential-privacy", basis="by proof", epsilon=1, delta=0)
    report = found(source=None, told={"published": 4}, claims=[by_proof])
    (told,) = report.unchecked
    assert told.startswith("whether these are the rows that the method drew: a proof is about how rows are made")


def test_a_hierarchy_file_must_be_the_one_that_was_used(tmp_path, release, make_claim):
    path = tmp_path / "sexes.csv"
    path.write_text("f;any;*\nm;any;*\n")
    used = {"hierarchy": {"type": "file", "path": "sexes.csv"}, "level": 1, "hierarchy_sha256": file_hash(path)}
    rows = [(age, "any", *rest) for age, _, *rest in ROWS]
    folder = release(
        COLUMNS, rows, [make_claim("k-anonymity", k=2)], extra={"age": LEVELS["age"], "sex": used}, rows=TOLD
    )
    source = open_source(pa.table(SOURCE))
    assert audit(folder, source, base=Workspace(tmp_path)).unchecked == ()
    moved = path.rename(tmp_path / "moved.csv")
    report = audit(folder, source, base=Workspace(tmp_path))
    assert report.ok
    assert "needs the hierarchy file of 'sex', 'sexes.csv'" in report.unchecked[0]
    assert audit(folder, source, base=Workspace(tmp_path), places={"sex": moved}).unchecked == ()
    path.write_text("f;one;*\nm;one;*\n")
    report = audit(folder, source, base=Workspace(tmp_path))
    assert report.ok, "what another file says is no evidence"
    assert "is not the one that the release was made with" in report.unchecked[0]
