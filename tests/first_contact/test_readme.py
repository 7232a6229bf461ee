"""The README shows what medveil makes, and says which method to take when."""

import re
from pathlib import Path

import pytest

from medveil.methods import own_methods

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
CHOICE = README.split("## Which method")[1].split("\n## ")[0]


def test_it_shows_the_stewards_page_and_a_comparison():
    shown = re.findall(r'<img src="([^"]+)" alt="([^"]+)"', README)
    assert any("steward's page" in words for _, words in shown)
    assert any("comparison" in words for _, words in shown)
    for path, _ in shown:
        assert (Path(__file__).parents[2] / path).read_bytes().startswith(b"\x89PNG")


def test_it_says_in_three_sentences_when_to_take_which_method():
    before, *_ = CHOICE.strip().split("\n|")
    assert [line.split()[0] for line in before.strip().splitlines()] == ["Take"] * 3


@pytest.mark.parametrize("column", ["what you have", "what recipients need", "method", "what it costs"])
def test_the_table_has_this_column(column):
    assert f"| {column} |" in CHOICE


def test_methods_of_the_table_are_methods():
    rows = [line.split("|")[1:-1] for line in CHOICE.splitlines() if line.startswith("|")][2:]
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row[2])]
    assert set(named) <= set(own_methods())
    assert {"optimal", "mondrian", "h-ceiling", "fixed-interval", "diversity-aware", "ipa", "iab"} <= set(named)
    assert all(cell.strip() for row in rows for cell in row)
