"""Makes docs/reference.md from the code: every command, policy key, model, method, hierarchy and measure.

`python docs/build.py` writes it, `python docs/build.py --check` fails where it is out of date.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from medveil.cli import app
from medveil.engine import engines
from medveil.evaluation.settings import EvaluationPolicy
from medveil.hierarchy import builders
from medveil.methods import methods
from medveil.policy import (
    AboutPolicy,
    AttributePolicy,
    DerivePolicy,
    LeakagePolicy,
    OutputPolicy,
    Policy,
    PseudonymPolicy,
    ShiftPolicy,
    TablePolicy,
)
from medveil.privacy import models
from medveil.profiles import profiles
from medveil.risk import risks
from medveil.sources import sources
from medveil.utility import measures

PAGE = Path(__file__).parent / "reference.md"


def fields(part: type[BaseModel], hidden: frozenset[str] = frozenset()) -> Iterator[str]:
    """A table of a class's parameters."""
    known = {name: field for name, field in part.model_fields.items() if name not in hidden}
    if not known:
        yield "It has no parameters."
        return
    yield "| key | default | what it is |"
    yield "|---|---|---|"
    for name, field in known.items():
        default = "required" if field.default is PydanticUndefined and field.default_factory is None else shown(field)
        yield f"| `{name}` | {default} | {field.description or ''} |"


def shown(field: Any) -> str:
    value = field.get_default(call_default_factory=True)
    if value is None or value == ():
        return "none"
    return "see below" if isinstance(value, BaseModel) else f"`{value}`"


def prose(documented: Any) -> str:
    return inspect.cleandoc(documented.__doc__ or "")


def section(title: str, key: str, found: Mapping[str, type[BaseModel]], hidden: frozenset[str]) -> Iterator[str]:
    yield f"## {title}"
    for name, part in found.items():
        yield f"### `{key}: {name}`"
        yield prose(part)
        yield "\n".join(fields(part, hidden))


def page() -> str:
    parts = [
        "# Reference",
        "Made from the code by `docs/build.py`. The [guide](guide.md) tells how the parts fit together.",
        "## Commands",
        *commands(),
        "Exit codes: 0 done, 2 bad input, 3 goal unreachable, 4 a claim did not verify, 130 stopped.",
        "## The policy file",
        *("\n".join(fields(part)) if not isinstance(part, str) else part for part in policy_parts()),
        *section("Sources", "type", sources(), frozenset({"type"})),
        *section("Engines", "type", engines(), frozenset({"type"})),
        *section("Privacy models", "model", models(), frozenset()),
        *section("Methods", "name", methods(), frozenset()),
        *section("Hierarchies", "type", builders(), frozenset({"type"})),
        *section("Profiles", "profile", profiles(), frozenset()),
        "## Measures",
        *(f"### `{name}`\n\n{prose(measure)}" for name, measure in measures().items()),
        "## Risks",
        *(f"### `{name}`\n\n{prose(risk)}" for name, risk in risks().items()),
    ]
    return "\n\n".join(parts) + "\n"


def policy_parts() -> Iterator[Any]:
    yield Policy
    yield from ("Under `tables`, for each of several linked tables:", TablePolicy)
    yield from ("Under `attributes`, for each column:", AttributePolicy)
    yield from ("Under `derive`, of a column of dates:", DerivePolicy, "Under `shift`:", ShiftPolicy)
    yield from (
        "Under `pseudonyms`:",
        PseudonymPolicy,
        "Under `release`:",
        AboutPolicy,
        "Under `output`:",
        OutputPolicy,
    )
    yield from ("Under `evaluation`:", EvaluationPolicy, "Under `leakage`:", LeakagePolicy)


def commands() -> Iterator[str]:
    group = typer.main.get_command(app)
    for name, command in _named_commands(group):
        arguments = " ".join(p.name.upper() for p in command.params if p.param_type_name == "argument")
        yield f"### `medveil {name} {arguments}`".replace(" `", "`").replace("###`", "### `")
        yield inspect.cleandoc(command.help or "")
        rows = [
            f"| `{'`, `'.join(p.opts)}` | {p.help or ''} |" for p in command.params if p.param_type_name == "option"
        ]
        yield "\n".join(["| option | what it is |", "|---|---|", *rows]) if rows else "It has no options."


def _named_commands(group: Any) -> Iterator[tuple[str, Any]]:
    """Every command with its name, those of groups too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from ((f"{name} {inner}", one) for inner, one in _named_commands(command))
        else:
            yield name, command


def main() -> None:
    made = page()
    if "--check" in sys.argv:
        if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != made:
            sys.exit("docs/reference.md is out of date: run 'python docs/build.py'.")
    else:
        PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
