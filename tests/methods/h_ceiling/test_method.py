"""Whole runs of h-ceiling: what is claimed, what is published beside the table, and what is refused."""

import json
import shutil
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import medveil
from medveil.auditor import audit
from medveil.datasets import patients
from medveil.errors import InputError, PolicyError, UnreachableError
from medveil.release.catalog import catalog_of
from medveil.release.manifest import file_hash, read_manifest
from medveil.release.truthful import derive
from medveil.report.common import plain_columns
from medveil.sources.opening import open_source

AGE = {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [5, 10, 20]}}
ROLES = {
    "age": AGE,
    "sex": {"role": "quasi"},
    "region": {"role": "quasi"},
    "disease": {"role": "sensitive"},
}
SURGERY = {**{name: ROLES[name] for name in ("age", "sex", "region")}, "surgery": {"role": "sensitive"}}
SUBJECT = {"patient_id": {"role": "subject"}}
K = {"model": "k-anonymity", "k": 4}


def policy(method=None, privacy=(K,), roles=ROLES, **more):
    chosen = {"name": "h-ceiling", "h": 0.5, "max_counterfeits": 0.3, "price": 0.1, **(method or {})}
    return {
        "attributes": roles,
        "privacy": list(privacy),
        "method": chosen,
        "seed": 5,
        "output": {"report": False},
        **more,
    }


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
    "plain k": ({}, [K], ROLES),
    "mean": ({"ceiling": "mean", "h": 0.2}, [K], ROLES),
    "never mix": ({"never_mix": ["sex"], "near": ["region"]}, [K], ROLES),
    "rce": ({"objective": "rce"}, [K], ROLES),
    "mix": ({"objective": "mix", "price": 0}, [K], ROLES),
    "mondrian": ({"recoding": "mondrian", "h": 0.3, "max_counterfeits": 1.0}, [K], ROLES),
    "mondrian mean": ({"recoding": "mondrian", "h": 0.1, "ceiling": "mean", "max_counterfeits": 1.0}, [K], ROLES),
    "clustering": ({"recoding": "clustering", "h": 0.2}, [K], ROLES),
    "diverse": ({}, [K, {"model": "l-diversity", "l": 3}], ROLES),
    "close": ({"max_counterfeits": 0.8}, [K, {"model": "t-closeness", "t": 0.35}], SURGERY),
    "likely": ({"max_counterfeits": 0.5}, [K, {"model": "beta-likeness", "beta": 2}], SURGERY),
    "bounding": ({}, [{"model": "ms-bounding", "k": 3, "theta": 0.7}], ROLES),
    "two sensitive": ({}, [K], {**ROLES, "surgery": {"role": "sensitive"}}),
    "plain column": ({}, [K], {**ROLES, "dose": {"role": "plain", "insist": True}}),
    "people": ({}, [K], {**ROLES, **SUBJECT, "dose": {"role": "plain", "insist": True}}),
    "people who share numbers": (
        {"records": "shared"},
        [K],
        {**ROLES, **SUBJECT, "dose": {"role": "plain", "insist": True}},
    ),
    "diverse people": ({}, [K, {"model": "l-diversity", "l": 2}], {**ROLES, **SUBJECT}),
    "people in boxes": ({"recoding": "mondrian", "h": 0.3, "max_counterfeits": 1.0}, [K], {**ROLES, **SUBJECT}),
    "people in clusters": ({"recoding": "clustering", "h": 0.3, "max_counterfeits": 1.0}, [K], {**ROLES, **SUBJECT}),
}
PAPER = {
    "published": ({"protection": "published"}, [K], ROLES),
    "uniform": ({"protection": "published", "counterfeits": "uniform", "h": 0.7}, [K], ROLES),
    "published people": (
        {"protection": "published"},
        [K],
        {**ROLES, **SUBJECT, "dose": {"role": "plain", "insist": True}},
    ),
    "published boxes": (
        {"protection": "published", "recoding": "mondrian", "h": 0.3, "max_counterfeits": 1.0},
        [K],
        ROLES,
    ),
    "published diverse": ({"protection": "published"}, [K, {"model": "l-diversity", "l": 3}], ROLES),
    "published close people": (
        {"protection": "published", "h": 0.7, "max_counterfeits": 0.5},
        [K, {"model": "t-closeness", "t": 0.8}],
        {**ROLES, **SUBJECT},
    ),
}


