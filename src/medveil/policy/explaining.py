"""What is wrong with a policy, in sentences with places: what pydantic found, said for those who wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from medveil.errors import Fault, did_you_mean
from medveil.evaluation.settings import EvaluationPolicy
from medveil.policy.attribute import AttributePolicy, DerivePolicy, ShiftPolicy
from medveil.policy.document import Policy, TablePolicy
from medveil.policy.publishing import AboutPolicy, LeakagePolicy, OutputPolicy, PseudonymPolicy
from medveil.policy_file import Lines
from medveil.sources.file import FileSpec

_WRAPPER = re.compile(
    r"(function|constrained|literal|tuple|list|dict|is-instance|union)[-\[].*|str|int|float|nullable|Range|Codes"
)
"""What pydantic puts into a location beside keys and positions."""
_IN_WORDS = {
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be a text: put it in quotes",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "tuple_type": "must be a list, such as [1, 2]",
    "list_type": "must be a list, such as [1, 2]",
    "dict_type": "must be a mapping, such as {key: value}",
    "model_type": "must be a mapping, such as {role: quasi}",
}
"""What pydantic says in the words of Python, by its kind of fault."""
_SHAPE = "shape"
"""The kind of a fault of a value that has none of the shapes that it may have."""


@dataclass(frozen=True)
class _Fault:
    """One thing that is wrong: where, of what kind, in pydantic's words, and which keys would be known there."""

    place: tuple[Any, ...]
    kind: str
    message: str
    known: list[str]


def explain(error: ValidationError, lines: Lines | None) -> list[Fault]:
    """What is wrong with a policy, each in a sentence, with the line of its file where it has one."""
    faults = [fault for detail in error.errors() for fault in _faults(detail, (), list(Policy.model_fields))]
    return list(dict.fromkeys(_explain(fault, lines) for fault in _in_one(_meant(faults))))


def _faults(detail: Any, outer: tuple[Any, ...], known: list[str]) -> Iterator[_Fault]:
    """The faults behind one of pydantic's errors, down into the parts whose class is chosen by a name."""
    named = _named(detail["loc"]) if not outer else 0
    inner = (
        *detail["loc"][:named],
        *(part for part in detail["loc"][named:] if not isinstance(part, str) or not _WRAPPER.fullmatch(part)),
    )
    place, kind = (*outer, *inner), detail["type"]
    if kind == "inside":
        for nested in detail["ctx"]["errors"]:
            yield from _faults(nested, place, detail["ctx"]["known"])
    elif kind in {"value_error", "assertion_error"}:
        yield _Fault(place, kind, str(detail["ctx"]["error"]), known)
    else:
        yield _Fault(place, kind, detail["msg"], known if outer else _known_keys(place[:-1]))


def _named(location: tuple[Any, ...]) -> int:
    """How many parts of a location are keys for certain: a table or a column may be called like a wrapper."""
    match location:
        case ("tables", _, "attributes", _, *_):
            return 4
        case ("tables" | "attributes", _, *_):
            return 2
    return 0


def _meant(faults: list[_Fault]) -> list[_Fault]:
    """Where a value may have one of several shapes, pydantic faults it for each; only what is wrong with the shape that
    it has is told.
    """

    def misses(fault: _Fault, other: _Fault) -> bool:
        """Whether the fault is that of a shape which the value was not meant to have, as another fault shows."""
        of_type = fault.kind.endswith("_type")
        if fault.place == other.place:
            return of_type and not other.kind.endswith("_type")
        return (of_type or fault.kind == "literal_error") and other.place[: len(fault.place)] == fault.place

    return [fault for fault in faults if not any(misses(fault, other) for other in faults)]


def _in_one(faults: list[_Fault]) -> list[_Fault]:
    """Where a value has none of the shapes that it may have, one fault that names them all."""
    shapes: dict[tuple[Any, ...], list[str]] = {}
    for fault in faults:
        if fault.kind.endswith("_type"):
            shapes.setdefault(fault.place, []).append(_in_words(fault).removeprefix("must be "))
    told: list[_Fault] = []
    for fault in faults:
        if not fault.kind.endswith("_type"):
            told.append(fault)
        elif words := shapes.pop(fault.place, None):
            told.append(replace(fault, kind=_SHAPE, message=f"must be {', or '.join(dict.fromkeys(words))}"))
    return told


def _in_words(fault: _Fault) -> str:
    return _IN_WORDS.get(fault.kind) or fault.message.replace("Input should", "must", 1)


def _explain(fault: _Fault, lines: Lines | None) -> Fault:
    """A fault in a sentence that says what to do. Values of the policy are not repeated."""
    place = ".".join(str(part) for part in fault.place)
    line = lines.number(fault.place) if lines else None
    if fault.kind == "extra_forbidden":
        hint = did_you_mean(str(fault.place[-1]), fault.known)
        return Fault(place, line, f"there is no such key. {hint}".rstrip())
    if fault.kind == "missing":
        return Fault(place, line, "it is required.")
    words = _in_words(fault)
    end = "" if words.endswith((".", "?")) else "."
    return Fault(place, line, f"{words[0].lower()}{words[1:]}{end}")


def _known_keys(place: tuple[Any, ...]) -> list[str]:
    """The keys that the policy itself knows at a place."""
    match place:
        case ():
            return list(Policy.model_fields)
        case ("tables", _):
            return list(TablePolicy.model_fields)
        case ("attributes", _) | ("tables", _, "attributes", _):
            return list(AttributePolicy.model_fields)
        case ("attributes", _, "derive") | ("tables", _, "attributes", _, "derive"):
            return list(DerivePolicy.model_fields)
        case ("attributes", _, "shift") | ("tables", _, "attributes", _, "shift"):
            return list(ShiftPolicy.model_fields)
        case ("pseudonyms",):
            return list(PseudonymPolicy.model_fields)
        case ("release",):
            return list(AboutPolicy.model_fields)
        case ("output",):
            return list(OutputPolicy.model_fields)
        case ("evaluation",):
            return list(EvaluationPolicy.model_fields)
        case ("leakage",):
            return list(LeakagePolicy.model_fields)
        case ("data", *_):
            return list(FileSpec.model_fields)
    return []
