"""Numbers that are further apart than a float can tell are published, and the loss of that is a number."""

import math

import pyarrow as pa

import medveil


def test_one_range_over_the_largest_numbers_has_a_finite_loss(tmp_path):
    table = pa.table({"amount": [sign * (1 + i / 100) * 1e308 for i in range(15) for sign in (-1.0, 1.0)]})
    policy = {
        "attributes": {"amount": {"role": "quasi", "type": "number"}},
        "privacy": [{"model": "k-anonymity", "k": table.num_rows}],
        "method": "mondrian",
        "output": {"report": False},
    }
    release = medveil.anonymize(table, policy, out=tmp_path / "release")
    assert release.manifest.rows["published"] == table.num_rows
    assert math.isclose(release.manifest.method["loss"], 1.0)