def made_for(cases, name, people, folder):
    method, privacy, roles = cases[name]
    return name, medveil.anonymize(people, policy(method, privacy, roles), out=folder / "release")


@pytest.fixture(scope="module", params=CASES)
def release(request, people, tmp_path_factory):
    return made_for(CASES, request.param, people, tmp_path_factory.mktemp("releases"))


@pytest.fixture(scope="module", params=PAPER)
def paper(request, people, tmp_path_factory):
    return made_for(PAPER, request.param, people, tmp_path_factory.mktemp("paper"))


def test_every_claim_is_proved_again(release, people):
    _, made = release
    found = claims(made.manifest)
    assert made.manifest.rows["counterfeit"] > 0, "the case is about counterfeits"
    assert all(claim["holds"] for claim in found.values())
    own = {"h-ceiling", "counterfeit-catalog"}
    assert found.keys() >= own
    assert all(claim["counting"] == "in-groups" for name, claim in found.items() if name not in own)
    report = audit(made.folder, open_source(people))
    assert report.ok, report


def test_every_class_of_a_group_publishes_the_bundles_of_all_its_people(release):
    _, made = release
    table = made.to_arrow()
    quasi = [a["name"] for a in made.manifest.attributes if a["role"] == "quasi"]
    rest = [name for name in table.column_names if name not in {"class_id", *quasi}]
    rows = defaultdict(Counter)
    for row in table.to_pylist():
        rows[int(row["class_id"])][tuple(row[name] for name in rest)] += 1
    seen = set()
    for entry in catalog_of(made.folder, made.manifest):
        bundles = [rows[number] for number in entry.class_ids]
        assert all(other == bundles[0] for other in bundles)
        assert bundles[0].total() == sum(entry.people) >= made.manifest.claims[0]["required"].get("k", 3)
        seen.update(entry.class_ids)
    assert all(rows[number].total() >= 3 for number in rows.keys() - seen)


def test_links_give_the_people_of_each_class(release, people):
    """C1: nobody is in two classes, and the catalog tells how many are in each."""
    case, made = release
    links = pyarrow.parquet.read_table(made.folder / "internal" / "links.parquet")
    source = pyarrow.csv.read_csv(people)
    subject = CASES[case][2].get("patient_id") is not None
    person = source["patient_id"].to_pylist() if subject else list(range(source.num_rows))
    classes, inside = defaultdict(set), defaultdict(set)
    for kept, number, who in zip(links.column(0).to_pylist(), links["class_id"].to_pylist(), person, strict=True):
        if kept:
            classes[who].add(number)
            inside[number].add(who)
    assert all(len(numbers) == 1 for numbers in classes.values())
    for entry in catalog_of(made.folder, made.manifest):
        assert tuple(len(inside[number]) for number in entry.class_ids) == entry.people


def test_the_truthful_table_has_each_group_once(release):
    _, made = release
    truthful = derive(made.folder)
    rows = made.manifest.rows
    assert truthful.table.num_rows == rows["published"] - rows["counterfeit"]
    sizes = Counter(truthful.table["class_id"].to_pylist())
    assert min(sizes.values()) >= 3


def test_weights_give_classes_and_values_exactly(release):
    _, made = release
    links = pyarrow.parquet.read_table(made.folder / "internal" / "links.parquet")
    kept = links.filter(links.column(0))
    weighed = derive(made.folder, weights=True).table.to_pylist()
    sensitive = next(a["name"] for a in made.manifest.attributes if a["role"] == "sensitive")
    for name in ("class_id", sensitive):
        told, true = defaultdict(float), Counter(map(str, kept[name].to_pylist()))
        for row in weighed:
            told[str(row[name])] += row["weight"]
        assert dict(told) == pytest.approx(dict(true))


def test_the_price_is_near_the_least(release):
    """At most 1.3 times max(people in thin classes, sum (k - r_i)), where values take no larger groups."""
    case, made = release
    told = json.loads((made.folder / "internal" / "h_ceiling.json").read_text())
    if len(CASES[case][1]) == 1 and "never mix" not in case:
        assert told["counterfeits"] <= 1.3 * max(told["fewest_provable_counterfeits"], 4)


