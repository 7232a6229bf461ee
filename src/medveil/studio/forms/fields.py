"""From the JSON schema of a class to the fields of a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from medveil.studio.forms.words import FormWords
from medveil.studio.policies import one_line

NUMBERS = {"integer", "number"}
HIDDEN = {"type"}
"""What says which class it is stands elsewhere in the form."""


@dataclass(frozen=True)
class FormField:
    """One field of a form.

    name: the parameter. widget: how it is asked for: check, maybe, number, text, choice, several, column, columns,
    lines, numbers, grid, pair or yaml. value: what it shows, as text or texts. percent: shown times a hundred.
    choices: values with their words. least, most: bounds of a number. whole: it has no decimals.
    """

    name: str
    label: str
    help: str
    widget: str
    value: Any
    required: bool = False
    advanced: bool = False
    percent: bool = False
    unit: str = ""
    choices: Sequence[tuple[str, str]] = ()
    least: float | None = None
    most: float | None = None
    whole: bool = False
    schema: Mapping[str, Any] = field(default_factory=dict, repr=False)


def fields_of(
    schema: Mapping[str, Any],
    given: Mapping[str, Any],
    words: FormWords,
    columns: Mapping[str, str] | None = None,
) -> list[FormField]:
    """The fields of a class with what is given for it. `words` says of each parameter how it is called and asked for;
    where it says nothing the schema does. `columns`: those of the table, with their roles.
    """
    required = set(schema.get("required", ()))
    return [
        _field(name, one, given, words.get(name, {}), name in required, columns or {})
        for name, one in schema.get("properties", {}).items()
        if name not in HIDDEN
    ]


def _field(
    name: str,
    schema: Mapping[str, Any],
    given: Mapping[str, Any],
    told: Any,
    required: bool,
    columns: Mapping[str, str],
) -> FormField:
    inner = plain(schema)
    value = given.get(name, schema.get("default"))
    widget = told.get("widget") or (
        "maybe" if _may_be_none(schema) and inner.get("type") == "boolean" else _widget(inner)
    )
    role = told.get("of")
    choices: list[tuple[str, str]] = []
    if widget in {"choice", "several"}:
        listed = inner.get("enum") or inner.get("items", {}).get("enum", ())
        known = told.get("choices", {})
        choices = [(str(one), known.get(str(one)) or str(one).replace("_", " ")) for one in listed]
    elif widget in {"column", "columns"}:
        fitting = [column for column, its in columns.items() if role is None or its in role]
        named = [value] if isinstance(value, str) else list(value or ())
        choices = [(column, column) for column in dict.fromkeys([*named, *fitting])]
    percent = told.get("unit") == "%"
    scale = 100 if percent else 1
    return FormField(
        name=name,
        label=told.get("label") or name.replace("_", " ").capitalize(),
        help=(told.get("help") or schema.get("description", "")).replace("`", ""),
        widget=widget,
        value=shown(value, widget, percent=percent),
        required=required,
        advanced=bool(told.get("advanced", not required and told.get("label") is None)),
        percent=percent,
        unit=told.get("unit") or "",
        choices=choices,
        least=_bound(inner, "minimum", "exclusiveMinimum", scale),
        most=_bound(inner, "maximum", "exclusiveMaximum", scale),
        whole=inner.get("type") == "integer",
        schema=schema,
    )


def plain(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of what is asked for: of a value that may be left out, that of the value; whole or broken, broken."""
    options = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(options) == 1:
        return {**options[0], "description": schema.get("description", "")}
    if options and all(one.get("type") in NUMBERS for one in options):
        return next(one for one in options if one["type"] == "number")
    return schema


def _may_be_none(schema: Mapping[str, Any]) -> bool:
    return any(one.get("type") == "null" for one in schema.get("anyOf", ()))


def _widget(inner: Mapping[str, Any]) -> str:
    kind = inner.get("type")
    if kind == "boolean":
        return "check"
    if kind in NUMBERS:
        return "number"
    if kind == "string":
        return "choice" if "enum" in inner else "text"
    if kind == "array" and "prefixItems" in inner:
        return "pair"
    if kind == "array":
        items = inner.get("items", {})
        if "enum" in items:
            return "several"
        if items.get("type") == "string":
            return "lines"
        if plain(items).get("type") in NUMBERS:
            return "numbers"
        if items.get("type") == "array" and plain(items.get("items", {})).get("type") in NUMBERS:
            return "grid"
    return "yaml"


def _bound(inner: Mapping[str, Any], name: str, exclusive: str, scale: int) -> float | None:
    found = inner.get(name, inner.get(exclusive))
    return None if found is None else found * scale


def shown(value: Any, widget: str, *, percent: bool = False) -> Any:
    """A value as a field shows it: a text, or texts where there are several."""
    if widget == "check":
        return bool(value)
    if widget == "maybe":
        return {True: "yes", False: "no"}.get(value, "")
    if widget in {"several", "columns"}:
        return [str(one) for one in value or ()]
    if widget == "pair":
        return ["", ""] if value is None else [_number(one) if not isinstance(one, str) else one for one in value]
    if value is None:
        return ""
    if widget == "number":
        return _number(Decimal(repr(value)) * 100 if percent else value)
    if widget == "lines":
        return "\n".join(str(one) for one in value)
    if widget == "numbers":
        return ", ".join(_number(one) for one in value)
    if widget == "grid":
        return "\n".join(", ".join(_number(one) for one in row) for row in value)
    if widget == "yaml":
        return one_line(value)
    return str(value)


def _number(value: Any) -> str:
    """A number as people write it, and so that it is read back as the very same."""
    if isinstance(value, Decimal):
        value = value.normalize()
        return format(value, "f") if abs(value.adjusted()) < 12 else str(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return f"{value:.1f}".removesuffix(".0")
    return repr(value)
