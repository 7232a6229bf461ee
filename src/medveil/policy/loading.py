"""A policy from an object, a mapping, a text or a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from medveil.errors import PolicyError
from medveil.policy.document import Policy
from medveil.policy.explaining import explain
from medveil.policy_file import Lines, read_policy_file, read_policy_text
from medveil.workspace import Workspace


def load_policy(
    given: Policy | Mapping[str, Any] | str | Path, workspace: Workspace | None = None
) -> tuple[Policy, Workspace]:
    """A policy from an object, a mapping or a file, and where its paths lead: those of a file start in its folder."""
    workspace = workspace or Workspace()
    if isinstance(given, Policy):
        return given, workspace
    if isinstance(given, Mapping):
        return _validate(given, None), workspace
    path = workspace.resolve(given)
    content, lines = read_policy_file(path)
    return _validate(content, lines), replace(workspace, folder=path.parent)


def check_policy(text: str) -> Policy:
    """A policy from its text; its paths start wherever the caller says."""
    content, lines = read_policy_text(text)
    return _validate(content, lines)


def _validate(content: Mapping[str, Any], lines: Lines | None) -> Policy:
    try:
        return Policy.model_validate(content)
    except ValidationError as error:
        raise PolicyError.of(explain(error, lines)) from None
