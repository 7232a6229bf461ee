"""Tables come in as they are written: any delimiter, encoding, compression or frame."""

import bz2
import gzip
import lzma

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from medveil.engine import open_engine, with_rows
from medveil.errors import InputError, PolicyError
from medveil.sources.opening import open_source

PLANTED = "zzPLANTEDzz"


def rows(data, columns=None, **options):
    source = open_source(data, **options)
    names = columns or source.names
    with open_engine(source, names) as engine:
        table = with_rows(engine).texts(names)
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.fixture
def written(tmp_path):
    def write(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(written, delimiter):
    text = "\n".join(delimiter.join(row) for row in (["a", "b b", "c"], ["1", "x", "2.5"], ["2", "y", "3.5"]))
    assert rows(written(text + "\n")) == [("1", "x", "2.5"), ("2", "y", "3.5")]


def test_commas_in_values_do_not_hide_the_semicolon(written):
    assert rows(written("name;dose\nx, y;1,5\nz, w;2,5\n")) == [("x, y", "1,5"), ("z, w", "2,5")]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(written, end):
    assert rows(written(end.join(["a,b", "1,2", "3,4", ""]))) == [("1", "2"), ("3", "4")]


def test_quotes_hold_delimiters_lines_and_quotes(written):
    assert rows(written('a,b\n"x, ""y""","1\n2"\n')) == [('x, "y"', "1\n2")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_encodings_are_found(written, encoding):
    assert rows(written("name,größe\nJosé,1\nZoë,2\n".encode(encoding)), ["größe", "name"])[0] == ("1", "José")


def test_an_encoding_can_be_given(written):
    assert rows(written("a,b\nж,1\n".encode("cp1251")), encoding="cp1251") == [("ж", "1")]


def test_emoji_and_odd_names(written):
    path = written('count,select,"a ""b""",Age,age,😀\n1,2,3,4,5,6\n')
    assert open_source(path).names == ("count", "select", 'a "b"', "Age", "age", "😀")
    assert rows(path) == [("1", "2", "3", "4", "5", "6")]


@pytest.mark.parametrize(
    ("pack", "name"), [(gzip.compress, "t.csv.gz"), (bz2.compress, "t.csv.bz2"), (lzma.compress, "odd-name")]
)
def test_compression_is_found_by_content(written, pack, name):
    assert rows(written(pack(b"a,b\n1,2\n"), name)) == [("1", "2")]


def test_zstandard(written):
    assert rows(written(pa.compress(b"a,b\n1,2\n", "zstd", asbytes=True), "t.zst")) == [("1", "2")]


def test_empty_and_declared_markers_are_missing(written):
    path = written('a,b\n?,""\n,x\n NA ,y\n')
    assert rows(path, missing=["?", "NA"]) == [(None, None), (None, "x"), (None, "y")]


def test_a_file_without_header(written):
    path = written("1,x\n2,y\n")
    with open_engine(open_source(path, columns=["n", "t"]), ["t"]) as engine:
        assert engine.rows == 2


def test_parquet(tmp_path):
    path = tmp_path / "t.anything"
    pa.parquet.write_table(pa.table({"n": [1, None], "f": [1.5, float("nan")], "t": ["a", None]}), path)
    assert rows(path) == [("1", "1.5", "a"), (None, None, None)]


def test_frames_of_any_library_without_their_index():
    columns = {"n": [3, 1, 2], "t": ["a", None, "c"]}
    expected = [("3", "a"), ("1", None), ("2", "c")]
    shuffled = pd.DataFrame(columns, index=[9, 7, 8])
    assert open_source(shuffled).names == ("n", "t")
    assert rows(shuffled) == expected
    assert rows(pl.DataFrame(columns)) == expected
    assert rows(pl.LazyFrame(columns)) == expected
    assert rows(pa.table(columns)) == expected


def test_categorical_and_mixed_pandas_columns():
    frame = pd.DataFrame({"c": pd.Categorical(["x", "y", None]), "m": [1, "two", None]})
    assert rows(frame) == [("x", "1"), ("y", "two"), (None, None)]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        ("a,a\n1,2\n", "several columns with the same name (columns 1 and 2)"),
        (f"{PLANTED},7,{PLANTED},7\n", "(columns 1 and 3; 2 and 4)"),
        ("a,\n1,2\n", "without a name"),
        (f"a,b\n1,2\n{PLANTED}\n", "Line 3 has 1 field where the header has 2"),
        (f"a,b\n1,{PLANTED},3\n", "Line 2 has 3 fields"),
        (f'a,b\n1,"{PLANTED}\n3,4\n', "never closed"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\x1f\x8bnot gzip at all", "damaged"),
        (f"a,b\r\n1,{PLANTED}\r\n3,4\n5,6\r\n", "line"),
    ],
)
def test_bad_files_get_one_sentence_without_values(written, content, words):
    with pytest.raises(InputError) as error:
        rows(written(content))
    assert words in str(error.value)
    assert PLANTED not in str(error.value)


def test_a_file_that_is_not_utf8_further_down(written):
    content = b"a,b\n" + b"1,x\n" * 400_000 + b"2,\xff\n"
    with pytest.raises(InputError, match="not in UTF-8"):
        rows(written(content))


def test_a_file_that_is_packed_may_be_meant(tmp_path):
    (tmp_path / "conditions.csv.gz").write_bytes(b"x")
    with pytest.raises(InputError, match=r"Did you mean 'conditions\.csv\.gz'"):
        open_source(tmp_path / "conditions.csv")


def test_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(InputError, match="no file"):
        open_source(tmp_path / "none.csv")
    with pytest.raises(InputError, match="holds no files"):
        open_source(tmp_path)


def test_unknown_column_names_the_nearest(written):
    with pytest.raises(InputError, match="Did you mean 'gender'"):
        rows(written("gender,b\n1,2\n"), ["gendre"])


def test_a_file_without_header_does_not_tell_its_first_record(written):
    """The first record stands where names should be: only a name that was almost asked for is told."""
    with pytest.raises(InputError, match="first line") as error:
        rows(written(f"{PLANTED},63,Busan\n1,2,3\n"), ["age"])
    assert not any(cell in str(error.value) for cell in (PLANTED, "63", "Busan"))


def test_spaces_around_values_are_no_part_of_them(written):
    path = written('a,b\n x ,"\t\u00a0y z\u00a0\r\n"\n"  ", \u00a0\n"é "," 😀"\n')
    assert rows(path) == [("x", "y z"), (None, None), ("é", "😀")]


def test_only_a_header_is_no_table(written):
    with pytest.raises(InputError, match="no records"):
        rows(written("a,b\n"))


def test_bad_options(written):
    path = written("a,b\n1,2\n")
    with pytest.raises(PolicyError, match="one character"):
        open_source(path, delimiter="::")
    with pytest.raises(PolicyError, match="no encoding"):
        open_source(path, encoding="klingon")
    with pytest.raises(InputError, match="names 1"):
        open_source(path, columns=["a"])


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match="not a table"):
        open_source(object())


def test_a_single_column_keeps_its_empty_lines(written):
    assert len(rows(written("a\nx\n\ny\n"))) == 3


def test_a_thousand_columns(written):
    names = [f"c{i}" for i in range(1000)]
    text = ",".join(names) + "\n" + ",".join("1" for _ in names) + "\n"
    assert len(rows(written(text))[0]) == 1000
