"""What recipients get tells nothing of the people who are left out, and no figure or refusal tells who has what.

The theorem says nothing about people of groups that are left out; so whatever is published must not depend on what they
have. Totals of the original by value would tell it, and so does any figure that follows from them: how far a group is
from the whole input, which a claim of t-closeness states.
"""

import json
import re

import pyarrow as pa
import pyarrow.csv
import pytest

import medveil
from medveil.errors import PolicyError
from medveil.methods.h_ceiling import HCeiling
from medveil.release.truthful import derive

PLACES = {"A": (5, 5), "B": (6, 4), "C": (5, 5), "D": (10, 0)}
"""Four places of ten people each, with flu and with hiv."""
MODELS = {
    "t-closeness": {"model": "t-closeness", "t": 0.26},
    "beta-likeness": {"model": "beta-likeness", "beta": 0.435},
    "l-diversity": {"model": "l-diversity", "variant": "entropy", "l": 1.5},
}
FILES = ("release.csv", "catalog.csv", "manifest.json", "report.html")


def original(left_out):
    """The table in which the people of D, who are left out, have these values."""
    rows = [
        {"place": place, "disease": disease}
        for place, (flu, hiv) in {**PLACES, "D": left_out}.items()
        for disease in ("flu",) * flu + ("hiv",) * hiv
    ]
    return pa.Table.from_pylist(rows)


def made(table, model, folder, method=None):
    policy = {
        "attributes": {
            "place": {"role": "quasi", "domain": ["A", "B", "C", "D"]},
            "disease": {"role": "sensitive", "domain": ["flu", "hiv"]},
        },
        "privacy": [{"model": "k-anonymity", "k": 4}, MODELS[model]],
        "method": method or {"name": "h-ceiling", "h": 0.0},
        "seed": 5,
    }
    return medveil.anonymize(table, policy, out=folder)


def told(release):
    """Everything that recipients get, but for the order of class ids and for hashes, which follow from the rest."""
    files = {}
    for name in FILES:
        text = re.sub(r"[0-9a-f]{64}", "", (release.folder / name).read_text(encoding="utf-8"))
        if name == "release.csv":
            text = "\n".join(sorted(line.split(",", 1)[1] for line in text.splitlines()))
        files[name] = text
    for weights in (False, True):
        derived = derive(release.folder, weights=weights).table.drop_columns(["class_id"])
        files[f"truthful {weights}"] = str(sorted(map(str, derived.to_pylist())))
    return files


def total_told(release):
    """The attack: the people with hiv who are left out, from what a claim of t-closeness says of its farthest group."""
    claim = next(c for c in json.loads((release.folder / "manifest.json").read_text())["claims"] if c["attribute"])
    if claim["achieved"] is None:
        return None
    rows = release.to_arrow().to_pylist()
    hiv = {p: sum(r["disease"] == "hiv" for r in rows if r["place"] == p) for p in "ABC"}
    share = max(hiv.values()) / 10 - claim["achieved"]["t"]
    return round(40 * share) - sum(hiv.values())


@pytest.mark.parametrize("model", MODELS)
def test_recipients_get_the_same_whatever_the_people_have_who_are_left_out(model, tmp_path):
    releases = [made(original((10 - hiv, hiv)), model, tmp_path / str(hiv)) for hiv in (0, 1)]
    assert [release.manifest.rows["suppressed"] for release in releases] == [10, 10]
    first, second = map(told, releases)
    for name, text in first.items():
        assert text == second[name], name
    assert all(claim["holds"] for release in releases for claim in release.manifest.claims)


def test_the_attack_on_totals_succeeds_where_the_figure_is_told(tmp_path, monkeypatch):
    """The broken copy states how far the farthest group is from the whole input."""
    kept = made(original((9, 1)), "t-closeness", tmp_path / "kept")
    assert total_told(kept) is None
    monkeypatch.setattr("medveil.app.proving.tells_left_out", lambda _claim, _manifest: False)
    for hiv in (0, 1):
        broken = made(original((10 - hiv, hiv)), "t-closeness", tmp_path / str(hiv))
        assert total_told(broken) == hiv


