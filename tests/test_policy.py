"""A policy is validated with messages that name the line, the place and the remedy."""

import json

import pytest

from medveil.app.preparation import with_engine
from medveil.engine import named_engine
from medveil.errors import InputError, PolicyError
from medveil.methods import methods
from medveil.policy import Policy, load_policy
from medveil.run import Run
from medveil.table.schema import Role

GOOD = """\
data: patients.csv
attributes:
  patient_id: {role: subject}
  name:       {role: identifier}
  age:        {role: quasi, type: number, weight: 2, hierarchy: {type: intervals, domain: [0, 99], widths: [5, 10]}}
  zip:        {role: quasi, hierarchy: {type: mask, length: 5}, min_level: 2}
  admitted:   {role: quasi, hierarchy: {type: dates, levels: [month, quarter, year]}}
  education:  {role: quasi, hierarchy: {type: file, path: education.csv}, max_level: 2}
  sex:        {role: quasi}
  ward:       {role: plain}
  disease:    {role: sensitive}
privacy:
  - {model: k-anonymity, k: 5}
  - {model: l-diversity, variant: distinct, l: 3, attribute: disease}
  - {model: t-closeness, t: 0.2, attribute: disease}
method: {name: optimal, suppression: 0.02}
output: {format: csv}
"""


@pytest.fixture
def load(tmp_path):
    def write(text, name="policy.yaml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return load_policy(path)[0]

    return write


def test_the_policy_of_the_guide(load):
    policy = load(GOOD)
    assert policy.attributes["zip"].min_level == 2
    assert policy.attributes["age"].weight == 2
    assert [model.name for model in policy.privacy] == ["k-anonymity", "l-diversity", "t-closeness"]
    assert policy.method.name == "optimal"
    assert policy.attributes["patient_id"].role is Role.SUBJECT


def test_json_is_a_policy_too(load):
    content = {"attributes": {"age": {"role": "quasi"}}, "privacy": [{"model": "k-anonymity", "k": 2}]}
    assert load(json.dumps(content, indent=1), "policy.json").privacy[0].k == 2
    assert load_policy(content)[0].privacy[0].k == 2


def test_what_is_written_is_what_was_read(load):
    policy = load(GOOD)
    assert load_policy(policy.model_dump(mode="json", exclude_unset=True))[0] == policy


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("weight: 2", "weigth: 2", "Line 5, attributes.age.weigth: there is no such key. Did you mean 'weight'?"),
        ("role: subject", "role: subjekt", "Line 3, attributes.patient_id.role: must be"),
        ("k-anonymity, k: 5", "k-anonimity, k: 5", "Line 13, privacy.0: there is no 'k-anonimity'. Did you mean"),
        ("k-anonymity, k: 5", "k-anonymity, k: 0", "Line 13, privacy.0.k: must be greater than"),
        ("k-anonymity, k: 5", "k-anonymity", "Line 13, privacy.0.k: it is required."),
        ("name: optimal", "name: optimum", "Line 16, method: there is no 'optimum'. Did you mean 'optimal'?"),
        ("suppression: 0.02", "suppression: 2", "Line 16, method.suppression: must be less than"),
        ("type: mask", "type: musk", "Line 6, attributes.zip.hierarchy: there is no 'musk'. Did you mean 'mask'?"),
        (
            "format: csv",
            "format: xls",
            "Line 17, output.format: must be 'csv', 'parquet', 'excel', 'spss', 'stata' or 'fhir'.",
        ),
        ("method:", "methode:", "Line 16, methode: there is no such key. Did you mean 'method'?"),
        (
            "ward:       {role: plain}",
            "ward: {role: plain, max_level: 2}",
            "only a quasi-identifier can have max_level",
        ),
        ("name:       {role: identifier}", "name: {role: subject}", "only one column can be the subject"),
        ("min_level: 2", "min_level: 2, max_level: 1", "min_level is above max_level"),
    ],
)
def test_a_fault_names_line_place_and_remedy(load, old, new, message):
    assert old in GOOD
    with pytest.raises(PolicyError) as error:
        load(GOOD.replace(old, new))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "line", "place"),
    [
        ("  2020: {role: quasi}\n  2021:\n    role: quazi\n", 4, "attributes.2021.role"),
        ("  int:\n    role: quazi\n", 3, "attributes.int.role"),
        ("  Range:\n    rol: quasi\n    role: quasi\n", 3, "attributes.Range.rol"),
        ("  age:\n    role: quasi\n    domain: 5\n", 4, "attributes.age.domain"),
        ("  age: quasi\n", 2, "attributes.age"),
    ],
)
def test_a_fault_is_told_where_it_is_whatever_columns_are_called(load, text, line, place):
    with pytest.raises(PolicyError) as caught:
        load(f"attributes:\n{text}privacy: [{{model: k-anonymity, k: 2}}]\n")
    (fault,) = caught.value.faults
    assert (fault.line, fault.place) == (line, place)
    assert "instance" not in fault.sentence
    assert "tuple" not in fault.sentence


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("intervals: 0", "method.intervals: must be greater than or equal to 1"),
        ("intervals: {age: 0}", "method.intervals.age: must be greater than or equal to 1"),
        ("missing: guess", "method.missing: must be 'keep', 'drop' or 'impute'"),
        ("missing: {age: guess}", "method.missing.age: must be 'keep', 'drop' or 'impute'"),
        ("intervals: [3]", "method.intervals: must be a whole number, or a mapping"),
        ("rules: [{when: {sex: true}}]", "method.rules.0.when.sex: write it in quotes"),
    ],
)
def test_a_value_of_several_shapes_is_faulted_for_the_one_it_has(load, parameter, message):
    with pytest.raises(PolicyError) as caught:
        load(
            "attributes: {age: {role: quasi}}\nprivacy: [{model: k-anonymity, k: 2}]\n"
            f"method: {{name: fixed-interval, {parameter}}}\n"
        )
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_fault_is_told_at_once(load):
    with pytest.raises(PolicyError) as error:
        load(GOOD.replace("weight: 2", "weigth: 2").replace("k: 5", "k: 0"))
    assert len(str(error.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("attributes: {age: {role: quasi}\n", "is not YAML"),
        ("just words\n", "is not a policy"),
        ("", "is not a policy"),
        ("attributes: {}\nprivacy: []\n", "at least one model"),
        ("attributes: {age: {role: quasi}}\n", "privacy: it is required"),
    ],
)
def test_what_is_no_policy(load, text, message):
    with pytest.raises(PolicyError, match=message):
        load(text)


