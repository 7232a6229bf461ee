"""What would help a release that is of little use: the advice that came with it, and its changes applied to a policy.

The advice itself is computed when the release is made, see `medveil.advising`: it compares with the original, so it
stays with the steward.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medveil.advising.advice import Advice
from medveil.advising.advise import advise
from medveil.advising.rehearsal import outcome_of_release
from medveil.evaluation.comparison import Comparison
from medveil.policy import Policy, load_policy
from medveil.release.manifest import INTERNAL
from medveil.run import Run

NAME = "advice"


def advice(directory: str | Path) -> Advice | None:
    """The advice in the steward's files of a release; None where the release is of use, or they are not at hand."""
    path = Path(directory) / INTERNAL / f"{NAME}.json"
    return Advice.from_dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def changed(policy: Policy, change: Mapping[str, Any]) -> Policy:
    """A policy with a suggested change, which is a merge patch (RFC 7396): null takes a key out, a mapping is merged,
    anything else stands in the place of what was there.
    """
    return load_policy(_merged(policy.model_dump(mode="json", exclude_unset=True), change))[0]


def _merged(target: Any, patch: Any) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged


def advice_on(
    comparison: Comparison, policy: Policy, measures: Mapping[str, Any], suppressed: int, run: Run
) -> dict[str, Any]:
    """The advice on a release, by the name of the steward's file; nothing where it is of use or is not to be had, as
    where the cells to try changes on stay with the engine.
    """
    losses = measures.get("lm", {}).get("parts")
    if not policy.evaluation.advice or not losses or comparison.problem.cells.elsewhere is not None:
        return {}
    now = outcome_of_release(comparison, losses, suppressed)
    found = advise(comparison.problem, policy.method, now, run)
    return {} if found is None else {NAME: found.to_dict()}
