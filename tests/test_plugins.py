"""What other packages bring: by entry points alone, never instead of anything of medveil's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import medveil

PLUGIN = Path(__file__).parent / "plugin"
TAKEN = {
    "medveil.privacy": ("k-anonymity", "medveil.privacy.k_anonymity:KAnonymity"),
    "medveil.methods": ("optimal", "medveil.methods.optimal:Optimal"),
    "medveil.hierarchy": ("parity", "medveil_example.parity:Parity"),
    "medveil.sources": ("csv", "medveil.sources.csv:CsvSpec"),
    "medveil.engine": ("duckdb", "medveil.engine.duckdb:DuckDB"),
}
PROGRAM = """
import json, sys
from pathlib import Path
from medveil.hierarchy import builders
from medveil.methods import methods
from medveil.privacy import models
from medveil.sources import sources
from medveil.testing import check_hierarchy, check_method, check_model, check_part, check_source, sample_table
import medveil

found = ((models, "crowd-size"), (methods, "coarsest"), (builders, "parity"), (sources, "fixed-width"))
for parts, name in found:
    check_part(parts()[name])
folder = Path(sys.argv[1]).parent
rows = sample_table().drop(["weight"]).to_pylist()
(folder / "patients.txt").write_text("".join(f"{row['age']:>3}{row['sex']}{row['ill']}\\n" for row in rows))
data = {"path": "patients.txt", "columns": {"age": 3, "sex": 1, "ill": 1}}
check_source(sources()["fixed-width"](**data), folder)
check_hierarchy(builders()["parity"](largest=99), [str(age) for age in range(0, 100, 7)])
check_method("coarsest")
check_model(models()["crowd-size"](people=4))
policy = {
    "data": {"type": "fixed-width", **data},
    "attributes": {
        "age": {"role": "quasi", "hierarchy": {"type": "parity", "largest": 99}},
        "sex": {"role": "quasi", "hierarchy": {"type": "flat", "domain": ["f", "m"]}},
        "ill": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 3}, {"model": "crowd-size", "people": 4}],
    "method": {"name": "coarsest", "below": 1},
}
(folder / "policy.json").write_text(json.dumps(policy))
medveil.anonymize(folder / "policy.json", out=Path(sys.argv[1]))
"""

LISTING = """
import sys
from medveil.errors import InputError
from medveil.hierarchy import builders
from medveil.methods import methods
from medveil.engine import engines
from medveil.privacy import models
from medveil.sources import sources

found = {
    "medveil.privacy": models,
    "medveil.methods": methods,
    "medveil.hierarchy": builders,
    "medveil.sources": sources,
    "medveil.engine": engines,
}
try:
    found[sys.argv[1]]()
except InputError as error:
    print(error)
"""


def run(*arguments, path):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*map(str, path), str(Path(medveil.__file__).parents[1])]),
    }
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, env=environment, check=False
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("plugin") / "out"
    done = run("-c", PROGRAM, out, path=[PLUGIN])
    assert done.returncode == 0, done.stderr
    return out


def test_a_model_a_method_a_source_and_a_hierarchy_come_from_outside(made):
    policy = json.loads((made / "internal" / "policy.json").read_text())
    assert policy["data"]["type"] == "fixed-width"
    manifest = json.loads((made / "manifest.json").read_text())
    assert manifest["method"]["name"] == "coarsest"
    assert [a["hierarchy"]["type"] for a in manifest["attributes"] if a["role"] == "quasi"] == ["parity", "flat"]
    ours, theirs = manifest["claims"]
    assert (ours["model"], ours["holds"]) == ("k-anonymity", True)
    assert (theirs["model"], theirs["holds"], theirs["basis"]) == ("crowd-size", None, "not checked by medveil")


def test_manifest_and_both_reports_say_first_that_medveil_did_not_check_it(made):
    status = "in part not checked by medveil"
    assert json.loads((made / "manifest.json").read_text())["status"] == status
    for page in (made / "report.html", made / "internal" / "report.html"):
        text = page.read_text()
        assert f"This release is {status}: medveil has no check of its own for" in text
        assert "This release is for publication" not in text


def test_the_audit_says_so_first_and_is_not_content(made):
    """By somebody who has medveil alone: nothing of the plug-in runs."""
    done = run("-m", "medveil", "audit", made, path=[])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "Not checked by medveil: it has no check of its own for 'crowd-size'."
    assert "Every claim holds" not in done.stdout
    report = json.loads(run("-m", "medveil", "audit", made, "--json", path=[]).stdout)
    assert (report["ok"], report["refuted"]) == (False, False)
    assert report["status"] == "in part not checked by medveil"


METHODS = """
from __future__ import annotations
from dataclasses import replace
import numpy as np
import pyarrow as pa
from medveil.methods.method import Method
from medveil.methods.optimal import generalized
from medveil.release.claim import Basis
from medveil.release.draft import Promise
from medveil.table.schema import Role