def test_people_who_share_numbers_are_never_fewer_than_k(people, tmp_path):
    """Who knows how many records a person has finds k people of her class with as many."""
    _, made = made_for(CASES, "people who share numbers", people, tmp_path)
    links = pyarrow.parquet.read_table(made.folder / "internal" / "links.parquet")
    person = pyarrow.csv.read_csv(people)["patient_id"].to_pylist()
    records = Counter()
    for kept, number, who in zip(links.column(0).to_pylist(), links["class_id"].to_pylist(), person, strict=True):
        if kept:
            records[number, who] += 1
    numbers = defaultdict(set)
    for (number, _), count in records.items():
        numbers[number].add(count)
    assert all(len(found) == 1 for found in numbers.values())
    assert any(found == {2} for found in numbers.values()), "some keep two records"


def test_never_mix_keeps_columns_apart(people, tmp_path):
    _, made = made_for(CASES, "never mix", people, tmp_path)
    sex = {int(row["class_id"]): row["sex"] for row in made.to_arrow().to_pylist()}
    for entry in catalog_of(made.folder, made.manifest):
        assert len({sex[number] for number in entry.class_ids}) == 1


def test_permuted_values_give_the_same_node_groups_and_ids(people):
    """C2: whoever has whatever, the plan is the same; with k alone and where models make groups fail."""
    source = pyarrow.csv.read_csv(people)
    roles = {**ROLES, **SUBJECT, "dose": {"role": "plain", "insist": True}}
    for privacy in ([K], [K, {"model": "l-diversity", "l": 3}]):
        for recoding in ("full-domain", "mondrian", "clustering"):
            seen = []
            for seed in (0, 1, 2):
                order = np.random.default_rng(seed).permutation(source.num_rows) if seed else np.arange(600)
                shuffled = source
                for name in ("disease", "dose"):
                    column = source[name].take(pa.array(order))
                    shuffled = shuffled.set_column(shuffled.column_names.index(name), name, column)
                made = medveil.anonymize(shuffled, policy({"recoding": recoding, "h": 0.4}, privacy, roles))
                links = pyarrow.parquet.read_table(made.folder / "internal" / "links.parquet")
                ids = links["class_id"].to_pylist()
                groups = {entry.class_ids: entry.people for entry in catalog_of(made.folder, made.manifest)}
                seen.append((ids, groups, [a.get("level") for a in made.manifest.attributes]))
            assert all(ids == seen[0][0] and levels == seen[0][2] for ids, _, levels in seen)
            if len(privacy) == 1:
                assert all(groups == seen[0][1] for _, groups, _ in seen)


def test_refuse_covers_everybody_or_nobody(people):
    privacy = [K, {"model": "l-diversity", "l": 3}]
    few = {"h": 0.2, "max_counterfeits": 1.0, "price": 5.0}
    left = medveil.anonymize(people, policy(few, privacy))
    assert left.manifest.rows["suppressed"] > 0
    with pytest.raises(UnreachableError, match="groups fail a model"):
        medveil.anonymize(people, policy({**few, "on_failure": "refuse"}, privacy))
    whole = medveil.anonymize(people, policy({"on_failure": "refuse"}))
    assert whole.manifest.rows["suppressed"] == 0


def test_class_ids_are_no_column_of_the_source_that_somebody_may_know(people):
    assert plain_columns(medveil.anonymize(people, policy()).manifest) == []


def test_class_ids_are_in_random_order(people):
    first, second = (medveil.anonymize(people, {**policy(), "seed": seed}).to_arrow() for seed in (1, 2))
    by_tuple = [
        {(r["age"], r["sex"], r["region"]): r["class_id"] for r in table.to_pylist()} for table in (first, second)
    ]
    assert by_tuple[0].keys() == by_tuple[1].keys()
    assert any(by_tuple[0][key] != by_tuple[1][key] for key in by_tuple[0])


def test_a_seed_repeats_the_run(people, tmp_path):
    first, second = (medveil.anonymize(people, policy(), out=tmp_path / name) for name in "ab")
    for name in ("release.csv", "catalog.csv"):
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()


def test_without_h_the_best_one_is_found_and_claimed(people):
    best = medveil.anonymize(people, policy({"h": None}))
    h = claims(best.manifest)["h-ceiling"]["required"]["h"]
    assert h == pytest.approx(best.manifest.method["degree"])
    assert claims(best.manifest)["h-ceiling"]["achieved"]["h"] == pytest.approx(h)


