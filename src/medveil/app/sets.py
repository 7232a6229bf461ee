"""Set-valued attributes of linked tables, recoded so that every model of sets holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.app.linked_plan import LinkedPlan
from medveil.app.preparation import kind_of, specification
from medveil.engine.tables import LinkedTables
from medveil.errors import PolicyError, UnreachableError, did_you_mean
from medveil.methods.sets.recoding import Recoding, SetRecoder
from medveil.run import Run
from medveil.table.arrow import numpy_of, text_array
from medveil.table.domain import encode, find_kind
from medveil.table.schema import Role
from medveil.workspace import Workspace

REPEATED = 0.05
"""The share of people's hidden values that may stand in another column of theirs by chance, as a 0 may."""


@dataclass(frozen=True)
class Recoded:
    """What each `value` of a set-valued attribute is published as, its `label`, and how the search went."""

    labels: pa.Table
    recoding: Recoding
    values: int
    published: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "values": self.values,
            "labels": self.published,
            "loss": self.recoding.loss,
            "rounds": self.recoding.rounds,
            "lowered": self.recoding.lowered,
        }


def recode_sets(
    plan: LinkedPlan, tables: LinkedTables, kept: NDArray[np.int64], workspace: Workspace, run: Run
) -> Mapping[str, Recoded]:
    """A recoding for each attribute that a model of sets is about."""
    asked: dict[str, tuple[int, int]] = {}
    for model in plan.set_models:
        name = str(model.sensitive_attribute)
        if name not in plan.set_attributes:
            raise PolicyError(
                f"The model '{model.name}' is about '{name}', which is no set-valued attribute.",
                did_you_mean(name, plan.set_attributes) or "Give that column 'set: true'.",
            )
        if name in asked:
            raise PolicyError(f"'{name}' has two models of sets.", "Keep the stricter one.")
        asked[name] = (int(model.required["k"]), int(model.required["m"]))
    return {name: _recode(plan, tables, kept, name, k, m, workspace, run) for name, (k, m) in asked.items()}


def _shown(plan: LinkedPlan, table: str) -> list[str]:
    """The columns of a table that are published as they are, unless somebody insists on it."""
    hidden = {str(model.sensitive_attribute) for model in plan.set_models}
    return [
        name
        for name, attribute in plan.attributes[table].items()
        if attribute.role in {Role.PLAIN, Role.SENSITIVE}
        and attribute.insist is not True
        and f"{table}.{name}" not in hidden
    ]


def _refuse_what_tells(plan: LinkedPlan, tables: LinkedTables, table: str, column: str) -> None:
    """A description beside its code would undo what hides the code."""
    for name in _shown(plan, table):
        if tables.tells(table, name, column):
            raise PolicyError(
                f"Column '{table}.{name}' gives away the value of '{table}.{column}', which is to be hidden.",
                f"Give '{table}.{name}' the role identifier, or insist with 'insist: true'.",
            )


def _refuse_what_repeats(plan: LinkedPlan, tables: LinkedTables, table: str, column: str, hidden: list[str]) -> None:
    """So would the code itself in another table of the same person, such as the reason of a visit."""
    for other in plan.names:
        for name in _shown(plan, other) if other != table and hidden else ():
            # Who has which values is looked at only where the columns have some in common.
            common = sorted(tables.texts(other, name).intersection(hidden))
            if common and tables.repeated((table, column), hidden, (other, name)) > REPEATED:
                raise PolicyError(
                    f"Column '{other}.{name}' repeats values of '{table}.{column}' that are to be hidden.",
                    f"Give '{other}.{name}' the role identifier, or 'set: true' with a km-anonymity of its own, or "
                    "insist with 'insist: true'.",
                )


def _recode(
    plan: LinkedPlan,
    tables: LinkedTables,
    kept: NDArray[np.int64],
    name: str,
    k: int,
    m: int,
    workspace: Workspace,
    run: Run,
) -> Recoded:
    table, column = plan.set_attributes[name]
    attribute = plan.attributes[table][column]
    _refuse_what_tells(plan, tables, table, column)
    pairs = tables.sets(table, column, kept)
    pairs = pairs.filter(pairs["value"].is_valid())
    coded = pairs["value"].combine_chunks().dictionary_encode()
    texts = coded.dictionary.to_pylist()
    kind = kind_of(attribute) or find_kind(texts)
    domain, leaf_of = encode(texts, kind, name, attribute.format)
    leaves = leaf_of[numpy_of(coded.indices)].astype(np.int64)
    people = np.searchsorted(kept, numpy_of(pairs["person"]))
    if 0 < len(np.unique(people)) < k:
        raise UnreachableError(
            f"Fewer than {k} people have any value in '{name}'.",
            f"Leave the table '{table}' out, give the column the role identifier, or ask for a smaller k.",
        )
    counts = np.bincount(leaves, minlength=len(domain)).astype(np.int64)
    hierarchy = specification(attribute).bind(domain, name, workspace, counts)
    # Two texts of one value (`5`, `5.0`) are one value of a person.
    distinct = np.unique(people * max(len(domain), 1) + leaves)
    width = max(len(domain), 1)
    found = SetRecoder(distinct // width, distinct % width, hierarchy, k=k, m=m, check=run.check).solve()
    levels = hierarchy.levels
    labels = [levels[found.levels[leaf]].labels[levels[found.levels[leaf]].groups[leaf]] for leaf in leaf_of.tolist()]
    hidden = [text for text, label in zip(texts, labels, strict=True) if text != label]
    _refuse_what_repeats(plan, tables, table, column, hidden)
    mapping = pa.table({"value": text_array(texts), "label": text_array(labels)})
    return Recoded(mapping, found, len(domain), len(set(labels)))
