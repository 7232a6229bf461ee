"""Under differential privacy the policy alone says how data are read, and nothing is refused for what cells hold."""

import json

import pandas as pd
import pytest

import medveil

AGE = {"role": "quasi", "type": "number", "domain": {"range": [0, 99]}}
ILL = {"role": "sensitive", "domain": ["a", "b"]}
PRIVATE = {
    "attributes": {"age": AGE, "ill": ILL},
    "privacy": [{"model": "differential-privacy", "epsilon": 50.0}],
    "method": "dp-histogram",
    "output": {"report": False},
}
LINES = [f"{30 + i % 3},{'ab'[i % 2]}" for i in range(60)]


def release(tmp_path, content, **data):
    """The number of published records of a file with this content."""
    (tmp_path / "data.csv").write_bytes(content)
    (tmp_path / "policy.yaml").write_text(json.dumps({"data": {"path": "data.csv", **data}, **PRIVATE}))
    made = medveil.anonymize(None, tmp_path / "policy.yaml", out=tmp_path / "release")
    return made.manifest.rows["published"]


def with_cell(cell):
    return b"\n".join([b"age,ill", *(line.encode() for line in LINES), b"31," + cell, b""])


@pytest.mark.parametrize(
    "cell",
    [
        b"\xe4",
        b"\xff\xfe",
        b"\x81\x8d",
        b"\x00\x01\x02",
        "\N{GRINNING FACE}".encode(),
        b'"{""resourceType"": 1}"',
        b"=1",
    ],
    ids=["latin-1", "no text", "no cp1252", "controls", "emoji", "json", "formula"],
)
def test_no_cell_changes_how_others_are_read(tmp_path, cell):
    assert release(tmp_path, with_cell(cell)) > 50


def test_a_delimiter_is_not_found_out(tmp_path):
    content = with_cell(b"a").replace(b",", b";")
    with pytest.raises(medveil.InputError, match=r"no column 'age'.*nothing is detected.*',' between fields"):
        release(tmp_path, content)
    assert release(tmp_path, content, delimiter=";") > 50


def test_an_encoding_is_not_found_out(tmp_path):
    content = with_cell(b"a").decode().encode("utf-16")
    with pytest.raises(medveil.InputError):
        release(tmp_path, content)
    assert release(tmp_path, content, encoding="utf-16") > 50


def test_a_first_line_that_looks_like_a_record_holds_names_unless_the_policy_names_columns(tmp_path):
    content = "\n".join(LINES).encode()
    with pytest.raises(medveil.InputError, match="no column 'age'"):
        release(tmp_path, content)
    assert release(tmp_path, content, columns=["age", "ill"]) > 50


@pytest.mark.parametrize("content", [b"", b'{"a": 1},a\n', b"%PDF,a\n", b"\xef\xbb\xbf31,a\n"])
def test_not_even_an_only_record_is_looked_at_before_it_is_counted(tmp_path, content):
    assert release(tmp_path, content, columns=["age", "ill"]) >= 0


def test_the_same_bytes_are_refused_where_counts_are_published_as_they_are(tmp_path):
    (tmp_path / "data.csv").write_bytes(with_cell(b"\x00\x01\x02"))
    with pytest.raises(medveil.InputError):
        medveil.inspect(tmp_path / "data.csv")


def test_frames_are_read_as_before():
    frame = pd.DataFrame({"age": [31, 32] * 30, "ill": ["a", "\ud800"] * 30})
    assert medveil.anonymize(frame, PRIVATE).manifest.rows["published"] > 0
