"""Whatever recipients get, and whether they get it, is the same for originals that differ in who of a group has what.

The steps of the proof, seen from outside: everything that a run writes for recipients, byte for byte, and every figure
by which a run may be refused. People of a group exchange their bundles; the seed stays.
"""

import json
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import medveil
from medveil.errors import UnreachableError
from medveil.release.catalog import catalog_of

AGE = {"type": "intervals", "domain": [0, 99], "widths": [10, 20]}
K = {"model": "k-anonymity", "k": 4}
CASES = {
    "k alone": ([K], {}),
    "l and t": ([K, {"model": "l-diversity", "l": 2}, {"model": "t-closeness", "t": 0.6}], {}),
    "mondrian": ([K], {"recoding": "mondrian"}),
    "clustering": ([K, {"model": "l-diversity", "l": 2}], {"recoding": "clustering"}),
    "shared": ([K], {"records": "shared"}),
    "no ceiling": ([K], {"h": None, "objective": "mix"}),
}
RECIPIENTS = ("release.csv", "catalog.csv", "manifest.json", "report.html")


@pytest.fixture(scope="module")
def original():
    """A hundred and fifty people; every fourth has a second record."""
    random = np.random.default_rng(8)
    people = [*range(150), *range(0, 150, 4)]
    number = len(people)
    return pa.table(
        {
            "patient": [f"p{person}" for person in people],
            "age": random.integers(20, 90, number).astype(str),
            "sex": random.choice(["F", "M"], number),
            "region": random.choice(["N", "S", "W"], number),
            "disease": random.choice(["flu", "hiv", "cold", "asthma"], number, p=[0.4, 0.1, 0.3, 0.2]),
            "ward": random.choice(["1", "2", "3", "4", "5"], number),
        }
    )


def made(table, privacy, method, folder):
    policy = {
        "attributes": {
            "patient": {"role": "subject"},
            "age": {"role": "quasi", "hierarchy": AGE},
            "sex": {"role": "quasi", "domain": ["F", "M"]},
            "region": {"role": "quasi", "domain": ["N", "S", "W"]},
            "disease": {"role": "sensitive"},
            "ward": {"role": "plain", "insist": 1.0},
        },
        "privacy": privacy,
        "method": {"name": "h-ceiling", "h": 0.04, "max_counterfeits": 1.0, **method},
        "leakage": {"most": 1.0},
        "seed": 5,
    }
    return medveil.anonymize(table, policy, out=folder)


def exchanged(table, release, seed):
    """The original with bundles exchanged among people of each published group who keep as many records."""
    links = pyarrow.parquet.read_table(release.folder / "internal" / "links.parquet")
    group_of = {}
    for entry in catalog_of(release.folder, release.manifest):
        group_of |= dict.fromkeys(entry.class_ids, entry.class_ids)
    rows_of = defaultdict(list)
    for row, (kept, number, person) in enumerate(
        zip(links.column(0).to_pylist(), links["class_id"].to_pylist(), table["patient"].to_pylist(), strict=True)
    ):
        if kept:
            rows_of[group_of.get(number, (number,)), person].append(row)
    alike = defaultdict(list)
    for (group, _), rows in rows_of.items():
        alike[group, len(rows)].append(rows)
    source = np.arange(table.num_rows)
    random = np.random.default_rng(seed)
    for people in alike.values():
        for mine, theirs in zip(people, random.permutation(len(people)), strict=True):
            source[mine] = people[theirs]
    for name in ("disease", "ward"):
        table = table.set_column(table.column_names.index(name), name, table[name].take(pa.array(source)))
    return table, int(np.count_nonzero(source != np.arange(len(source))))


@pytest.mark.parametrize("case", CASES)
def test_recipients_get_the_same_whoever_of_a_group_has_what(original, case, tmp_path):
    privacy, method = CASES[case]
    first = made(original, privacy, method, tmp_path / "first")
    other, moved = exchanged(original, first, seed=1)
    assert moved > 50
    second = made(other, privacy, method, tmp_path / "second")
    assert {path.name for path in first.folder.iterdir()} == {*RECIPIENTS, "internal"}
    for name in RECIPIENTS:
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes(), name


