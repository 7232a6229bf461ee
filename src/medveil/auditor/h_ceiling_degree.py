"""How strongly published labels are generalized, counted again from the hierarchies that the manifest describes."""

from __future__ import annotations

import numpy as np

from medveil.auditor.context import CannotTell, Refuted
from medveil.auditor.evidence import Evidence
from medveil.auditor.generalized import built
from medveil.errors import MedveilError
from medveil.hierarchy.hierarchy import ROOT, Hierarchy, build
from medveil.sources.source import Source
from medveil.table.domain import Domain, encode


def degrees(evidence: Evidence, name: str) -> dict[str | None, float]:
    """The degree (leaves covered - 1) / (leaves - 1) of each published label of a quasi-identifier.

    Where one level was published, labels are read at that level; otherwise at the one where they are widest.
    """
    if evidence.source is None:
        raise CannotTell("needs --source")
    hierarchy = _hierarchy(evidence, name, evidence.source)
    level = evidence.described(name).get("level")
    if level is not None and (not isinstance(level, int) or level not in range(len(hierarchy.levels))):
        raise Refuted(f"the hierarchy of '{name}' has no level {level}")
    span = max(hierarchy.size - 1.0, 1.0)
    widest: dict[str | None, float] = {}
    for number, at in enumerate(hierarchy.levels):
        if level is None or number == level:
            for label, covered in zip(at.labels, at.covered.tolist(), strict=True):
                widest[label] = max(widest.get(label, 0.0), (covered - 1.0) / span)
    published = evidence.distinct("cells", evidence.column(name))
    unknown = [label for label in published if label not in widest]
    if unknown:
        raise Refuted(f"{len(unknown):,} labels of '{name}' are not of its hierarchy at the published level")
    return widest


def _hierarchy(evidence: Evidence, name: str, source: Source) -> Hierarchy:
    rows = evidence.connection.execute(
        f"SELECT f0 AS t, sum(n)::BIGINT AS n FROM {evidence.door.originals(source, [name])} GROUP BY t"
    ).fetchall()
    try:
        domain, codes = encode([text for text, _ in rows], evidence.kinds[name], name, evidence.formats.get(name))
        counts = np.bincount(codes, [n for _, n in rows], minlength=len(domain)).astype(np.int64)
    except MedveilError as error:
        raise CannotTell(f"the hierarchy of '{name}' cannot be built: {error.problem}") from None
    if evidence.described(name).get("hierarchy") is None:
        return _flat(domain, name)
    return built(evidence, name, domain, counts)


def _flat(domain: Domain, name: str) -> Hierarchy:
    return build(domain.values, [[ROOT] * len(domain)], None, float(len(domain)), name)
