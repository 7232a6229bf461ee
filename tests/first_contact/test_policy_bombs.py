"""A policy file may come from anybody: a few bytes must not keep the program busy."""

import time

import pytest

from medveil.errors import PolicyError
from medveil.policy_file import read_policy_file

DOUBLING = "\n".join(
    [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9) if i else ', '.join(['x'] * 9)}]" for i in range(12)]
)
MERGING = "a0: &a0 {x: 1}\n" + "\n".join(
    f"a{i}: &a{i} {{<<: *a{i - 1}, k{i}: [*a{i - 1}, *a{i - 1}]}}" for i in range(1, 30)
)
DEEP = "a: " + "[" * 400 + "]" * 400


@pytest.mark.parametrize("text", [DOUBLING, MERGING, DEEP], ids=["doubling", "merging", "deep"])
def test_bombs_are_refused_at_once(tmp_path, text):
    path = tmp_path / "policy.yaml"
    path.write_text(f"attributes: {{}}\nprivacy: []\n{text}\n", encoding="utf-8")
    started = time.process_time()
    with pytest.raises(PolicyError):
        read_policy_file(path)
    assert time.process_time() - started < 2


def test_aliases_are_fine_where_they_save_typing(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text("attributes:\n  a: &one {role: quasi}\n  b: *one\nprivacy: []\n", encoding="utf-8")
    content, _ = read_policy_file(path)
    assert content["attributes"]["b"] == {"role": "quasi"}
