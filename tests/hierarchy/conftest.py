"""What the hierarchy tests share: small domains, and the labels of a hierarchy to compare with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from medveil.hierarchy import builders
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.table.domain import Domain, domain_of
from medveil.table.schema import Kind
from medveil.workspace import Workspace


@pytest.fixture
def numbers() -> Callable[..., Domain]:
    return lambda *values: domain_of([None if v is None else str(v) for v in values], Kind.NUMBER)


@pytest.fixture
def texts() -> Callable[..., Domain]:
    return lambda *values, kind=Kind.CATEGORY: domain_of(values, kind)


@pytest.fixture
def bind() -> Callable[..., Hierarchy]:
    """`bind(domain, type=..., ...)`, the options as the policy writes them."""

    def bound(domain: Domain, folder: Path = Path(), /, **options: object) -> Hierarchy:
        return builders()[str(options["type"])].model_validate(options).bind(domain, "column", Workspace(folder))

    return bound


@pytest.fixture
def labels() -> Callable[..., list[str | None]]:
    """The label of each leaf at a level."""
    return lambda hierarchy, number: [
        hierarchy.levels[number].labels[group] for group in hierarchy.levels[number].groups
    ]


@pytest.fixture
def covered() -> Callable[..., list[float]]:
    """How much each leaf's group covers at a level."""
    return lambda hierarchy, number: hierarchy.levels[number].covered[hierarchy.levels[number].groups].tolist()