class Plain(Method):
    def anonymize(self, problem, run):
        levels = (0,) * len(problem.cells.quasi)
        kept = np.ones(len(problem.cells), dtype=np.bool_)
        return self.changed(problem.draft(generalized(problem, levels), kept, self.description()))

    def changed(self, draft):
        return draft

class NoNoise(Plain):
    name = "no-noise"
    proves = frozenset({"differential-privacy"})

    def changed(self, draft):
        return replace(draft, rows={}, links=None)

class ClaimsNothing(Plain):
    name = "claims-nothing"

    def changed(self, draft):
        return replace(draft, promises=[])

class AsksLess(Plain):
    name = "asks-less"

    def changed(self, draft):
        return replace(draft, promises=[replace(p, required={"k": 1}, parameters={"k": 1}) for p in draft.promises])

class CountsLess(Plain):
    name = "counts-less"

    def changed(self, draft):
        return replace(draft, attributes=[replace(a, role=Role.SENSITIVE) for a in draft.attributes])

class MadeUp(Plain):
    name = "made-up"

    def changed(self, draft):
        made = [replace(a, role=Role.PLAIN, made=True) if a.name == "age" else a for a in draft.attributes]
        about = Promise("unheard-of", "all is well", {}, Basis.FILES, {"column": "age"})
        return replace(draft, attributes=made, promises=[*draft.promises, about])

class FalseName(Plain):
    name = "false-name"
    proves = frozenset({"differential-privacy"})

    def changed(self, draft):
        return replace(draft, rows={}, links=None, method={"name": "dp-histogram", "parameters": {}})

class Coarse(Plain):
    def anonymize(self, problem, run):
        levels = tuple(problem.hierarchies[name].height for name in problem.cells.quasi)
        kept = np.ones(len(problem.cells), dtype=np.bool_)
        return self.changed(problem.draft(generalized(problem, levels), kept, self.description()))

class TellsBeside(Coarse):
    name = "tells-beside"

    def changed(self, draft):
        return replace(draft, companions={"notes.csv": pa.table({"age": ["1", "2"]})})

class TellsReport(Coarse):
    name = "tells-report"

    def changed(self, draft):
        return replace(draft, companions={"report.html": pa.table({"age": ["1", "2"]})})

class TellsOpenly(Coarse):
    name = "tells-openly"

    def changed(self, draft):
        about = Promise("unheard-of", "notes that hurt nobody", {}, Basis.FILES, {"file": "notes.csv"})
        return replace(
            draft, companions={"notes.csv": pa.table({"n": [1]})}, promises=[*draft.promises, about]
        )

class Boasts(Coarse):
    name = "boasts"

    def changed(self, draft):
        one, = draft.promises
        other = replace(one, required={"k": 2}, parameters={"k": 2}, summary="certified by the ministry")
        return replace(draft, promises=[replace(one, summary="anonymous for ever"), other])
"""

RELEASE = """
import json, sys
import medveil, pyarrow

table = pyarrow.table({"age": [str(i) for i in range(30)], "ill": ["a", "b", "a"] * 10})
attributes = {
    "age": {"role": "quasi", "type": "number", "domain": {"range": [0, 99]}},
    "ill": {"role": "sensitive", "domain": ["a", "b"]},
}
policy = {"attributes": attributes, "privacy": [json.loads(sys.argv[2])], "method": sys.argv[1]}
try:
    release = medveil.anonymize(table, policy, out=sys.argv[3])
except medveil.MedveilError as error:
    print(type(error).__name__, error)
else:
    print(release.manifest.status)
