"""Every class that can be registered is rendered to a form, filled in as a browser would, and read back equal."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import FormData

from medveil.app.parts import parts, schema_of
from medveil.evaluation.settings import EvaluationPolicy
from medveil.hierarchy import builders
from medveil.methods import methods
from medveil.policy import OutputPolicy
from medveil.privacy import models
from medveil.sources import sources
from medveil.sources.frame import FrameSpec
from medveil.studio.forms.fields import fields_of
from medveil.studio.forms.reading import read_fields, same
from medveil.studio.forms.words import words_of
from medveil.studio.policies import change, one_line, read_line
from medveil.studio.site import make_templates
from medveil.studio.wording import load_words

WORDS = load_words()
TEMPLATES = make_templates()
COLUMNS = {"age": "quasi", "zip code": "quasi", "disease": "sensitive", "<script>": "plain"}
CLASSES = {
    name: found
    for registered in (
        methods(),
        models(),
        builders(),
        sources(),
        {"output": OutputPolicy, "evaluation": EvaluationPolicy},
    )
    for name, found in registered.items()
    if not issubclass(found, FrameSpec)
}
# What a class needs at least, and something for every field of every class.
GIVEN = {
    "k-anonymity": [{"k": 5}, {"k": 7, "on": ["age", "zip code"]}],
    "l-diversity": [
        {"l": 3},
        {"l": 2.5, "variant": "entropy", "attribute": "disease"},
        {"l": 2, "variant": "recursive", "c": 3.5},
    ],
    "t-closeness": [{"t": 0.2}, {"t": 0.15, "distance": "ordered", "attribute": "disease", "on": ["age"]}],
    "beta-likeness": [{"beta": 1.5}, {"beta": 0.3, "variant": "basic"}],
    "delta-disclosure": [{"delta": 1}, {"delta": 0.7, "absent": "ignore"}],
    "delta-presence": [
        {"delta_max": 0.8, "population": "people.csv"},
        {"delta_min": 0.07, "delta_max": 1, "population": "a b.csv"},
    ],
    "differential-privacy": [
        {"epsilon": 1},
        {
            "epsilon": 0.1,
            "delta": 1e-06,
            "max_records_per_subject": 3,
            "budget": 2.5,
            "budget_delta": 1e-9,
            "composition": "zcdp",
        },
    ],
    "alpha-k-anonymity": [{"alpha": 0.35, "k": 3}, {"alpha": 1, "k": 1, "value": "<b>HIV</b>"}],
    "p-sensitive-k-anonymity": [{"p": 2, "k": 3}],
    "ms-bounding": [{"k": 2, "theta": 0.3}, {"k": 2, "values": {"HIV": 0.1, "no": 0.5}}],
    "lkc-privacy": [{"l": 2, "k": 5, "c": 0.29}, {"l": 1, "k": 2, "c": 0.5, "values": ["flu", "a, b"]}],
    "diversity-aware": [
        {},
        {"diversity": False, "attribute": "disease", "publish": "ranges", "categories": "shares", "digits": 2},
        {"sensitive_value": "J00", "alpha": "6/5", "caps": "both", "excess": "minimize", "distance": "manhattan"},
        {
            "sensitive_value": 1,
            "alpha": 1.2,
            "rounds": 1,
            "starts": 4,
            "solver": "milp",
            "blocks_above": 5,
            "whole_up_to": 9,
        },
        {"sensitive_value": "1"},
        {"sensitive_value": True},
    ],
    "dp-histogram": [{}, {"false_cells": 0.25}],
    "dp-sampling": [{}, {"split": {"node": 0.2, "sampling": 0.8}, "share": 0.123}],
    "exhaustive": [{}, {"time_limit": 3.5, "generalization": "cell"}],
    "greedy": [{}, {"time_limit": 9, "generalization": "subtree"}],
    "iab": [{}, {"time_limit": 0.5, "generalization": "subtree"}],
    "iab-fast": [{}, {"time_limit": 11}],
    "iack": [{}, {"target": "disease", "suppression": 0.003}],
    "ipa": [
        {},
        {"split": {"node": 0.1, "cells": 0.5, "totals": 0.4}, "false_cells": 2.5, "expected_records": 40},
        {"guarantee": "published", "suppression_threshold": 3},
    ],
    "mondrian": [{}, {"mode": "relaxed", "cuts": "median", "largest_set": 1}],
    "optimal": [
        {},
        {"suppression": 0.07, "loss": "discernibility", "time_limit": 5},
        {"loss": {"lm": 0.7, "discernibility": 0.3}},
    ],
    "relocation": [{}, {"relocation": 0.011, "time_limit": 1}],
    "fixed-interval": [
        {},
        {
            "width": 2.5,
            "threshold": 1,
            "widen": 2,
            "statistic": "median",
            "outliers": "iqr",
            "minimum_support": 5,
        },
        {"intervals": {"age": 3}, "width": {"bmi": 2}, "missing": {"age": "drop"}, "ranges": {"age": [0, 120]}},
        {"missing": "impute", "rules": [{"when": {"sex": "M", "pregnant": "yes"}}], "codes_as_numbers": ["zip code"]},
    ],
    "h-ceiling": [
        {},
        {
            "h": 0.35,
            "ceiling": "mean",
            "on_failure": "refuse",
            "records": "shared",
            "near": ["age"],
            "never_mix": ["zip code"],
        },
        {
            "protection": "published",
            "counterfeits": "uniform",
            "objective": "mix",
            "price": 0.1,
            "max_counterfeits": 0.29,
        },
        {"recoding": "mondrian", "protection": "published"},
    ],
    "dates": [
        {},
        {"levels": ["month", "year"], "domain": ["2020-01-01", "2024-12-31"], "missing": "unknown", "other": "else"},
    ],
    "file": [{"path": "levels.csv"}, {"path": "a b.csv", "delimiter": ";"}],
    "flat": [{}, {"domain": ["F", "M", "no"]}, {"domain": {"range": [0, 99]}}, {"domain": {"path": "codes.csv"}}],
    "intervals": [
        {"widths": [5, 10, 20]},
        {"domain": [0, 99.5], "widths": [0.5, 1], "top": 90, "bottom": 18},
        {"domain": [0, 100], "cuts": [[8, 15, 31, 61], [31]]},
        {"quantiles": [8, 4, 2], "other": "other"},
    ],
    "mask": [{"length": 5}, {"length": 3, "alphabet": "letters", "from": "left"}],
    "taxonomy": [{"tree": {"Heart": ["I20", "I21"], "Lung": {"Infections": ["J10", "no"]}}}],
    "top-bottom": [{"top": 90}, {"domain": [0, 120], "bottom": 2.5}],
    "csv": [
        {"path": "a.csv"},
        {"path": "b c.csv", "delimiter": ";", "encoding": "latin-1", "columns": ["a", "b c"], "missing": ["?", "NA"]},
    ],
    "parquet": [{"path": "a.parquet", "missing": ["?"]}],
    "output": [{}, {"format": "parquet", "suppressed": "stars", "report": False}],
    "evaluation": [
        {},
        {
            "queries": ["SELECT count(*) FROM data"],
            "target": "disease",
            "workload": 50,
            "threshold": 0.09,
            "attacks": True,
            "models": True,
        },
        {
            "queries": {"old": "SELECT count(*) FROM data WHERE age = 90"},
            "population": "p.csv",
            "population_size": 1000,
            "targets": 20,
        },
    ],
}
CASES = [(name, given) for name, found in CLASSES.items() for given in GIVEN.get(name, [])]


class Filled(HTMLParser):
    """A form as a browser would send it back untouched."""

    def __init__(self, page):
        super().__init__()
        self.sent, self._select, self._area = [], None, None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "input" and attributes.get("name"):
            if attributes["type"] != "checkbox":
                self.sent.append((attributes["name"], attributes.get("value") or ""))
            elif "checked" in attributes:
                self.sent.append((attributes["name"], attributes.get("value", "on")))
        elif tag == "select":
            self._select = [attributes["name"], None]
        elif tag == "option" and (self._select[1] is None or "selected" in attributes):
            self._select[1] = attributes["value"]
        elif tag == "textarea":
            self._area = [attributes["name"], ""]

    def handle_data(self, data):
        if self._area is not None:
            self._area[1] += data

    def handle_endtag(self, tag):
        if tag == "select":
            self.sent.append(tuple(self._select))
        elif tag == "textarea":
            # Browsers leave out the first line break of a text area, and send all of them as two characters.
            name, text = self._area
            self.sent.append((name, text.removeprefix("\n").replace("\n", "\r\n")))
            self._area = None


def rendered(fields):
    source = '{% from "_macros.html" import form_fields %}{{ form_fields(fields, t, {}) }}'
    return TEMPLATES.from_string(source).render(fields=fields, t=WORDS)


def through_a_form(name, given):
    schema, words = schema_of(CLASSES[name]), words_of(WORDS, name)
    page = rendered(fields_of(schema, given, words, COLUMNS))
    return read_fields(fields_of(schema, {}, words, COLUMNS), FormData(Filled(page).sent))


@pytest.mark.parametrize(("name", "given"), CASES, ids=[f"{name}-{n}" for n, (name, _) in enumerate(CASES)])
def test_what_is_filled_in_comes_back(name, given):
    found, faults = through_a_form(name, given)
    assert not faults
    assert CLASSES[name].model_validate(found) == CLASSES[name].model_validate(given)
    left_out = {key for key, value in given.items() if key not in found}
    defaults = CLASSES[name].model_validate({**given, **{key: given[key] for key in left_out}})
    assert all(getattr(defaults, key, None) == CLASSES[name].model_fields[key].default for key in left_out)


def examples(schema):
    """Values of every kind that a schema allows, beside those that it has by itself."""
    kind = schema.get("type")
    if "anyOf" in schema:
        return [value for one in schema["anyOf"] if one.get("type") != "null" for value in examples(one)]
    if "enum" in schema:
        return list(schema["enum"])
    if "const" in schema:
        return [schema["const"]]
    if kind == "boolean":
        return [True, False]
    if kind in {"integer", "number"}:
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
        return [low + 1] if kind == "integer" else [low + 0.25, low + 0.1]
    if kind == "string":
        return (
            ["2020-01-31"]
            if schema.get("format") == "date"
            else ["a b", "<b>", "ü'\"", "no"][: 1 if "maxLength" in schema else 4]
        )
    if kind == "array" and "prefixItems" in schema:
        return [[examples(one)[0] for one in schema["prefixItems"]]]
    if kind == "array":
        inner = examples(schema.get("items", {}))
        return [inner[:1], inner[:2]]
    if kind == "object" and schema.get("properties"):
        return [{name: examples(one)[0] for name, one in schema["properties"].items()}]
    return [{"a: b": 1, "no": [2, {"x": "7"}]}]


FIELDS = [(name, key) for name, found in CLASSES.items() for key in schema_of(found)["properties"] if key != "type"]


@pytest.mark.parametrize(("name", "key"), FIELDS, ids=[f"{name}-{key}" for name, key in FIELDS])
def test_every_field_of_every_class_comes_back(name, key):
    schema = schema_of(CLASSES[name])
    for value in examples(schema["properties"][key]):
        needed = {one: examples(schema["properties"][one])[0] for one in schema.get("required", ()) if one != "type"}
        filled = {**needed, key: value}
        found, faults = through_a_form(name, filled)
        assert not faults
        for one, expected in filled.items():
            assert same(found.get(one, schema["properties"][one].get("default")), expected), one


def test_every_class_is_on_a_card_with_a_label_for_each_field():
    found = parts()
    for kind in ("methods", "models", "hierarchies", "sources", "settings"):
        for name, one in found[kind].items():
            assert name in CLASSES
            fields = fields_of(one["schema"], {}, words_of(WORDS, name))
            assert all(field.label for field in fields)
            assert any(not field.advanced for field in fields if field.required) or not one["schema"].get("required")


def test_a_form_tells_what_cannot_be_read():
    schema, words = schema_of(models()["k-anonymity"]), words_of(WORDS, "k-anonymity")
    fields = fields_of(schema, {}, words, COLUMNS)
    assert read_fields(fields, FormData({"k": "many"}))[1] == {"k": "number"}
    assert read_fields(fields, FormData({}))[1] == {"k": "required"}
    assert read_fields(fields, FormData({"k": "5"})) == ({"k": 5}, {})


@pytest.mark.parametrize("text", ["inf", "nan", "1e999", "--", "0x10"])
def test_no_number_is_anything_else(text):
    schema, words = schema_of(models()["t-closeness"]), words_of(WORDS, "t-closeness")
    assert read_fields(fields_of(schema, {}, words), FormData({"t": text}))[1] == {"t": "number"}


@given(st.floats(0, 1, allow_nan=False))
def test_a_share_is_the_same_after_it_was_shown_as_per_cent(share):
    found, _ = through_a_form("optimal", {"suppression": share})
    assert found.get("suppression", 0.0) == share


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-300, max_value=1e300))
def test_a_number_is_the_same_after_it_was_shown(number):
    found, _ = through_a_form("intervals", {"top": number})
    assert found["top"] == number


VALUES = st.recursive(
    st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1, max_size=8), inner, max_size=4),
    max_leaves=8,
)


@given(VALUES)
def test_any_value_is_the_same_after_it_was_shown_on_a_line(value):
    assert same(read_line(one_line(value)), value) or read_line(one_line(value)) == value


@given(st.dictionaries(st.text(min_size=1, max_size=12), st.integers(0, 9), min_size=1, max_size=3))
def test_a_policy_keeps_its_comments_and_takes_any_name(columns):
    text = "# first\nattributes:\n  # of age\n  age: {role: quasi} # last\nprivacy: []\n"
    for name, number in columns.items():
        text = change(text, ["attributes", name], {"role": "plain", "weight": number})
    assert "# first" in text
    assert "# of age" in text
    found = read_line(text)["attributes"]
    assert {name: found[name]["weight"] for name in columns} == columns
