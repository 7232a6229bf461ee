"""What DuckDB alone must keep: its folder, its limits, and what stops it."""

import threading

import pyarrow as pa
import pytest

from medveil.engine import Limits, open_engine, with_rows
from medveil.errors import CancelledError, InputError
from medveil.sources.opening import open_source

TABLE = pa.table({"a": ["x", "y"]})


def test_nothing_is_left_on_disk(tmp_path):
    spill = tmp_path / "spill"
    with open_engine(open_source(TABLE), ["a"], Limits(spill=spill)) as first:
        with open_engine(open_source(TABLE), ["a"], Limits(spill=spill)) as second:
            assert first.snapshot.sha256 == second.snapshot.sha256
        assert first.distinct("a") == 2, "another engine in the same folder took nothing with it"
    assert not spill.exists()


def test_a_memory_limit_must_be_one():
    with pytest.raises(InputError, match="such as 4GB"):
        open_engine(open_source(TABLE), ["a"], Limits(memory="much"))


def test_the_order_of_lines_is_that_of_the_source_however_many_threads(tmp_path):
    path = tmp_path / "t.csv"
    expected = [str(i) for i in range(300_000)]
    path.write_text("n\n" + "\n".join(expected) + "\n", encoding="utf-8")
    with open_engine(open_source(path), ["n"], Limits(threads=4)) as engine:
        assert with_rows(engine).texts(["n"])["n"].to_pylist() == expected


def test_a_query_is_interrupted_from_another_thread():
    numbers = pa.table({"a": [str(i) for i in range(3000)], "b": ["x"] * 3000})
    with open_engine(open_source(numbers), ["a", "b"]) as engine:
        stop = threading.Event()

        def count_on() -> None:
            for _ in range(10_000):
                engine.cells(["a", "b"])

        def interrupt() -> None:
            while not stop.wait(0.01):
                engine.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            with pytest.raises(CancelledError):
                count_on()
        finally:
            stop.set()
            thread.join()
        assert engine.distinct("a") == 3000, "the engine goes on after it was stopped"
