"""A run reads its source once: everything afterwards, the proof included, looks at the snapshot."""

from dataclasses import dataclass, field

import pyarrow as pa
import pytest

import medveil
from medveil.datasets import patients
from medveil.run import Stage
from medveil.sources.source import Source

TABLE = patients(400, seed=3)
POLICY = {
    "attributes": {
        "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [10, 50]}},
        "sex": {"role": "quasi"},
        "disease": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 3}, {"model": "t-closeness", "t": 0.9}],
    "method": {"name": "optimal", "suppression": 0.05},
    "evaluation": {"attacks": True, "models": True},
}
METHODS = ["optimal", "mondrian", "fixed-interval", "h-ceiling"]


@dataclass(frozen=True)
class Counted(Source):
    """A table that knows how often it was read."""

    times: list[None] = field(default_factory=list)

    def batches(self):
        self.times.append(None)
        return pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())


@pytest.mark.parametrize("method", METHODS)
def test_a_source_is_read_once(method, tmp_path):
    source = Counted(tuple(TABLE.column_names), frozenset({""}))
    release = medveil.anonymize(source, {**POLICY, "method": method}, out=tmp_path / "out")
    assert release.manifest.rows["input"] == 400
    assert len(source.times) == 1


def test_a_changed_source_is_read_once(tmp_path):
    source = Counted(tuple(TABLE.column_names), frozenset({""}))
    attributes = {**POLICY["attributes"], "region": {"role": "key"}}
    medveil.anonymize(source, {**POLICY, "attributes": attributes}, out=tmp_path / "out")
    assert len(source.times) == 1


def test_a_file_may_be_gone_once_it_is_read(tmp_path):
    path = tmp_path / "patients.csv"
    pa.csv.write_csv(TABLE, path)

    def listen(event):
        if event.stage is Stage.COUNT:
            path.unlink(missing_ok=True)

    medveil.anonymize(path, POLICY, out=tmp_path / "out", progress=listen)
    assert not path.exists()
    assert (tmp_path / "out" / "internal" / "report.html").is_file()
