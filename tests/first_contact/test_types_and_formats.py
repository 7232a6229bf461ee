"""What inspect says of a column is what anonymize does with it: coded categories, dates and numbers as people write
them.
"""

import pandas as pd
import pytest
from ruamel.yaml import YAML

import medveil
from medveil.app.inspect import inspect, write_policy
from medveil.errors import InputError, PolicyError
from medveil.table.numbers import MARKED_FORMATS, find_number_format, plain_number

K = [{"model": "k-anonymity", "k": 3}]
ROWS = 240
DOSES = {"attributes": {"dose": {"role": "quasi", "type": "number"}}, "privacy": [{"model": "k-anonymity", "k": 2}]}


def table():
    return pd.DataFrame(
        {
            "age": [str(20 + i % 45) for i in range(ROWS)],
            "marital": [str(1 + i % 6) for i in range(ROWS)],
            "died": [str(int(i % 3 == 0)) for i in range(ROWS)],
        }
    )


@pytest.mark.parametrize("method", ["fixed-interval", "diversity-aware"])
def test_numerically_coded_categories_are_never_averaged(method):
    policy = {
        "attributes": {"age": {"role": "quasi"}, "marital": {"role": "quasi"}, "died": {"role": "sensitive"}},
        "privacy": K,
        "method": {"name": method, **({"sensitive_value": "1"} if method == "diversity-aware" else {})},
    }
    release = medveil.anonymize(table(), policy)
    kinds = {attribute["name"]: attribute["type"] for attribute in release.manifest.attributes}
    assert kinds["marital"] == "category"
    assert kinds["died"] == "category"
    assert kinds["age"] == "number"


def test_saying_number_aloud_makes_it_one():
    policy = {"attributes": {"marital": {"role": "quasi", "type": "number"}}, "privacy": K, "method": "mondrian"}
    release = medveil.anonymize(table()[["marital"]], policy)
    assert release.manifest.attributes[0]["type"] == "number"


def test_the_starter_policy_says_every_type_and_anonymize_agrees(tmp_path):
    table().to_csv(tmp_path / "data.csv", index=False)
    found = inspect(tmp_path / "data.csv")
    write_policy(found, tmp_path / "data.csv", tmp_path / "policy.yaml")
    written = YAML(typ="safe").load((tmp_path / "policy.yaml").read_text(encoding="utf-8"))
    types = {name: entry.get("type") for name, entry in written["attributes"].items()}
    assert types == {"age": "number", "marital": "category", "died": "category"}
    without = {name: {"role": entry["role"]} for name, entry in written["attributes"].items()}
    release = medveil.anonymize(table(), {"attributes": without, "privacy": K})
    assert {a["name"]: a["type"] for a in release.manifest.attributes} == types


def published_dates(dates, **attribute):
    policy = {"attributes": {"seen": {"role": "quasi", **attribute}}, "privacy": [{"model": "k-anonymity", "k": 2}]}
    return medveil.anonymize(pd.DataFrame({"seen": dates}), policy)


def test_a_declared_format_is_read_by_method_and_auditor(tmp_path):
    dates = ["03/04/2020", "03/04/2020", "05/06/2021", "05/06/2021"]
    release = published_dates(dates, type="date", format="%d/%m/%Y")
    assert set(release.to_pandas()["seen"]) == {"2020-04-03", "2021-06-05"}
    pd.DataFrame({"seen": dates}).to_csv(tmp_path / "data.csv", index=False)
    release.save(tmp_path / "out")
    report = medveil.audit(tmp_path / "out", tmp_path / "data.csv")
    assert report.ok
    assert not report.unchecked


def test_an_ambiguous_date_is_refused_with_both_readings_and_no_value():
    with pytest.raises(InputError, match=r"two ways: '%m/%d/%Y' and '%d/%m/%Y'") as refused:
        published_dates(["03/04/2020", "05/06/2021"], type="date")
    assert "03/04" not in str(refused.value)


@pytest.mark.parametrize("written", ["%d/%m", "%Q", "1.234,5"])
def test_a_format_that_cannot_be_used_is_refused_with_its_place(written):
    with pytest.raises(PolicyError, match=r"attributes\.seen.*format"):
        published_dates(["2020-01-01"], type="date", format=written)


def test_years_far_ahead_are_dates():
    release = published_dates(["2180-01-31"] * 3 + ["2190-02-28"] * 3)
    assert release.manifest.attributes[0]["type"] == "date"


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1.234,5", "7,25", "1.000"], {"1234.5", "7.25", "1000"}),
        (["1,234.5", "7.25", "12,000"], {"1234.5", "7.25", "12000"}),
        (["0,5", "12,25"], {"0.5", "12.25"}),
        (["1 234,5", "7"], {"1234.5", "7"}),
    ],
)
def test_decimal_commas_and_marks_are_numbers(texts, numbers):
    release = medveil.anonymize(pd.DataFrame({"dose": texts * 2}), DOSES)
    assert set(release.to_pandas()["dose"].astype(str)) == numbers


def test_numbers_that_could_be_read_in_two_ways_are_refused():
    with pytest.raises(InputError, match="two ways"):
        medveil.anonymize(pd.DataFrame({"dose": ["1,234", "5,678"] * 2}), DOSES)


@pytest.mark.parametrize("written", MARKED_FORMATS)
def test_every_format_reads_its_own_example(written):
    assert float(plain_number(written, written)) in {1234.5, 1.5}
    assert find_number_format([written]) is not None
