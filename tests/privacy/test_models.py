"""What every model is held to, and how each answers bad parameters and bad input."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from pydantic import ValidationError

from medveil.errors import PolicyError
from medveil.privacy import models
from medveil.privacy.alpha_k import AlphaKAnonymity
from medveil.privacy.beta_likeness import BetaLikeness
from medveil.privacy.delta_disclosure import DeltaDisclosure
from medveil.privacy.delta_presence import DeltaPresence
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.lkc import LKCPrivacy
from medveil.privacy.p_sensitive import PSensitiveKAnonymity
from medveil.privacy.sensitive import SensitiveModel
from medveil.privacy.t_closeness import TCloseness

EXAMPLES = {
    "k-anonymity": {"k": 2},
    "l-diversity": {"l": 2},
    "t-closeness": {"t": 0.3},
    "alpha-k-anonymity": {"alpha": 0.5, "k": 2},
    "p-sensitive-k-anonymity": {"p": 2, "k": 2},
    "lkc-privacy": {"l": 1, "k": 2, "c": 0.5},
    "delta-presence": {"delta_max": 0.5, "population": "town.csv"},
    "delta-disclosure": {"delta": 1},
    "beta-likeness": {"beta": 1},
    "ms-bounding": {"k": 2, "theta": 0.5},
}


def example(name, attribute="disease"):
    model = models()[name](**EXAMPLES[name])
    return model.for_attribute(attribute) if isinstance(model, SensitiveModel) else model


@pytest.fixture(scope="session")
def town(tables):
    """Two classes with patients and one of the population alone."""
    rows = [{"age": a, "disease": d} for a in ("old", "young") for d in ("flu", "cold")]
    population = [{"age": a} for a in ("old", "young", "child") for _ in range(4)]
    cells = tables.cells(rows, ("age",), ("disease",), population=population)
    return cells, tables.classes(cells), tables.reference(cells)


def test_all_models_are_found():
    """Those that look at classes; what holds by proof alone has no verdict on them."""
    of_classes = {name for name, model in models().items() if model.basis != "proof" and not model.about_sets}
    assert of_classes == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_contract(name, town):
    _, classes, reference = town
    model = example(name)
    verdict = model.holds(classes, reference)
    assert verdict.dtype == np.bool_
    assert verdict.tolist() == [True, True, True]
    achieved = model.achieved(classes, reference)
    assert set(achieved) <= set(model.required)
    assert all(isinstance(figure, float) for figure in achieved.values())
    json.dumps(model.required)
    assert model.basis in {"files", "files and source", "proof"}
    assert model.summary()
    assert type(model).model_validate(model.model_dump()) == model
    assert all("description" in field for field in type(model).model_json_schema()["properties"].values())
    assert model.absorbing <= model.monotone
    assert "19" in (type(model).__doc__ or "") or "20" in (type(model).__doc__ or ""), "the paper and its year"


@pytest.mark.parametrize("name", EXAMPLES)
def test_unknown_parameters_are_refused(name):
    with pytest.raises(ValidationError, match="depth"):
        models()[name].model_validate({**EXAMPLES[name], "depth": 3})


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_empty_release_achieves_nothing(name, town, tables):
    cells, _, reference = town
    nothing = tables.count(cells, np.full(len(cells), -1), 0)
    model = example(name)
    assert model.holds(nothing, reference).tolist() == []
    figures = {**model.achieved(nothing, reference)}
    if name == "lkc-privacy":
        del figures["l"]  # what the attacker knows, not what is achieved
    assert set(figures.values()) <= {0.0, math.inf}


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - {"delta-presence"}))
def test_a_class_without_records_holds_and_sets_no_figure(name, town, tables):
    cells, classes, reference = town
    strict = example(name)
    alone = tables.count(cells, *tables.class_of_cell(cells), kept=cells.counts > 0)
    assert strict.achieved(classes, reference) == strict.achieved(alone, reference)


@pytest.mark.parametrize("name", sorted(n for n in EXAMPLES if n not in {"k-anonymity", "delta-presence"}))
def test_the_attribute_must_be_known(name, town):
    _, classes, reference = town
    with pytest.raises(PolicyError, match="not say which sensitive attribute"):
        models()[name](**EXAMPLES[name]).holds(classes, reference)
    with pytest.raises(PolicyError, match="Did you mean 'disease'"):
        example(name, "diseases").holds(classes, reference)


def test_presence_needs_a_population(tables):
    cells = tables.cells([{"age": "old"}], ("age",), ())
    with pytest.raises(PolicyError, match="population"):
        example("delta-presence").holds(tables.classes(cells), tables.reference(cells))


def test_people_outside_the_population_are_not_hidden(town, tables):
    rows = [{"age": "old"}]
    cells = tables.cells(rows, ("age",), (), population=[{"age": "young"}])
    classes = tables.classes(cells)
    model = DeltaPresence(delta_max=1, population="town.csv")
    assert sorted(model.holds(classes, None)) == [False, True]
    assert model.achieved(classes, None) == {"delta_min": 0.0, "delta_max": math.inf}


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (KAnonymity, {"k": 0}),
        (KAnonymity, {"k": 2.5}),
        (LDiversity, {"l": 0}),
        (LDiversity, {"l": 0.5, "variant": "entropy"}),
        (LDiversity, {"l": 2.5}),
        (LDiversity, {"l": 2.5, "variant": "recursive", "c": 1}),
        (LDiversity, {"l": math.inf, "variant": "entropy"}),
        (LDiversity, {"l": 2, "variant": "recursive"}),
        (LDiversity, {"l": 2, "variant": "recursive", "c": 0}),
        (LDiversity, {"l": 2, "c": 3}),
        (LDiversity, {"l": 2, "variant": "probabilistic"}),
        (TCloseness, {"t": -0.1}),
        (TCloseness, {"t": 1.5}),
        (TCloseness, {"t": 2.5, "distance": "variational"}),
        (TCloseness, {"t": math.nan}),
        (AlphaKAnonymity, {"alpha": 0, "k": 2}),
        (AlphaKAnonymity, {"alpha": 1.1, "k": 2}),
        (PSensitiveKAnonymity, {"p": 3, "k": 2}),
        (LKCPrivacy, {"l": 0, "k": 2, "c": 0.5}),
        (LKCPrivacy, {"l": 1, "k": 2, "c": 1.5}),
        (LKCPrivacy, {"l": 1, "k": 2, "c": 0.5, "values": ()}),
        (DeltaPresence, {"delta_min": 0.6, "delta_max": 0.5, "population": "town.csv"}),
        (DeltaPresence, {"delta_max": 0.5}),
        (DeltaDisclosure, {"delta": 0}),
        (DeltaDisclosure, {"delta": math.inf}),
        (BetaLikeness, {"beta": 0}),
        (BetaLikeness, {"beta": 1, "variant": "plain"}),
    ],
)
def test_senseless_parameters_are_refused(model, parameters):
    with pytest.raises(ValidationError):
        model(**parameters)


def test_variational_closeness_goes_to_two():
    assert TCloseness(t=1.5, distance="variational").t == 1.5


def test_whole_l_stays_whole():
    assert repr(LDiversity(l=3).required["l"]) == "3"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KAnonymity(k=5), "5-anonymity"),
        (LDiversity(l=3, attribute="disease"), "distinct 3-diversity of disease"),
        (LDiversity(l=3, c=2, variant="recursive"), "recursive (2,3)-diversity"),
        (TCloseness(t=0.2, attribute="disease"), "0.2-closeness of disease"),
        (TCloseness(t=0.2, distance="ordered"), "0.2-closeness (ordered)"),
        (AlphaKAnonymity(alpha=0.5, k=2), "(0.5,2)-anonymity"),
        (PSensitiveKAnonymity(p=2, k=3), "2-sensitive 3-anonymity"),
        (LKCPrivacy(l=2, k=5, c=0.5), "LKC-privacy with L=2, K=5, C=0.5"),
        (DeltaPresence(delta_max=0.5, population="town.csv"), "(0,0.5)-presence"),
        (DeltaDisclosure(delta=1), "1-disclosure"),
        (BetaLikeness(beta=2), "enhanced 2-likeness"),
    ],
)
def test_summaries(model, words):
    assert model.summary() == words


def test_a_value_that_does_not_occur_is_refused_unnamed(town):
    _, classes, reference = town
    for model in (
        AlphaKAnonymity(alpha=0.5, k=2, value="gout", attribute="disease"),
        LKCPrivacy(l=1, k=2, c=0.5, values=("flu", "gout"), attribute="disease"),
    ):
        with pytest.raises(PolicyError, match="does not occur in column 'disease'") as caught:
            model.holds(classes, reference)
        assert "gout" not in str(caught.value)


def test_ordered_closeness_needs_an_order(town):
    _, classes, reference = town
    with pytest.raises(PolicyError, match="needs numbers or dates"):
        TCloseness(t=0.2, distance="ordered", attribute="disease").holds(classes, reference)


def test_hierarchical_closeness_needs_a_hierarchy(town):
    _, classes, reference = town
    with pytest.raises(PolicyError, match="needs a hierarchy"):
        TCloseness(t=0.2, distance="hierarchical", attribute="disease").holds(classes, reference)


def test_a_shield_limits_what_is_known():
    assert KAnonymity(k=2).shields(["a", "b", "c"]) == [("a", "b", "c")]
    assert KAnonymity(k=2, on=("a", "c")).shields(["a", "b", "c"]) == [("a", "c")]


def test_lkc_shields():
    quasi = ["a", "b", "c"]
    sizes_up_to_two = [("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c")]
    assert LKCPrivacy(l=2, k=2, c=0.5).shields(quasi) == sizes_up_to_two
    assert LKCPrivacy(l=2, k=2, c=1).shields(quasi) == sizes_up_to_two[3:]
    assert LKCPrivacy(l=9, k=2, c=1).shields(quasi) == [("a", "b", "c")]
    assert LKCPrivacy(l=2, k=2, c=1, on=("a", "b")).shields(quasi) == [("a", "b")]
    with pytest.raises(PolicyError, match="sets to check"):
        LKCPrivacy(l=10, k=2, c=1).shields([str(i) for i in range(30)])


def test_naming_the_package_loads_no_kernels():
    code = "import sys, medveil.privacy; sys.exit('numba' in sys.modules or 'pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
