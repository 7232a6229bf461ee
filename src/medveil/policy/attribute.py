"""What a policy says of one column."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from medveil.hierarchy import builders
from medveil.hierarchy.flat import Codes, Range
from medveil.hierarchy.specification import HierarchySpec
from medveil.policy.chosen import OneOf
from medveil.policy.part import PolicyPart
from medveil.table.dates import date_format_fault
from medveil.table.numbers import MARKED_FORMATS
from medveil.table.schema import Kind, Role


class ShiftPolicy(PolicyPart):
    """How dates are shifted: one offset a person, so that intervals survive."""

    days: Annotated[int, Field(ge=1, le=36500, description="The largest offset, either way; never 0.")] = 183


class DerivePolicy(PolicyPart):
    """A number out of the column's dates, counted and published in their place."""

    age_at: Annotated[
        str | None,
        Field(description="Full years from this date of birth to a date, or to the date in another column."),
    ] = None
    days_since: Annotated[
        str | None,
        Field(description="Days since the person's first date in a column: this one, another, or `table.column`."),
    ] = None
    days_after: Annotated[
        str | None,
        Field(description="Days since the date in another column of the same record, such as a stay's start."),
    ] = None
    most: Annotated[
        int | None,
        Field(ge=1, le=100_000, description="Days beyond that, either way, are missing, and counted."),
    ] = None
    name: Annotated[str | None, Field(description="What it is published as (default: the column's own name).")] = None

    @model_validator(mode="before")
    @classmethod
    def _dates_are_texts(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {key: value.isoformat() if isinstance(value, dt.date) else value for key, value in given.items()}

    @model_validator(mode="after")
    def _one_thing(self) -> DerivePolicy:
        asked = self.model_fields_set & {"age_at", "days_since", "days_after"}
        if len(asked) != 1:
            raise PydanticCustomError("derive", "'derive' needs one of age_at, days_since and days_after")
        if self.most is not None and self.age_at is not None:
            raise PydanticCustomError("derive_most", "'most' is for days, not for ages: give those a 'top' code")
        return self


class AttributePolicy(PolicyPart):
    """What one column is."""

    role: Annotated[Role, Field(description="identifier, subject, key, date, quasi, sensitive or plain.")]
    type: Annotated[Kind | None, Field(description="category, number, date or code (default: detected).")] = None
    format: Annotated[
        str | None,
        Field(description="How dates or numbers are written, such as `%d/%m/%Y` or `1.234,5` (default: detected)."),
    ] = None
    hierarchy: Annotated[
        Annotated[HierarchySpec, OneOf("type", builders)] | None, Field(description="How its values generalize.")
    ] = None
    domain: Annotated[
        tuple[Annotated[str, Field(coerce_numbers_to_str=True)], ...] | Range | Codes | None,
        Field(description="Its values where it has no hierarchy: a list, `{range: [low, high]}` or `{path: file}`."),
    ] = None
    labels: Annotated[
        Literal["boolean"]
        | dict[
            Annotated[str, Field(coerce_numbers_to_str=True)],
            Annotated[str, Field(coerce_numbers_to_str=True, min_length=1)],
        ]
        | None,
        Field(
            description="What codes mean, `{1: male, 2: female}`: labels are read in their place. `boolean`: every "
            "word for yes or no is read as true or false."
        ),
    ] = None
    weight: Annotated[
        float,
        Field(
            gt=0, le=1e6, allow_inf_nan=False, description="How much its loss counts compared with that of the others."
        ),
    ] = 1.0
    min_level: Annotated[int, Field(ge=0, description="The lowest level at which it may be published.")] = 0
    max_level: Annotated[int | None, Field(ge=0, description="The highest level at which it may be published.")] = None
    insist: Annotated[
        bool | Annotated[float, Field(gt=0, le=1)],
        Field(
            description="Publish it though it looks like free text or an identifier; or, of a plain column, the share "
            "of people whom it may single out (default: 0.05)."
        ),
    ] = False
    description: Annotated[
        str | None, Field(max_length=500, description="What the column means, for the data dictionary of recipients.")
    ] = None
    subject: Annotated[
        bool, Field(description="Of several keys, the one that names the person; a key that is alone does.")
    ] = False
    shift: Annotated[
        ShiftPolicy | None, Field(description="How far a date is shifted, `{days: 183}`: one offset a person.")
    ] = None
    derive: Annotated[
        DerivePolicy | None, Field(description="A number made of its dates, such as an age, in their place.")
    ] = None
    set: Annotated[
        bool,
        Field(
            description="All values of a person together are one set, such as diagnoses: what km-anonymity is about."
        ),
    ] = False

    @model_validator(mode="after")
    def _changes_fit_the_role(self) -> AttributePolicy:
        if self.role is Role.DATE and (self.shift is None or self.derive is not None):
            raise PydanticCustomError(
                "date", "a column of role date needs 'shift: {days: 183}', and nothing is derived from it"
            )
        if self.shift is not None and self.role is not Role.DATE:
            raise PydanticCustomError("shift", "only a column of role date can be shifted")
        if self.derive is not None and self.role not in {Role.QUASI, Role.SENSITIVE, Role.PLAIN}:
            raise PydanticCustomError("derive_role", "what is derived is quasi, sensitive or plain")
        if self.set and (self.role is not Role.SENSITIVE or self.derive is not None):
            raise PydanticCustomError("set", "only a sensitive column as it is can be a set")
        if self.subject and self.role is not Role.KEY:
            raise PydanticCustomError("key_subject", "'subject: true' belongs to a key; give others 'role: subject'")
        return self

    @model_validator(mode="after")
    def _labels_are_texts(self) -> AttributePolicy:
        if self.labels is None:
            return self
        if self.type in {Kind.NUMBER, Kind.DATE} or self.role not in {Role.QUASI, Role.SENSITIVE, Role.PLAIN}:
            raise PydanticCustomError(
                "labels", "'labels' are for quasi-identifiers, sensitive and plain columns of type category or code"
            )
        if self.derive is not None:
            raise PydanticCustomError("labels", "'labels' cannot be given to a column that is derived")
        if not isinstance(self.labels, str) and set(self.labels.values()) & {
            code for code, label in self.labels.items() if label != code
        }:
            raise PydanticCustomError("labels", "a label is also the code of another value")
        return self

    @model_validator(mode="after")
    def _levels_belong_to_quasi_identifiers(self) -> AttributePolicy:
        steers = self.model_fields_set & {"weight", "min_level", "max_level"}
        if self.role is not Role.QUASI and steers:
            raise PydanticCustomError(
                "not_quasi", "only a quasi-identifier can have {keys}", {"keys": ", ".join(sorted(steers))}
            )
        self._check_format()
        if self.max_level is not None and self.max_level < self.min_level:
            raise PydanticCustomError("levels", "min_level is above max_level")
        if self.domain is not None and (self.hierarchy is not None or self.role not in {Role.QUASI, Role.SENSITIVE}):
            raise PydanticCustomError(
                "domain", "'domain' is for quasi-identifiers and sensitive attributes without a hierarchy of their own"
            )
        return self

    def _check_format(self) -> None:
        if self.format is None or (self.type is Kind.NUMBER and self.format in MARKED_FORMATS):
            return
        if self.type is Kind.NUMBER and self.derive is None:
            raise PydanticCustomError(
                "number_format", "'format' of numbers is one of {known}", {"known": ", ".join(MARKED_FORMATS)}
            )
        if self.type is not Kind.DATE and self.role is not Role.DATE and self.derive is None:
            raise PydanticCustomError("format", "'format' needs 'type: date' or 'type: number'")
        fault = date_format_fault(self.format)
        if fault is not None:
            raise PydanticCustomError("date_format", "'format' cannot be used: {fault}", {"fault": fault})
