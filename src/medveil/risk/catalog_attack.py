"""The catalog of counterfeits, attacked: who holds release and catalog looks for records that are not real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from medveil.auditor import audit
from medveil.auditor.catalog_listing import Listing
from medveil.codes.combine import Codes
from medveil.engine.links import read_links
from medveil.evaluation.matching import match
from medveil.release.catalog import CATALOG, CLASS_ID, Entry, entries_of
from medveil.release.manifest import Manifest, read_manifest
from medveil.risk.risk import EXACT, Comparison, Risk, RiskFinding, Skipped, counted_rate

CLAIM = "counterfeit-catalog"
Cell = tuple[str | None, ...]


class CatalogAttack(Risk):
    """How often an attacker who holds release and catalog points at a counterfeit.

    Of each block of classes that hang together in the catalog the attacker takes one row, goes to the class where the
    row's counterfeits, spread evenly over its classes, are the largest share of the records of that value, and points
    at one of these. The guesser points at any record. A block is one trial, because its classes were filled together.
    `posterior`: how sure somebody can be of the likeliest counterfeit who weighs all placements of all counterfeits
    that release and catalog allow jointly; `told`: counterfeits that every placement has in the same place; `least
    real`: the fewest real records of a class in some placement: the auditor's attack, run again on the files, and the
    figure where the original is not given.

    Lee, Kim, Kim and Chung 2017, Utility-preserving anonymization for health data publishing, Lemma 1.
    """

    name: ClassVar[str] = "catalog-attack"
    title: ClassVar[str] = "Attack: the catalog of counterfeits"
    cheap: ClassVar[bool] = False

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        none = Skipped("there is no catalog of counterfeits")
        if comparison.folder is None or not (comparison.folder / "manifest.json").is_file():
            return none
        manifest = read_manifest(comparison.folder)
        claims = [claim for claim in manifest.claims if claim["model"] == CLAIM]
        if not claims:
            return none
        if claims[0]["parameters"].get("protection") != "published":
            return Skipped("the catalog itself tells how likely each record is real")
        findings = [found.finding for found in audit(comparison.folder).findings if found.claim["model"] == CLAIM]
        achieved = findings[0].achieved
        if achieved is None:
            return Skipped(findings[0].note or "the catalog cannot be weighed")
        if not achieved["counterfeits"]:
            return Skipped("the release has no counterfeits")
        parts = {
            "posterior": float(achieved["posterior"]),
            "told": float(achieved["told"]),
            "least real": float(achieved["least_real"]),
            "share certainly real": float(achieved["certainly_real"]),
        }
        guesser = achieved["counterfeits"] / max(manifest.rows["published"], 1)
        tried = _pointed_at(comparison, manifest)
        if tried is None:
            note = "Weighed, not tried: which records are real is not known here."
            return RiskFinding(parts["posterior"], guesser, parts=parts, note=note)
        hits, trials = tried
        rate, low, high = counted_rate(hits, trials)
        return RiskFinding(rate, guesser, low, high, EXACT, trials, parts, note="Each trial is a block of the catalog.")


def _pointed_at(comparison: Comparison, manifest: Manifest) -> tuple[int, int] | None:
    """In how many blocks the attacker points at a counterfeit, of how many; None where the truth is not known."""
    sensitive = [str(a["name"]) for a in manifest.attributes if a["role"] == "sensitive"]
    quasi = list(comparison.coverage)
    entries = entries_of(comparison.companions[CATALOG], len(sensitive)) if CATALOG in comparison.companions else []
    real = _real_records(comparison, [*quasi, *sensitive])
    if not entries or real is None:
        return None
    published = _counted(comparison.published, [CLASS_ID, *quasi, *sensitive])
    held: dict[tuple[str | None, Cell], int] = {}
    false: dict[tuple[str | None, Cell], int] = {}
    for (number, *cell), count in published.items():
        key = number, tuple(cell[len(quasi) :])
        held[key] = held.get(key, 0) + count
        false[key] = false.get(key, 0) + max(count - real.get(tuple(cell), 0), 0)
    listing = _listing(entries, held)
    random = comparison.random(CatalogAttack.name)
    order = random.permutation(len(listing.row))
    _, first = np.unique(listing.components[order], return_index=True)
    hits = 0
    for row in listing.row[order[first]].tolist():
        keys = [(str(number), entries[row].values) for number in entries[row].class_ids]
        fewest = min(held[key] for key in keys)
        best = [key for key in keys if held[key] == fewest]
        chosen = best[int(random.integers(len(best)))]
        hits += int(random.integers(held[chosen]) < false[chosen])
    return hits, len(first)


def _listing(entries: Sequence[Entry], held: Mapping[tuple[str | None, Cell], int]) -> Listing:
    """The catalog's rows and classes as numbers."""
    pairs = [(row, number) for row, entry in enumerate(entries) for number in entry.class_ids]
    row, number = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    known, of_class = np.unique(number, return_inverse=True)
    return Listing(
        sizes=np.ones(len(known), dtype=np.int64),
        counts=np.array([entry.count for entry in entries], dtype=np.int64),
        row=row,
        of_class=of_class.reshape(-1).astype(np.int64),
        held=np.array([held[str(n), entries[r].values] for r, n in pairs], dtype=np.int64),
    )


def _real_records(comparison: Comparison, names: Sequence[str]) -> dict[Cell, int] | None:
    """How many real records each published combination has: by the steward's links, or by where each record of the
    original fits, if that is one place only.
    """
    if not comparison.original:
        return None
    if comparison.links is not None:
        return _counted(read_links(comparison.links).published, names)
    cells, tuples = comparison.problem.cells, comparison.tuples
    coverage = [*comparison.coverage.values(), *comparison.sensitive_coverage.values()]
    codes = np.array([*cells.codes, *(cells.sensitive[name] for name in comparison.sensitive_coverage)])
    offsets, groups = match(codes, tuples.labels, coverage)
    if np.any(np.diff(offsets) > 1):
        return None
    counts: Codes = np.bincount(groups, cells.counts[np.diff(offsets) == 1], minlength=len(tuples)).astype(np.int64)
    labels = [[one.labels[code] for code in column] for one, column in zip(coverage, tuples.labels, strict=True)]
    return dict(zip(zip(*labels, strict=True), counts.tolist(), strict=True))


def _counted(table: pa.Table, names: Sequence[str]) -> dict[Any, int]:
    """How often each combination of texts is there."""
    texts = pa.table([table[name].cast(pa.string()) for name in names], names=[str(j) for j in range(len(names))])
    found = texts.group_by(texts.column_names).aggregate([([], "count_all")])
    keys = zip(*(found[name].to_pylist() for name in texts.column_names), strict=True)
    return dict(zip(keys, found["count_all"].to_pylist(), strict=True))
