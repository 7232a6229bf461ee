"""The proofs name the functions that implement their steps: the functions are there, and name their step."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

PROOFS = Path(__file__).parents[1] / "docs" / "proofs"
IPA = (PROOFS / "ipa.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(ipa_proved|ipa_score|marginals|strata|outcome|stars|noisy_cells|budget)\.([A-Za-z_.]+)`", IPA)
STEPS = {
    "A": ("noisy_totals", "released", "value_threshold"),
    "M": ("noisy_marginals", "marginal_noise"),
    "B": ("cut", "thresholds"),
    "C": ("choose", "selection"),
    "D": ("publish", "drawn", "cell_noise"),
}


@pytest.mark.parametrize(("module", "name"), NAMED)
def test_what_the_proof_of_ipa_names_is_there(module, name):
    found = importlib.import_module(f"medveil.methods.dp.{module}")
    for part in name.split("."):
        found = getattr(found, part)
    assert found is not None


@pytest.mark.parametrize(("step", "name"), [(step, name) for step, names in STEPS.items() for name in names])
def test_each_step_of_ipa_is_named_in_the_code_and_on_the_page(step, name):
    mechanism = importlib.import_module("medveil.methods.dp.ipa_proved").Mechanism
    words = inspect.getdoc(inspect.getattr_static(mechanism, name))
    assert words.startswith(f"Step {step}")
    assert f"`ipa_proved.Mechanism.{name}`" in IPA
    assert f"### Step {step}:" in IPA


def test_the_page_names_enough():
    assert len(NAMED) >= 15
