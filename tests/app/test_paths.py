"""Every path of a policy is resolved by the workspace, and none leaves its root."""

import pyarrow as pa
import pyarrow.csv
import pytest

import medveil
from medveil.errors import PolicyError
from medveil.run import Run
from medveil.workspace import Workspace

TABLE = pa.table({"age": ["30", "30", "40", "40"] * 5, "ill": ["a", "b", "a", "b"] * 5})


def policy(**changes):
    return {
        "data": "data.csv",
        "attributes": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"report": False},
        **changes,
    }


def with_age(**age):
    return policy(attributes={"age": {"role": "quasi", **age}, "ill": {"role": "sensitive"}})


def with_population(path):
    return policy(privacy=[{"model": "delta-presence", "delta_min": 0.0, "delta_max": 1.0, "population": path}])


PLACES = {
    "data": lambda path: policy(data=path("data.csv")),
    "data with options": lambda path: policy(data={"path": path("data.csv")}),
    "data in parts": lambda path: policy(data=path("parts")),
    "data by a pattern": lambda path: policy(data=path("parts/*.csv")),
    "hierarchy": lambda path: with_age(hierarchy={"type": "file", "path": path("hierarchy.csv")}),
    "domain": lambda path: with_age(domain={"path": path("domain.csv")}),
    "population": lambda path: with_population(path("population.csv")),
    "population of the evaluation": lambda path: policy(evaluation={"population": path("population.csv")}),
}


@pytest.fixture
def files(tmp_path):
    """The same files inside the root and outside, and a link that leads from one to the other."""
    for folder in (tmp_path / "root", tmp_path / "outside"):
        folder.mkdir()
        pa.csv.write_csv(TABLE, folder / "data.csv")
        pa.csv.write_csv(TABLE, folder / "population.csv")
        (folder / "parts").mkdir()
        pa.csv.write_csv(TABLE, folder / "parts" / "one.csv")
        (folder / "hierarchy.csv").write_text("30;*\n40;*\n", encoding="utf-8")
        (folder / "domain.csv").write_text("30\n40\n", encoding="utf-8")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside")
    return tmp_path


def make(content, folder, root=None):
    return medveil.anonymize(content, run=Run(workspace=Workspace(folder, root)))


@pytest.mark.parametrize("place", PLACES)
def test_a_path_inside_the_root_is_followed(place, files):
    root = files / "root"
    assert make(PLACES[place](lambda name: name), root, root=root).manifest.rows["published"] > 0


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("outside", ["../outside/{}", "link/{}", "{files}/outside/{}"])
def test_a_path_outside_the_root_is_refused_in_one_sentence(place, outside, files):
    root = files / "root"
    content = PLACES[place](lambda name: outside.replace("{files}", str(files)).format(name))
    with pytest.raises(PolicyError, match="leads out of the workspace"):
        make(content, root, root=root)
    assert make(content, root).manifest.rows["published"] > 0, "it is the root that refuses"


@pytest.mark.parametrize("data", ["parts", "parts/*.csv", "*/two.csv"])
def test_a_part_that_is_a_link_to_the_outside_is_refused(data, files):
    root = files / "root"
    (root / "parts" / "two.csv").symlink_to(files / "outside" / "data.csv")
    with pytest.raises(PolicyError, match="leads out of the workspace"):
        make(policy(data=data), root, root=root)
    (root / "parts" / "two.csv").unlink()
    (root / "parts" / "two.csv").symlink_to(root / "data.csv")
    assert make(policy(data=data), root, root=root).manifest.rows["published"] > 0


def test_a_policy_file_outside_the_root_is_refused(files):
    (files / "policy.yaml").write_text("{}", encoding="utf-8")
    root = files / "root"
    with pytest.raises(PolicyError, match="leads out of the workspace"):
        make(files / "policy.yaml", root, root=root)
