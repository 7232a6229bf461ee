"""The contract tests, for medveil's own parts and for those of other packages alike.

A package that brings a model, a method, a source or a hierarchy calls these in its tests; each raises an
AssertionError that says what is broken. They need no test framework.

    from medveil.testing import check_hierarchy, check_method, check_model, check_part, check_source

    def test_contract():
        check_part(Parity)
        check_hierarchy(Parity(largest=99), [str(age) for age in range(100)])
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import BaseModel

import medveil
from medveil.app.preparation import opened
from medveil.engine import open_engine, with_rows
from medveil.errors import MedveilError, PolicyError, UnreachableError
from medveil.hierarchy.hierarchy import ROOT
from medveil.hierarchy.specification import HierarchySpec
from medveil.policy import load_policy
from medveil.privacy.model import PrivacyModel
from medveil.release.release import Release
from medveil.sources.source import Source, SourceSpec
from medveil.table.domain import canonical, domain_of
from medveil.table.schema import Kind
from medveil.workspace import Workspace

RECORDS = 400
SMALLEST_CLASS = 3
AGE = {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [10, 50]}}
SEX = {"role": "quasi", "hierarchy": {"type": "flat", "domain": ["f", "m"]}}
WEIGHT = {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 200], "widths": [20, 100]}}


def check_part(part: type[BaseModel]) -> None:
    """A part that a policy names is documented, cannot be changed once it is made, and refuses keys it does not know.

    From the one class come the policy's schema, the help and the reference page.
    """
    name = getattr(part, "name", None)
    assert isinstance(name, str), f"{part.__name__} has no name"
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name), f"'{name}' is not in small letters with hyphens"
    assert part.__doc__, f"{part.__name__} has no docstring"
    assert part.model_config.get("frozen"), f"{part.__name__} can be changed after it was made"
    assert part.model_config.get("extra") == "forbid", f"{part.__name__} takes keys that it does not know"
    undocumented = [key for key, field in part.model_fields.items() if not field.description and key != "type"]
    assert not undocumented, f"{part.__name__} does not describe {', '.join(undocumented)}"
    capital = [key for key in part.model_fields if key != key.lower()]
    assert not capital, f"{part.__name__} has keys with capital letters: {', '.join(capital)}"


def sample_table() -> pa.Table:
    """A small table that has every kind of column."""
    chance = np.random.default_rng(7)
    return pa.table(
        {
            "age": chance.integers(0, 100, RECORDS),
            "sex": chance.choice(["f", "m"], RECORDS),
            "weight": np.round(chance.normal(70, 9, RECORDS), 1),
            "ill": chance.choice(["a", "b", "c", "d"], RECORDS),
        }
    )


def check_method(method: str | dict[str, Any]) -> Release | None:
    """A method keeps its promises on a small table, or says why it does not fit: then nothing is returned.

    `method` is what a policy has under `method:`. What was written is audited before it is a release.
    """
    table = sample_table()
    policy, folder = load_policy(
        {
            "attributes": {"age": AGE, "sex": SEX, "weight": WEIGHT, "ill": {"role": "sensitive"}},
            "privacy": [{"model": "k-anonymity", "k": SMALLEST_CLASS}],
            "method": method,
        }
    )
    with opened(policy, folder, table) as (problem, _):
        reason = policy.method.why_not(problem)
    if reason:
        _refuses(table, policy)
        return None
    release = medveil.anonymize(table, policy)
    assert release.manifest.rows["published"] > 0, "nothing was published"
    claims = release.manifest.claims
    sized = [claim for claim in claims if claim["model"] == "k-anonymity" or "k" in claim["required"]]
    assert sized, "it does not claim the k that it was asked for"
    assert all(claim["holds"] for claim in claims), "a claim was not proved"
    return release


def _refuses(table: pa.Table, policy: Any) -> None:
    said = None
    try:
        medveil.anonymize(table, policy)
    except PolicyError as error:
        said = error.problem
    assert said is not None, "it says that it does not fit, and yet makes a release"
    assert "does not fit" in said, "it is refused for another reason than it gives"


def check_model(model: PrivacyModel) -> Release:
    """A search keeps a model on a small table, and the release says what it claims.

    Where medveil has no check for the model, the release must say so in its status. What is required must be among
    what the model reaches, under the same names.
    """
    table = sample_table()
    given = {"model": model.name, **model.model_dump(mode="json", exclude_unset=True)}
    policy = {
        "attributes": {"age": AGE, "sex": SEX, "ill": {"role": "sensitive"}},
        "privacy": [given],
        "method": {"name": "optimal", "suppression": 0.1},
    }
    try:
        release = medveil.anonymize(table, policy)
    except UnreachableError:
        raise AssertionError("the parameters cannot be reached on the sample table: try weaker ones") from None
    (claim,) = [claim for claim in release.manifest.claims if claim["model"] == model.name]
    assert claim["required"], "the claim requires nothing"
    assert claim["summary"], "the claim has no words"
    unchecked = claim["holds"] is None
    assert unchecked == ("not checked by medveil" in release.manifest.status), (
        "its status does not say what was checked"
    )
    return release


def check_source(spec: SourceSpec, folder: Path) -> Source:
    """A source has names that differ, gives the same records every time, and by its location what it gives by batches.

    `spec` is what a policy has under `data:`, `folder` where its paths start.
    """
    source, again = (spec.open(Workspace(folder)) for _ in range(2))
    assert source.names, "it has no columns"
    assert len(set(source.names)) == len(source.names), "two columns have one name"
    assert source.identity == again.identity, "it is another data set each time it is opened"
    assert tuple(source.batches().schema.names) == source.names, "its batches have other columns than its names"
    given = _texts(_ByBatches(source.names, source.missing, source))
    assert given.num_rows, "it has no records"
    assert given == _texts(_ByBatches(again.names, again.missing, again)), "it gives other records when read again"
    assert given == _texts(source), "an engine that reads it by itself finds other records than its batches hold"
    return source


@dataclass(frozen=True)
class _ByBatches(Source):
    """A source as an engine sees it that does not know its location."""

    inner: Source

    def batches(self) -> pa.RecordBatchReader:
        return self.inner.batches()


def _texts(source: Source) -> pa.Table:
    with open_engine(source, source.names, may_be_empty=True) as engine:
        return with_rows(engine).texts(source.names)


def check_hierarchy(spec: HierarchySpec, values: Sequence[str | None], kind: Kind | None = None) -> None:
    """A hierarchy over some values is one: every level groups the groups below it, up to one root.

        level 0: each value alone;  group at level i + 1 = union of groups at level i;  the last level: one group `*`

    A group covers at least the leaves that are in it, never less than what it was made of, and the root all.
    """
    kind = kind or (spec.kinds[0] if spec.kinds else Kind.CATEGORY)
    domain = domain_of(canonical(list(values), kind, "column"), kind)
    hierarchy = spec.bind(domain, "column", Workspace())
    number = len(domain)
    assert hierarchy.levels[0].labels[:number] == tuple(domain.values), "level 0 is not the values themselves"
    for level in hierarchy.levels:
        assert len(level.groups) == number, "a level does not place every value"
        held = np.bincount(level.groups, minlength=len(level.labels))
        assert np.all(level.covered >= held), "a group covers fewer leaves than it holds"
        assert len(set(level.labels)) == len(level.labels), "two groups of a level have one label"
    for low, high in itertools.pairwise(hierarchy.levels):
        pairs = set(zip(low.groups.tolist(), high.groups.tolist(), strict=True))
        assert len(pairs) == len(set(low.groups.tolist())), "a group is split at the level above"
        assert np.all(high.covered[high.groups] >= low.covered[low.groups]), "a group covers less than its parts"
    top = hierarchy.levels[-1]
    assert {top.labels[group] for group in top.groups} == {ROOT}, f"the last level is not one group '{ROOT}'"
    assert hierarchy.height >= 1, "there is no level above the values"
    leaves = spec.leaves("column", Workspace())
    assert leaves is None or len(set(leaves)) == len(leaves), "a declared leaf is listed twice"
    _refuses_strangers(spec, kind)


def _refuses_strangers(spec: HierarchySpec, kind: Kind) -> None:
    """A value that was not declared is an error in one sentence, which does not hold the value."""
    if spec.other is not None or kind is not Kind.NUMBER:
        return
    stranger, said = "-987654321.5", ""
    try:
        spec.bind(domain_of([stranger], kind), "column", Workspace())
    except MedveilError as error:
        said = str(error)
    assert stranger not in said, "an error holds a value of the data"
