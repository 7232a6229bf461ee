"""What everything that is found must keep: methods, models, hierarchies, measures, checks."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import medveil
from medveil.app.preparation import opened
from medveil.errors import PolicyError
from medveil.hierarchy import builders
from medveil.policy import load_policy, methods
from medveil.privacy import models
from medveil.risk import risks
from medveil.utility import measures

DOCUMENTATION = Path(__file__).parents[2] / "docs"
CONFIGURED = [*methods().values(), *models().values(), *builders().values()]


@pytest.mark.parametrize("part", CONFIGURED, ids=lambda part: part.__name__)
def test_parts_are_documented_immutable_and_strict(part):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", part.name)
    assert part.__doc__
    assert part.model_config["frozen"]
    assert part.model_config["extra"] == "forbid"
    undocumented = [name for name, field in part.model_fields.items() if not field.description and name != "type"]
    assert not undocumented
    assert not any("a" <= name[:1] <= "z" and name != name.lower() for name in part.model_fields)


@pytest.mark.parametrize("found", [methods, models, builders, measures, risks], ids=lambda found: found.__name__)
def test_everything_found_is_in_the_reference(found):
    reference = (DOCUMENTATION / "reference.md").read_text(encoding="utf-8")
    for name in found():
        assert f"{name}`" in reference, f"{name} is not in docs/reference.md: run 'python docs/build.py'"


@pytest.mark.parametrize("name", methods())
def test_a_method_keeps_its_promises_or_says_why_it_does_not_fit(name):
    """On a small table that has every kind of column; the workflow verifies what was written."""
    chance = np.random.default_rng(7)
    table = pa.table(
        {
            "age": chance.integers(0, 100, 400),
            "sex": chance.choice(["f", "m"], 400),
            "weight": np.round(chance.normal(70, 9, 400), 1),
            "ill": chance.choice(["a", "b", "c", "d"], 400),
        }
    )
    policy, folder = load_policy(
        {
            "attributes": {
                "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [10, 50]}},
                "sex": {"role": "quasi", "hierarchy": {"type": "flat", "domain": ["f", "m"]}},
                "weight": {
                    "role": "quasi",
                    "hierarchy": {"type": "intervals", "domain": [0, 200], "widths": [20, 100]},
                },
                "ill": {"role": "sensitive"},
            },
            "privacy": [{"model": "k-anonymity", "k": 3}],
            "method": name,
        }
    )
    with opened(policy, folder, table) as (problem, _):
        reason = policy.method.why_not(problem)
    if reason:
        with pytest.raises(PolicyError, match="does not fit"):
            medveil.anonymize(table, policy)
        return
    release = medveil.anonymize(table, policy)
    assert release.manifest.rows["published"] > 0
    assert any(claim["model"] == "k-anonymity" or "k" in claim["required"] for claim in release.manifest.claims)
    assert all(claim["holds"] for claim in release.manifest.claims)


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
from medveil.policy import methods
from medveil.privacy import models
methods(), models()
kernels = {id(v): v for m in list(sys.modules.values()) if getattr(m, "__name__", "").startswith("medveil")
           for v in vars(m).values() if isinstance(v, Dispatcher)}
assert len(kernels) > 10
print([kernel.py_func.__qualname__ for kernel in kernels.values() if kernel.signatures])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
