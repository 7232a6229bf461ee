"""Domains that are declared and never read from the data, and records mapped into them one by one.

Under differential privacy everything that depends on the data must be paid for: also which values there are, whether
a value is missing somewhere, and whether a run is refused. So the domain of a column is what the policy says it is,
and a record whose value lies outside goes to a declared catch-all, or is left out, whatever the other records are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.errors import Fault, PolicyError
from medveil.hierarchy.hierarchy import ROOT, Hierarchy, Level
from medveil.hierarchy.specification import OWN, HierarchySpec
from medveil.sources.source import SPACES
from medveil.table.arrow import encoded_texts, number_array, numpy_of
from medveil.table.dates import DATE_FORMATS, read_date
from medveil.table.domain import Domain, canonical, domain_of, find_kind, read_number
from medveil.table.schema import Kind
from medveil.workspace import Workspace

OUTSIDE = -1


@dataclass(frozen=True)
class Declared:
    """A column's declared domain with its hierarchy.

    ends: the smallest and largest number where numbers beyond them count as the ends (top and bottom codes).
    catch_all, missing: the code for values outside the domain, and for missing ones (OUTSIDE: leave the record out).
    written: the declared format of dates or numbers; without one each date is read in the first format that fits it.
    """

    domain: Domain
    hierarchy: Hierarchy
    ends: tuple[float | None, float | None] = (None, None)
    catch_all: int = OUTSIDE
    missing: int = OUTSIDE
    written: str | None = None

    @cached_property
    def _codes(self) -> dict[str, int]:
        codes: dict[str, int] = {}
        for code, value in enumerate(self.domain.values):
            if value is not None:
                codes.setdefault(whole(value), code)
        return codes

    def code(self, text: str | None) -> int:
        """The code of one raw text; nothing but the text and the policy decides it."""
        if text is None:
            return self.missing
        found = self.inside(text)
        return self.catch_all if found is None else found

    def inside(self, text: str) -> int | None:
        """The code of a raw text that the domain holds, or that a top or bottom code lets in; None for any other."""
        if self.domain.kind is Kind.NUMBER:
            value = read_number(text, self.written)
        elif self.domain.kind is Kind.DATE:
            formats = DATE_FORMATS if self.written is None else (self.written,)
            value = next((day for known in formats if (day := read_date(text, known))), None)
        else:
            value = whole(text)
        if value is None or value in self._codes:
            return None if value is None else self._codes[value]
        low, high = self.ends
        if low is not None and float(value) < low:
            return int(np.nanargmin(self.domain.numbers))
        if high is not None and float(value) > high:
            return int(np.nanargmax(self.domain.numbers))
        return None


def whole(text: str) -> str:
    """`7.0` as `7`: how a frame writes the whole numbers of all records depends on whether one record has none.

    >>> [whole(text) for text in ("7.0", "7", "-12.0", "7.50", "x.0", "07.0")]
    ['7', '7', '-12', '7.50', 'x.0', '07']
    """
    return text[:-2] if re.fullmatch(r"-?[0-9]+\.0", text) else text


def declare(spec: HierarchySpec, name: str, kind: Kind | None, workspace: Workspace) -> Declared | None:
    """The domain that a policy declares for a column, or None where it declares none."""
    leaves = spec.leaves(name, workspace)
    if leaves is None:
        return None
    if not leaves:
        raise PolicyError(f"The declared domain of '{name}' is empty.", "Name the values that it may have.")
    if any(leaf != leaf.strip(SPACES) or leaf in {"", ROOT} for leaf in leaves):
        raise PolicyError(
            f"The declared domain of '{name}' holds an empty value, '{ROOT}', or one with spaces around it.",
            f"No record is read with such a value, and '{ROOT}' stands for suppressed ones: fix the domain.",
        )
    kind = kind or find_kind(leaves)
    domain = domain_of(canonical(leaves, kind, name), kind)
    hierarchy = spec.bind(domain, name, workspace)
    numbers = domain.numbers if kind is Kind.NUMBER else np.zeros(1)
    ends = (
        float(numbers[0]) if getattr(spec, "bottom", None) is not None else None,
        float(numbers[-1]) if getattr(spec, "top", None) is not None else None,
    )
    catch_all = missing = OUTSIDE
    if spec.other is not None:
        if spec.other in domain.values:
            catch_all = domain.values.index(spec.other)
        else:
            catch_all = len(domain)
            # Numbers and dates cannot hold a word: there the catch-all is a value that is none.
            word = spec.other if kind in {Kind.CATEGORY, Kind.CODE} else None
            domain = Domain(kind, (*domain.values, word))
            hierarchy = with_leaf(hierarchy, spec.other, spec.other)
        missing = catch_all
    if "missing" in spec.model_fields_set and spec.missing != spec.other:
        missing = len(domain)
        domain = Domain(kind, (*domain.values, None))
        hierarchy = with_leaf(hierarchy, None, None if spec.missing == OWN else spec.missing)
    return Declared(domain, hierarchy, ends, catch_all, missing)


def with_leaf(hierarchy: Hierarchy, leaf: str | None, label: str | None) -> Hierarchy:
    """The hierarchy with one leaf more. From level 1 on it joins the group of this label, or is one of its own."""
    levels: list[Level] = []
    joined: int | None = None
    for number, level in enumerate(hierarchy.levels):
        if number == hierarchy.height:
            group = 0
        elif joined is not None:
            # Its group at this level is that in which the leaves of its group below lie.
            group = int(level.groups[np.argmax(hierarchy.levels[number - 1].groups == joined)])
            joined = group
        elif number and label in level.labels:
            joined = group = level.labels.index(label)
        else:
            group = len(level.labels)
        new = group == len(level.labels)
        covered = np.append(level.covered, 0.0) if new else level.covered.copy()
        covered[group] += 1.0
        labels = (*level.labels, label if number else leaf) if new else level.labels
        levels.append(Level(np.append(level.groups, np.int32(group)).astype(np.int32), labels, covered))
    return Hierarchy(tuple(levels), hierarchy.size + 1.0)


@dataclass(frozen=True)
class DeclaredCells:
    """Cells over declared domains, and what only the steward may know of how records were mapped into them.

    raw: the engine's distinct tuples of the records that take part, parallel to the cells.
    outside: for each column, the records whose value was not in its domain.
    left_out: the records that a value outside its domain has excluded.
    """

    raw: pa.Table
    cells: Cells
    hierarchies: Mapping[str, Hierarchy]
    outside: Mapping[str, int] = field(default_factory=dict)
    left_out: int = 0


def declared_cells(
    raw: pa.Table,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    specs: Mapping[str, HierarchySpec],
    kinds: Mapping[str, Kind | None],
    workspace: Workspace,
    *,
    formats: Mapping[str, str] | None = None,
    undeclared_sensitive: bool = False,
) -> DeclaredCells:
    """Cells from the engine's distinct tuples (columns q0, q1, ... and `records`) over the domains of the policy.

    `undeclared_sensitive`: a sensitive attribute without a declared domain has the values of the data, for methods
    that pay for learning them.
    """
    counts = numpy_of(raw["records"]).astype(np.int64)
    codes: list[NDArray[np.int32]] = []
    domains, hierarchies, outside = {}, {}, {}
    kept = np.ones(len(raw), dtype=np.bool_)
    everything = {name: declare(specs[name], name, kinds.get(name), workspace) for name in (*quasi, *sensitive)}
    needed = quasi if undeclared_sensitive else (*quasi, *sensitive)
    if lacking := [name for name in needed if everything[name] is None]:
        raise _undeclared(lacking, only_sensitive=set(lacking) <= set(sensitive))
    for position, (name, found) in enumerate(everything.items()):
        indices, texts = encoded_texts(raw[f"q{position}"])
        if found is None:
            domain = domain_of((whole(text) for text in texts if text is not None), Kind.CATEGORY)
            known = Declared(domain, Hierarchy((), 0.0))
        else:
            known, hierarchies[name] = found, found.hierarchy
        declared = replace(known, written=(formats or {}).get(name))
        lookup = np.array([declared.code(text) for text in texts], dtype=np.int32)
        strange = np.array([text is None or declared.inside(text) is None for text in texts], dtype=np.bool_)
        codes.append(lookup[indices] if len(texts) else np.zeros(0, dtype=np.int32))
        domains[name] = declared.domain
        outside[name] = int(counts[strange[indices]].sum()) if len(texts) else 0
        kept &= codes[-1] != OUTSIDE
    shape = (len(quasi), int(kept.sum()))
    cells = Cells(
        quasi=tuple(quasi),
        codes=np.array([c[kept] for c in codes[: len(quasi)]], dtype=np.int32).reshape(shape),
        counts=counts[kept],
        sensitive={name: c[kept] for name, c in zip(sensitive, codes[len(quasi) :], strict=True)},
        domains=domains,
    )
    return DeclaredCells(raw.filter(number_array(kept)), cells, hierarchies, outside, int(counts[~kept].sum()))


def _undeclared(names: Sequence[str], *, only_sensitive: bool) -> PolicyError:
    """All columns at once: who mends one should not run into the next."""
    listed = ", ".join(f"'{name}'" for name in names)
    remedy = (
        f"Give {'it' if len(names) == 1 else 'each of them'} a 'domain:' (a list, {{range: [low, high]}} or "
        "{path: file}), or a hierarchy that names every value: domains read from the data would tell who is in them."
    )
    if only_sensitive:
        remedy += " Or allow a 'delta:' above 0, and values of sensitive columns are learned at a price."
    what = "the domain" if len(names) == 1 else "the domains"
    return PolicyError(
        f"Differential privacy needs {what} of {listed}, which the policy does not declare.",
        remedy,
        [Fault(f"attributes.{name}", None, f"it needs a domain. {remedy}") for name in names],
    )
