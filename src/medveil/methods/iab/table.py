"""What the searches count on: the distinct full rows of the table, and which of them violate a requirement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells, Subjects, make_cells
from medveil.codes.kernels import add_counts
from medveil.codes.rank import rank_combinations
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.methods.problem import Problem
from medveil.privacy.count import count_classes
from medveil.privacy.model import Reference, Requirement
from medveil.table.schema import Kind

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class FullTable:
    """The distinct rows over everything that is published, and what is asked of them.

    `cells` are those rows with their records (and people); `rest[i]` numbers what row i has in the columns that are
    no quasi-identifiers, from 0 to below `rest_size`. Quasi-identifier j may be published at levels `bottom[j]` to
    `top[j]`. `shield` holds the positions of those that some requirement is about: only they are generalized further.
    """

    cells: Cells
    rest: NDArray[np.int32]
    rest_size: int
    hierarchies: tuple[Hierarchy, ...]
    bottom: tuple[int, ...]
    top: tuple[int, ...]
    requirements: tuple[Requirement, ...]
    reference: Reference

    @property
    def shield(self) -> tuple[int, ...]:
        return tuple(sorted({position for r in self.requirements for position in r.shield}))

    @property
    def adds_up(self) -> bool:
        """Whether a class fails for no other reason than having too few records: its counts then add up."""
        return self.cells.subjects is None and all(r.model.asks_size_alone for r in self.requirements)

    @property
    def merges(self) -> bool:
        """Whether what satisfies every requirement still does when more is generalized."""
        additive = self.cells.subjects is None
        return all(r.model.survives_merging(additive=additive) for r in self.requirements)

    def fails(
        self, requirement: Requirement, classes: NDArray[np.int32], number: int, counts: NDArray[np.int64]
    ) -> Flags:
        """Which of the classes violate a requirement; `counts` are the records of what `classes` is about, which must
        be the rows themselves unless counts add up.
        """
        if self.adds_up:
            sums = np.zeros(number, dtype=np.int64)
            add_counts(classes, counts, sums)
            return np.asarray(sums < (requirement.model.least_class_size or 1), dtype=np.bool_)
        return ~requirement.model.holds(count_classes(self.cells, classes, number), self.reference)


def full_table(problem: Problem) -> FullTable:
    """The full rows of a problem. Without plain columns they are its cells; otherwise the engine counts once more."""
    cells = _with_plain(problem) if problem.schema.plain else (problem.cells, [])
    rows, plain = cells
    quasi = problem.cells.quasi
    columns = [*rows.sensitive.values(), *plain]
    rest, size = distinct(columns, len(rows))
    return FullTable(
        cells=rows,
        rest=rest,
        rest_size=size,
        hierarchies=tuple(problem.hierarchies[name] for name in quasi),
        bottom=tuple(problem.min_levels.get(name) or 0 for name in quasi),
        top=tuple(problem.max_levels.get(name, problem.hierarchies[name].height) for name in quasi),
        requirements=tuple(problem.requirements),
        reference=problem.reference,
    )


def distinct(columns: Sequence[NDArray[np.int32]], rows: int) -> tuple[NDArray[np.int32], int]:
    """The number of each row's combination, and how many there are."""
    ranks, first = rank_combinations(columns, None, rows)
    return ranks, len(first)


def _with_plain(problem: Problem) -> tuple[Cells, list[NDArray[np.int32]]]:
    """Cells over quasi-identifiers, sensitive and plain columns, in the codes of the problem, and the plain codes."""
    schema, domains = problem.schema, problem.cells.domains
    columns = (*problem.counted, *schema.plain)
    raw = problem.engine.cells(columns)
    kinds: dict[str, Kind | None] = {name: domains[name].kind for name in problem.counted}
    kinds |= dict.fromkeys(schema.plain, Kind.CATEGORY)
    found = make_cells(raw, schema.quasi, (*schema.sensitive, *schema.plain), kinds)

    def recoded(name: str, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        code_of = {value: code for code, value in enumerate(domains[name].values)}
        return np.array([code_of[value] for value in found.domains[name].values], dtype=np.int32)[codes]

    cells = replace(
        problem.cells,
        codes=np.array([recoded(n, c) for n, c in zip(schema.quasi, found.codes, strict=True)], dtype=np.int32),
        counts=found.counts,
        sensitive={name: recoded(name, found.sensitive[name]) for name in schema.sensitive},
        subjects=None,
    )
    if schema.subject is not None:
        cells = replace(cells, subjects=Subjects(*problem.engine.subjects(raw, columns, schema.subject)))
    return cells, [found.sensitive[name] for name in schema.plain]