@pytest.mark.parametrize("case", ["k alone", "shared"])
def test_no_refusal_tells_who_of_a_group_has_what(original, case, tmp_path):
    """What the guard of plain columns and the alert look at does not depend on who of a group has what."""
    privacy, method = CASES[case]
    first = made(original, privacy, method, tmp_path / "first")
    told = json.loads((first.folder / "internal" / "leakage.json").read_text())
    assert catalog_of(first.folder, first.manifest), "some groups are of several classes"
    assert 0 < told["with_quasi_identifiers"]["ward"] < 1
    for seed in range(3):
        second = made(exchanged(original, first, seed)[0], privacy, method, tmp_path / f"second-{seed}")
        again = json.loads((second.folder / "internal" / "leakage.json").read_text())
        assert again["with_quasi_identifiers"] == told["with_quasi_identifiers"]
        assert again["all_quasi_identifiers"]["after"] == told["all_quasi_identifiers"]["after"]


def test_a_refusal_by_who_has_what_is_caught(original, tmp_path, monkeypatch):
    """The broken copy: the guard looks at the people who are really in the classes of a group."""
    monkeypatch.setattr("medveil.risk.leaking.mixed_classes", lambda _: set())
    privacy, method = CASES["k alone"]
    first = made(original, privacy, method, tmp_path / "first")
    second = made(exchanged(original, first, 0)[0], privacy, method, tmp_path / "second")
    told, again = (json.loads((one.folder / "internal" / "leakage.json").read_text()) for one in (first, second))
    assert told["with_quasi_identifiers"] != again["with_quasi_identifiers"]


def test_numbers_of_records_may_be_exchanged_too(original, tmp_path):
    """In a class of its own who has two records and who has one may be the other way round, domains being declared."""
    privacy, method = CASES["k alone"]
    first = made(original, privacy, method, tmp_path / "first")
    links = pyarrow.parquet.read_table(first.folder / "internal" / "links.parquet")
    mixed = {number for entry in catalog_of(first.folder, first.manifest) for number in entry.class_ids}
    rows_of = defaultdict(lambda: defaultdict(list))
    patients = original["patient"].to_pylist()
    for row, (kept, number) in enumerate(zip(links.column(0).to_pylist(), links["class_id"].to_pylist(), strict=True)):
        if kept and number not in mixed:
            rows_of[number][patients[row]].append(row)
    table, given = original.to_pylist(), 0
    places = defaultdict(list)
    for row in table:
        places[row["patient"]].append((int(row["age"]), row["sex"], row["region"]))
    for people in rows_of.values():
        twice = next((rows for rows in people.values() if len(rows) == 2), None)
        once = next((rows for rows in people.values() if len(rows) == 1), None)
        if twice is None or once is None:
            continue
        given += 1
        other = patients[once[0]]
        age, sex, region = min(places[other])
        table[twice[1]] |= {"patient": other, "age": str(age), "sex": sex, "region": region}
        told = {name: [original[name][row].as_py() for row in (*twice, *once)] for name in ("disease", "ward")}
        for place, row in enumerate((twice[1], once[0], twice[0])):
            table[row] |= {name: values[place] for name, values in told.items()}
    assert given, "somebody keeps two records in a class of its own"
    second = made(pa.Table.from_pylist(table, original.schema), privacy, method, tmp_path / "second")
    for name in RECIPIENTS:
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes(), name


def test_a_run_that_ends_for_failing_groups_ends_the_same_way(original, tmp_path):
    """C4: with `on_failure: refuse` as with `leave_out` the groups' own values decide, whoever of them has which."""
    privacy = [K, {"model": "l-diversity", "l": 3}]
    first = made(original, privacy, {}, tmp_path / "first")
    told = []
    for table in (original, exchanged(original, first, seed=2)[0]):
        with pytest.raises(UnreachableError, match="groups fail a model") as refused:
            made(table, privacy, {"on_failure": "refuse"}, tmp_path / "refused")
        told.append(str(refused.value))
    assert told[0] == told[1]
