"""Paths into FHIR resources: the small part of FHIRPath that flat views need.

    name            an element; of a list, every member
    [0]             the member at a place
    where(a='x')    the members whose element has this value, such as where(system='phone')
    key()           the id behind a reference: `Patient/17`, `urn:uuid:17` and `Patient/17/_history/2` are 17
    key(Patient)    the same, of references to this kind of resource alone; `urn:uuid:17` may be of any kind

A path gives the first value that it leads to, as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

Step = Callable[[list[Any]], list[Any]]
_STEP = re.compile(
    r"(?:(?P<key>key\((?P<kind>[A-Za-z]*)\))|where\((?P<of>\w+)='(?P<value>[^']*)'\)|(?P<name>\w+))(?P<place>\[\d+\])?(?:\.|$)"
)


def compile_path(path: str) -> Callable[[Any], str | None]:
    """The function that a path is; ValueError where it is none.

    >>> compile_path("subject.reference.key()")({"subject": {"reference": "Patient/17"}})
    '17'
    >>> compile_path("name.where(use='usual').family")({"name": [{"use": "old"}, {"use": "usual", "family": "A"}]})
    'A'
    """
    steps: list[Step] = []
    place = 0
    while place < len(path):
        found = _STEP.match(path, place)
        if found is None or found.end() == place:
            raise ValueError("It is not a path: write names with dots between them, such as code.coding.code.")
        steps.append(_step(found))
        if found["place"]:
            steps.append(_at(int(found["place"][1:-1])))
        place = found.end()
    if not steps or path.endswith("."):
        raise ValueError("It is not a path: write names with dots between them, such as code.coding.code.")

    def follow(resource: Any) -> str | None:
        nodes = [resource]
        for step in steps:
            nodes = step(nodes)
            if not nodes:
                return None
        return _text(nodes[0])

    return follow


def _step(found: re.Match[str]) -> Step:
    if found["key"]:
        kind = found["kind"]
        return lambda nodes: [
            key for node in nodes if isinstance(node, str) and (key := reference_key(node, kind)) is not None
        ]
    if found["of"]:
        of, value = found["of"], found["value"]
        return lambda nodes: [node for node in nodes if isinstance(node, dict) and node.get(of) == value]
    name = found["name"]
    return lambda nodes: list(_members(node.get(name) for node in nodes if isinstance(node, dict)))


def reference_key(reference: str, kind: str = "") -> str | None:
    """The id that a reference names; None where it names none (a query, a contained resource), or another kind.

    >>> [reference_key(text, "Patient") for text in ("Patient/17", "urn:uuid:17", "Group/17", "Patient?identifier=17")]
    ['17', '17', None, None]
    """
    if reference.startswith("urn:"):
        return reference.rpartition(":")[2] or None
    parts = reference.split("/_history/", 1)[0].rsplit("/", 2)
    if len(parts) < 2 or not parts[-1] or "?" in reference or "#" in reference or (kind and parts[-2] != kind):
        return None
    return parts[-1]


def _at(place: int) -> Step:
    return lambda nodes: nodes[place : place + 1]


def _members(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, list):
            yield from value
        elif value is not None:
            yield value


def _text(value: Any) -> str | None:
    """Plain values as text; what is a record in turn has none."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else None
