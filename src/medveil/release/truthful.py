"""What a recipient may take at its word, derived from release and catalog alone.

Where the catalog tells the people of each class, every class of a group publishes the records R of all its people. Each
group's records then stand once in the truthful table, under their common generalization: what all its classes publish
is theirs, and where they differ all of their labels are given. Or all records are kept and weighed by r_i/|R|, the
probability of being real: sums over weights give the counts of every class and of every value exactly.

Where it does not (the method of the paper): of each class that the catalog lists for a value, as many records of the
value as it counts lose their class, their quasi-identifiers and their plain columns; as many of those as it counts are
dropped. What is left of them is real, and every other record is too: Lee, Kim, Kim and Chung 2017, Table 9.

Records of one class and value may differ in plain columns, and nobody can say which of them went: where some stay and
they differ, they lose their plain columns as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from medveil.codes.combine import combine
from medveil.errors import InputError, OutputError
from medveil.release.catalog import CLASS_ID, Entry, Values, catalog_of
from medveil.release.manifest import Manifest, read_manifest
from medveil.release.reading import read_texts
from medveil.table.labels import ANYTHING


@dataclass(frozen=True)
class Truthful:
    """The truthful table: `dropped` rows of the release are gone, `lost` have no more than their sensitive values;
    `merged` stand under labels of several classes.
    """

    table: pa.Table
    dropped: int
    lost: int
    merged: int = 0

    def to_dict(self) -> dict[str, int]:
        """Its figures."""
        rows = self.table.num_rows
        return {"records": rows, "dropped": self.dropped, "lost": self.lost, "merged": self.merged}


WEIGHT = "weight"
SEPARATOR = " | "
"""What stands between the labels of a group's classes."""


def derive(folder: Path, out: Path | None = None, *, weights: bool = False) -> Truthful:
    """The truthful table of a release directory, or all its records with their weights, written to `out` (.csv or
    .parquet) where that is given.
    """
    if out is not None and out.suffix not in {".csv", ".parquet"}:
        raise OutputError(f"'{out}' is neither CSV nor Parquet.", "Name a file that ends in .csv or .parquet.")
    if out is not None and out.exists():
        raise OutputError(f"'{out}' already exists.", "Name a new file, or remove that one first.")
    manifest = read_manifest(folder)
    entries = catalog_of(folder, manifest)
    release = read_texts(folder, manifest)
    if weights:
        truthful = weighted_table(release, entries)
    elif any(entry.people for entry in entries) or not entries:
        truthful = grouped_table(release, entries, manifest)
    else:
        truthful = truthful_table(release, entries, manifest)
    if out is not None:
        _write(truthful.table, out)
    return truthful


def _class_numbers(release: pa.Table) -> list[int]:
    try:
        return [int(number) for number in release[CLASS_ID].cast(pa.int64()).to_pylist()]
    except (KeyError, pa.ArrowInvalid, TypeError):
        raise InputError(f"The release has no column '{CLASS_ID}' of numbers.", "Was it changed by hand?") from None


def weighted_table(release: pa.Table, entries: list[Entry]) -> Truthful:
    """All records, each with the probability r_i/|R| of being real."""
    if any(not entry.people for entry in entries):
        raise InputError(
            "The catalog does not say how many people each class has, so records have no weights.",
            "Leave '--weights' out, or make the release with 'protection: people'.",
        )
    if WEIGHT in release.column_names:
        raise InputError(f"The release has a column '{WEIGHT}' already.", "Rename it before the release is made.")
    real = {number: share for entry in entries for number, share in zip(entry.class_ids, entry.real, strict=True)}
    shares = pa.array([real.get(number, 1.0) for number in _class_numbers(release)], pa.float64())
    return Truthful(release.append_column(WEIGHT, shares), 0, 0)


def grouped_table(release: pa.Table, entries: list[Entry], manifest: Manifest) -> Truthful:
    """Each group's records once, under what all its classes publish; class ids are those of the whole group."""
    ids_of = {number: entry.class_ids for entry in entries for number in entry.class_ids}
    numbers = _class_numbers(release)
    first_of: dict[int, int] = {}
    for row, number in enumerate(numbers):
        first_of.setdefault(number, row)
    if any(number not in first_of for number in ids_of):
        raise InputError(
            "The catalog lists a class that the release does not hold.",
            "Use the release and catalog of one directory.",
        )
    kept = [row for row, number in enumerate(numbers) if ids_of.get(number, (number,))[0] == number]
    table = release.take(pa.array(kept, pa.int64()))
    groups = [ids_of.get(numbers[row], (numbers[row],)) for row in kept]
    quasi = [a["name"] for a in manifest.attributes if a["role"] == "quasi"]
    for name in (CLASS_ID, *quasi):
        labels = release[name].to_pylist()
        joined = {
            ids: labels[first_of[ids[0]]]
            if len(found := _labels(labels, first_of, ids)) == 1
            else SEPARATOR.join(found)
            for ids in set(groups)
        }
        column = pa.array([joined[ids] for ids in groups], pa.string())
        table = table.set_column(table.column_names.index(name), name, column)
    merged = sum(len(ids) > 1 for ids in groups)
    order = [(name, "ascending") for name in table.column_names]
    return Truthful(table.sort_by(order), release.num_rows - len(kept), 0, merged)


