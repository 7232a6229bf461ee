"""A release in parts: read, proved and measured as one, and every part is held to the manifest."""

import json

import pyarrow.parquet as pq
import pytest

import medveil
from medveil.auditor import audit
from medveil.engine import WrittenPart
from medveil.engine.opening import open_engine
from medveil.release.manifest import file_hash
from medveil.run import Run

ROWS = 60
FRAME = {"age": [20 + i % 10 for i in range(ROWS)], "ill": ["abc"[i % 3] for i in range(ROWS)]}
POLICY = {
    "attributes": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 3}],
    "output": {"format": "parquet"},
}


def in_parts(publication, folder):
    table = publication.to_arrow()
    (folder / "release").mkdir()
    parts = []
    for number in range(3):
        name = f"release/part-{number}.parquet"
        part = table.slice(number * 20, 20)
        pq.write_table(part, folder / name)
        parts.append(WrittenPart(name, part.num_rows, file_hash(folder / name)))
    return tuple(parts)


class EngineInParts:
    """An engine that writes in three parts, as a cluster does."""

    def __init__(self, inner):
        self.inner = inner

    def __enter__(self):
        return self

    def __exit__(self, *how):
        self.inner.close()

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def publish(self, *given, **named):
        publication = self.inner.publish(*given, **named)
        return Written(publication)


class Written:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def write(self, folder, _file_format):
        return in_parts(self.inner, folder)


def engines(*given, **named):
    return EngineInParts(open_engine(*given, **named))


@pytest.fixture
def folder(tmp_path):
    medveil.anonymize(FRAME, POLICY, out=tmp_path / "out", run=Run(engines=engines))
    return tmp_path / "out"


def test_parts_are_published_and_proved_again(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    names = [f"release/part-{number}.parquet" for number in range(3)]
    assert manifest["release"] == "release"
    assert manifest["parts"] == dict.fromkeys(names, 20)
    assert set(names) <= manifest["files"].keys()
    assert manifest["rows"]["published"] == ROWS
    report = medveil.audit(folder, FRAME)
    assert report.ok, report
    assert medveil.measure(folder).k >= 3
    assert medveil.measure(folder, FRAME).measures


def refuted(folder):
    return " ".join(audit(folder).problems)


def test_a_part_that_is_missing_changed_or_not_listed(folder):
    part = folder / "release" / "part-1.parquet"
    (folder / "release" / "part-9.parquet").write_bytes(part.read_bytes())
    assert "'release/part-9.parquet' is not listed" in refuted(folder)
    (folder / "release" / "part-9.parquet").unlink()
    assert not audit(folder).problems
    part.write_bytes((folder / "release" / "part-0.parquet").read_bytes())
    assert "'release/part-1.parquet' was changed" in refuted(folder)
    part.unlink()
    assert "'release/part-1.parquet' is missing" in refuted(folder)


def test_rows_must_be_sorted_from_part_to_part(folder):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "parts": dict.fromkeys(reversed(manifest["parts"]), 20)}))
    assert "are not sorted by what they publish" in refuted(folder)


@pytest.mark.parametrize("changed", [["part-1"], ["part-0", "part-2"]], ids=["within a part", "between parts"])
def test_a_part_that_is_out_of_order_is_found(folder, changed):
    """Listed as it is, with its own hash: rows are reversed within a part, or two parts hold each other's."""
    paths = [folder / "release" / f"{name}.parquet" for name in changed]
    tables = [pq.read_table(path) for path in paths]
    if len(paths) == 1:
        tables = [tables[0].take(list(range(tables[0].num_rows))[::-1])]
    for path, table in zip(paths, tables[::-1], strict=True):
        pq.write_table(table, path)
    listed = folder / "manifest.json"
    manifest = json.loads(listed.read_text())
    manifest["files"] |= {f"release/{path.name}": file_hash(path) for path in paths}
    listed.write_text(json.dumps(manifest))
    assert "are not sorted by what they publish" in refuted(folder)
    assert "was changed" not in refuted(folder)


@pytest.mark.parametrize(
    "parts",
    [{"../part": 60}, {"release/../../x": 60}, {"elsewhere/part": 60}, {"release/a": -1}, {"release/a": "60"}, ["x"]],
)
def test_forged_parts_are_refused(folder, parts):
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "parts": parts}))
    with pytest.raises(medveil.InputError):
        audit(folder)


def test_parts_of_other_numbers_are_found(folder):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "parts": dict.fromkeys(manifest["parts"], 19)}))
    assert "60 rows where the manifest says 57 in its parts" in refuted(folder)