def test_a_price_buys_fewer_counterfeits(people):
    dear, cheap = (medveil.anonymize(people, policy({"h": None, "price": price})) for price in (5.0, 0.0))
    assert dear.manifest.rows["counterfeit"] < cheap.manifest.rows["counterfeit"]


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
        ({"posterior": 0.9}, ROLES, "'posterior' is gone"),
        ({"padding": "concealed"}, ROLES, "'padding' is gone"),
        ({"counterfeits": "uniform"}, ROLES, "for 'protection: published' alone"),
        ({"never_mix": ["disease"]}, ROLES, "not a quasi-identifier"),
        ({}, {**ROLES, "disease": {"role": "plain", "insist": True}}, "sensitive attribute"),
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
        medveil.anonymize(table, policy(roles={**ROLES, "class_id": {"role": "plain", "insist": True}}))


# protection: published


def test_the_papers_claims_are_lemma_1_alone(paper, people):
    case, made = paper
    found = claims(made.manifest)
    assert made.manifest.rows["counterfeit"] > 0
    models = {model["model"] for model in PAPER[case][1]}
    assert found.keys() == {*models, "h-ceiling", "counterfeit-catalog"}
    assert all(found[model]["counting"] == "with-counterfeits" for model in models)
    assert all(claim["holds"] for claim in found.values())
    assert found["counterfeit-catalog"]["required"] == {"lemma_1": True}
    assert "Lemma 1 alone" in found["counterfeit-catalog"]["summary"]
    assert audit(made.folder, open_source(people)).ok, case


def test_the_papers_catalog_covers_every_counterfeit_and_lists_a_class_once_a_value(paper):
    _, made = paper
    entries = catalog_of(made.folder, made.manifest)
    assert sum(entry.count for entry in entries) == made.manifest.rows["counterfeit"]
    listed = [(number, entry.values) for entry in entries for number in entry.class_ids]
    assert len(listed) == len(set(listed))
    assert not any(entry.people for entry in entries)


def test_the_papers_truthful_table_is_true(paper, people):
    _, made = paper
    truthful = derive(made.folder)
    source = pyarrow.csv.read_csv(people)
    assert truthful.table.num_rows == source.num_rows
    assert truthful.dropped == made.manifest.rows["counterfeit"]
    assert rows_of(truthful.table, ["disease"]) == rows_of(source, ["disease"])
    with pytest.raises(InputError, match="no weights"):
        derive(made.folder, weights=True)


# Files that were changed


def test_a_catalog_of_another_release_is_refused(people, tmp_path):
    first = medveil.anonymize(people, policy(), out=tmp_path / "first")
    second = medveil.anonymize(people, {**policy(), "seed": 6}, out=tmp_path / "second")
    shutil.copy(second.folder / "catalog.csv", first.folder / "catalog.csv")
    with pytest.raises(InputError, match="does not belong to this release"):
        derive(first.folder)
    assert audit(first.folder, open_source(people)).refuted


def changed(rows, **values):
    return [{**rows[0], **values}, *rows[1:]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[1:], "does not cover"),
        (lambda rows: changed(rows, count=rows[0]["count"] + 1), "does not cover"),
        (lambda rows: changed(rows, class_ids="999999;999998", people="2;2"), ""),
        (lambda rows: changed(rows, people=None), "how many people"),
        (lambda rows: changed(rows, people="9;" + rows[0]["people"].split(";", 1)[1]), "how many people"),
        (lambda rows: changed(rows, value="something else"), "counterfeits of every value"),
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


def test_another_number_of_people_is_found_with_the_source(people, tmp_path):
    """r_i may be shifted between the classes of a group, and the files still agree with each other; the links tell."""
    made = medveil.anonymize(people, policy(), out=tmp_path / "release")
    manifest = read_manifest(made.folder)
    rows = pyarrow.csv.read_csv(made.folder / "catalog.csv").to_pylist()
    ids = next(row["class_ids"] for row in rows if "1" in row["people"].split(";") and "2" in row["people"].split(";"))
    for row in rows:
        if row["class_ids"] == ids:
            row["people"] = ";".join({"1": "2", "2": "1"}.get(n, n) for n in row["people"].split(";"))
    pyarrow.csv.write_csv(pa.Table.from_pylist(rows), made.folder / "catalog.csv")
    found = audit(made.folder, open_source(people), manifest).findings[-1].finding
    assert found.holds is False
    assert "people" in found.note
