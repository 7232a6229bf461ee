"""Release and catalog as numbers: which classes each row lists, and how many records of its value they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.auditor.context import CannotTell, Refuted, Terms
from medveil.auditor.evidence import Evidence
from medveil.release.catalog import Entry, read_catalog

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Listing:
    """Classes of `sizes` records; row i counts `counts[i]` counterfeits; the listed pairs (row, class), `held` records
    of the row's value each, sorted by row.
    """

    sizes: Counts
    counts: Counts
    row: Counts
    of_class: Counts
    held: Counts

    @cached_property
    def totals(self) -> Counts:
        """The records of each row's value in all the classes that it lists."""
        return np.bincount(self.row, self.held, minlength=len(self.counts)).astype(np.int64)

    @cached_property
    def components(self) -> Counts:
        """Pairs that hang together, directly or through others, have the same number."""
        label = np.arange(len(self.counts) + len(self.sizes))
        ends = self.of_class + len(self.counts)
        while True:
            low = np.minimum(label[self.row], label[ends])
            lower = label.copy()
            np.minimum.at(lower, self.row, low)
            np.minimum.at(lower, ends, low)
            lower = lower[lower]
            if np.array_equal(lower, label):
                return np.asarray(np.unique(label[self.row], return_inverse=True)[1], dtype=np.int64)
            label = lower

    def lemma_failures(self) -> int:
        """In how many pairs the row's counterfeits outnumber the records of its value in the *other* classes.

        Lemma 1 says: real records of the others >= counterfeits here. With r, c the real and the false records of a
        class and R, C those of its row, R - r >= c is the same as (R + C) - (r + c) >= C: it can be read off the
        published files.
        """
        return int(np.count_nonzero(self.totals[self.row] - self.held < self.counts[self.row]))


def read_listing(evidence: Evidence, claim: Mapping[str, Any]) -> Listing:
    """The listing of a release; refused where the files contradict each other or what was told."""
    terms = Terms(claim)
    path = evidence.folder / terms.word("catalog")
    if path.name not in evidence.manifest.files and evidence.manifest.files:
        raise Refuted("the manifest does not list the catalog among its files")
    sensitive = evidence.names("sensitive")
    try:
        entries = read_catalog(path, len(sensitive))
    except (OSError, ValueError, pa.ArrowException):
        raise Refuted("the catalog cannot be read") from None
    ids = _count_classes(evidence, terms.word("column"), sensitive)
    told = evidence.manifest.rows.get("counterfeit")
    if told is None:
        raise CannotTell("the manifest does not say how many counterfeits there are")
    if sum(entry.count for entry in entries) != told:
        raise Refuted(f"the catalog does not cover the {told:,} counterfeits of the manifest")
    _keep_listed(evidence, entries, len(sensitive))
    _check_sums(evidence, sensitive)
    same = " AND ".join(f"held.s{j} IS NOT DISTINCT FROM listed.s{j}" for j in range(len(sensitive)))
    table = evidence.connection.sql(
        f"SELECT listed.row, listed.id, coalesce(held.n, 0) AS n FROM listed "
        f"LEFT JOIN held ON held.id = listed.id AND {same} ORDER BY listed.row, listed.id"
    ).to_arrow_table()
    position = {number: place for place, number in enumerate(ids["id"].to_pylist())}
    listed_ids = table["id"].to_pylist()
    if any(number not in position for number in listed_ids):
        raise Refuted("the catalog lists a class that the release does not have")
    listing = Listing(
        ids["n"].to_numpy().astype(np.int64),
        np.array([entry.count for entry in entries], dtype=np.int64),
        table["row"].to_numpy().astype(np.int64),
        np.array([position[number] for number in listed_ids], dtype=np.int64),
        table["n"].to_numpy().astype(np.int64),
    )
    if np.any(listing.totals < listing.counts):
        raise Refuted("the catalog counts more counterfeits of a value than its classes hold records of it")
    return listing


def _count_classes(evidence: Evidence, column: str, sensitive: tuple[str, ...]) -> pa.Table:
    """The classes with their sizes; makes `held`, the records of each value in each class.

    A class id must stand for the same published quasi-identifiers everywhere, and they for it.
    """
    if not any(a["name"] == column and a.get("made") for a in evidence.manifest.attributes):
        raise Refuted(f"the release has no column '{column}' of the method's own")
    connection = evidence.connection
    quasi = ", ".join(evidence.column(name) for name in evidence.names("quasi"))
    values = "".join(f", {evidence.column(name)} AS s{j}" for j, name in enumerate(sensitive))
    shown = (*evidence.names("quasi"), *sensitive, column)
    connection.execute(
        f"CREATE OR REPLACE TABLE numbered AS SELECT TRY_CAST({evidence.column(column)} AS BIGINT) AS id, "
        f"{quasi}{values}, sum(n)::BIGINT AS n FROM ({evidence.published_rows(shown)}) GROUP BY ALL"
    )
    both, ids, tuples, unread = evidence.one(
        f"SELECT (SELECT count(*) FROM (SELECT DISTINCT id, {quasi} FROM numbered)), "
        "(SELECT count(DISTINCT id) FROM numbered), "
        f"(SELECT count(*) FROM (SELECT DISTINCT {quasi} FROM numbered)), "
        "(SELECT count(*) FROM numbered WHERE id IS NULL)"
    )
    if unread or not both == ids == tuples:
        raise Refuted(f"'{column}' does not number the published combinations of quasi-identifiers")
    keys = "".join(f", s{j}" for j in range(len(sensitive)))
    connection.execute(
        f"CREATE OR REPLACE TABLE held AS SELECT id{keys}, sum(n)::BIGINT AS n FROM numbered GROUP BY ALL"
    )
    return connection.sql("SELECT id, sum(n)::BIGINT AS n FROM held GROUP BY id ORDER BY id").to_arrow_table()


def _keep_listed(evidence: Evidence, entries: list[Entry], width: int) -> None:
    """The table `listed`: each row of the catalog with each of its classes; a class once a value."""
    flat = [(i, number, entry) for i, entry in enumerate(entries) for number in entry.class_ids]
    if len({(number, entry.values) for _, number, entry in flat}) != len(flat):
        raise Refuted("the catalog lists a class twice for one value")
    columns = {
        "row": pa.array([i for i, _, _ in flat], pa.int64()),
        "id": pa.array([number for _, number, _ in flat], pa.int64()),
        "count": pa.array([entry.count for _, _, entry in flat], pa.int64()),
    }
    for j in range(width):
        columns[f"s{j}"] = pa.array([entry.values[j] for _, _, entry in flat], pa.string())
    evidence.keep("listed", pa.table(columns))


def _check_sums(evidence: Evidence, sensitive: tuple[str, ...]) -> None:
    """With the source: of every value as many records were published as there were, and as the catalog counts more."""
    if evidence.source is None:
        return
    evidence.need_origin()
    keys = ", ".join(f"s{j}" for j in range(len(sensitive)))
    origin = ", ".join(f"{evidence.column(name)} AS s{j}" for j, name in enumerate(sensitive))
    (wrong,) = evidence.one(
        f"SELECT count(*) FROM (SELECT {keys}, sum(d) AS d FROM ("
        f"SELECT {keys}, n AS d FROM held UNION ALL SELECT {origin}, -n AS d FROM origin "
        f"UNION ALL SELECT {keys}, -any_value(count) AS d FROM listed GROUP BY row, {keys}) GROUP BY ALL) WHERE d <> 0"
    )
    if wrong:
        raise Refuted("the catalog does not explain how the release's sensitive values differ from the source's")
