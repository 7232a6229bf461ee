"""Files that a policy names by a place of the steward's machine: recipients are told their names and contents only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medveil.release.manifest import file_hash
from medveil.workspace import Workspace

HIERARCHY_HASH = "hierarchy_sha256"
POPULATION = ""
"""Among the places of files, that of the population; no column is called so."""


def hierarchy_file(hierarchy: Mapping[str, Any] | None) -> Path | None:
    """The file that a hierarchy, as it is described, was read from."""
    described = hierarchy or {}
    domain = described.get("domain")
    path = described.get("path") or (domain.get("path") if isinstance(domain, Mapping) else None)
    return Path(path) if isinstance(path, str | Path) else None


def with_hierarchy_file(hierarchy: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """The same hierarchy, read from another file."""
    if "path" in hierarchy:
        return {**hierarchy, "path": path}
    return {**hierarchy, "domain": {**hierarchy["domain"], "path": path}}


def attribute_for_recipients(attribute: Mapping[str, Any], workspace: Workspace) -> Mapping[str, Any]:
    """A published column as recipients get it: a hierarchy's file by its name and content."""
    path = hierarchy_file(attribute["hierarchy"])
    if path is None:
        return attribute
    told = {**attribute, HIERARCHY_HASH: file_hash(workspace.resolve(path))}
    if path.is_absolute():
        told["hierarchy"] = with_hierarchy_file(attribute["hierarchy"], path.name)
    return told


def table_for_recipients(table: Mapping[str, Any], workspace: Workspace) -> Mapping[str, Any]:
    """One of several linked tables as recipients get it."""
    return {
        **table,
        "attributes": [attribute_for_recipients(attribute, workspace) for attribute in table["attributes"]],
    }


def claim_for_recipients(claim: Mapping[str, Any]) -> Mapping[str, Any]:
    """A claim as recipients get it: a population's file by its name."""
    population = claim["parameters"].get("population")
    if not population or not Path(population).is_absolute():
        return claim
    return {**claim, "parameters": {**claim["parameters"], "population": Path(population).name}}


def places_of(policy: Mapping[str, Any]) -> dict[str, Path]:
    """Where the files are that a policy names by an absolute path: a column's hierarchy, the population."""
    files = {
        name: hierarchy_file(attribute.get("hierarchy") or attribute)
        for name, attribute in policy.get("attributes", {}).items()
    }
    for name, table in policy.get("tables", {}).items():
        for column, attribute in table.get("attributes", {}).items():
            shown = (attribute.get("derive") or {}).get("name") or column
            files[f"{name}.{shown}"] = hierarchy_file(attribute.get("hierarchy") or attribute)
    for model in policy.get("privacy", ()):
        if model.get("population"):
            files[POPULATION] = Path(model["population"])
    return {name: path for name, path in files.items() if path is not None and path.is_absolute()}
