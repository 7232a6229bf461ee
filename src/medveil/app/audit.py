"""The claims of a release, proved again from its files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from medveil.app.changing import KEY_FILE
from medveil.app.preparation import labels_of, open_data, open_table, reading_options
from medveil.app.starting import started
from medveil.auditor import AuditReport
from medveil.auditor import audit as prove
from medveil.errors import MedveilError
from medveil.policy import Policy, load_policy
from medveil.release.manifest import INTERNAL
from medveil.release.places import places_of
from medveil.run import Listener, Run, Stage
from medveil.sources.labelled import ValueLabels, with_labels
from medveil.sources.opening import open_source
from medveil.sources.source import Source
from medveil.table.pseudonyms import ReleaseKey
from medveil.workspace import Workspace


def audit(
    directory: str | Path,
    source: Any = None,
    *,
    progress: Listener | None = None,
    cancelled: Callable[[], bool] | None = None,
    run: Run | None = None,
    **options: Any,
) -> AuditReport:
    """Prove the claims of a release again; `source` is the original, for claims that need it: a file, a frame, or the
    policy, which names the tables of a linked release.

    Where the steward's internal files are at hand, they say how the source is to be read; `options` say so elsewhere.
    """
    directory = Path(directory)
    run = started(run, progress=progress, cancelled=cancelled)
    run.step(Stage.PROVE)
    opened: Source | Mapping[str, Source] | None = None
    base, places, secret = None, {}, None
    if source is not None:
        policy, folder = _own_policy(directory / INTERNAL)
        base = None if folder is None else replace(run.workspace, folder=folder)
        places = places_of(policy)
        data = policy.get("data")
        if isinstance(data, Mapping) and not any(value is not None and value != [] for value in options.values()):
            options = reading_options(data)
        if is_policy(source):
            opened, base = _named_by(source, run.workspace)
        elif isinstance(source, Mapping) and all(isinstance(one, Source) for one in source.values()):
            opened = source
        else:
            opened = with_labels(open_source(source, **options), _labels(policy))
        secret = _own_key(directory / INTERNAL, policy, base)
    with run.stoppable():
        return prove(
            directory,
            opened,
            base=base,
            places=places,
            secret=secret,
            step=lambda share: run.step(Stage.PROVE, share),
            interrupting=run.interrupting,
            memory=run.limits.memory,
        )


def is_policy(source: Any) -> bool:
    """Whether a source is named by a policy."""
    if isinstance(source, Policy):
        return True
    return isinstance(source, str | Path) and Path(source).suffix.lower() in {".yaml", ".yml"}


def _named_by(source: Any, workspace: Workspace) -> tuple[Source | Mapping[str, Source], Workspace]:
    """The data that a policy names, and where its paths start."""
    policy, workspace = load_policy(source, workspace)
    if policy.tables:
        return {name: open_table(table, workspace) for name, table in policy.tables.items()}, workspace
    return open_data(policy, workspace), workspace


def _own_policy(internal: Path) -> tuple[Mapping[str, Any], Path | None]:
    """The policy that a release was made by and the folder of its paths, where the steward's files are at hand."""
    try:
        policy = json.loads((internal / "policy.json").read_text(encoding="utf-8"))
        return policy, Path(json.loads((internal / "run.json").read_text(encoding="utf-8"))["folder"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}, None


def _labels(policy: Mapping[str, Any]) -> dict[str, ValueLabels]:
    """The labels by which the source of a release was read, where its policy is at hand."""
    try:
        return labels_of(load_policy(policy)[0].attributes) if policy else {}
    except MedveilError:  # changed by hand, or written by another version
        return {}


def _own_key(internal: Path, policy: Mapping[str, Any], base: Workspace | None) -> bytes | None:
    """The key of pseudonyms and offsets, where the steward's files tell it or say where it is."""
    named = (policy.get("pseudonyms") or {}).get("key_file")
    try:
        path = internal / KEY_FILE if named is None or base is None else base.resolve(named)
        return ReleaseKey.read(path).secret
    except MedveilError:
        return None
