"""Hierarchies in files: one line a leaf, `leaf;level 1;...;*`, without a header."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from medveil.errors import InputError
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.specification import HierarchySpec, describe
from medveil.hierarchy.tabulated import Tabulated, bind_table, check_parents, distinct_rows, listed
from medveil.table.domain import Domain
from medveil.workspace import Workspace

DELIMITERS = (";", "\t", ",")
Rows = list[tuple[int, list[str]]]


def read_rows(path: Path, delimiter: str | None, column: str) -> Rows:
    """The lines of a small delimited file with their numbers; blank lines are left out, cells are stripped.

    Without a delimiter it is the first of `;`, tab and `,` that cuts every line into the same number of cells, at
    least two; or, where none does, the first that cuts any line at all.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(
            f"The hierarchy file '{path.name}' of '{column}' does not exist.",
            "Paths in a policy are relative to the policy file.",
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"The hierarchy file '{path.name}' of '{column}' is not UTF-8.", "Save it as UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a valid file name"
        raise InputError(
            f"The hierarchy file '{path.name}' of '{column}' cannot be read: {reason}.", "Check the path."
        ) from None
    if delimiter is not None:
        rows = _split(text, delimiter, path, column)
    else:
        rows = []
        for candidate in DELIMITERS:
            tried = _split(text, candidate, path, column)
            lengths = {len(cells) for _, cells in tried}
            if len(lengths) == 1 and lengths != {1}:
                rows = tried
                break
            if not rows or (lengths != {1} and all(len(cells) == 1 for _, cells in rows)):
                rows = tried
    if not rows:
        raise InputError(f"The hierarchy file '{path.name}' of '{column}' is empty.", "Write one line for each value.")
    return rows


def _split(text: str, delimiter: str, path: Path, column: str) -> Rows:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        stripped = ((reader.line_num, [cell.strip() for cell in cells]) for cells in reader)
        return [(line, cells) for line, cells in stripped if any(cells)]
    except csv.Error:
        raise InputError(
            f"Line {reader.line_num} of the hierarchy file '{path.name}' of '{column}' is malformed.",
            "Check its quotes.",
        ) from None


class File(HierarchySpec):
    """A file with one line for each leaf of the domain, from the leaf to the root.

    A leaf may come twice with the same groups; coverage is counted in lines, as other tools do. An empty leaf stands
    for the missing value. Leaves of a number column are compared as numbers, so `05` in the file is `5`. The root
    keeps the file's label for it.
    """

    name: ClassVar[str] = "file"

    type: Literal["file"] = "file"
    path: Annotated[Path, describe("The file, relative to the policy.")]
    delimiter: Annotated[
        str | None, describe("What separates the levels (default: detected).", min_length=1, max_length=1)
    ] = None

    def _table(self, column: str, workspace: Workspace) -> Tabulated:
        rows = read_rows(workspace.resolve(self.path), self.delimiter, column)
        width = len(rows[0][1])
        ragged = [line for line, cells in rows if len(cells) != width]
        where = f"of the hierarchy file '{self.path.name}' of '{column}'"
        if ragged:
            raise InputError(
                f"Line {ragged[0]} {where} has another number of levels than line {rows[0][0]}"
                f" ({len(ragged)} such lines).",
                "Give every line one cell for each level, or declare the 'delimiter:'.",
            )
        if width < 2:
            raise InputError(f"The lines {where} have one cell only.", "Write 'leaf;level 1;...;*' on every line.")
        leaves, *columns = ([cells[level] for _, cells in rows] for level in range(width))
        *below, top = columns
        strays = [line for (line, _), label in zip(rows, top, strict=True) if label != top[0]]
        if strays:
            raise InputError(
                f"Line {strays[0]} {where} ends in another root than line {rows[0][0]}.",
                "End every line with the same label, such as '*'.",
            )
        empty = next((line for line, cells in rows if "" in cells[1:]), None)
        if empty is not None:
            raise InputError(f"Line {empty} {where} has a group without a label.", "Write a label into every cell.")
        table = Tabulated(leaves, below, top[0], [line for line, _ in rows])
        distinct_rows(table, leaves, column)
        check_parents(table, column)
        return table

    def bind(
        self,
        domain: Domain,
        column: str,
        workspace: Workspace,
        counts: NDArray[np.int64] | None = None,  # noqa: ARG002
    ) -> Hierarchy:
        return bind_table(self, self._table(column, workspace), domain, column)

    def leaves(self, column: str, workspace: Workspace) -> list[str] | None:
        return listed(self._table(column, workspace).leaves)
