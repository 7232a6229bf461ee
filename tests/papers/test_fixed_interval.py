"""Majeed 2018, Attribute-centric anonymization scheme: its Tables 5 to 10, and the attack of its section 4."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import medveil
from medveil.auditor import audit
from medveil.methods.fixed_interval.intervals import make_grid
from medveil.methods.fixed_interval.ranking import similarity
from medveil.risk.linkage import Attack
from medveil.sources.opening import open_source
from medveil.terminal.audit import show_audit
from medveil.terminal.console import console

TABLE_5 = pa.table(
    {
        "age": ["21", "26", "32", "36", "48", "56"],
        "sex": ["M", "M", "F", "F", "M", "F"],
        "zip": ["53706", "53706", "53710", "53715", "52108", "52100"],
        "disease": ["Anemia", "Flu", "Cancer", "Torn ACL", "Flu", "Whiplash"],
    }
)
TABLE_8 = ["Anemia", "Flu", "Torn ACL", "Whiplash", "Cancer"]
TABLE_9 = pa.table(
    {
        "age": ["20-30", "20-30", "30-40", "30-40", "45-60", "45-60"],
        "sex": ["M", "M", "F", "F", "M", "F"],
        "zip": ["53705-53710"] * 2 + ["53710-53715"] * 2 + ["52100-52108"] * 2,
        "disease": TABLE_5["disease"],
    }
)
TABLE_10 = [
    ("26", "0", "53709", "{0, 1}"),
    ("26", "0", "53709", "{0, 1}"),
    ("36", "1", "53709", "{2, 4}"),
    ("36", "1", "53709", "{2, 4}"),
    ("52", "{0, 1}", "52104", "{1, 3}"),
    ("52", "{0, 1}", "52104", "{1, 3}"),
]
"""With the zip codes that Table 7 gives: the printed column has them the wrong way round, and one raw value."""
POLICY = {
    "attributes": {
        "age": {"role": "quasi"},
        "sex": {"role": "quasi", "hierarchy": {"type": "flat", "domain": ["M", "F"]}},
        "zip": {"role": "quasi", "type": "number"},
        "disease": {"role": "sensitive", "hierarchy": {"type": "flat", "domain": TABLE_8}},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "method": {"name": "fixed-interval", "intervals": 3, "minimum_support": 1},
}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return medveil.anonymize(TABLE_5, POLICY, out=tmp_path_factory.mktemp("paper") / "out")


def published(release):
    table = release.to_arrow()
    return list(zip(*(table[name].cast(pa.string()).to_pylist() for name in table.column_names), strict=True))


def code_book(release):
    options = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(["published", "low", "high"], pa.string()))
    return pyarrow.csv.read_csv(release.folder / "codebook.csv", convert_options=options).to_pylist()


def test_the_interval_widths_of_equation_1():
    ages = make_grid((21, 56), 3, None, 1.0, "age", declared=False)
    zips = make_grid((52100, 53715), 3, None, 1.0, "zip", declared=False)
    assert ages.edges.tolist() == [21, 33, 45, 57]
    assert zips.edges.tolist() == [52100, 52639, 53178, 53717]


def test_the_ranking_puts_the_papers_pairs_beside_each_other():
    ages, zips = (np.array(TABLE_5[name].to_pylist(), dtype=float) for name in ("age", "zip"))
    for sexes in ({"M": 0.0, "F": 1.0}, {"M": 1.0, "F": 0.0}):
        sex = np.array([sexes[s] for s in TABLE_5["sex"].to_pylist()])
        assert np.argsort(similarity([ages, sex, zips])).tolist() == [0, 1, 2, 3, 4, 5]


def test_tables_6_and_7(release):
    """Means, the people behind them and the intervals; the middle interval of Table 7 holds nobody, and joins."""
    table = pq.read_table(release.folder / "internal" / "intervals.parquet").to_pylist()
    ages = [(e["published"], e["people"], e["low"], e["high"]) for e in table if e["attribute"] == "age"]
    zips = [(e["published"], e["people"], e["low"], e["high"]) for e in table if e["attribute"] == "zip"]
    assert ages == [("26", 3, 21, 33), ("36", 1, 33, 45), ("52", 2, 45, 57)]
    assert zips == [("52104", 2, 52100, 52639), ("53709", 4, 52639, 53717)]


def test_table_8(release):
    ids = {e["published"].removeprefix("s"): e["stands_for"] for e in code_book(release) if e["attribute"] == "disease"}
    assert ids == {"0": "Anemia", "1": "Flu", "2": "Torn ACL", "3": "Whiplash", "4": "Cancer"}


def test_table_10_with_its_zip_column_put_right(release):
    """The letter before an id is ours: `0` alone could be taken for a value."""
    assert [tuple(re.sub(r"s(\d+)", r"\1", text) for text in row) for row in published(release)] == TABLE_10


def test_what_the_paper_publishes_is_marked_as_unsafe(release):
    """The mean 36 of Table 6 is one person's age."""
    assert release.manifest.status.startswith("unsafe")
    assert "fewer than k" in release.manifest.method["warning"]
    assert {e["people"] for e in code_book(release) if e["attribute"] == "age"} == {3, 1, 2}


