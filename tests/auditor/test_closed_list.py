"""The auditor's checks are a closed list: nothing from outside joins or replaces them."""

import importlib
import inspect
import pkgutil
from importlib.metadata import EntryPoint

import pyarrow as pa
import pytest

from medveil import registry
from medveil.auditor import audit, checks
from medveil.auditor.context import Check
from medveil.auditor.known import CHECKS
from medveil.hierarchy import own_builders
from medveil.privacy import models
from medveil.sources.opening import open_source


def test_every_check_of_the_package_is_listed():
    modules = [
        importlib.import_module(f"{checks.__name__}.{info.name}") for info in pkgutil.iter_modules(checks.__path__)
    ]
    written = {
        member
        for module in modules
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, Check) and member is not Check
    }
    assert set(CHECKS.values()) == written
    assert all(name == check.name for name, check in CHECKS.items())


def test_nothing_can_be_entered_from_outside():
    with pytest.raises(TypeError):
        CHECKS["crowd-size"] = CHECKS["k-anonymity"]


def test_every_model_of_ours_has_a_check_that_looks_at_all_it_requires():
    for name, model in models().items():
        assert name in CHECKS, f"{model.__name__} promises what nothing checks"


def test_the_auditor_asks_for_no_entry_point(monkeypatch, release, make_claim):
    def refuse(**_):
        raise AssertionError("the auditor looked for what other packages bring")

    monkeypatch.setattr(registry, "entry_points", refuse)
    tens = {"hierarchy": {"type": "intervals", "domain": [0, 19], "widths": [10]}, "level": 1}
    claims = [make_claim("k-anonymity", k=2), make_claim("h-ceiling", h=1.0)]
    folder = release({"age": "qn"}, [("[0-9]",), ("[0-9]",)], claims, extra={"age": tens})
    assert audit(folder, open_source(pa.table({"age": ["1", "2"]}))).ok
    assert "intervals" in own_builders()


def test_an_entry_point_adds_no_check(monkeypatch, release, make_claim):
    point = EntryPoint("unheard-of", "medveil.auditor.checks.k_anonymity:KAnonymityCheck", "medveil.auditor.checks")
    monkeypatch.setattr(registry, "entry_points", lambda **_: [point])
    (found,) = audit(release({"age": "qc"}, [("a",), ("a",)], [make_claim("unheard-of", k=2)])).findings
    assert not found.finding.checked
