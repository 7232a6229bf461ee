"""What everything that is found must keep: methods, models, hierarchies, measures, checks."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from medveil.hierarchy import builders
from medveil.methods import methods
from medveil.policy import load_policy
from medveil.privacy import models
from medveil.risk import risks
from medveil.testing import check_hierarchy, check_method, check_model, check_part
from medveil.utility import measures

DOCUMENTATION = Path(__file__).parents[2] / "docs"
CONFIGURED = [*methods().values(), *models().values(), *builders().values()]


@pytest.mark.parametrize("part", CONFIGURED, ids=lambda part: part.__name__)
def test_parts_are_documented_immutable_and_strict(part):
    check_part(part)


@pytest.mark.parametrize("found", [methods, models, builders, measures, risks], ids=lambda found: found.__name__)
def test_everything_found_is_in_the_reference(found):
    reference = (DOCUMENTATION / "reference.md").read_text(encoding="utf-8")
    for name in found():
        assert f"{name}`" in reference, f"{name} is not in docs/reference.md: run 'python docs/build.py'"


@pytest.mark.parametrize("name", methods())
def test_a_method_keeps_its_promises_or_says_why_it_does_not_fit(name):
    check_method(name)


SIMPLE_MODELS = [
    {"model": "k-anonymity", "k": 3},
    {"model": "l-diversity", "l": 2, "attribute": "ill"},
    {"model": "t-closeness", "t": 0.6, "attribute": "ill", "distance": "equal"},
    {"model": "p-sensitive-k-anonymity", "p": 2, "k": 2, "attribute": "ill"},
]


@pytest.mark.parametrize("given", SIMPLE_MODELS, ids=lambda given: given["model"])
def test_a_model_is_kept_by_a_search(given):
    check_model(models()[given["model"]](**{key: value for key, value in given.items() if key != "model"}))


HIERARCHIES = [
    ({"type": "intervals", "domain": [0, 99], "widths": [10, 50]}, [str(age) for age in range(0, 100, 7)]),
    ({"type": "flat", "domain": ["f", "m"]}, ["f", "m"]),
    ({"type": "mask", "length": 3}, ["123", "124", "987", None]),
]


@pytest.mark.parametrize(("given", "values"), HIERARCHIES, ids=lambda given: str(given)[:24])
def test_a_hierarchy_is_one(given, values):
    builder = builders()[given["type"]]
    check_hierarchy(builder(**{key: value for key, value in given.items() if key in builder.model_fields}), values)


@pytest.mark.parametrize("path", sorted(DOCUMENTATION.rglob("*.md")), ids=lambda path: path.name)
def test_every_policy_in_the_documentation_is_valid(path, tmp_path):
    for block in re.findall(r"```yaml\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
        if "attributes:" in block and "privacy:" in block:
            written = tmp_path / "policy.yaml"
            written.write_text(block, encoding="utf-8")
            load_policy(written)


def test_finding_everything_compiles_nothing():
    """A first run pays for the kernels that it uses, not for those of every method there is."""
    program = """
import sys
from numba.core.dispatcher import Dispatcher
from medveil.methods import methods
from medveil.privacy import models
list(methods()), list(models())
kernels = {id(v): v for m in list(sys.modules.values()) if getattr(m, "__name__", "").startswith("medveil")
           for v in vars(m).values() if isinstance(v, Dispatcher)}
assert len(kernels) > 10
print([kernel.py_func.__qualname__ for kernel in kernels.values() if kernel.signatures])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