def test_the_figure_of_any_method_is_not_told_beside_suppressed_records(tmp_path):
    method = {"name": "optimal", "suppression": 0.25}
    release = made(original((10, 0)), "t-closeness", tmp_path / "optimal", method)
    assert release.manifest.rows["suppressed"] == 10
    claim = next(claim for claim in release.manifest.claims if claim["model"] == "t-closeness")
    assert claim["achieved"] is None
    whole = made(original((5, 5)), "t-closeness", tmp_path / "whole")
    assert next(c for c in whole.manifest.claims if c["model"] == "t-closeness")["achieved"] == {"t": 0.075}


def test_the_steward_is_told_by_an_audit_with_the_source(tmp_path):
    release = made(original((9, 1)), "t-closeness", tmp_path / "release")
    pa.csv.write_csv(original((9, 1)), tmp_path / "source.csv")
    report = medveil.audit(release.folder, source=tmp_path / "source.csv")
    assert report.ok
    found = {finding.claim["model"]: finding.finding.achieved for finding in report.findings}
    assert found["t-closeness"] == {"t": 0.125}


# Refusals that looked at who has what


def stays(shift):
    """Ten people of A, each with a second record elsewhere that is left out, and ten places of two people each. The
    wards of A's people are theirs alone, unless they exchange what they have at A.
    """
    rows = [{"person": f"a{i}", "place": "A", "ward": f"w{(i + shift) % 10}"} for i in range(10)]
    rows += [{"person": f"a{i}", "place": "Z", "ward": f"w{i}"} for i in range(10)]
    rows += [{"person": f"b{i}", "place": f"B{i % 10}", "ward": "1"} for i in range(20)]
    return pa.Table.from_pylist([{**row, "disease": "hiv" if row["ward"] < "w5" else "flu"} for row in rows])


def published(table, folder):
    places = ["A", *(f"B{i}" for i in range(10)), "Z"]
    policy = {
        "attributes": {
            "person": {"role": "subject"},
            "place": {"role": "quasi", "domain": places},
            "disease": {"role": "sensitive"},
            "ward": {"role": "plain", "insist": 0.25},
        },
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "method": {"name": "h-ceiling", "h": 0.0, "max_counterfeits": 1.0, "price": 0},
        "seed": 5,
    }
    return medveil.anonymize(table, policy, out=folder)


def test_no_refusal_before_the_search_looks_at_who_has_what(tmp_path, monkeypatch):
    """C4: in the one original ten people are alone with their wards, in the other, exchanged, nobody is; both are
    published, the same byte for byte. A copy that looks at people first refuses the one and so tells it from the other.
    """
    first, second = (published(stays(shift), tmp_path / str(shift)) for shift in (0, 1))
    for name in ("release.csv", "catalog.csv"):
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes(), name
    monkeypatch.setattr(HCeiling, "hides_who_has_what", property(lambda _: False))
    with pytest.raises(PolicyError, match="alone singles out"):
        published(stays(0), tmp_path / "refused")
    published(stays(1), tmp_path / "published")


@pytest.mark.parametrize(("records", "fits"), [("all", False), ("shared", True)])
def test_quantiles_that_count_records_must_not_choose_the_plan(tmp_path, records, fits):
    """C2: where people have several records, their numbers belong to what nobody may tell, and quantiles weigh them."""
    rows = [{"person": f"p{i % 40}", "age": str(20 + i % 40), "disease": "flu" if i % 3 else "hiv"} for i in range(60)]
    policy = {
        "attributes": {
            "person": {"role": "subject"},
            "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "quantiles": [4, 2]}},
            "disease": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "h-ceiling", "records": records},
        "seed": 5,
        "output": {"report": False},
    }
    table = pa.Table.from_pylist(rows)
    if fits:
        assert medveil.anonymize(table, policy, out=tmp_path / "release").manifest.claims
        return
    with pytest.raises(PolicyError, match="the quantiles of 'age' depend on how many records people have"):
        medveil.anonymize(table, policy, out=tmp_path / "release")
    alone = {**policy, "attributes": {name: a for name, a in policy["attributes"].items() if name != "person"}}
    assert medveil.anonymize(table.drop_columns(["person"]), alone, out=tmp_path / "records").manifest.claims
