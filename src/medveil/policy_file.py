"""A policy file as data, and the line on which each part of it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from medveil.errors import PolicyError


@dataclass(frozen=True)
class Lines:
    """Where the parts of a policy stand in its file."""

    root: Any

    def number(self, location: Sequence[Any]) -> int | None:
        """The line, counted from 1, of the deepest part of a location that is in the file."""
        node, line = self.root, None
        for part in location:
            try:
                if isinstance(node, CommentedMap):
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
    try:
        root = YAML(typ="rt").load(text)
    except RecursionError:
        raise PolicyError(f"'{path.name}' is nested too deeply.", "A policy needs no more than a few levels.") from None
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        where = f"Line {mark.line + 1} of " if mark else ""
        problem = error.problem if isinstance(error, MarkedYAMLError) else "it is not valid"
        raise PolicyError(f"{where}'{path.name}' is not YAML: {problem}.", "Check indentation and colons.") from None
    if not isinstance(root, CommentedMap):
        raise PolicyError(f"'{path.name}' is not a policy.", "It needs 'attributes:' and 'privacy:'.")
    return _plain(root), Lines(root)


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