"""


def by_a_method_from_outside(folder, method, model):
    (folder / "rival_methods.py").write_text(METHODS)
    information = folder / "rival-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n")
    named = "".join(part.capitalize() for part in method.split("-"))
    (information / "entry_points.txt").write_text(f"[medveil.methods]\n{method} = rival_methods:{named}\n")
    done = run("-c", RELEASE, method, json.dumps(model), folder / "out", path=[folder])
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_proof_that_is_not_ours_is_not_checked_by_medveil(tmp_path):
    """No file shows that noise was added: of another package's method we only know that it says so."""
    model = {"model": "differential-privacy", "epsilon": 1.0}
    assert by_a_method_from_outside(tmp_path, "no-noise", model) == "not checked by medveil"
    (claim,) = json.loads((tmp_path / "out" / "manifest.json").read_text())["claims"]
    assert (claim["holds"], claim["basis"]) == (None, "not checked by medveil")
    done = run("-m", "medveil", "audit", tmp_path / "out", path=[])
    assert done.stdout.splitlines()[0].startswith("Not checked by medveil")
    assert "Every claim holds" not in done.stdout


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("claims-nothing", "does not claim 5-anonymity, which the policy asks for"),
        ("asks-less", "does not claim 5-anonymity, which the policy asks for"),
        ("counts-less", "publishes 'age' as sensitive, which the policy does not"),
        ("made-up", "publishes 'age' as a column of its own, but the source has it"),
        ("tells-report", "publishes a file that is not called like a CSV file beside the release"),
    ],
)
def test_a_method_that_claims_less_than_the_policy_asks_makes_no_release(tmp_path, method, said):
    told = by_a_method_from_outside(tmp_path, method, {"model": "k-anonymity", "k": 5})
    assert told.startswith(f"VerificationError The release was not published: the method '{method}' {said}.")
    assert not (tmp_path / "out").exists()


def test_a_method_that_goes_by_the_name_of_one_with_a_proof_makes_no_release(tmp_path):
    """Raw records would be called differentially private by proof, and for publication."""
    told = by_a_method_from_outside(tmp_path, "false-name", {"model": "differential-privacy", "epsilon": 1.0})
    assert "the method 'false-name' uses the name of another" in told
    assert not (tmp_path / "out").exists()


def test_a_file_that_no_claim_is_about_is_not_published(tmp_path):
    told = by_a_method_from_outside(tmp_path, "tells-beside", {"model": "k-anonymity", "k": 5})
    assert "the file 'notes.csv' is published beside the release, and no claim is about it" in told
    assert told.endswith("This is a bug in the method: please report it to its authors.")
    assert not (tmp_path / "out").exists()


def test_a_file_that_only_another_packages_claim_is_about_is_not_checked_by_medveil(tmp_path):
    told = by_a_method_from_outside(tmp_path, "tells-openly", {"model": "k-anonymity", "k": 5})
    assert told == "in part not checked by medveil"


def test_what_medveil_has_proved_is_said_in_its_own_words(tmp_path):
    assert by_a_method_from_outside(tmp_path, "boasts", {"model": "k-anonymity", "k": 5}) == "for publication"
    claims = json.loads((tmp_path / "out" / "manifest.json").read_text())["claims"]
    assert [claim["summary"] for claim in claims] == ["5-anonymity", "k-anonymity, k 2"]


@pytest.mark.parametrize("group", TAKEN)
def test_a_taken_name_is_an_error_that_names_the_package(tmp_path, group):
    name, value = TAKEN[group]
    information = tmp_path / "rival-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")
    done = run("-c", LISTING, group, path=[PLUGIN, tmp_path])
    assert done.returncode == 0, done.stderr
    owner = "'medveil-example'" if name == "parity" else "medveil"
    assert done.stdout == (
        f"The installed package 'rival' brings '{name}' into {group}, a name that {owner} already has. "
        "Uninstall 'rival', or have its part renamed.\n"
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("nowhere.at_all:Thing", "cannot be loaded (ModuleNotFoundError)"),
        ("medveil.privacy.model:PrivacyModel", "is not a complete PrivacyModel with a name of its own"),
    ],
)
def test_a_broken_plug_in_is_named(tmp_path, value, said):
    information = tmp_path / "broken-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[medveil.privacy]\nthing = {value}\n")
    done = run("-c", "from medveil.privacy import models\nmodels()\n", path=[tmp_path])
    assert done.returncode == 1
    assert f"The installed package 'broken' declares 'thing' for medveil.privacy, which {said}." in done.stderr
