"""Advice that tests of other folders make appear: `elsewhere.tsv` has its file, its words and the test.

Whether a test does so is looked at while it runs, by `tests/conftest.py`.
"""

from functools import cache
from pathlib import Path

Key = tuple[str, str]


@cache
def elsewhere() -> dict[str, set[Key]]:
    """By test what it makes appear."""
    found: dict[str, set[Key]] = {}
    for line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines():
        place, words, test = line.split("\t")
        found.setdefault(test, set()).add((place, words))
    return found
