"""What `import medveil` gives: the public names, nothing heavy, and always the same things."""

import json
import subprocess
import sys
import types

import pyarrow as pa
import pytest

import medveil

PUBLIC = {
    "CancelledError",
    "InputError",
    "Limits",
    "MedveilError",
    "OutputError",
    "Policy",
    "PolicyError",
    "Release",
    "UnreachableError",
    "VerificationError",
    "anonymize",
    "audit",
    "compare",
    "inspect",
    "leakage",
    "measure",
}
HEAVY = ("numba", "duckdb", "matplotlib", "pandas", "sklearn", "scipy")
MOST_SECONDS = 0.3
BUSY = 5
"""How many times slower than alone this may run beside others."""


def test_dir_shows_the_public_names_alone():
    assert set(dir(medveil)) == {*PUBLIC, "__version__"}
    assert set(medveil.__all__) == PUBLIC
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = medveil.nothing


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_each_name_is_the_same_thing_twice(name):
    """A module that is called like a public function would hide it once it is loaded."""
    first, second = getattr(medveil, name), getattr(medveil, name)
    assert first is second
    assert not isinstance(first, types.ModuleType)
    assert callable(first)


def test_each_function_works_twice(tmp_path):
    table = pa.table({"age": [30, 30, 40, 40] * 5, "ill": ["a", "b", "a", "b"] * 5})
    policy = {
        "attributes": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"report": False},
    }
    for _ in range(2):
        saved = medveil.anonymize(table, policy).save(tmp_path / f"release{_}")
        assert medveil.audit(saved).ok
        assert medveil.inspect(table).rows == 20
        assert medveil.leakage(table).people == 20
        assert medveil.measure(table, quasi=["age"], sensitive=["ill"]).k == 10


def loaded(module):
    """What importing a module loads, and how long it takes, in a process of its own."""
    program = (
        "import json, sys, time; start = time.perf_counter(); "
        f"import {module}; took = time.perf_counter() - start; "
        f"print(json.dumps([took, [name for name in {HEAVY!r} if name in sys.modules]]))"
    )
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return json.loads(found.stdout)


@pytest.mark.parametrize("module", ["medveil", "medveil.app", "medveil.cli"])
def test_importing_is_quick_and_loads_nothing_heavy(module):
    seconds, heavy = loaded(module)
    assert heavy == []
    assert seconds < MOST_SECONDS * BUSY
