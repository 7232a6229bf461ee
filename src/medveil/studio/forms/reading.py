"""From what a form brought back to the parameters of a class."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from starlette.datastructures import FormData

from medveil.studio.forms.fields import NUMBERS, FormField, plain
from medveil.studio.policies import read_line

LONGEST = 400_000


def read_fields(fields: Sequence[FormField], form: FormData, prefix: str = "") -> tuple[dict[str, Any], dict[str, str]]:
    """The parameters that differ from their defaults, and for fields that cannot be read which of the texts of
    `faults` says why.
    """
    found: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for field in fields:
        try:
            value = _read(field, [str(one)[:LONGEST] for one in form.getlist(f"{prefix}{field.name}")])
        except (ValueError, InvalidOperation):
            faults[field.name] = field.widget
            continue
        default = field.schema.get("default")
        if value is None and (default is None or field.widget not in {"text", "yaml"}):
            if field.required:
                faults[field.name] = "required"
            continue
        if field.required or not same(value, default):
            found[field.name] = value
    return found, faults


def same(one: Any, other: Any) -> bool:
    """Whether two values mean the same to a policy: 1 and 1.0 do, 1 and true do not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)


def _read(field: FormField, given: list[str]) -> Any:
    inner = plain(field.schema)
    if field.widget == "check":
        return "on" in given
    if field.widget == "maybe":
        return {"yes": True, "no": False}.get((given or [""])[-1])
    if field.widget == "several":
        return [value for value, _ in field.choices if value in given] or None
    if field.widget == "columns":
        return list(dict.fromkeys(given)) or None
    if field.widget == "pair":
        return _pair(inner, given)
    text = (given or [""])[-1].strip()
    if not text:
        return None
    if field.widget == "number":
        return _scaled(text, whole=field.whole, percent=field.percent)
    if field.widget == "lines":
        return [line.strip() for line in text.splitlines() if line.strip()]
    if field.widget == "numbers":
        return [_any_number(part) for part in text.replace(";", ",").split(",") if part.strip()]
    if field.widget == "grid":
        rows = [line for line in text.splitlines() if line.strip()]
        return [[_any_number(part) for part in line.replace(";", ",").split(",") if part.strip()] for line in rows]
    if field.widget == "yaml":
        return read_line(text)
    return text


def _pair(inner: Mapping[str, Any], given: Sequence[str]) -> list[Any] | None:
    texts = [text.strip() for text in given]
    if not any(texts):
        return None
    if len(texts) != 2 or not all(texts):
        raise ValueError("two are needed")
    numbers = plain(inner["prefixItems"][0]).get("type") in NUMBERS
    return [_any_number(text) if numbers else text for text in texts]


def _scaled(text: str, *, whole: bool, percent: bool) -> int | float:
    if percent:
        return float(Decimal(text.removesuffix("%").strip()) / 100)
    return int(text) if whole else _any_number(text)


def _any_number(text: str) -> int | float:
    text = text.strip()
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if not math.isfinite(number):
        raise ValueError("not a number")
    return number
