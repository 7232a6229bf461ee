"""OMOP: a folder has a starter policy, concepts generalize by the user's own file, and rare ones are hidden."""

import csv
import datetime as dt
import gzip
import random
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import medveil
from medveil.app.inspect_folder import inspect_folder, write_folder_policy
from medveil.errors import InputError
from medveil.hierarchy.concept_ancestor import ConceptAncestor
from medveil.policy import load_policy
from medveil.sources.omop import OmopSpec
from medveil.table.domain import encode
from medveil.table.schema import Kind
from medveil.workspace import Workspace

SHARED = Path(__file__).parents[3] / "shared/data/omop"
PEOPLE = 60
TREE = {  # child: parents
    100: [10],
    101: [10],
    102: [10, 20],
    200: [20],
    10: [1],
    20: [1],
    300: [1],
}


def write(path, rows, delimiter=","):
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0].keys(), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def closure(tree):
    """The tree as CONCEPT_ANCESTOR has it: every pair of ancestor and descendant, and each concept with itself."""
    concepts = sorted({*tree, *(parent for parents in tree.values() for parent in parents)})
    rows = []
    for concept in concepts:
        level, here = 0, {concept}
        seen = set()
        while here:
            rows += [(above, concept, level) for above in sorted(here - seen)]
            seen |= here
            here = {parent for one in here for parent in tree.get(one, ())} - seen
            level += 1
    return [
        {
            "ancestor_concept_id": above,
            "descendant_concept_id": below,
            "min_levels_of_separation": level,
            "max_levels_of_separation": level,
        }
        for above, below, level in rows
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    draw = random.Random(4)
    path = tmp_path_factory.mktemp("omop")
    persons = [
        {
            "PERSON_ID": i,
            "GENDER_CONCEPT_ID": draw.choice([8507, 8532]),
            "YEAR_OF_BIRTH": draw.randint(1940, 1999),
            "BIRTH_DATETIME": "1950-01-01 00:00:00",
            "PERSON_SOURCE_VALUE": f"Name{i}",
        }
        for i in range(1, PEOPLE + 1)
    ]
    write(path / "PERSON.csv", persons, "\t")
    visits = [
        {
            "visit_occurrence_id": 1000 + n,
            "person_id": 1 + n % PEOPLE,
            "visit_concept_id": 9203 if n < 5 else 9202,
            "visit_start_date": f"2019-0{1 + n % 9}-11",
            "preceding_visit_occurrence_id": "",
        }
        for n in range(3 * PEOPLE)
    ]
    write(path / "visit_occurrence.csv", visits)
    rare = [101] * 8 + [102] * 8 + [300] * 3
    conditions = [
        {
            "condition_occurrence_id": len(visits) + 7 * n,
            "person_id": visit["person_id"],
            "condition_concept_id": rare[n] if n < len(rare) else draw.choice([100, 200, 0]),
            "condition_start_date": visit["visit_start_date"],
            "stop_reason": "as told by a neighbour",
            "visit_occurrence_id": visit["visit_occurrence_id"],
            "condition_source_value": f"text {n}",
        }
        for n, visit in enumerate(visits)
    ]
    file = write(path / "condition_occurrence.csv", conditions)
    (path / "Condition_Occurrence.csv.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    found = [
        {
            "measurement_id": n,
            "person_id": 1 + n % PEOPLE,
            "measurement_concept_id": 200,
            "measurement_date": "2019-02-03",
            "value_as_concept_id": 9191 if n < 3 else 9190 if n < 23 else 9189,
            "unit_concept_id": 8713,
        }
        for n in range(2 * PEOPLE)
    ]
    write(path / "measurement.csv", found)
    write(path / "care_site.csv", [{"care_site_id": 1}])
    write(path / "CONCEPT_ANCESTOR.csv", closure(TREE), "\t")
    return path


@pytest.fixture(scope="module")
def release(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("made")
    found = inspect_folder(folder)
    write_folder_policy(found, folder, out / "policy.yaml")
    text = (out / "policy.yaml").read_text(encoding="utf-8").replace("format: csv", "format: csv, report: false")
    (out / "policy.yaml").write_text(text, encoding="utf-8")
    return found, medveil.anonymize(str(out / "policy.yaml"), out=out / "out"), out / "policy.yaml"


def rows(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_the_starter_policy_knows_the_tables_and_hides_what_is_written_by_hand(release):
    found, made, path = release
    assert found.to_dict()["links"] == {
        "visit_occurrence.person_id": "person.person_id",
        "condition_occurrence.person_id": "person.person_id",
        "condition_occurrence.visit_occurrence_id": "visit_occurrence.visit_occurrence_id",
        "measurement.person_id": "person.person_id",
    }
    assert list(found.left_out) == ["care_site"]
    policy, _ = load_policy(path)
    assert policy.tables["condition_occurrence"].attributes["condition_concept_id"].hierarchy.name == "concept-ancestor"
    assert sorted(rows(made.folder / "person.csv")[0]) == ["gender_concept_id", "person_id", "year_of_birth"]
    shown = "".join(file.read_text(encoding="utf-8") for file in made.folder.iterdir() if file.is_file())
    assert not any(word in shown for word in ("Name1", "neighbour", "text 1"))


def test_rare_concepts_become_their_groups_and_eleven_people_have_whatever_is_shown(release):
    _, made, _ = release
    people = defaultdict(set)
    for row in rows(made.folder / "condition_occurrence.csv"):
        people[row["condition_concept_id"]].add(row["person_id"])
    assert min(map(len, people.values())) >= 11
    assert {"100", "200"} & people.keys()
    assert not {"101", "102", "300"} & people.keys()
    claim = made.manifest.claims[1]
    assert (claim["model"], claim["required"], claim["holds"]) == ("km-anonymity", {"k": 11, "m": 1}, True)


def test_concepts_of_results_units_and_visits_are_hidden_where_they_are_rare_and_so_are_those_of_people(release):
    _, made, _ = release
    for table, column in (
        ("visit_occurrence", "visit_concept_id"),
        ("measurement", "value_as_concept_id"),
        ("measurement", "unit_concept_id"),
        ("person", "gender_concept_id"),
        ("person", "year_of_birth"),
    ):
        people = defaultdict(set)
        for row in rows(made.folder / f"{table}.csv"):
            people[row[column]].add(row["person_id"])
        assert min(map(len, people.values())) >= 11
    shown = {row["value_as_concept_id"] for row in rows(made.folder / "measurement.csv")}
    assert "9189" in shown
    assert "9191" not in shown
    assert made.manifest.claims[0]["required"] == {"k": 11}


def test_it_is_audited_from_its_tables_and_a_rare_concept_is_found(release, tmp_path):
    _, made, path = release
    assert medveil.audit(made.folder, path).ok
    copy = tmp_path / "copy"
    made.save(copy)
    file = copy / "condition_occurrence.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    place = lines[0].split(",").index("condition_concept_id")
    cells = lines[1].split(",")
    cells[place] = "300"
    file.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n", encoding="utf-8")
    assert any("11^1" in str(f.claim["summary"]) and not f.proved for f in medveil.audit(copy).findings)


def bound(path, values, **options):
    domain, _ = encode([str(value) for value in values], Kind.CODE, "c")
    return domain, ConceptAncestor(path=path, **options).bind(domain, "c", Workspace())


def labels(path, values, **options):
    domain, tree = bound(path, values, **options)
    return {
        value: [level.labels[level.groups[leaf]] for level in tree.levels] for leaf, value in enumerate(domain.values)
    }


def test_a_concept_with_two_parents_goes_with_the_larger_and_levels_are_counted_from_the_top(tmp_path):
    path = write(tmp_path / "ca.csv", closure(TREE))
    found = labels(path, [100, 102, 200, 300, 10, 999])
    assert found["102"] == ["102", "10.-", "1.-", "*"]
    assert found["100"] == ["100", "10.-", "1.-", "*"]
    assert found["200"] == ["200", "20.-", "1.-", "*"]
    assert found["10"] == ["10", "10.-", "1.-", "*"]
    assert found["300"] == ["300", "300", "1.-", "*"]
    assert found["999"] == ["999", "999", "999", "*"]
    assert labels(path, [100, 300], levels=1)["100"] == ["100", "1.-", "*"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,2\n", "has no column 'ancestor_concept_id'"),
        ("ancestor_concept_id,descendant_concept_id,min_levels_of_separation\nSECRET,2,1\n", "are not numbers"),
        ("ancestor_concept_id,descendant_concept_id,min_levels_of_separation\n7,8,1\n", "has no ancestor of any"),
    ],
)
def test_files_of_ancestors_that_do_not_fit_are_told_in_one_sentence(tmp_path, content, words):
    (tmp_path / "ca.csv").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=words) as refused:
        bound(tmp_path / "ca.csv", [100, 200])
    assert "SECRET" not in str(refused.value)


def test_tables_that_are_not_there_or_there_twice_are_told(folder, tmp_path):
    with pytest.raises(InputError, match="has no file of the table 'death'"):
        OmopSpec(path=str(folder), table="death").open(Workspace())
    with pytest.raises(InputError, match="is not a folder"):
        OmopSpec(path=str(folder / "PERSON.csv"), table="person").open(Workspace())
    for name in ("person.csv", "PERSON.tsv"):
        (tmp_path / name).write_text("person_id\n1\n", encoding="utf-8")
    with pytest.raises(InputError, match="has two files for the table 'person'"):
        inspect_folder(tmp_path)
    (tmp_path / "PERSON.tsv").write_bytes(b"")
    (tmp_path / "person.csv").unlink()
    with pytest.raises(InputError):
        inspect_folder(tmp_path)


def test_a_typed_table_is_read_as_one_of_texts_is(tmp_path):
    born = dt.datetime(1950, 1, 2, tzinfo=dt.UTC)
    table = pa.table({"PERSON_ID": [1, 2], "Birth_Datetime": [born, None], "GENDER_CONCEPT_ID": [8507, 8532]})
    pa.parquet.write_table(table, tmp_path / "Person.parquet")
    source = OmopSpec(path=str(tmp_path), table="PERSON").open(Workspace())
    assert source.names == ("person_id", "birth_datetime", "gender_concept_id")
    assert [row["person_id"] for row in source.batches().read_all().to_pylist()] == [1, 2]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public data are not at hand")
def test_the_public_tables_have_a_starter_policy(tmp_path):
    found = inspect_folder(SHARED)
    assert list(found.tables)[:5] == [
        "person",
        "visit_occurrence",
        "condition_occurrence",
        "drug_exposure",
        "measurement",
    ]
    write_folder_policy(found, SHARED, tmp_path / "policy.yaml")
    policy, _ = load_policy(tmp_path / "policy.yaml")
    assert {model.attribute for model in policy.privacy if model.name == "km-anonymity"} >= {
        "condition_occurrence.condition_concept_id",
        "drug_exposure.drug_concept_id",
        "measurement.measurement_concept_id",
    }