def test_an_auditor_says_so_though_every_claim_holds(release):
    report = audit(release.folder, open_source(TABLE_5))
    assert report.ok
    assert report.status.startswith("unsafe")
    with console.capture() as shown:
        show_audit(report)
    assert "it is unsafe" in " ".join(shown.get().split())


def test_by_default_no_mean_rests_on_fewer_than_k(tmp_path):
    policy = {**POLICY, "method": {"name": "fixed-interval", "intervals": 3}}
    release = medveil.anonymize(TABLE_5, policy, out=tmp_path / "out")
    people = [e["people"] for e in code_book(release) if e["people"] is not None]
    assert min(people) == 2
    # 33-45 has one person and is joined with 45-57: the mean of 36, 48 and 56 is 46.67.
    assert [row[0] for row in published(release)] == ["26", "26", "47", "47", "47", "47"]
    assert release.manifest.status == "for publication"
    told = json.loads((tmp_path / "out" / "internal" / "fixed_interval.json").read_text())
    assert told["intervals"]["age"]["joined away"] == 1
    assert audit(tmp_path / "out", open_source(TABLE_5)).ok


def test_interval_ends_are_published_only_where_they_were_declared(release, tmp_path):
    assert not any(e["low"] or e["high"] for e in code_book(release))
    declared = {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 119], "widths": [10]}}
    policy = {**POLICY, "attributes": {**POLICY["attributes"], "age": declared}}
    ends = [
        (e["low"], e["high"])
        for e in code_book(medveil.anonymize(TABLE_5, policy, out=tmp_path / "out"))
        if e["attribute"] == "age"
    ]
    # Nobody is over 80, so that the last interval is joined with the one before.
    assert ends == [("0", "40"), ("40", "120")]


def attack(table, **options):
    return Attack(TABLE_5, table, ("age", "sex", "zip"), "disease", **options).run()


def test_the_attack_on_table_9():
    """Its last two rows differ in sex: the table said to be for k = 2 gives two people away."""
    found = attack(TABLE_9)
    assert found.candidates.tolist() == [2, 2, 2, 2, 1, 1]
    assert found.confidence.tolist() == [0.5, 0.5, 0.5, 0.5, 1.0, 1.0]
    assert found.certain == pytest.approx(1 / 3)


def test_the_attack_on_table_10(release):
    books = {"sex": {"s0": "M", "s1": "F"}, "disease": {f"s{number}": name for number, name in enumerate(TABLE_8)}}
    found = attack(release.to_arrow(), books=books, means=("age", "zip"))
    assert found.candidates.tolist() == [2] * 6
    assert found.possible.tolist() == [2] * 6
    assert found.confidence.tolist() == [0.5] * 6
    assert found.certain == 0
