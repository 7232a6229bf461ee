"""The claims of a release, proved again from its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medveil.auditor import AuditReport
from medveil.auditor import audit as prove
from medveil.release.manifest import INTERNAL
from medveil.release.places import places_of
from medveil.table.source import open_source


def audit(directory: str | Path, source: Any = None, **options: Any) -> AuditReport:
    """Prove the claims of a release again; `source` is the original, for claims that need it.

    Where the steward's internal files are at hand, they say how the source is to be read; `options` say so elsewhere.
    """
    directory = Path(directory)
    if source is None:
        return prove(directory)
    policy, base = _own_policy(directory / INTERNAL)
    data = policy.get("data")
    if isinstance(data, Mapping) and not any(options.values()):
        options = {key: value for key, value in data.items() if key != "path"}
    return prove(directory, open_source(source, **options), base=base, places=places_of(policy))


def _own_policy(internal: Path) -> tuple[Mapping[str, Any], Path | None]:
    """The policy that a release was made by and the folder of its paths, where the steward's files are at hand."""
    try:
        policy = json.loads((internal / "policy.json").read_text(encoding="utf-8"))
        return policy, Path(json.loads((internal / "run.json").read_text(encoding="utf-8"))["folder"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}, None
