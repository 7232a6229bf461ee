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

    >>> table = pa.table({"a": ["=1+1", "-5", "+x", None, "=1+1"], "=b": ["1", "2", "3", "4", "5"]})
    >>> formula_cells(table), formula_cells(table.set_column(0, "a", table["a"].dictionary_encode()))
    (4, 4)
    """
    names = pa.chunked_array([text_array(table.column_names)])
    return sum(_formulas(column) for column in (*table.columns, names))


def _formulas(column: pa.ChunkedArray) -> int:
    if pa.types.is_dictionary(column.type):
        return sum(_encoded_formulas(chunk) for chunk in column.chunks)
    return _number(_are_formulas(column))


def _encoded_formulas(chunk: pa.DictionaryArray) -> int:
    """Every value is looked at once, and its records are counted where it is one."""
    found = _are_formulas(chunk.dictionary)
    return _number(found.take(chunk.indices)) if _number(found) else 0


def _number(found: pa.Array | pa.ChunkedArray) -> int:
    return int(pc.sum(found).as_py() or 0)


def _are_formulas(texts: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        return pa.nulls(len(texts), pa.bool_())
    signed = pc.and_(pc.match_substring_regex(texts, _SIGNED), pc.invert(pc.match_substring_regex(texts, _NUMBER)))
    return pc.or_(pc.match_substring_regex(texts, _BEGINS), signed)
