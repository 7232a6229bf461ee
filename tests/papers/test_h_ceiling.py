"""Tables 1 to 9 of Lee, Kim, Kim and Chung 2017, Utility-preserving anonymization for health data publishing."""

import json
import shutil
from collections import Counter

import pyarrow as pa
import pyarrow.csv
import pytest

import medveil
from medveil.auditor import audit
from medveil.loss.reconstruction import reconstruction_error
from medveil.release.manifest import file_hash
from medveil.release.truthful import derive
from medveil.sources.opening import open_source

TABLE_1 = {
    "Age": [37, 35, 36, 61, 63, 66, 62],
    "Sex": ["F", "F", "F", "M", "M", "M", "M"],
    "Zipcode": [22071, 22098, 23061, 55107, 55099, 55324, 55229],
    "Disease": ["Pneumonia", "Diabetes", "Anemia", "Pneumonia", "Diabetes", "Diabetes", "Pneumonia"],
}
WOMEN, MEN = ("[35-37]", "F", "[22071-23061]"), ("[61-66]", "M", "[55099-55324]")
TABLE_6 = Counter(
    [(*WOMEN, d) for d in ("Pneumonia", "Diabetes", "Anemia")]
    + [(*MEN, d) for d in ("Pneumonia", "Diabetes", "Diabetes", "Pneumonia")]
)
TABLE_5 = TABLE_6 + Counter([(*WOMEN, "Diabetes")])
TABLE_9 = Counter(
    [(*WOMEN, d) for d in ("Pneumonia", "Diabetes", "Anemia")]
    + [(*MEN, d) for d in ("Pneumonia", "Diabetes", "Pneumonia")]
    + [("*", "*", "*", "Diabetes")]
)


def policy(method, k=4, least=0, **output):
    """Age has 100 leaves, the zip code 100,000; both may stay as they are, or take the intervals of the tables."""
    numbers = {
        "Age": ([0, 99], [[35, 38, 61, 67], [35, 67]]),
        "Zipcode": ([0, 99999], [[22071, 23062, 55099, 55325], [22071, 55325]]),
    }
    attributes = {
        name: {
            "role": "quasi",
            "type": "number",
            "min_level": least,
            "hierarchy": {"type": "intervals", "domain": domain, "cuts": cuts},
        }
        for name, (domain, cuts) in numbers.items()
    }
    attributes = {"Age": attributes["Age"], "Sex": {"role": "quasi"}, "Zipcode": attributes["Zipcode"]}
    attributes["Disease"] = {"role": "sensitive"}
    return {
        "attributes": attributes,
        "privacy": [{"model": "k-anonymity", "k": k}],
        "method": method,
        "output": output,
    }


def published(release):
    table = release.to_arrow() if hasattr(release, "to_arrow") else release
    columns = [table[name].to_pylist() for name in ("Age", "Sex", "Zipcode", "Disease")]
    return Counter(zip(*columns, strict=True))


def made(method, **changes):
    return medveil.anonymize(pa.table(TABLE_1), policy(method, **changes))


def claim(manifest, model):
    return next(c for c in manifest.claims if c["model"] == model)


@pytest.fixture(scope="module")
def table_5(tmp_path_factory):
    """A release whose one counterfeit, drawn from the men's records, has diabetes: Tables 5 and 8."""
    folder = tmp_path_factory.mktemp("lee")
    source = folder / "table_1.csv"
    pyarrow.csv.write_csv(pa.table(TABLE_1), source)
    method = {"name": "h-ceiling", "h": 0.02, "max_counterfeits": 0.15, "protection": "published"}
    for seed in range(20):
        out = folder / f"release-{seed}"
        release = medveil.anonymize(source, {**policy(method, least=1), "seed": seed}, out=out)
        if published(release) == TABLE_5:
            return release, source
    raise AssertionError("no seed of twenty draws diabetes, though half of the men have it")


def test_table_2_is_4_anonymous_and_its_degree_is_that_of_the_paper():
    """(31/99 + 1 + 33253/99999) / 3 = 0.549, printed 0.55."""
    release = made({"name": "h-ceiling", "h": 1.0, "max_counterfeits": 0.0})
    whole = ("[35-66]", "*", "[22071-55324]")
    assert published(release) == Counter((*whole, d) for d in TABLE_1["Disease"])
    degree = (31 / 99 + 1 + 33253 / 99999) / 3
    assert claim(release.manifest, "h-ceiling")["achieved"]["h"] == pytest.approx(degree, abs=1e-12)
    assert round(degree, 2) == 0.55


def test_table_3_suppresses_the_women():
    release = made({"name": "optimal", "suppression": 0.45}, least=1, suppressed="stars")
    men = Counter({row: n for row, n in TABLE_6.items() if row[1] == "M"})
    assert published(release) == men + Counter({("*", "*", "*", "*"): 3})


def test_table_4_moves_the_women_to_the_men():
    release = made({"name": "relocation", "relocation": 0.45}, least=1)
    assert published(release) == Counter((*MEN, d) for d in TABLE_1["Disease"])
    assert release.manifest.method["untruthful"] == 3
    with pytest.raises(medveil.errors.UnreachableError):
        medveil.anonymize(
            pa.table(TABLE_1),
            {
                **policy({"name": "relocation", "relocation": 0.4}, least=1),
                "attributes": {
                    name: {**a, "max_level": 1} if name in {"Age", "Zipcode"} else a
                    for name, a in policy({"name": "relocation"}, least=1)["attributes"].items()
                },
            },
        )


