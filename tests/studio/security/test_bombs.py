"""Files that are small and read as endless, too large, too wide, or nothing at all: one clear sentence each."""

import gzip
import os

import pyarrow as pa
import pytest


def refused(studio, content, name="table.csv"):
    project = studio.uploaded(content, name)
    told = studio.looked(project)
    assert told["state"] == "failed", told
    return told["error"]


def test_a_compressed_file_that_expands_without_end_is_refused(studio):
    """Of many members, each of which is a megabyte: whoever stops after the first finds nothing."""
    bomb = gzip.compress(b"age,sex\n") + gzip.compress(b"12,F\n" * 200_000) * 400
    assert len(bomb) < 2_000_000
    error = refused(studio, bomb, "table.csv.gz")
    assert "expands to far more" in error["problem"]


def test_a_zstd_file_that_expands_without_end_is_refused(studio):
    bomb = pa.compress(b"age,sex\n" + b"12,F\n" * (60 << 20), codec="zstd", asbytes=True)
    assert len(bomb) < 1_000_000
    error = refused(studio, bomb, "table.csv.zst")
    assert "expands to far more" in error["problem"]


def test_a_million_columns_are_refused(studio):
    header = ",".join(f"c{n}" for n in range(1_000_000))
    error = refused(studio, f"{header}\n{','.join('1' * 1_000_000)}\n".encode())
    assert error["kind"] != "fault", error
    assert "columns" in error["problem"] or "line" in error["problem"]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\x00" * 4096, "zeros.csv"),
        (b"\x1f\x8b" + os.urandom(2000), "broken.csv.gz"),
        (b"PAR1" + os.urandom(2000), "broken.parquet"),
        (b"PK\x03\x04" + os.urandom(2000), "archive.csv"),
        (b"age,age\n1,2\n", "twice.csv"),
    ],
    ids=["zeros", "gzip", "parquet", "zip", "twice"],
)
def test_what_is_no_table_is_refused_in_a_sentence(studio, content, name):
    error = refused(studio, content, name)
    assert error["kind"] != "fault", error
    assert error["problem"].endswith(".")


def test_an_empty_file_and_no_file_are_refused_at_once(studio):
    before = len(list((studio.folder / "projects").glob("*")))
    empty = studio.client.post("/upload", files={"file": ("a.csv", b"")})
    assert empty.status_code == 400
    assert "empty" in empty.text
    assert studio.client.post("/upload", data={"other": "x"}).status_code == 400
    assert studio.client.post("/upload", content=b"x" * 100).status_code == 400
    assert len(list((studio.folder / "projects").glob("*"))) == before, "nothing is left of them"


def test_other_encodings_and_one_long_line_are_read_or_refused(studio):
    told = studio.looked(studio.uploaded("age,sex\n1,F\n2,M\n".encode("utf-16")))
    assert told["state"] in {"done", "failed"}
    for content in (
        b"age,note\n1," + b"x" * (16 << 20) + b"\n2,y\n",
        b"x" * (16 << 20),
        b"age,note\n1," + b'"never closed' + b"\n1,2" * 1000,
    ):
        told = studio.looked(studio.uploaded(content))
        assert told["state"] in {"done", "failed"}
        assert told["error"] is None or told["error"]["kind"] != "fault", told["error"]
