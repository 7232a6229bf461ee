"""Every step that the proof names stands in the code."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
STEPS = {
    "settle", "seat", "shared_numbers", "PopulatedPlaces", "Planner", "group_classes", "Objective", "failing_shares",
    "published_rows", "catalog_entries", "judge", "learn", "assignments", "fewest", "weighted_table", "grouped_table",
}  # fmt: skip


def test_the_names_of_the_proof_are_in_the_code():
    page = (ROOT / "docs" / "proofs" / "h-ceiling.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", page))
    assert named >= STEPS, STEPS - named
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    for name in named - {"near", "never_mix", "on_failure"}:
        assert re.search(rf"^\s*(def|class) {name}\b", code, flags=re.MULTILINE), name
