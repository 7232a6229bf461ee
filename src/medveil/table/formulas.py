"""Cells that a spreadsheet would take for formulas and run when a file is opened."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from medveil.table.arrow import text_array

_BEGINS = "^[=@\t\r]"
_SIGNED = "^[+-]"
_NUMBER = "^[+-][0-9.,]*([eE][+-]?[0-9]+)?$"


def formula_cells(table: pa.Table) -> int:
    """How many cells of a table of texts, names included, begin as formulas do: with `=`, `@`, a tab or a line end, or
    with a sign and no number.

    >>> formula_cells(pa.table({"a": ["=1+1", "-5", "+x", None, "a=b"], "=b": ["1", "2", "3", "4", "5"]}))
    3
    """
    names = pa.chunked_array([text_array(table.column_names)])
    return sum(_formulas(column) for column in (*table.columns, names))


def _formulas(column: pa.ChunkedArray) -> int:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return 0
    signed = pc.and_(pc.match_substring_regex(column, _SIGNED), pc.invert(pc.match_substring_regex(column, _NUMBER)))
    return int(pc.sum(pc.or_(pc.match_substring_regex(column, _BEGINS), signed)).as_py() or 0)
