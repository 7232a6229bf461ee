"""From a policy to a release whose claims have been proved from what was written."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from medveil.app.making import make
from medveil.app.starting import started
from medveil.connections import Connections, read_connections
from medveil.engine import Limits
from medveil.errors import OutputError, PolicyError
from medveil.policy import Policy, load_policy
from medveil.release.directory import staged
from medveil.release.ledgers import Ledgers
from medveil.release.manifest import INTERNAL, Manifest
from medveil.release.release import Release
from medveil.run import Listener, Run
from medveil.sources.database import DatabaseSession, end_session
from medveil.working_folder import WorkingFolder
from medveil.workspace import Workspace


def anonymize(
    data: Any,
    policy: Policy | Mapping[str, Any] | str | Path | None = None,
    *,
    out: str | Path | None = None,
    ledger: str | Path | None = None,
    limits: Limits | None = None,
    progress: Listener | None = None,
    cancelled: Callable[[], bool] | None = None,
    connections: str | Path | Mapping[str, str] | None = None,
    run: Run | None = None,
) -> Release:
    """Make a release and prove its claims from what was written.

    `data` is a frame or a path; with a policy alone (`anonymize("policy.yaml")`) the policy names its data.
    With `out` the release directory is written there; otherwise it is kept until `.save()`. `ledger` is the file in
    which differentially private releases of these data are charged; by default it is beside the data.
    `progress` is told of every event, and `cancelled` is asked whether to stop; a `run` brings all of these.
    `connections` says where the databases are that the policy names: a file of the steward's, or addresses by name.
    """
    if policy is None:
        data, policy = None, data
    if run is None:
        run = Run(ledgers=Ledgers.of_user())
    if ledger is not None:
        kept = run.ledgers or Ledgers()
        run = replace(run, ledgers=replace(kept, named=Path(ledger)))
    run = started(run, limits=limits, progress=progress, cancelled=cancelled)
    if connections is not None:
        named = Connections(connections) if isinstance(connections, Mapping) else read_connections(Path(connections))
        run = replace(run, workspace=replace(run.workspace, connections=named))
    checked, workspace = load_policy(policy, run.workspace)
    if out is not None:
        with staged(Path(out)) as target, run.stoppable():
            made = make(checked, workspace, data, target, run)
            manifest = made.manifest if made.reports is None else made.reports.write(target, made.manifest, run)
            write_database(checked, workspace, target, manifest)
        return Release(Path(out), manifest, types=made.types)
    working = WorkingFolder()
    target = working.path
    try:
        with run.stoppable():
            made = make(checked, workspace, data, target, run)
            write_database(checked, workspace, target, made.manifest)
        # Drawing takes longer than a small run: it waits until somebody wants files.
        pages = None if made.reports is None else made.reports.write
        release = Release(target, made.manifest, pages, made.types)
    except BaseException:
        working.close()
        raise
    weakref.finalize(release, working.close)
    return release


def write_database(policy: Policy, workspace: Workspace, folder: Path, manifest: Manifest) -> None:
    """The release as a new table of the database that the policy names, where it names one. It is the last thing to be
    done: a release that is not complete is nowhere.
    """
    asked = policy.output.database
    if asked is None:
        return
    connection = workspace.connections.find(asked.connection)
    end_session(connection)
    DatabaseSession(connection, writes=True).write(asked.into, {asked.table: Release(folder, manifest).to_arrow()})


TREE = "search-tree"


def check_trace(policy: Policy | Mapping[str, Any] | str | Path, trace: Path) -> None:
    """Refuse a search tree that the policy's method does not draw, or that would be written over a file."""
    method = load_policy(policy)[0].method
    if not method.draws_tree:
        raise PolicyError(f"The method '{method.name}' draws no search tree.", "Use iab, exhaustive or greedy.")
    if trace.exists():
        raise OutputError(f"'{trace}' already exists.", "Name a new file, or remove that one first.")
    if not trace.resolve().parent.is_dir():
        raise OutputError(f"There is no folder for '{trace}'.", "Create it first, or name another file.")


def write_trace(release: Release, trace: Path) -> None:
    """The search tree of a release once more, in a file of its own. It tells of the original: the steward's only."""
    try:
        shutil.copyfile(Path(release.folder) / INTERNAL / f"{TREE}.json", trace)
    except OSError:
        raise OutputError(f"'{trace}' cannot be written.", "The release itself is complete.") from None
