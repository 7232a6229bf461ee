"""Hierarchies whose leaves are all written down: a file or a tree, as a table from leaf to group at each level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from medveil.errors import InputError
from medveil.hierarchy.assemble import HierarchyDraft, assemble
from medveil.hierarchy.hierarchy import ROOT, Hierarchy
from medveil.hierarchy.specification import HierarchySpec
from medveil.table.dates import find_date_format, read_date
from medveil.table.domain import Domain, read_number
from medveil.table.schema import Kind


@dataclass(frozen=True)
class Tabulated:
    """`leaves`, and in `columns` the label of each leaf at each level from 1 up to the one below the root.

    An empty leaf stands for the missing value. A leaf written twice counts as two leaves of the domain. `lines` are
    the leaves' places in their file, for messages.
    """

    leaves: Sequence[str]
    columns: Sequence[Sequence[str]]
    root: str = ROOT
    lines: Sequence[int] | None = None

    def places(self, first: int, second: int) -> str:
        return "" if self.lines is None else f" (lines {self.lines[first]} and {self.lines[second]})"


def listed(leaves: Sequence[str]) -> list[str]:
    """The leaves without repeats: by number where all are numbers, else in the order in which they are written.

    >>> listed(["10", "9", "9"]), listed(["low", "high", ""])
    (['9', '10'], ['low', 'high'])
    """
    distinct = list(dict.fromkeys(leaf for leaf in leaves if leaf))
    numbers = [read_number(leaf) for leaf in distinct]
    if None in numbers:
        return distinct
    return [leaf for _, leaf in sorted(zip(numbers, distinct, strict=True), key=lambda pair: float(pair[0] or 0))]


def canonical_leaves(leaves: Sequence[str], kind: Kind) -> list[str]:
    """The leaves as the values of a column of this kind are written; a leaf of another kind stays as it is.

    >>> canonical_leaves(["05", "5.0", "unknown"], Kind.NUMBER)
    ['5', '5', 'unknown']
    """
    if kind is Kind.NUMBER:
        return [read_number(leaf) or leaf for leaf in leaves]
    if kind is Kind.DATE:
        date_format = find_date_format([leaf for leaf in leaves if leaf])
        return [(read_date(leaf, date_format) or leaf) if date_format else leaf for leaf in leaves]
    return list(leaves)


def distinct_rows(table: Tabulated, leaves: Sequence[str], column: str) -> dict[str, int]:
    """The first row of each leaf; a leaf may come again only with the same groups."""
    rows: dict[str, int] = {}
    for row, leaf in enumerate(leaves):
        first = rows.setdefault(leaf, row)
        if first != row and any(labels[first] != labels[row] for labels in table.columns):
            raise InputError(
                f"The hierarchy of '{column}' puts one leaf into different groups{table.places(first, row)}.",
                "Give every leaf one line.",
            )
    return rows


def check_parents(table: Tabulated, column: str) -> None:
    """Every group has one parent: equal labels at one level have equal labels at the next."""
    for number, (lower, upper) in enumerate(zip(table.columns, table.columns[1:], strict=False), start=1):
        rows: dict[str, int] = {}
        for row, label in enumerate(lower):
            first = rows.setdefault(label, row)
            if upper[first] != upper[row]:
                raise InputError(
                    f"The hierarchy of '{column}' is not nested: a group of level {number} has different parents"
                    f"{table.places(first, row)}.",
                    "Give every group exactly one parent.",
                )


def bind_table(
    spec: HierarchySpec, table: Tabulated, domain: Domain, column: str, read: Callable[[str], str] = str
) -> Hierarchy:
    """The hierarchy over the values of a domain; `read` says which leaf a value means."""
    rows = distinct_rows(table, canonical_leaves(table.leaves, domain.kind), column)
    chosen = np.fromiter((rows.get(read(value or ""), -1) for value in domain.values), np.int64, len(domain))
    # The leaf of the missing value counts only where the domain has a missing value.
    each = np.array([row for row, leaf in enumerate(table.leaves) if leaf or domain.has_missing], dtype=np.int64)
    known = chosen >= 0
    drafts = []
    for labels in table.columns:
        codes: dict[str, int] = {}
        coded = np.fromiter((codes.setdefault(label, len(codes)) for label in labels), np.int64, len(labels))
        covered = np.bincount(coded[each], minlength=len(codes)).astype(np.float64)
        drafts.append(HierarchyDraft(np.where(known, coded[chosen], -1), list(codes), covered))
    chains = {word: chain for word in (spec.missing, spec.other) if word and (chain := _chain(table, word))}
    return assemble(spec, domain, column, drafts, known, len(each), root=table.root, chains=chains)


def _chain(table: Tabulated, word: str) -> list[str] | None:
    """The labels, level by level, of a catch-all that is also a group: itself below that group, then its parents."""
    for number, labels in enumerate(table.columns):
        if word in labels:
            row = list(labels).index(word)
            return [word] * number + [upper[row] for upper in table.columns[number:]]
    return None
