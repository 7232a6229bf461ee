"""Whole runs of h-ceiling: what is claimed, what is published beside the table, and what is refused."""

import json
import shutil
from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest

import medveil
from medveil.auditor import audit
from medveil.datasets import patients
from medveil.errors import InputError, PolicyError, UnreachableError
from medveil.release.catalog import catalog_of
from medveil.release.manifest import file_hash, read_manifest
from medveil.release.truthful import derive
from medveil.sources.opening import open_source

AGE = {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [5, 10, 20]}}
ROLES = {
    "age": AGE,
    "sex": {"role": "quasi"},
    "region": {"role": "quasi"},
    "disease": {"role": "sensitive"},
}
SURGERY = {**{name: ROLES[name] for name in ("age", "sex", "region")}, "surgery": {"role": "sensitive"}}
K = {"model": "k-anonymity", "k": 4}


def policy(method=None, privacy=(K,), roles=ROLES, **more):
    chosen = {"name": "h-ceiling", "h": 0.5, "max_counterfeits": 0.3, **(method or {})}
    return {"attributes": roles, "privacy": list(privacy), "method": chosen, "seed": 5, **more}


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """600 stays of some 330 patients, with a length that hardly two of them share."""
    table = patients(600, seed=3, patient_id=True)
    unlike = pa.array([f"{i / 7:.4f}" for i in range(table.num_rows)])
    path = tmp_path_factory.mktemp("people") / "people.csv"
    pyarrow.csv.write_csv(table.append_column("dose", unlike), path)
    return path


def claims(manifest):
    return {claim["model"]: claim for claim in manifest.claims}


def rows_of(table, names):
    return Counter(zip(*(table[name].cast(pa.string()).to_pylist() for name in names), strict=True))


CASES = {
    "concealed": ({}, [K], ROLES),
    "published": ({"padding": "published"}, [K], ROLES),
    "uniform": ({"padding": "published", "counterfeits": "uniform"}, [K], ROLES),
    "one to one": ({"posterior": 0.5, "h": 0.7}, [K], ROLES),
    "mondrian": ({"recoding": "mondrian", "h": 0.2, "max_counterfeits": 0.6}, [K], ROLES),
    "clustering": ({"recoding": "clustering", "h": 0.2}, [K], ROLES),
    "diverse": ({}, [K, {"model": "l-diversity", "l": 3}], ROLES),
    "close": ({"max_counterfeits": 0.5}, [K, {"model": "t-closeness", "t": 0.3}], SURGERY),
    "diverse surgery": ({"h": 0.7, "max_counterfeits": 0.5}, [K, {"model": "l-diversity", "l": 2}], SURGERY),
    "likely": ({"max_counterfeits": 0.5}, [K, {"model": "beta-likeness", "beta": 2}], SURGERY),
    "bounding": ({}, [{"model": "ms-bounding", "k": 3, "theta": 0.6}], ROLES),
    "two sensitive": ({}, [K], {**ROLES, "surgery": {"role": "sensitive"}}),
    "plain": ({}, [K], {**ROLES, "dose": {"role": "plain"}}),
    "people": ({}, [K], {**ROLES, "patient_id": {"role": "subject"}, "dose": {"role": "plain"}}),
    "diverse people": ({}, [K, {"model": "l-diversity", "l": 2}], {**ROLES, "patient_id": {"role": "subject"}}),
}


@pytest.fixture(scope="module", params=CASES)
def release(request, people, tmp_path_factory):
    method, privacy, roles = CASES[request.param]
    out = tmp_path_factory.mktemp("releases") / "release"
    return request.param, medveil.anonymize(people, policy(method, privacy, roles), out=out)


def test_every_claim_is_proved_again(release, people):
    case, made = release
    found = claims(made.manifest)
    assert made.manifest.rows["counterfeit"] > 0, "the case is about counterfeits"
    assert all(claim["holds"] for claim in found.values())
    names = {"h-ceiling", "counterfeit-catalog"}
    assert found.keys() >= names
    assert all(claim["counting"] == "with-counterfeits" for name, claim in found.items() if name not in names)
    assert all(found[name]["counting"] is None for name in names)
    assert audit(made.folder, open_source(people)).ok
    if "padding" not in CASES[case][0]:
        attacked = found["counterfeit-catalog"]
        assert attacked["achieved"]["told"] == 0
        assert attacked["achieved"]["posterior"] <= attacked["required"]["posterior"] + 1e-9


