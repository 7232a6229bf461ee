"""One column, two commands: `hierarchy` and `inspect` propose the same."""

import pyarrow as pa

from medveil.app.hierarchy import hierarchy
from medveil.app.inspect import inspect


def test_hierarchy_and_inspect_propose_the_same():
    table = pa.table(
        {
            "age": [number % 97 for number in range(400)],
            "zip": [f"{10_115 + number % 40:05d}" for number in range(400)],
            "ward": [f"W{number % 30:02d}" for number in range(400)],
        }
    )
    guessed = dict(zip(table.column_names, inspect(table).guesses, strict=True))
    age = hierarchy(table, "age")
    assert age.specification == guessed["age"].hierarchy
    assert age.to_dict() == {"type": "intervals", "domain": [0, 99], "widths": [5, 10, 20, 40], "top": 90}
    assert hierarchy(table, "ward").specification == guessed["ward"].hierarchy
    assert guessed["zip"].hierarchy.least_level == 1
