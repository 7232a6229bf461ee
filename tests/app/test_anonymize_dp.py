"""Differential privacy from policy to release: what leaves, what stays, what is charged and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from tests.private_releases import ATTRIBUTES, people, policy, prepare, write

import medveil
from medveil.auditor import audit
from medveil.datasets import patients
from medveil.datasets.diseases import diseases
from medveil.errors import PolicyError
from medveil.release.ledger import Ledger
from medveil.release.manifest import read_manifest
from medveil.report import reports

STRANGE = "zqxjk"


@pytest.fixture
def folder(tmp_path):
    return prepare(tmp_path)


def internal(release):
    return json.loads((Path(release.folder) / "internal" / "differential-privacy.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("method", ["ipa", "dp-histogram", {"name": "dp-sampling"}])
def test_a_release_claims_by_proof_and_tells_nothing_that_was_not_paid_for(method, tmp_path):
    delta = {"delta": 1e-4} if isinstance(method, dict) else {}
    release = medveil.anonymize(people(3000), policy(method=method, model=delta), out=tmp_path / "out")
    manifest = release.manifest
    assert set(manifest.rows) == {"published"}
    (claim,) = manifest.claims
    assert claim["model"] == "differential-privacy"
    assert claim["basis"] == "by proof"
    assert claim["holds"] is True
    assert claim["achieved"] is None
    assert manifest.status == "for publication"
    assert sum(manifest.method["spent"].values()) <= 2.0
    published = release.to_arrow()
    assert published.column_names == ["age", "sex", "ill"]
    files = {path.name for path in release.folder.iterdir()}
    beside = {"marginals.csv"} if method == "ipa" else set()
    assert files == {"manifest.json", "release.csv", "report.html", "internal"} | beside
    told = internal(release)
    assert told["records"] == 3000
    outside = (release.folder / "manifest.json").read_text(encoding="utf-8")
    for number in ("3000", "3,000", str(told["records suppressed"])):
        assert len(number) < 3 or number not in outside
    rows = [tuple(row.values()) for row in published.to_pylist()]
    assert rows == sorted(rows)
    assert audit(release.folder).ok


def test_dimensions_are_generalized_informative_values_raw_and_suppressed_records_stars():
    release = medveil.anonymize(people(3000), policy())
    published = release.to_arrow()
    levels = {a["name"]: a["level"] for a in release.manifest.attributes}
    assert set(published["ill"].unique().to_pylist()) <= {f"i{n}" for n in range(12)}
    assert levels["ill"] is None
    stars = sum(row["age"] == "*" and row["sex"] == "*" for row in published.to_pylist())
    told = internal(release)
    assert told["rows of *"] <= stars
    assert abs(published.num_rows - 3000) < 400


def test_the_published_form_claims_nothing_and_says_so():
    release = medveil.anonymize(people(500), policy(method={"name": "ipa", "guarantee": "published"}))
    assert list(release.manifest.claims) == []
    assert "without a differential privacy guarantee" in release.manifest.status
    assert "No differential privacy guarantee" in release.manifest.method["warning"]


def words_of(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page.read_text(encoding="utf-8")).split())


def test_every_page_and_figure_says_which_form_it_is(folder, command):
    forms = {
        "proved": policy(data="people.csv"),
        "undeclared": policy(data="people.csv", attributes={"ill": {"role": "sensitive"}}, model={"delta": 1e-6}),
        "published": policy(data="people.csv", method={"name": "ipa", "guarantee": "published"}),
    }
    told = {}
    for form, content in forms.items():
        medveil.anonymize(write(folder, content, f"{form}.json"), out=folder / form)
        pages = [words_of(folder / form / name) for name in ("report.html", "internal/report.html")]
        told[form] = [*pages, command("measure", folder / form, "--quick")[1]]
    for page in told["published"][:2]:
        assert "claims no protection: it is made without a differential privacy guarantee" in page
        assert "guarantee above" not in page
        assert "as they are" in page
    assert "claims nothing" in told["published"][2]
    assert "without a differential privacy guarantee" in told["published"][2]
    for form in ("proved", "undeclared"):
        assert all("guarantee above" in page for page in told[form][:2])
        assert "Who is protected: one record" in told[form][0]
        assert "claims nothing" not in told[form][2]
        assert "holds by proof" in told[form][2]
    assert all("except with a probability of 1e-06" in page for page in told["undeclared"][:2])
    assert not any("except with a probability" in page for page in told["proved"])
    code, compared, _ = command("compare", folder / "published.json", "--methods", "ipa", "--out", folder / "compared")
    assert code == 0
    assert "none claimed" in compared
    page = words_of(folder / "compared" / "comparison.html")
    assert "No release that was made claims anything" in page
    assert "keeps what it claims" not in page


@pytest.mark.parametrize(
    "fails",
    ["medveil.app.evaluating.compute_measures", "medveil.report.reports.steward_page", "medveil.report.reports.render"],
)
def test_what_recipients_get_does_not_depend_on_whether_the_original_can_be_measured(fails, tmp_path, monkeypatch):
    drawn = reports.render

    def refuse(*given, **_named):
        if fails.endswith("render") and given[0].mark is None:
            return drawn(given[0])
        raise ValueError("something in the data")

    monkeypatch.setattr(fails, refuse)
    release = medveil.anonymize(people(300), policy(), out=tmp_path / "out")
    assert {path.name for path in release.folder.iterdir()} == {
        "manifest.json",
        "marginals.csv",
        "release.csv",
        "report.html",
        "internal",
    }
    assert "report.html" in release.manifest.files
    assert not (release.folder / "internal" / "report.html").exists()


def test_values_outside_the_domain_are_mapped_and_told_only_inside():
    table = people(2000).to_pylist()
    strange = [{"age": STRANGE, "sex": "f", "ill": "i1"}, {"age": 5, "sex": STRANGE, "ill": STRANGE}] * 20
    frame = pa.table({name: [str(row[name]) for row in [*table, *strange]] for name in ("age", "sex", "ill")})
    caught = {"ill": {"role": "sensitive", "hierarchy": {"type": "flat", "domain": ["i0", "i1"], "other": "other"}}}
    release = medveil.anonymize(frame, policy(attributes=caught))
    outside = "".join(p.read_text(encoding="utf-8") for p in release.folder.iterdir() if p.is_file())
    assert STRANGE not in outside
    told = internal(release)["preparation"]
    assert told["values outside the declared domain"]["age"] == 20
    assert told["values outside the declared domain"]["sex"] == 20
    assert told["records left out for a value without a catch-all"] == 40
    others = release.to_arrow()["ill"].to_pylist().count("other")
    assert 800 < others < 1800


def test_values_that_are_not_of_the_declared_type_are_no_refusal():
    """Whether a run is refused must not depend on the data."""
    frame = pa.table({"age": ["12", "soon", None, "x"], "sex": ["f", "m", None, "?"], "ill": ["i1", None, "i2", "a b"]})
    release = medveil.anonymize(frame, policy())
    assert release.manifest.claims[0]["holds"] is True


@pytest.mark.parametrize("method", ["ipa", "dp-histogram"])
def test_an_empty_table_makes_a_release(method):
    release = medveil.anonymize(people(0), policy(method=method))
    assert release.manifest.claims[0]["holds"] is True
    assert release.manifest.rows["published"] < 500


def test_an_undeclared_domain_is_a_clear_error():
    with pytest.raises(PolicyError, match=r"needs the domain of 'ill'"):
        medveil.anonymize(people(10), policy(attributes={"ill": {"role": "sensitive"}}))
    with pytest.raises(PolicyError, match=r"needs the domain of 'sex'"):
        medveil.anonymize(people(10), policy(attributes={"sex": {"role": "quasi"}}))


def test_undeclared_domains_are_told_all_at_once():
    roles = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    with pytest.raises(PolicyError, match=r"needs the domains of 'age', 'sex', 'ill'") as caught:
        medveil.anonymize(people(10), policy(attributes=roles))
    assert [fault.place for fault in caught.value.faults] == ["attributes.age", "attributes.sex", "attributes.ill"]


def test_undeclared_informative_values_need_delta_and_many_people():
    table = people(20_000)
    planted = pa.table({"age": [5], "sex": ["f"], "ill": [STRANGE]}, schema=table.schema)
    frame = pa.concat_tables([table, planted])
    asked = policy(attributes={"ill": {"role": "sensitive"}}, model={"delta": 1e-6})
    release = medveil.anonymize(frame, asked)
    values = set(release.to_arrow()["ill"].to_pylist())
    assert "i0" in values
    assert STRANGE not in values
    told = internal(release)
    assert told["records"] == 20_001
    assert 1 <= told["records whose informative value was not released"] < 20_001
    assert release.manifest.claims[0]["required"] == {"epsilon": 2.0, "delta": 1e-6}


def test_records_of_a_subject_are_bounded(tmp_path):
    table = people(4000)
    owners = pa.array([str(n // 40) if n < 3900 else None for n in range(4000)])
    frame = table.append_column("person", owners)
    asked = policy(attributes={"person": {"role": "subject"}}, model={"max_records_per_subject": 3, "epsilon": 50.0})
    release = medveil.anonymize(frame, asked, out=tmp_path / "out")
    told = internal(release)
    assert told["preparation"]["records"] == 4000
    assert told["records"] == 98 * 3
    assert told["preparation"]["records beyond max_records_per_subject or without a subject"] == 4000 - 98 * 3
    assert "at most 3 records" in release.manifest.method["unit"]
    assert abs(release.to_arrow().num_rows - 98 * 3) < 100


def test_bounding_needs_a_subject():
    with pytest.raises(PolicyError, match="needs a column that says who"):
        medveil.anonymize(people(10), policy(model={"max_records_per_subject": 3}))


@pytest.mark.parametrize("last", ["01/02/1980", "13/02/1980", "no date"])
def test_nothing_is_derived_since_one_record_would_change_how_all_dates_are_read(last):
    """With 13/02 among them all are read day first, and with a word none is: the policy alone must decide."""
    asked = policy()
    born = {
        "role": "quasi",
        "derive": {"age_at": "2020-01-01", "name": "age"},
        "hierarchy": ATTRIBUTES["age"]["hierarchy"],
    }
    asked["attributes"] = {"born": born, **{name: a for name, a in asked["attributes"].items() if name != "age"}}
    table = people(20).drop_columns(["age"])
    table = table.append_column("born", pa.array(["01/02/1980"] * 19 + [last]))
    with pytest.raises(PolicyError, match="no column is derived"):
        medveil.anonymize(table, asked)


@pytest.mark.parametrize("method", ["optimal", "ipa"])
def test_only_methods_with_a_proof_and_only_this_model(method):
    asked = policy(method=method)
    if method == "ipa":
        asked["privacy"] = [{"model": "k-anonymity", "k": 3}]
    with pytest.raises(PolicyError, match="does not fit"):
        medveil.anonymize(people(100), asked)


def test_what_no_noise_hides_is_refused():
    with pytest.raises(PolicyError, match="plain column"):
        medveil.anonymize(
            people(50).append_column("note", pa.array(["a"] * 50)), policy(attributes={"note": {"role": "plain"}})
        )
    with pytest.raises(PolicyError, match="delta above 0"):
        medveil.anonymize(people(50), policy(method="dp-sampling"))
    twice = policy()
    twice["privacy"] = twice["privacy"] * 2
    with pytest.raises(PolicyError, match="asked for twice"):
        medveil.anonymize(people(50), twice)
    with pytest.raises(PolicyError, match="less than or equal to 1000000"):
        medveil.anonymize(people(50), policy(method={"name": "ipa", "false_cells": 1e9}))
    with pytest.raises(PolicyError, match="exactly these parts: node, cells, totals"):
        medveil.anonymize(people(50), policy(method={"name": "ipa", "split": {"node": 1.0}}))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": {"epsilon": 1e-9}}, "rows of noise"),
        ({"model": {"epsilon": 1e-300}}, "rows of noise"),
        ({"model": {"epsilon": 1e-300}, "method": "dp-histogram"}, "rows of noise"),
        ({"model": {"epsilon": 1e-9}, "method": {"name": "ipa", "guarantee": "published"}}, "rows of noise"),
        ({"method": {"name": "ipa", "split": {"node": 1e-30, "cells": 1, "totals": 1}}}, "rows of noise"),
        ({"model": {"epsilon": 0.001, "delta": 1e-6}, "method": "dp-sampling"}, "hardly any record"),
        ({"model": {"epsilon": 1e5}}, "less than or equal to 1000"),
        ({"method": {"name": "ipa", "split": {"node": float("inf"), "cells": 1, "totals": 1}}}, "finite"),
    ],
)
def test_a_budget_that_makes_nothing_but_noise_or_none_is_refused_before_it_is_charged(changes, words, folder):
    with pytest.raises(PolicyError, match=words):
        medveil.anonymize(write(folder, policy(data="people.csv", **changes)), out=folder / "out")
    assert not Ledger.beside(folder / "people.csv").there


def test_what_is_large_is_released_all_the_same():
    for changes in ({"epsilon": 1000.0}, {"epsilon": 50.0, "delta": 1e-6}):
        asked = policy(model=changes, method="dp-sampling" if "delta" in changes else "ipa", output={"report": False})
        assert medveil.anonymize(people(2000), asked).manifest.claims[0]["holds"] is True


@pytest.mark.parametrize("method", ["ipa", "dp-histogram", {"name": "ipa", "guarantee": "published"}])
@pytest.mark.parametrize("declared", [True, False])
def test_a_domain_too_large_to_number_is_refused_before_it_is_charged(method, declared, folder):
    wide = {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 9999], "widths": [10]}, "max_level": 0}
    many = {f"d{n}": wide for n in range(6)}
    pa.csv.write_csv(pa.table({**{name: [1, 2] for name in many}, "ill": ["i0", "i1"]}), folder / "people.csv")
    asked = policy(data="people.csv", method=method, model={} if declared else {"delta": 1e-6})
    asked["attributes"] = {**many, "ill": ATTRIBUTES["ill"] if declared else {"role": "sensitive"}}
    with pytest.raises(PolicyError, match=r"does not fit: (the declared domain has more than 2|it needs a declared)"):
        medveil.anonymize(write(folder, asked), out=folder / "out")
    assert not Ledger.beside(folder / "people.csv").there


@pytest.mark.parametrize("missing", ["own", "unknown"])
@pytest.mark.parametrize("other", [None, "rest"])
def test_missing_values_and_others_are_published_as_declared(missing, other):
    table = people(2000).to_pylist()
    sexes = [None if n % 7 == 0 else "?" if n % 11 == 0 else row["sex"] for n, row in enumerate(table)]
    frame = people(2000).set_column(1, "sex", pa.array(sexes))
    hierarchy = {"type": "flat", "domain": ["f", "m"], "missing": missing, **({"other": other} if other else {})}
    asked = policy(
        attributes={"sex": {"role": "quasi", "hierarchy": hierarchy, "max_level": 0}},
        model={"epsilon": 100.0},
        output={"report": False},
    )
    published = medveil.anonymize(frame, asked).to_arrow()["sex"].to_pylist()
    assert set(published) - {"*"} == {"f", "m", None, *([other] if other else [])}
    assert published.count(None) > 200


def test_a_lattice_too_large_to_score_is_refused():
    many = {f"d{n}": {"role": "quasi", "domain": ["a", "b"]} for n in range(16)}
    frame = pa.table({**{name: ["a"] for name in many}, "ill": ["i0"]})
    asked = {**policy(), "attributes": {**many, "ill": ATTRIBUTES["ill"]}}
    with pytest.raises(PolicyError, match="nodes, more than"):
        medveil.anonymize(frame, asked)


def test_the_audit_on_the_command_line(folder, command):
    loose = policy(method={"name": "ipa", "guarantee": "published"})
    code, told, _ = command("audit-dp", write(folder, loose, "loose.json"), "--runs", 200, "--json")
    assert code == 4
    found = json.loads(told)
    assert found["caught"] is True
    assert found["lower_bound"] > found["claimed"]
    assert found["claimed"] == 2.0
    assert found["confidence"] == 0.999
    strict = policy(method={"name": "dp-histogram"})
    code, told, _ = command("audit-dp", write(folder, strict, "strict.json"), "--runs", 100)
    assert code == 0
    assert "Not refuted" in told
    assert command("audit-dp", write(folder, {**policy(), "privacy": [{"model": "k-anonymity", "k": 2}]}))[0] == 2


def test_the_policy_of_the_guide_works(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "methods" / "ipa.md").read_text(encoding="utf-8")
    (policy_text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "policy.yaml").write_text(policy_text, encoding="utf-8")
    (tmp_path / "diseases.csv").write_text("\n".join(diseases().codes) + "\n", encoding="utf-8")
    pa.csv.write_csv(patients(2000, seed=4), tmp_path / "patients.csv")
    release = medveil.anonymize(tmp_path / "policy.yaml")
    assert release.manifest.claims[0]["required"]["epsilon"] == 1.0
    assert (tmp_path / "patients.csv.ledger").exists()


def test_the_auditor_refutes_what_gives_itself_away(tmp_path):
    asked = policy(output={"report": False})
    release = medveil.anonymize(people(2000), asked, out=tmp_path / "out")
    manifest = json.loads((release.folder / "manifest.json").read_text(encoding="utf-8"))

    def verdict(**changes):
        changed = {**manifest, **changes}
        (release.folder / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")
        (found,) = audit(release.folder, manifest=read_manifest(release.folder)).findings
        return found.finding

    assert verdict().holds is None
    assert "no unpaid number" in verdict().note
    assert verdict(rows={**manifest["rows"], "input": 2000}).holds is False
    assert verdict(method={**manifest["method"], "losses": [1]}).holds is False
    assert verdict(files={**manifest["files"], "counts.csv": "0"}).holds is False
    assert verdict(method={**manifest["method"], "spent": {"cells": 2.5}}).holds is False
    elsewhere = [dict(a) for a in manifest["attributes"]]
    elsewhere[2]["hierarchy"] = {"type": "flat", "domain": {"path": "not-here.csv"}}
    assert "except for ill" in verdict(attributes=elsewhere).note
    narrow = [dict(a) for a in manifest["attributes"]]
    narrow[2]["hierarchy"] = {"type": "flat", "domain": ["i0"]}
    assert "declared domain does not have" in verdict(attributes=narrow).note
