"""Paths start at the policy's folder, and stay under the root where there is one."""

from pathlib import Path

import pytest

from medveil.errors import PolicyError
from medveil.workspace import Workspace


def test_relative_paths_start_at_the_folder_and_absolute_ones_stay(tmp_path):
    assert Workspace(tmp_path).resolve("data.csv") == tmp_path / "data.csv"
    assert Workspace(tmp_path).resolve(Path("/elsewhere/data.csv")) == Path("/elsewhere/data.csv")
    assert Workspace().resolve("data.csv") == Path("data.csv")


@pytest.mark.parametrize("path", ["../secret.csv", "inner/../../secret.csv", "/etc/hostname", "link/secret.csv"])
def test_nothing_leaves_the_root(tmp_path, path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(PolicyError, match="leads out of the workspace"):
        Workspace(root, root).resolve(path)


def test_everything_under_the_root_is_found(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    confined = Workspace(inner, tmp_path)
    assert confined.resolve("data.csv") == inner / "data.csv"
    assert confined.resolve("../other.csv").resolve() == tmp_path.resolve() / "other.csv"
    assert confined.resolve(tmp_path / "third.csv") == tmp_path / "third.csv"
