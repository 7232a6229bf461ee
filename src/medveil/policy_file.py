"""A policy file as data, and the line on which each part of it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from medveil.errors import Fault, PolicyError

MOST_BYTES = 4 << 20
MOST_PARTS = 200_000
"""Parts of a policy, each counted as often as aliases repeat it: a policy of ten thousand columns has fewer."""
MOST_LEVELS = 40


@dataclass(frozen=True)
class Lines:
    """Where the parts of a policy stand in its file."""

    root: Any

    def number(self, location: Sequence[Any]) -> int | None:
        """The line, counted from 1, of the deepest part of a location that is in the file."""
        node, line = self.root, None
        for given in location:
            part = given
            try:
                if isinstance(node, CommentedMap):
                    # A key that YAML reads as a number or a date is a text in the policy.
                    part = next((key for key in node if str(key) == given), given)
                    line = node.lc.key(part)[0] + 1
                elif isinstance(node, CommentedSeq):
                    line = node.lc.item(part)[0] + 1
                node = node[part]
            except (KeyError, IndexError, TypeError):
                break
        return line


def read_policy_file(path: Path) -> tuple[dict[str, Any], Lines]:
    """The content of a YAML or JSON policy (JSON is YAML), and its lines."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise PolicyError(f"There is no policy '{path}'.", "'medveil inspect DATA --policy-out' starts one.") from None
    except (OSError, UnicodeDecodeError, ValueError):
        raise PolicyError(f"'{path}' cannot be read.", "A policy is a text file in UTF-8.") from None
    return read_policy_text(text, path.name)


def read_policy_text(text: str, name: str = "policy") -> tuple[dict[str, Any], Lines]:
    """The content of a policy that is at hand as text, and its lines; `name` is what errors call it."""
    if len(text) > MOST_BYTES:
        raise PolicyError(f"'{name}' is too large for a policy.", "Keep long lists in files, and name those.")
    try:
        _refuse_depth(text)
        root = YAML(typ="rt").load(text)
    except RecursionError:
        raise PolicyError(f"'{name}' is nested too deeply.", "A policy needs no more than a few levels.") from None
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        where = f"Line {mark.line + 1} of " if mark else ""
        problem, remedy = _in_words((error.problem if isinstance(error, MarkedYAMLError) else "") or "it is not valid")
        fault = Fault("", mark.line + 1 if mark else None, f"this is not YAML: {problem}. {remedy}")
        raise PolicyError(f"{where}'{name}' is not YAML: {problem}.", remedy, [fault]) from None
    if not isinstance(root, CommentedMap):
        raise PolicyError(f"'{name}' is not a policy.", "It needs 'attributes:' and 'privacy:'.")
    if not _is_bounded(root):
        raise PolicyError(
            f"'{name}' repeats or nests its parts too often.",
            f"A policy has at most {MOST_LEVELS} levels; aliases may repeat parts, but not {MOST_PARTS:,} of them.",
        )
    return _plain(root), Lines(root)


def _refuse_depth(text: str) -> None:
    """Give up before the parser does, which takes seconds for it. Brackets in texts and comments are counted too: of
    those that stay open there are never so many.
    """
    depth = 0
    for bracket in re.finditer(r"[\[{\]}]", text):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > 10 * MOST_LEVELS:
            raise RecursionError


def _in_words(problem: str) -> tuple[str, str]:
    """What the parser found and what to do about it. What the policy holds is not repeated, but for a key."""
    if twice := re.match(r'found duplicate key "([^"]*)"', problem):
        return f"the key '{twice[1]}' appears twice", "Keep one of them."
    if r"'\t'" in problem:
        return "it is indented with a tab", "Indent with spaces."
    return problem, "Check indentation and colons."


def _is_bounded(root: Any) -> bool:
    """Whether the content, written out without aliases, stays within bounds: a few of them can double it each."""
    sizes: dict[int, int] = {}

    def size(node: Any, level: int) -> int:
        if not isinstance(node, CommentedMap | CommentedSeq):
            return 1
        if level > MOST_LEVELS:
            return MOST_PARTS + 1
        if id(node) not in sizes:
            parts = node.values() if isinstance(node, CommentedMap) else node
            sizes[id(node)] = 1 + sum(size(part, level + 1) for part in parts)
        return sizes[id(node)]

    return size(root, 0) <= MOST_PARTS


def _plain(node: Any) -> Any:
    """The content without ruamel's own types."""
    if isinstance(node, CommentedMap):
        return {str(key): _plain(value) for key, value in node.items()}
    if isinstance(node, CommentedSeq):
        return [_plain(value) for value in node]
    for kind in (bool, int, float, str):
        if isinstance(node, kind):
            return kind(node)
    return node
