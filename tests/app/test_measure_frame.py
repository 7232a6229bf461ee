"""k, l and t of a frame in one line, against the long way through a file and against pandas."""

import sys
import tempfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import medveil
from medveil.datasets import patients
from medveil.errors import InputError

QUASI, SENSITIVE = ["age", "sex", "region"], ["disease"]


@pytest.fixture(scope="module")
def table():
    return patients(3000, seed=4)


def of_kinds(table):
    objects = table.to_pandas()
    texts = {name: pd.ArrowDtype(pa.string()) for name in ("sex", "region", "disease")}
    return {
        "arrow": table,
        "chunked": pa.concat_tables([table.slice(0, 1000), table.slice(1000)]),
        "objects": objects.astype(object),
        "pandas": objects,
        "pandas with arrow": objects.astype(texts),
        "polars": pl.from_arrow(table),
        "mapping": {name: table[name] for name in table.column_names},
    }


@pytest.mark.parametrize("kind", ["arrow", "chunked", "objects", "pandas", "pandas with arrow", "polars", "mapping"])
def test_every_frame_reaches_what_its_file_reaches(kind, table, tmp_path):
    table.to_pandas().to_csv(tmp_path / "patients.csv", index=False)
    by_file = medveil.measure(tmp_path / "patients.csv", quasi=QUASI, sensitive=SENSITIVE)
    found = medveil.measure(of_kinds(table)[kind], quasi=QUASI, sensitive=SENSITIVE)
    assert [(one.model, one.attribute) for one in found.reached] == [(o.model, o.attribute) for o in by_file.reached]
    for one, other in zip(found.reached, by_file.reached, strict=True):
        assert one.figures == pytest.approx(other.figures)
    assert (found.k, found.l, found.t) == pytest.approx((by_file.k, by_file.l, by_file.t))
    assert sorted(found.sizes) == sorted(table.to_pandas().groupby(QUASI, observed=True).size())


def test_with_quasi_identifiers_alone_only_groups_are_counted(table):
    found = medveil.measure(table, quasi=QUASI)
    assert [one.model for one in found.reached] == ["k-anonymity"]
    assert (found.l, found.t) == (None, None)
    assert found.k == found.sizes.min()
    assert found.sizes.sum() == found.rows["published"] == 3000
    assert "sizes" not in found.to_dict()


values = st.one_of(st.none(), st.sampled_from([" a", "a", "a ", "b", "", "5", "05", "5.0"]))


@settings(max_examples=40)
@given(st.lists(st.tuples(values, values, st.sampled_from("xyz")), min_size=1, max_size=30))
def test_values_are_the_same_where_a_file_has_them_the_same(rows):
    """Spaces at the ends, empty and missing values, and numbers that are written in several ways."""
    columns = dict(zip(("a", "b", "s"), map(list, zip(*rows, strict=True)), strict=True))
    texts = pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})
    found = medveil.measure(texts, quasi=["a", "b"], sensitive=["s"])
    long_way = medveil.measure(texts, quasi=["a", "b"], sensitive=["s"], other=texts)
    assert found.reached == long_way.reached


@pytest.mark.parametrize(
    "values",
    [
        ["a", " a", None, "b", float("nan"), "a"],
        [1, True, "1", 1.0, None, "True"],
        ["a\ud800", "a", "a", None, "b", "a\ud800"],
    ],
    ids=["texts", "equal objects", "half a character"],
)
def test_python_objects_are_the_texts_that_they_are_written_as(values):
    frame = pd.DataFrame({"a": pd.Series(values, dtype=object), "s": list("xyxyxy")})
    found = medveil.measure(frame, quasi=["a"], sensitive=["s"])
    long_way = medveil.measure(frame, quasi=["a"], sensitive=["s"], other=frame)
    assert found.reached == long_way.reached


def test_lists_are_refused_in_a_sentence():
    frame = pd.DataFrame({"a": [[1], [2], [1]]})
    with pytest.raises(InputError, match="A column of the frame holds lists or records"):
        medveil.measure(frame, quasi=["a"])


def test_nothing_is_written_to_disk(table, tmp_path, monkeypatch):
    folder = tmp_path / "passage"
    folder.mkdir(mode=0o500)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.chdir(folder)
    opened = []

    def note(event, arguments):
        if event in {"open", "os.mkdir"} and not sys.is_finalizing():
            opened.append((event, arguments))

    sys.addaudithook(note)
    found = medveil.measure(table, quasi=QUASI, sensitive=SENSITIVE)
    made = [arguments[0] for event, arguments in opened if event == "os.mkdir" or set(str(arguments[1])) & set("wax+")]
    assert found.k >= 1
    assert [path for path in made if "__pycache__" not in str(path)] == []
    assert list(folder.iterdir()) == []


def test_a_copy_of_no_row_is_made():
    rows = 1_000_000
    codes = np.arange(rows) % 97
    column = pa.array([f"value {code}" for code in codes])
    before = pa.total_allocated_bytes()
    held = [before]
    found = medveil.measure(
        pa.table({"a": column}), quasi=["a"], progress=lambda _event: held.append(pa.total_allocated_bytes())
    )
    assert found.k == rows // 97
    # The numbers of the values take four bytes a row; a copy of the texts would take more than ten.
    assert max(held) - before < 5 * rows


@pytest.mark.parametrize(
    ("named", "said"), [({"quasi": ["nothing"]}, "no column"), ({"quasi": ["age", "age"]}, "twice")]
)
def test_wrong_names_are_refused(named, said, table):
    with pytest.raises(medveil.MedveilError, match=said):
        medveil.measure(table, **named)