def test_the_catalog_covers_every_counterfeit_and_lists_a_class_once_a_value(release):
    _, made = release
    entries = catalog_of(made.folder, made.manifest)
    assert sum(entry.count for entry in entries) == made.manifest.rows["counterfeit"]
    listed = [(number, entry.values) for entry in entries for number in entry.class_ids]
    assert len(listed) == len(set(listed))


def test_sensitive_values_differ_from_the_source_by_the_catalog_alone(release, people):
    _, made = release
    names = [a["name"] for a in made.manifest.attributes if a["role"] == "sensitive"]
    source = pyarrow.csv.read_csv(people)
    forged = Counter()
    for entry in catalog_of(made.folder, made.manifest):
        forged[entry.values] += entry.count
    assert rows_of(made.to_arrow(), names) == rows_of(source, names) + forged


def test_the_truthful_table_is_true(release, people):
    """As many rows as records, every value of them, and none that the release has less often."""
    _, made = release
    truthful = derive(made.folder)
    names = [a["name"] for a in made.manifest.attributes if a["role"] == "sensitive"]
    source = pyarrow.csv.read_csv(people)
    assert truthful.table.num_rows == source.num_rows
    assert truthful.dropped == made.manifest.rows["counterfeit"]
    assert rows_of(truthful.table, names) == rows_of(source, names)
    told = json.loads((made.folder / "internal" / "h_ceiling.json").read_text())
    assert truthful.lost == told["records_lost_in_truthful_table"]
    kept = truthful.table.filter(pc.not_equal(truthful.table["class_id"], "*"))
    shown = ("class_id", *(a["name"] for a in made.manifest.attributes if a["role"] in {"quasi", "sensitive"}))
    assert not rows_of(kept, shown) - rows_of(made.to_arrow(), shown)


def test_a_truthful_table_is_true_of_the_source(people, tmp_path):
    """Every row that keeps its class stands for another record of the source, plain columns included."""
    roles = {**ROLES, "dose": {"role": "plain"}}
    made = medveil.anonymize(people, policy(roles=roles), out=tmp_path / "release")
    truthful = derive(made.folder).table.to_pylist()
    doses = {str(row["dose"]): row for row in pyarrow.csv.read_csv(people).to_pylist()}
    named = [row for row in truthful if row["dose"] != "*"]
    assert len(named) > 300
    assert len({row["dose"] for row in named}) == len(named), "no copy is left"
    for row in named:
        source = doses[str(float(row["dose"]))] if str(float(row["dose"])) in doses else doses[row["dose"]]
        assert (row["sex"] in {source["sex"], "*"}, row["disease"] == source["disease"]) == (True, True)


def test_class_ids_are_in_random_order(people):
    first, second = (medveil.anonymize(people, {**policy(), "seed": seed}).to_arrow() for seed in (1, 2))
    by_tuple = [
        {(r["age"], r["sex"], r["region"]): r["class_id"] for r in table.to_pylist()} for table in (first, second)
    ]
    shared = by_tuple[0].keys() & by_tuple[1].keys()
    assert len(shared) > 10
    assert any(by_tuple[0][key] != by_tuple[1][key] for key in shared)


def test_a_seed_repeats_the_run(people, tmp_path):
    first, second = (medveil.anonymize(people, policy(), out=tmp_path / name) for name in "ab")
    for name in ("release.csv", "catalog.csv"):
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()


def test_without_h_the_best_one_is_found_and_claimed(people):
    best = medveil.anonymize(people, policy({"h": None}))
    h = claims(best.manifest)["h-ceiling"]["required"]["h"]
    assert h == pytest.approx(best.manifest.method["degree"])
    assert claims(best.manifest)["h-ceiling"]["achieved"]["h"] == pytest.approx(h)


def test_without_counterfeits_the_claims_are_plain(people):
    made = medveil.anonymize(people, policy({"h": 1.0, "max_counterfeits": 0.0}))
    assert claims(made.manifest).keys() == {"k-anonymity", "h-ceiling", "counterfeit-catalog"}
    assert made.manifest.rows["counterfeit"] == 0