def _labels(labels: list[str | None], first_of: dict[int, int], ids: tuple[int, ...]) -> list[str]:
    """The different labels of some classes, in the order of their ids; a missing value is empty."""
    return list(dict.fromkeys(labels[first_of[number]] or "" for number in ids))


def truthful_table(release: pa.Table, entries: list[Entry], manifest: Manifest) -> Truthful:
    """The truthful table of a release, all of whose columns are text, and its catalog."""
    roles = {attribute["name"]: attribute["role"] for attribute in manifest.attributes if not attribute.get("made")}
    names = release.column_names
    sensitive = [i for i, name in enumerate(names) if roles.get(name) == "sensitive"]
    plain = [i for i, name in enumerate(names) if roles.get(name) == "plain"]
    class_id = names.index(CLASS_ID)
    listed = _listed(entries)
    first, group = _numbered([release.column(i) for i in (class_id, *sensitive)])
    ids, *values = ([release.column(i)[row].as_py() for row in first.tolist()] for i in (class_id, *sensitive))
    keys = zip(map(_class_number, ids), zip(*values, strict=True) if values else [()] * len(ids), strict=True)
    entry_of_group = np.array([listed.get(key, -1) for key in keys], dtype=np.int64)
    entry = entry_of_group[group]
    met = np.flatnonzero(entry >= 0)
    counts = np.array([one.count for one in entries], dtype=np.int64)
    found = np.bincount(entry[met], minlength=len(entries))
    if (found < np.maximum(counts, 1)).any():
        raise InputError(
            "The catalog counts records that the release does not hold.",
            "Use the release and catalog of one directory.",
        )
    moved = met[_rank(group[met]) < counts[entry[met]]]
    dropped = moved[_rank(entry[moved]) < counts[entry[moved]]]
    starred = np.zeros(release.num_rows, dtype=np.bool_)
    starred[moved] = True
    stays = ~starred
    starred[dropped] = False
    hides = stays & (entry >= 0) & _unlike(group, [release.column(i) for i in plain])
    columns = []
    for i, column in enumerate(release.columns):
        hidden = np.zeros(release.num_rows, dtype=np.bool_) if i in sensitive else starred | (hides & (i in plain))
        columns.append(pc.if_else(pa.array(hidden), ANYTHING, column))
    table = pa.table(columns, names=[str(i) for i in range(len(names))]).filter(pa.array(stays | starred))
    table = _sorted(table, class_id).rename_columns(names)
    return Truthful(table, len(dropped), _starred(table, {names[i] for i in sensitive}))


def _numbered(columns: list[pa.ChunkedArray]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first row of each combination of texts, and the number of each row's; a missing text is one of its own."""
    coded = [column.combine_chunks().dictionary_encode(null_encoding="encode") for column in columns]
    codes = [column.indices.to_numpy(zero_copy_only=False) for column in coded]
    return combine(codes, [max(len(column.dictionary), 1) for column in coded])


def _class_number(text: str | None) -> int | None:
    """The number of a class; None where no class is told."""
    return int(text) if text is not None and text.isdecimal() else None


def _rank(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each row among those of its group, from 0."""
    order = np.argsort(groups, kind="stable")
    begins = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sizes = np.diff(np.append(begins, len(order)))
    rank = np.empty(len(groups), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(begins, sizes)
    return rank


def _unlike(group: NDArray[np.int64], plain: list[pa.ChunkedArray]) -> NDArray[np.bool_]:
    """Whether the rows of a row's group differ in plain columns."""
    if not plain or not len(group):
        return np.zeros(len(group), dtype=np.bool_)
    found, tuples = _numbered(plain)
    first, _ = combine([group, tuples], [int(group.max()) + 1, len(found)])
    several: NDArray[np.bool_] = np.bincount(group[first]) > 1
    return several[group]


def _sorted(table: pa.Table, class_id: int) -> pa.Table:
    """By the number of the class, those without one last, then by all columns."""
    numbers = pa.array([_class_number(text) for text in table.column(class_id).to_pylist()], pa.int64())
    keyed = table.append_column("number", numbers)
    order = pc.sort_indices(
        keyed, sort_keys=[("number", "ascending"), *((name, "ascending") for name in table.column_names)]
    )
    return table.take(order)


def _starred(table: pa.Table, sensitive: set[str]) -> int:
    """How many rows have nothing but their sensitive values."""
    stars = None
    for name in table.column_names:
        if name not in sensitive:
            here = pc.fill_null(pc.equal(table[name], ANYTHING), fill_value=False)
            stars = here if stars is None else pc.and_(stars, here)
    return int(pc.sum(stars).as_py() or 0) if stars is not None else 0


def _listed(entries: list[Entry]) -> dict[tuple[int | None, Values], int]:
    """The row of the catalog that lists a class for sensitive values."""
    flat = [((number, entry.values), i) for i, entry in enumerate(entries) for number in entry.class_ids]
    listed: dict[tuple[int | None, Values], int] = dict(flat)
    if len(listed) != len(flat):
        raise InputError("The catalog lists a class twice for one value.", "Was it changed by hand?")
    return listed


def _write(table: pa.Table, out: Path) -> None:
    beside = out.with_name(f".{out.name}.part")
    try:
        if out.suffix == ".parquet":
            pa.parquet.write_table(table, beside)
        else:
            pa.csv.write_csv(table, beside)
        beside.rename(out)
    except OSError:
        raise OutputError(f"'{out}' cannot be written.", "Check that the folder exists and is writable.") from None
    finally:
        beside.unlink(missing_ok=True)
