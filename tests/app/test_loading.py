"""A command loads what it needs and nothing else: most of what a small run waits for is imports."""

import json
import subprocess
import sys

import pyarrow.csv
import pytest

from medveil.datasets import patients

POLICY = """\
data: patients.csv
attributes:
  age: {role: quasi, hierarchy: {type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}
  sex: {role: quasi}
  surgery: {role: plain}
  disease: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 5}
  - {model: l-diversity, l: 2}
method: METHOD
"""
RUN = """\
import json, sys
from medveil.cli import app
app(["anonymize", "policy.yaml", "--out", "out"], standalone_mode=False)
print(json.dumps(sorted(sys.modules)))
"""
HEAVY = {"matplotlib", "pandas", "polars", "sklearn", "xgboost", "ortools", "opendp"}


@pytest.mark.parametrize("method", ["{name: optimal, suppression: 0.02}", "mondrian"])
def test_a_release_is_made_and_drawn_without_what_only_others_need(method, tmp_path):
    pyarrow.csv.write_csv(patients(600, 1), tmp_path / "patients.csv")
    (tmp_path / "policy.yaml").write_text(POLICY.replace("METHOD", method))
    done = subprocess.run([sys.executable, "-c", RUN], cwd=tmp_path, check=True, capture_output=True, text=True)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "medveil.app.anonymize" in loaded
    assert not loaded & HEAVY
    assert (tmp_path / "out" / "internal" / "report.html").exists()