def test_a_missing_policy_says_how_to_start_one(tmp_path):
    with pytest.raises(PolicyError, match="medveil inspect"):
        load_policy(tmp_path / "none.yaml")


def test_the_schema_knows_every_method_model_and_key():
    schema = json.dumps(Policy.model_json_schema())
    for word in ("k-anonymity", "t-closeness", "intervals", "mask", "suppression", "widths", *methods()):
        assert f'"{word}"' in schema


def test_faults_are_kept_beside_the_text_for_forms(load):
    with pytest.raises(PolicyError) as error:
        load(GOOD.replace("k-anonymity, k: 5", "k-anonymity, k: 0").replace("format: csv", "format: xls"))
    places = [(fault.place, fault.line) for fault in error.value.faults]
    assert ("privacy.0.k", 13) in places
    assert ("output.format", 17) in places
    assert str(error.value) == "\n".join(str(fault) for fault in error.value.faults)
    with pytest.raises(PolicyError) as error:
        load_policy({"attributes": {}, "privacy": []})
    assert [fault.line for fault in error.value.faults] == [None]


def test_an_error_without_a_place_is_one_fault():
    error = PolicyError("The policy names no data.", "Add 'data: FILE'.")
    assert [fault.sentence for fault in error.faults] == ["The policy names no data. Add 'data: FILE'."]


def test_a_policy_names_its_engine(load):
    """The engine that a run was handed comes first, then the policy's, then DuckDB."""
    policy = load(GOOD + "engine: {type: duckdb}\n")
    assert policy.model_dump(mode="json")["engine"] == {"type": "duckdb"}
    chosen = with_engine(Run(), policy)
    assert (chosen.engines, chosen.tables) == (policy.engine.open, policy.engine)
    mine = named_engine("duckdb").open
    assert with_engine(Run(engines=mine), policy).engines is mine
    assert with_engine(Run(), load(GOOD)).engines is None
    with pytest.raises(PolicyError, match="there is no 'sparc'"):
        load(GOOD + "engine: sparc\n")
    with pytest.raises(InputError, match="There is no engine 'sparc'"):
        named_engine("sparc")
