"""What models declare of themselves is true, and nobody outside their packages looks at their class instead."""

import ast
from pathlib import Path

import numpy as np
import pytest

import medveil
from medveil.methods import methods
from medveil.methods.method import Method
from medveil.privacy import models
from medveil.privacy.classes import Classes, Histogram
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.model import PrivacyModel, Reference
from medveil.table.domain import Domain
from medveil.table.schema import Kind

ROOT = Path(medveil.__file__).parent
PARAMETERS = {
    "alpha-k-anonymity": {"alpha": 1.0, "k": 3},
    "beta-likeness": {"beta": 100.0, "variant": "basic"},
    "delta-disclosure": {"delta": 50.0, "absent": "ignore"},
    "delta-presence": {"delta_max": 1.0, "population": "people.csv"},
    "differential-privacy": {"epsilon": 1.0},
    "k-anonymity": {"k": 3},
    "km-anonymity": {"k": 3, "m": 2},
    "l-diversity": {"l": 2},
    "lkc-privacy": {"l": 2, "k": 3, "c": 1.0},
    "ms-bounding": {"k": 3},
    "p-sensitive-k-anonymity": {"p": 2, "k": 3},
    "t-closeness": {"t": 1.0},
}
SENSITIVE = {name for name in PARAMETERS if models()[name].model_fields.get("attribute")}


def every_model():
    for name, parameters in PARAMETERS.items():
        given = {**parameters, **({"attribute": "s"} if name in SENSITIVE else {})}
        yield models()[name].model_validate(given)


def test_every_model_is_tried():
    assert set(PARAMETERS) == set(models())


def one_class(people, values):
    """One class of so many people, who have so many distinct values in turn."""
    counts = np.bincount(np.arange(people) % values, minlength=values).astype(np.int64)
    held = Histogram(np.array([0, values]), np.arange(values, dtype=np.int32), counts)
    domain = Domain(Kind.CATEGORY, tuple("abcdefgh"[:values]))
    reference = Reference({"s": counts}, {"s": domain})
    sizes = np.array([people], dtype=np.int64)
    return Classes(sizes, sizes, {"s": held}), reference


@pytest.mark.parametrize(
    "model", [m for m in every_model() if m.basis != "proof" and not m.about_sets], ids=lambda m: m.name
)
def test_no_smaller_class_than_declared_holds(model):
    size = model.least_class_size
    if size is None:
        assert "k" not in type(model).model_fields
        return
    for people in range(1, size + 2):
        classes, reference = one_class(people, min(people, 2))
        assert model.holds(classes, reference).tolist() == [people >= size]


@pytest.mark.parametrize("model", [m for m in every_model() if m.distinct_needs is not None], ids=lambda m: m.name)
def test_what_counts_of_people_and_values_decide_is_all_that_is_asked(model):
    needs = model.distinct_needs
    for people in range(1, 6):
        for values in range(1, people + 1):
            classes, reference = one_class(people, values)
            enough = people >= (model.least_class_size or 1) and values >= needs.get("s", 1)
            assert model.holds(classes, reference).tolist() == [enough]
    assert model.asks_size_alone == (not needs)


def test_ms_bounding_declares_its_k():
    assert models()["ms-bounding"].model_validate({"k": 7, "attribute": "s"}).least_class_size == 7


def test_only_distinct_diversity_is_a_count():
    assert LDiversity(l=2, variant="entropy", attribute="s").distinct_needs is None
    assert KAnonymity(k=2).asks_size_alone


def _names(base):
    found, queue = {base.__name__}, [base]
    while queue:
        for one in queue.pop().__subclasses__():
            if one.__module__.startswith("medveil."):
                found.add(one.__name__)
                queue.append(one)
    return found


def test_nobody_asks_for_the_class_of_a_model_or_method():
    """`isinstance` on a model or method shuts plug-ins out: they declare, and others ask."""
    assert methods()
    known = {"privacy": _names(PrivacyModel), "methods": _names(Method)}
    for path in ROOT.rglob("*.py"):
        here = path.relative_to(ROOT).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            if node.func.id in {"isinstance", "issubclass"}:
                asked = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
                for package, names in known.items():
                    assert here == package or not asked & names, f"{path.name}:{node.lineno}"
            elif node.func.id in {"getattr", "hasattr"} and isinstance(node.args[0], ast.Name):
                assert node.args[0].id not in {"model", "method"}, f"{path.name}:{node.lineno}"
