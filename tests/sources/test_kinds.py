"""Every kind of source: found by being there, declared in a policy, read where it is or by its batches."""

from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medveil.app.preparation import open_data
from medveil.engine import open_engine, with_rows
from medveil.errors import InputError, PolicyError
from medveil.policy import load_policy
from medveil.sources import sources
from medveil.sources.opening import open_source
from medveil.sources.source import Source
from medveil.testing import check_part, check_source
from medveil.workspace import Workspace

ATTRIBUTES = {"attributes": {"n": {"role": "quasi"}}, "privacy": [{"model": "k-anonymity", "k": 1}]}
TABLE = pa.table({"n": [1, None, 3], "f": [1.5, float("nan"), 2.0], "t": ["a", " ?", None]})


@dataclass(frozen=True)
class ByBatches(Source):
    """The same source for an engine that does not know its location."""

    inner: Source

    def batches(self) -> pa.RecordBatchReader:
        return self.inner.batches()


def texts(source):
    with open_engine(source, source.names, may_be_empty=True) as engine:
        return with_rows(engine).texts(source.names).to_pydict()


def both(source):
    """What is read from the location, and by batches."""
    return texts(source), texts(ByBatches(source.names, source.missing, source))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "t.csv").write_text('n;"T"\n1;"a; ""b"""\n; ?\n3;"c\nd"\n', encoding="utf-8")
    pa.parquet.write_table(TABLE, tmp_path / "t.parquet")
    return tmp_path


def test_they_are_found_by_being_there():
    known = ["csv", "excel", "fhir", "file", "frame", "json-lines", "omop", "parquet", "spark", "sql", "statistics"]
    assert list(sources()) == known


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_batches_give_what_the_location_gives(files, name):
    located, batched = both(open_source(files / name, missing=["?"]))
    assert located == batched
    assert located["n"] == ["1", None, "3"]


fields = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=6)


@settings(max_examples=30, deadline=None)
@given(records=st.lists(st.tuples(fields, fields), min_size=1, max_size=8), delimiter=st.sampled_from(",;\t|"))
def test_any_csv_is_read_alike_from_its_location_and_by_batches(tmp_path_factory, records, delimiter):
    lines = [delimiter.join(f'"{field.replace(chr(34), chr(34) * 2)}"' for field in row) for row in records]
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_text("\n".join([f"a{delimiter}b", *lines, ""]), encoding="utf-8", newline="")
    located, batched = both(open_source(path, delimiter=delimiter, encoding="utf-8"))
    assert located == batched
    trimmed = [tuple(field.strip(" \t\r\n\u00a0") or None for field in row) for row in records]
    assert list(zip(located["a"], located["b"], strict=True)) == trimmed


def test_a_damaged_csv_tells_no_value_by_batches_either(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\nzzPLANTEDzz\n", encoding="utf-8")
    source = open_source(path)
    with pytest.raises(InputError) as error:
        texts(ByBatches(source.names, source.missing, source))
    assert "zzPLANTEDzz" not in str(error.value)


@pytest.mark.parametrize(
    "data",
    [
        {"type": "csv", "path": "t.csv", "delimiter": ";"},
        {"type": "file", "path": "t.csv"},
        {"path": "t.csv", "delimiter": ";"},
        {"type": "parquet", "path": "t.parquet", "missing": ["?"]},
        "t.parquet",
    ],
)
def test_a_policy_declares_its_source(files, data):
    policy, _ = load_policy({"data": data, **ATTRIBUTES})
    assert texts(open_data(policy, Workspace(files)))["n"] == ["1", None, "3"]
    written = policy.model_dump(mode="json", exclude_unset=True)
    again, _ = load_policy(written)
    assert again == policy


def test_a_frame_in_a_policy_is_not_written_down_with_it():
    policy, _ = load_policy({"data": {"type": "frame", "frame": pd.DataFrame({"n": ["zzPLANTEDzz"]})}, **ATTRIBUTES})
    assert texts(open_data(policy, Workspace())) == {"n": ["zzPLANTEDzz"]}
    assert policy.model_dump(mode="json", exclude_unset=True)["data"] == {"type": "frame"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"type": "cvs", "path": "t.csv"}, "Did you mean 'csv'"),
        ({"type": "parquet", "path": "t", "delimiter": ";"}, "delimiter"),
        ({"pth": "t.csv"}, "Did you mean 'path'"),
        ({"delimiter": ";"}, "data.path"),
    ],
)
def test_a_wrong_declaration_is_refused_with_its_place(data, words):
    with pytest.raises(PolicyError) as error:
        load_policy({"data": data, **ATTRIBUTES})
    assert words in str(error.value)


def test_a_source_stays_in_its_workspace(files):
    inner = files / "inner"
    inner.mkdir()
    declared = sources()["csv"].model_validate({"path": "../t.csv"})
    assert declared.open(Workspace(inner)).names == ("n", "T")
    with pytest.raises(PolicyError, match="out of the workspace"):
        declared.open(Workspace(inner, inner))


def test_a_file_is_known_again_and_a_frame_is_not(files):
    first, second = open_source(files / "t.csv"), open_source(files / "." / "t.csv")
    assert first.identity == second.identity is not None
    assert open_source(files / "t.parquet").identity != first.identity
    assert open_source(TABLE).identity is None


@pytest.mark.parametrize("name", sources())
def test_every_kind_is_declared_as_policies_need_it(name):
    check_part(sources()[name])


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("csv", {"path": "t.csv"}),
        ("file", {"path": "t.csv"}),
        ("parquet", {"path": "t.parquet"}),
        ("frame", {"frame": TABLE}),
    ],
)
def test_the_contract_that_plug_ins_run_holds_of_our_own(files, name, given):
    check_source(sources()[name].model_validate(given), files)
