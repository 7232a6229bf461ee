"""Every paper has its place in the index."""

import re
from pathlib import Path

from medveil.methods import methods
from medveil.reproduce import reproductions

INDEX = Path(__file__).parents[2] / "docs" / "reproduction" / "README.md"


def test_the_index_lists_every_paper_and_only_methods_that_are_there():
    text = INDEX.read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[([\w-]+)\]\(\1\.md\)", text, re.MULTILINE)
    assert sorted(listed) == sorted(reproductions())
    named = {name for line in text.splitlines() if line.startswith("| [") for name in re.findall(r"`([\w-]+)`", line)}
    assert named <= set(methods())
