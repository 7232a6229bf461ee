"""Parts are found by their names, one at a time or all together."""

import json
import subprocess
import sys

import pytest

from medveil.hierarchy import builders, own_builders
from medveil.methods import methods
from medveil.privacy import models

LOADED = """\
import json, sys
from medveil.methods import methods
from medveil.privacy import models
assert methods()["optimal"].name == "optimal" and models()["t-closeness"].name == "t-closeness"
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize("parts", [builders, own_builders, methods, models], ids=lambda parts: parts.__name__)
def test_a_part_that_is_asked_for_is_the_one_that_is_listed(parts):
    listed = dict(parts().items())
    assert list(listed) == sorted(listed)
    assert all(parts()[name] is part and part.name == name for name, part in listed.items())
    assert {name: parts().get(name) for name in listed} == listed


@pytest.mark.parametrize("name", ["", "no-such-thing", "problem", "../x", "a.b", "__init__"])
def test_what_is_not_there_is_not_found(name):
    assert name not in methods()
    assert methods().get(name) is None


def test_one_that_is_asked_for_is_loaded_alone():
    done = subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True)
    loaded = set(json.loads(done.stdout))
    assert {"medveil.methods.optimal", "medveil.privacy.t_closeness"} <= loaded
    assert not loaded & {"medveil.methods.mondrian", "medveil.methods.h_ceiling", "medveil.privacy.delta_presence"}