def test_table_6_keeps_the_ceiling_but_not_4_anonymity():
    release = made({"name": "h-ceiling", "h": 0.02, "max_counterfeits": 0.0}, k=3, least=1)
    assert published(release) == TABLE_6
    with pytest.raises(medveil.errors.UnreachableError, match="with 1 counterfeits"):
        made({"name": "h-ceiling", "h": 0.02, "max_counterfeits": 0.0, "protection": "published"}, k=4, least=1)


def test_table_5_is_made_and_its_degrees_are_those_of_its_intervals(table_5):
    """Class 1 has 0.010. For class 2 the paper prints 6/99 and 222/99999: its intervals give 5/99 and 225/99999."""
    release, _ = table_5
    women, men = (2 / 99 + 0 + 990 / 99999) / 3, (5 / 99 + 0 + 225 / 99999) / 3
    assert (round(women, 3), round(men, 4)) == (0.010, 0.0176)
    assert claim(release.manifest, "h-ceiling")["achieved"]["h"] == pytest.approx(max(women, men), abs=1e-12)
    assert claim(release.manifest, "k-anonymity")["summary"] == "4-anonymity with counterfeits"
    assert release.manifest.rows == {"published": 8, "input": 7, "suppressed": 0, "counterfeit": 1}


def test_table_8_is_the_catalog_and_passes(table_5):
    release, source = table_5
    table = pyarrow.csv.read_csv(release.folder / "catalog.csv").to_pylist()
    ids = ";".join(sorted(str(i) for i in set(release.to_arrow()["class_id"].to_pylist())))
    assert table == [{"class_ids": ids, "value": "Diabetes", "count": 1, "people": None}]
    report = audit(release.folder, open_source(source))
    assert report.ok
    found = claim(release.manifest, "counterfeit-catalog")["achieved"]
    # Both classes have four records, so that either may have been filled: any of four diabetes records is it.
    assert found == {
        "counterfeits": 1,
        "lemma_1": True,
        "told": 0,
        "posterior": 0.25,
        "least_real": 3,
        "certainly_real": 0.5,
    }


def test_values_drawn_evenly_are_drawn_again_where_nothing_hides_them():
    """Anemia, which one woman alone has, can be hidden nowhere: eleven runs of eleven make a release."""
    method = {"name": "h-ceiling", "h": 0.02, "max_counterfeits": 0.15, "protection": "published"}
    for seed in range(11):
        asked = policy({**method, "counterfeits": "uniform"}, least=1)
        release = medveil.anonymize(pa.table(TABLE_1), {**asked, "seed": seed})
        assert release.manifest.rows["counterfeit"] == 1


def test_people_of_table_1_are_protected_by_one_group():
    """The women, three of four, are grouped with the men: both classes publish the diseases of all seven."""
    release = made({"name": "h-ceiling", "h": 0.02, "max_counterfeits": 1.0}, least=1)
    everybody = Counter(TABLE_1["Disease"])
    assert published(release) == Counter({(*who, d): n for who in (WOMEN, MEN) for d, n in everybody.items()})
    rows = pyarrow.csv.read_csv(release.folder / "catalog.csv").to_pylist()
    assert {row["value"]: row["count"] for row in rows} == everybody
    assert {tuple(sorted(row["people"].split(";"))) for row in rows} == {("3", "4")}
    found = claim(release.manifest, "counterfeit-catalog")["achieved"]
    assert (found["k"], found["counterfeits"]) == (7, 7)
    assert found["least_real"] == pytest.approx(3 / 7)


def test_table_7_is_refused(table_5, tmp_path):
    release, source = table_5
    folder = tmp_path / "breached"
    shutil.copytree(release.folder, folder)
    women = next(row["class_id"] for row in release.to_arrow().to_pylist() if row["Sex"] == "F")
    pyarrow.csv.write_csv(
        pa.table({"class_ids": [str(women)], "value": ["Diabetes"], "count": [1], "people": pa.nulls(1, pa.string())}),
        folder / "catalog.csv",
    )
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["catalog.csv"] = file_hash(folder / "catalog.csv")
    for entry in manifest["claims"]:
        entry["achieved"] = None
    (folder / "manifest.json").write_text(json.dumps(manifest))
    report = audit(folder, open_source(source))
    assert report.refuted
    finding = next(f.finding for f in report.findings if f.claim["model"] == "counterfeit-catalog")
    assert finding.holds is False
    assert finding.achieved["lemma_1"] is False
    assert finding.achieved["told"] == 1
    assert finding.achieved["least_real"] == 3


def test_table_9_is_what_a_recipient_derives(table_5):
    release, _ = table_5
    truthful = derive(release.folder)
    assert published(truthful.table) == TABLE_9
    assert (truthful.dropped, truthful.lost) == (1, 1)


def test_figures_2_to_4_give_the_error_of_alice():
    """Her age becomes one of three; by the catalog one of four diabetes records is a counterfeit."""
    assert reconstruction_error(3) == pytest.approx((2 / 3) ** 2 + 2 * (1 / 3) ** 2)
    assert reconstruction_error(3, 3 / 4) == pytest.approx((1 - 1 / 4) ** 2 + 2 * (1 / 4) ** 2)
