"""Texts are read without the spaces around them, and nothing else is taken from them."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

from medveil.auditor import reading
from medveil.engine import duckdb_reading
from medveil.sources.frame import open_frame
from medveil.sources.source import SPACES

TEXTS = [" a ", "a", "\ta", "a\u00a0", "é", " é ", "a b", "~", "!", "a\nb", "\na", "\x7f", "日本 ", "- ", "a\u2003"]


@pytest.mark.parametrize("text", [duckdb_reading.text, reading.text])
def test_spaces_around_a_text_are_taken_off_and_no_other_character(text):
    source = open_frame(pa.table({"column": TEXTS}), missing=["-"])
    with duckdb.connect() as connection:
        connection.register("rows", pa.table({"c0": TEXTS}))
        found = [value for (value,) in connection.execute(f"SELECT {text(source, 'column')} FROM rows").fetchall()]
    expected = [value.strip(SPACES) for value in TEXTS]
    assert found == [None if value == "-" else value for value in expected]
