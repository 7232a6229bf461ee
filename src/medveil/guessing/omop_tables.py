"""What the columns of the clinical tables of OMOP are, by the rules that the model names them by."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from medveil.guessing.guess import Guess
from medveil.guessing.known_tables import REPORTED, KnownTable, date, hidden, plain
from medveil.hierarchy.intervals import Intervals
from medveil.hierarchy.specification import HierarchySpec
from medveil.table.schema import Kind, Role

PEOPLE = "person"
EVENTS = {
    "visit_occurrence": "",
    "condition_occurrence": "condition_concept_id",
    "drug_exposure": "drug_concept_id",
    "measurement": "measurement_concept_id",
    "procedure_occurrence": "procedure_concept_id",
    "observation": "observation_concept_id",
}
"""The tables of what happened to people, and the column of each that says what it was."""
TREE = "concept_ancestor"
LEAST = 11
"""The number of people below which the Centers for Medicare and Medicaid Services let no cell be shown."""
OLDEST = 90

_TEXTS = frozenset({"stop_reason", "sig", "lot_number", "value_as_string", "note", "trace_id", "production_id"})
_NUMBERS = frozenset({"quantity", "refills", "days_supply", "value_as_number", "range_low", "range_high"})
_BIRTH = frozenset({"month_of_birth", "day_of_birth", "birth_datetime"})
_PLACES = frozenset({"location_id", "provider_id", "care_site_id"})


def known_table(name: str, columns: Sequence[str], today: dt.date, tree: HierarchySpec | None = None) -> KnownTable:
    """The table of this name; `tree` is how concepts generalize, where the folder tells."""
    if name == PEOPLE:
        return KnownTable("person_id", {}, {column: _of_people(column, today) for column in columns})
    points = {"person_id": PEOPLE}
    if name != "visit_occurrence" and "visit_occurrence_id" in columns:
        points["visit_occurrence_id"] = "visit_occurrence"
    return KnownTable(f"{name}_id", points, {column: _of_event(column, EVENTS[name], tree) for column in columns})


def _of_people(column: str, today: dt.date) -> Guess:
    if column == "year_of_birth":
        steps = Intervals(widths=(5, 10, 20), bottom=today.year - OLDEST + 1)
        return Guess(Kind.NUMBER, Role.QUASI, "A year of birth: others may know it.", hierarchy=steps)
    if column in _BIRTH:
        return hidden("The year of birth tells enough.")
    if column in _PLACES:
        return hidden("Where somebody lives or is treated: if you need it, publish it as a quasi-identifier.")
    if column.endswith("_concept_id") and "_source_" not in column:
        return Guess(Kind.CODE, Role.QUASI, "Others may know it of a person.")
    return hidden("It is as the source wrote it, and may name people.")


def _of_event(column: str, what: str, tree: HierarchySpec | None) -> Guess:
    if column == what:
        reason = "What happened: all concepts of a person are one set, in which rare ones become their groups."
        return Guess(Kind.CODE, Role.SENSITIVE, reason, hierarchy=tree)
    if "_source_" in column or column in _TEXTS:
        return hidden("It is as the source wrote it: it may name people, and would undo what hides the concept.")
    if column in _PLACES or (column.endswith("_id") and not column.endswith("_concept_id")):
        return hidden("It points to a table that is not part of the release.")
    if column in _NUMBERS:
        return plain(REPORTED.capitalize(), Kind.NUMBER)
    if column.endswith("_date") and not column.startswith("verbatim"):
        return date()
    if column.endswith("_concept_id"):
        reason = "What was found, or how: all concepts of a person are one set, in which rare ones are hidden."
        return Guess(Kind.CODE, Role.SENSITIVE, reason)
    return hidden("Its date says enough.")
