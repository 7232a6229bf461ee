"""What leaks before and after a release, side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medveil.cells import CellsElsewhere
from medveil.engine import Engine, with_rows
from medveil.engine.links import Links
from medveil.evaluation.comparison import Comparison
from medveil.evaluation.coverage import encode_texts
from medveil.methods.problem import Problem
from medveil.release.catalog import CATALOG, CLASS_ID
from medveil.release.catalog import entries_of as entries_of_catalog
from medveil.risk.leakage import LeakageLoss, loss_of, loss_of_told
from medveil.risk.leakage_entries import Entries, entries_of, make_entries
from medveil.table.arrow import number_array, numpy_of
from medveil.table.schema import Kind, Role


def before_and_after(
    problem: Problem,
    published: pa.Table,
    links: Links | None = None,
    mixed: Collection[int] = (),
    *,
    times: NDArray[np.int64] | None = None,
) -> dict[str, Any]:
    """For every published attribute, and for all quasi-identifiers together, what it leaks before and after.

    With a subject people are counted: afterwards through `links`, what became of each record of the source. Without
    links published records are counted, each as a person of its own. `mixed` and `times`: see `published_entries`.
    """
    before, after = _before(problem), published_entries(problem, published, links, mixed, times=times)
    plain = {name: loss_of_plain(problem, name) for name in problem.schema.plain}
    quasi = problem.schema.quasi
    shown = [name for name in quasi if name in published.column_names]
    return {
        "counted_before": before.counted,
        "counted_after": "records" if after.person is None else "people",
        "number_before": before.people,
        "number_after": after.people,
        "attributes": [
            {
                "attribute": name,
                "before": _figures(plain[name] if name in plain else before.loss([name])),
                "after": _figures(_loss_of(after, [name])),
            }
            for name in published.column_names
        ],
        "all_quasi_identifiers": {
            "before": _figures(before.loss(quasi)),
            "after": _figures(_loss_of(after, shown)),
        },
        "with_quasi_identifiers": _singled_out(after, shown, problem.schema.names(Role.PLAIN)),
    }


def _singled_out(after: Entries, quasi: Sequence[str], plain: Sequence[str]) -> dict[str, float]:
    """The share of people whom each plain column singles out who are not alone by quasi-identifiers; under the empty
    name, whom all of them do together.
    """
    plain = [name for name in plain if name in after.names]
    alone = loss_of(after, quasi).unique if quasi else 0.0
    sets = {name: [name] for name in plain} | ({"": plain} if plain else {})
    return {name: max(loss_of(after, [*quasi, *added]).unique - alone, 0.0) for name, added in sets.items()}


def published_entries(
    problem: Problem,
    published: pa.Table,
    links: Links | None = None,
    mixed: Collection[int] = (),
    *,
    times: NDArray[np.int64] | None = None,
) -> Entries:
    """The people of what was published, as `before_and_after` counts them.

    mixed: the classes, by id, that publish the values of people of other classes too. Their rows count as they are
        published, each as a person of its own: who really has which values must decide nothing, not even a refusal
        (condition C4 of docs/proofs/h-ceiling.md).
    times: how many rows each line of the published table stands for; None where each is one.
    """
    subject = problem.schema.subject
    if links is not None and subject is not None and problem.engine.has_rows:
        plain = [name for name in problem.schema.plain if name in published.column_names]
        return _linked(problem.engine, links, plain, subject, published, mixed)
    return _entries({name: published[name] for name in published.column_names}, times=times)


def mixed_classes(comparison: Comparison) -> set[int]:
    """The classes that a catalog of counterfeits lists: they publish values of people of other classes."""
    catalog = comparison.companions.get(CATALOG)
    if catalog is None:
        return set()
    entries = entries_of_catalog(catalog, len(comparison.problem.schema.sensitive))
    return {number for entry in entries for number in entry.class_ids}


def _figures(found: LeakageLoss | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"values": found.values, "loss": found.loss, "normalized": found.normalized, "unique": found.unique}


def _loss_of(entries: Entries, names: Sequence[str]) -> LeakageLoss | None:
    """None where a column is not there: a method may make some of its own."""
    return loss_of(entries, names) if names and set(names) <= set(entries.names) else None


@dataclass(frozen=True)
class _Before:
    """The people of the source, and what columns tell of them: quasi-identifiers and sensitive attributes."""

    counted: str
    people: int
    loss: Callable[[Sequence[str]], LeakageLoss | None]


def _before(problem: Problem) -> _Before:
    """Cells serve where nobody has several; where they stay with the engine, it is asked."""
    cells, subject = problem.cells, problem.schema.subject
    if cells.elsewhere is not None:
        return _before_elsewhere(cells.elsewhere, problem.counted)
    if subject is not None:
        # Where domains are declared the source may hold anything, so kinds are found out.
        declared = any(model.declared_domains for model in problem.models)
        kinds: dict[str, Kind | None] = {} if declared else {n: domain.kind for n, domain in cells.domains.items()}
        entries = entries_of(problem.engine, problem.counted, subject=subject, kinds=kinds)
    else:
        codes = np.concatenate([cells.codes, np.array([*cells.sensitive.values()]).reshape(-1, len(cells))])
        sizes = [len(cells.domains[name]) for name in problem.counted]
        real = cells.counts > 0
        entries = make_entries(problem.counted, codes[:, real], sizes, cells.counts[real])
    counted = "records" if entries.person is None else "people"
    return _Before(counted, entries.people, lambda names: _loss_of(entries, names))


def _before_elsewhere(cells: CellsElsewhere, known: Sequence[str]) -> _Before:
    def loss(names: Sequence[str]) -> LeakageLoss | None:
        if not names or not set(names) <= set(known):
            return None
        return loss_of_told(names, cells.coded.told([cells.place(name) for name in names]))

    people = cells.coded.told([0]).people
    return _Before("people" if cells.counts_people else "records", people, loss)


def loss_of_plain(problem: Problem, name: str) -> LeakageLoss:
    """What one plain column tells of the people of the source. Its values stay in the engine: there may be as many as
    rows.
    """
    engine, subject = problem.engine, problem.schema.subject
    if problem.cells.elsewhere is not None:
        return loss_of_told([name], problem.cells.elsewhere.engine.told([name], subject))
    seen = engine.occurrences(name, subject)
    codes, people = (numpy_of(seen[column]) for column in ("code", "person"))
    size = int(codes.max(initial=-1)) + 1
    counts = numpy_of(seen["records"])
    entries = make_entries([name], codes[None, :], [size], counts, person=None if subject is None else people)
    return loss_of(entries, [name])


def _entries(
    columns: dict[str, pa.ChunkedArray],
    person: NDArray[np.int32] | None = None,
    times: NDArray[np.int64] | None = None,
) -> Entries:
    """The people of a table of which every row is a record, or so many of them as `times` says."""
    encoded = [encode_texts(column) for column in columns.values()]
    rows = len(next(iter(columns.values()), ()))
    codes = np.array([codes for _, codes in encoded], dtype=np.int32).reshape(len(encoded), rows)
    counts = np.ones(rows, dtype=np.int64) if times is None else times
    return make_entries(list(columns), codes, [len(texts) for texts, _ in encoded], counts, person=person)


def _linked(
    engine: Engine, links: Links, plain: Sequence[str], subject: str, published: pa.Table, mixed: Collection[int]
) -> Entries:
    """The people of what was published: the records that were kept, each with its labels and whose it is, and the
    rows of mixed classes.
    """
    rows = with_rows(engine).texts(list(dict.fromkeys((*plain, subject)))).filter(number_array(links.kept))
    columns = {name: links.published[name] for name in links.labels.column_names}
    columns |= {name: rows[name] for name in plain}
    _, person = encode_texts(rows[subject])
    if not mixed:
        return _entries(columns, person)
    apart = pc.invert(_is_mixed(columns[CLASS_ID], mixed))
    others = published.filter(_is_mixed(published[CLASS_ID], mixed))
    known, own = np.unique(person[numpy_of(apart)], return_inverse=True)
    everybody = np.concatenate((own, len(known) + np.arange(others.num_rows))).astype(np.int32)
    joined = {
        name: pa.chunked_array([*_texts(column.filter(apart)).chunks, *_texts(others[name]).chunks], pa.string())
        for name, column in columns.items()
    }
    return _entries(joined, everybody)


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string())


def _is_mixed(ids: pa.ChunkedArray, mixed: Collection[int]) -> pa.ChunkedArray:
    return pc.is_in(_texts(ids), value_set=pa.array([str(number) for number in sorted(mixed)], pa.string()))