def test_an_unreachable_goal_names_the_least_h_and_the_fewest_counterfeits_that_work(people):
    asked = {"h": 0.3, "max_counterfeits": 0.01}
    with pytest.raises(UnreachableError) as refused:
        medveil.anonymize(people, policy(asked))
    assert refused.value.exit_code == 3
    words = str(refused.value).replace(",", "").split()
    least = float(words[words.index("h", words.index("made.")) + 1])
    share = float(words[-3].strip("();."))
    assert medveil.anonymize(people, policy({**asked, "h": least})).manifest.rows["counterfeit"] <= 6
    assert medveil.anonymize(people, policy({**asked, "max_counterfeits": share})).manifest.rows["counterfeit"] > 6


@pytest.mark.parametrize(
    ("method", "roles", "words"),
    [
        ({"h": 1.5}, ROLES, "less than or equal to 1"),
        ({"h": -0.1}, ROLES, "greater than or equal to 0"),
        ({"max_counterfeits": 2}, ROLES, "less than or equal to 1"),
        ({"posterior": 0.3}, ROLES, "greater than or equal to 0.5"),
        ({}, {**ROLES, "disease": {"role": "plain"}}, "sensitive attribute"),
        (
            {"recoding": "clustering"},
            {**ROLES, "patient_id": {"role": "subject"}},
            "clustering counts records",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(people, method, roles, words):
    with pytest.raises(PolicyError, match=words):
        medveil.anonymize(people, policy(method, roles=roles))


def test_a_column_of_the_methods_own_name_is_refused(people):
    table = pyarrow.csv.read_csv(people).rename_columns(
        ["class_id" if n == "dose" else n for n in pyarrow.csv.read_csv(people).column_names]
    )
    with pytest.raises(PolicyError, match="class_id"):
        medveil.anonymize(table, policy(roles={**ROLES, "class_id": {"role": "plain"}}))


def test_a_catalog_of_another_release_is_refused(people, tmp_path):
    first = medveil.anonymize(people, policy(), out=tmp_path / "first")
    second = medveil.anonymize(people, {**policy(), "seed": 6}, out=tmp_path / "second")
    shutil.copy(second.folder / "catalog.csv", first.folder / "catalog.csv")
    with pytest.raises(InputError, match="does not belong to this release"):
        derive(first.folder)
    assert audit(first.folder, open_source(people)).refuted


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[1:], "does not cover"),
        (lambda rows: [{**rows[0], "count": rows[0]["count"] + 1}, *rows[1:]], "does not cover"),
        (lambda rows: [{**rows[0], "class_ids": "999999;999998"}, *rows[1:]], "does not have"),
        (lambda rows: [{**rows[0], "class_ids": rows[0]["class_ids"].split(";")[0]}, *rows[1:]], ""),
    ],
)
def test_a_catalog_that_was_tampered_with_is_refuted(people, tmp_path, change, words):
    """Even where the manifest is made to list it."""
    made = medveil.anonymize(people, policy(), out=tmp_path / "release")
    path = made.folder / "catalog.csv"
    rows = pyarrow.csv.read_csv(path).to_pylist()
    pyarrow.csv.write_csv(pa.Table.from_pylist(change(rows)), path)
    manifest = json.loads((made.folder / "manifest.json").read_text())
    manifest["files"]["catalog.csv"] = file_hash(path)
    for claim in manifest["claims"]:
        claim["achieved"] = None
    (made.folder / "manifest.json").write_text(json.dumps(manifest))
    report = audit(made.folder, open_source(people))
    found = next(f.finding for f in report.findings if f.claim["model"] == "counterfeit-catalog")
    assert found.holds is False
    assert words in found.note


def test_swapped_values_are_found_with_the_source(people, tmp_path):
    """A catalog that names other values than were forged explains the release as well; the source tells."""
    made = medveil.anonymize(people, policy(), out=tmp_path / "release")
    manifest = read_manifest(made.folder)
    rows = pyarrow.csv.read_csv(made.folder / "catalog.csv").to_pylist()
    values = sorted({row["value"] for row in rows})
    rows[0]["value"] = next(v for v in values if v != rows[0]["value"])
    pyarrow.csv.write_csv(pa.Table.from_pylist(rows), made.folder / "catalog.csv")
    found = audit(made.folder, open_source(people), manifest).findings[-1].finding
    assert found.holds is False
