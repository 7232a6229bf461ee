"""The text of a policy and its parts: what a form changes is changed in the text, and comments stay where they are."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

WIDTH = 4_000


def _yaml() -> YAML:
    yaml = YAML(typ="rt")
    yaml.width = WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.preserve_quotes = True
    return yaml


def change(text: str, place: Sequence[str], value: Any) -> str:
    r"""The text with another value at a place, which is made where it is not there; None takes it out.

    >>> change("method: {name: iab} # why", ["method"], {"name": "optimal", "suppression": 0.02})
    'method: {name: optimal, suppression: 0.02} # why\n'
    """
    yaml = _yaml()
    root = yaml.load(text) or CommentedMap()
    node = root
    for key in place[:-1]:
        if not isinstance(node.get(key), CommentedMap):
            node[_word(key)] = CommentedMap()
        node = node[key]
    if value is None:
        node.pop(place[-1], None)
    else:
        _put(node, place[-1], value)
    written = io.StringIO()
    yaml.dump(root, written)
    return written.getvalue()


def _put(node: CommentedMap, key: str, value: Any) -> None:
    """Set a value; what stands as a mapping is changed in place, so that its comments stay."""
    known = node.get(key)
    if isinstance(known, CommentedMap) and isinstance(value, Mapping):
        for name in [name for name in known if name not in value]:
            del known[name]
        for name, inner in value.items():
            if known.get(name) != inner or name not in known:
                known[name] = _flow(inner)
        return
    node[_word(key)] = _flow(value, block=isinstance(value, list) and key == "privacy")


def _flow(value: Any, *, block: bool = False) -> Any:
    """Plain data as one line of YAML; `block`: a list with a line for each of its items."""
    if isinstance(value, Mapping):
        made = CommentedMap({_word(str(key)): _flow(inner) for key, inner in value.items()})
        made.fa.set_flow_style()
        return made
    if isinstance(value, list | tuple):
        listed = CommentedSeq([_flow(inner) for inner in value])
        if not block:
            listed.fa.set_flow_style()
        return listed
    return _word(value) if isinstance(value, str) else value


def _word(text: str) -> str:
    return DoubleQuotedScalarString(text) if _looks_odd(text) else text


def _looks_odd(text: str) -> bool:
    """Whether some reader of YAML takes the text for something else."""
    return (
        text.lower() in {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", ""} or not text.isprintable()
    )


def one_line(value: Any) -> str:
    """A value as YAML on one line, as a field of a form shows it.

    >>> one_line({"node": 0.1, "cells": [1, 2]}), one_line("7"), one_line("a b")
    ('{node: 0.1, cells: [1, 2]}', "'7'", 'a b')
    """
    yaml = _yaml()
    written = io.StringIO()
    yaml.dump(_flow(value), written)
    return written.getvalue().removesuffix("...\n").strip()


def read_line(text: str) -> Any:
    """The value of a field that holds YAML. Raises ValueError where it does not."""
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    try:
        return YAML(typ="safe", pure=True).load(text)
    except (YAMLError, RecursionError):
        raise ValueError("not YAML") from None
