"""What tests of differential privacy share: a policy, people, and a policy file beside its data."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv

ATTRIBUTES = {
    "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [10, 50]}},
    "sex": {"role": "quasi", "domain": ["f", "m"]},
    "ill": {"role": "sensitive", "domain": [f"i{n}" for n in range(12)]},
}


def policy(**changes):
    privacy = {"model": "differential-privacy", "epsilon": 2.0, **changes.pop("model", {})}
    attributes = {**ATTRIBUTES, **changes.pop("attributes", {})}
    return {"attributes": attributes, "privacy": [privacy], "method": "ipa", **changes}


def people(number, seed=1):
    chance = np.random.default_rng(seed)
    return pa.table(
        {
            "age": chance.integers(0, 100, number),
            "sex": chance.choice(["f", "m"], number),
            "ill": [f"i{n}" for n in chance.integers(0, 12, number) * chance.integers(0, 2, number)],
        }
    )


def write(folder, content, name="policy.json"):
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder / name


def prepare(folder):
    """A policy file beside its data."""
    pa.csv.write_csv(people(3000), folder / "people.csv")
    write(folder, policy(data="people.csv"))
    return folder
