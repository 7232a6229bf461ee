"""Which element of which resource each column of linked tables is written as."""

from __future__ import annotations

from medveil.app.linked_plan import LinkedPlan
from medveil.engine.tables import LinkedTables
from medveil.errors import PolicyError
from medveil.release.fhir import WrittenColumn, WrittenResource
from medveil.release.fhir_elements import ALLOWED, derived_element, element_of
from medveil.sources.fhir import FhirSource
from medveil.table.changes import ChangedColumn, Derivation, Pseudonym
from medveil.table.schema import Role


def fhir_resources(plan: LinkedPlan, tables: LinkedTables) -> dict[str, WrittenResource]:
    """How each table is written; refused where one was not read from FHIR, or holds what is not on the list."""
    kinds: dict[str, str] = {}
    for name in plan.names:
        source = tables.sources[name]
        if not isinstance(source, FhirSource):
            raise PolicyError(
                f"The table '{name}' was not read from FHIR, so it cannot be written as FHIR.",
                "Take 'output: {format: csv}'.",
            )
        kind = source.view.resource
        if kind not in ALLOWED:
            raise PolicyError(
                f"Resources of the type {kind} are not written as FHIR.",
                f"Leave the table '{name}' out, or take 'output: {{format: csv}}'. Written are {', '.join(ALLOWED)}.",
            )
        if kind in kinds.values():
            raise PolicyError(
                f"Two tables hold resources of the type {kind}.",
                "FHIR has one file for each type: leave one of them out.",
            )
        kinds[name] = kind
    return {name: WrittenResource(kinds[name], _columns(plan, tables, name, kinds)) for name in plan.names}


def _columns(plan: LinkedPlan, tables: LinkedTables, name: str, kinds: dict[str, str]) -> list[WrittenColumn]:
    source = tables.sources[name]
    assert isinstance(source, FhirSource)
    targets = {key.column: kinds[key.table] for key in plan.foreign(name)}
    found: list[WrittenColumn] = []
    for column in plan.tables[name].columns:
        if isinstance(column.change, Derivation):
            found.append(WrittenColumn(column.name, derived_element(column.name)))
            continue
        element = element_of(kinds[name], source.view.columns[column.source])
        if element.type == "reference" and column.name not in targets:
            raise PolicyError(
                f"'{name}.{column.name}' is a reference that leads to no table of the policy.",
                "Name the table under 'key:', or give the column the role identifier.",
            )
        if element.type == "id" and not isinstance(column.change, Pseudonym):
            raise PolicyError(f"'{name}.{column.name}' is the id of resources.", "Give it the role key or identifier.")
        taken = next((other.name for other in found if other.element.steps == element.steps), None)
        if taken is not None:
            raise PolicyError(
                f"'{taken}' and '{column.name}' of '{name}' are the same element.", "Take one of them out of the view."
            )
        found.append(
            WrittenColumn(column.name, element, targets.get(column.name, ""), _values(plan, tables, name, column))
        )
    return found


def _values(plan: LinkedPlan, tables: LinkedTables, name: str, column: ChangedColumn) -> frozenset[str] | None:
    """The values of a column that is generalized."""
    attribute = plan.attributes[name][column.name]
    if attribute.role is not Role.QUASI and not attribute.set:
        return None
    return tables.texts(name, column.name)
