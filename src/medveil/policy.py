"""The policy file: what each column is, what privacy must hold, and by which method."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from medveil.engine import engines
from medveil.engine.specification import EngineSpec
from medveil.errors import Fault, PolicyError, did_you_mean
from medveil.evaluation.settings import EvaluationPolicy
from medveil.hierarchy import builders
from medveil.hierarchy.flat import Codes, Range
from medveil.hierarchy.specification import HierarchySpec
from medveil.methods import methods
from medveil.methods.method import Method
from medveil.policy_file import Lines, read_policy_file, read_policy_text
from medveil.privacy import models
from medveil.privacy.model import PrivacyModel
from medveil.profiles import profiles
from medveil.profiles.profile import Profile
from medveil.sources import sources
from medveil.sources.file import FileSpec
from medveil.sources.source import SourceSpec
from medveil.table.dates import date_format_fault
from medveil.table.numbers import MARKED_FORMATS
from medveil.table.schema import Kind, Role
from medveil.workspace import Workspace

_WRAPPER = re.compile(
    r"(function|constrained|literal|tuple|list|dict|is-instance|union)[-\[].*|str|int|float|nullable|Range"
)
"""What pydantic puts into a location beside keys and positions."""


class OneOf:
    """A field whose class is chosen by one of its keys, out of those that are found at run time: the `usual` one where
    the key is left out.
    """

    def __init__(self, key: str, found: Callable[[], Mapping[str, type[BaseModel]]], usual: str | None = None) -> None:
        self.key = key
        self.found = found
        self.usual = usual

    def _choose(self, given: Any) -> BaseModel:
        if isinstance(given, BaseModel):
            return given
        if isinstance(given, str):
            given = {self.key: given}
        if isinstance(given, Mapping) and self.usual is not None:
            given = {self.key: self.usual, **given}
        if not isinstance(given, Mapping) or self.key not in given:
            raise PydanticCustomError("missing_name", "must have the key '{key}'", {"key": self.key})
        found, name = self.found(), str(given[self.key])
        if name not in found:
            hint = did_you_mean(name, found)
            raise PydanticCustomError("unknown_name", "there is no '{name}'. {hint}", {"name": name, "hint": hint})
        parameters = {key: value for key, value in given.items() if key != self.key}
        chosen = found[name]
        if self.key in chosen.model_fields:
            parameters[self.key] = name
        try:
            return chosen.model_validate(parameters)
        except ValidationError as error:
            raise PydanticCustomError(
                "inside",
                "{name} is not right",
                {"name": name, "errors": error.errors(), "known": list(chosen.model_fields)},
            ) from None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._choose,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda chosen: {
                    self.key: chosen.name,
                    **chosen.model_dump(mode="json", exclude_unset=True, by_alias=True),
                }
            ),
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"oneOf": [self._option(name, found) for name, found in self.found().items()]}

    def _option(self, name: str, found: type[BaseModel]) -> JsonSchemaValue:
        """The schema of one class, with its own definitions written out where they are used."""
        option = found.model_json_schema()
        definitions = option.pop("$defs", {})
        properties = {**option.get("properties", {}), self.key: {"const": name}}
        required = [self.key, *(key for key in option.get("required", []) if key != self.key)]
        written: JsonSchemaValue = written_out({**option, "properties": properties, "required": required}, definitions)
        return written


def written_out(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """A schema in which every reference is replaced by what it refers to; one that refers to itself is anything."""
    if isinstance(schema, list):
        return [written_out(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(reference := schema.get("$ref"), str):
        name = reference.rpartition("/")[2]
        remaining = {key: value for key, value in definitions.items() if key != name}
        return written_out(definitions[name], remaining) if name in definitions else {}
    return {key: written_out(value, definitions) for key, value in schema.items()}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ShiftPolicy(_Part):
    """How dates are shifted: one offset a person, so that intervals survive."""

    days: Annotated[int, Field(ge=1, le=36500, description="The largest offset, either way; never 0.")] = 183


class DerivePolicy(_Part):
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
        return self


class AttributePolicy(_Part):
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
            "of people whom it may single out, 0.05 where left out."
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


class PseudonymPolicy(_Part):
    """Where the secret behind pseudonyms and offsets comes from."""

    key_file: Annotated[
        str | None,
        Field(
            description="The steward's secret, at least 32 random bytes: releases made with it share pseudonyms and "
            "offsets. By default, a key is drawn for this release alone."
        ),
    ] = None


class AboutPolicy(_Part):
    """What recipients are told of a release beside what it holds."""

    title: Annotated[str | None, Field(min_length=1, max_length=200, description="What the release is called.")] = None
    purpose: Annotated[str | None, Field(max_length=2000, description="What it may be used for.")] = None
    contact: Annotated[str | None, Field(max_length=500, description="Whom recipients may ask.")] = None


class DatabasePolicy(_Part):
    """Where a release is written to beside its directory: a new table, or none at all where anything fails."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    connection: Annotated[str, Field(description="The name of the database.")]
    # It is called so in policies; pydantic has given that name to something of its own.
    into: Annotated[
        str | None, Field(alias="schema", description="The schema, made where it is not there; SQLite has none.")
    ] = None
    table: Annotated[str, Field(description="The name of the new table.")] = "release"


class OutputPolicy(_Part):
    """How the release is written."""

    database: Annotated[
        DatabasePolicy | None, Field(description="A database that gets the release too, in a new table.")
    ] = None

    format: Annotated[
        Literal["csv", "parquet", "excel", "spss", "stata"],
        Field(description="The release's file format; the last three come beside a CSV file, with the same rows."),
    ] = "csv"
    suppressed: Annotated[
        Literal["removed", "stars"], Field(description="Suppressed records are left out, or kept as rows of `*`.")
    ] = "removed"
    report: Annotated[
        bool, Field(description="Make a page for recipients, and one for the steward that compares with the original.")
    ] = True


class LeakagePolicy(_Part):
    """The level of leakage above which nothing is published (Arca and Hewett 2021, figure 1: alerting publishers)."""

    most: Annotated[
        float,
        Field(ge=0, le=1, description="The most of what there is to learn of who somebody is, as a share."),
    ]
    columns: Annotated[
        tuple[str, ...],
        Field(description="The published columns that are looked at, together and each; all quasi-identifiers."),
    ] = ()


Data = str | Annotated[SourceSpec, OneOf("type", sources, usual=FileSpec.name)]


class TablePolicy(_Part):
    """One of several linked tables."""

    data: Annotated[Data, Field(description="The records of this table.")]
    key: Annotated[
        dict[str, str],
        Field(
            description="Columns that point to another table, `{PATIENT: patients.Id}`; they are published as the "
            "pseudonym of what they point to, and need no line of their own under `attributes`."
        ),
    ] = {}
    attributes: Annotated[dict[str, AttributePolicy], Field(description="What each other column of this table is.")]


class Policy(_Part):
    """A data set, what each of its columns is, and what must hold for its release."""

    data: Annotated[Data | None, Field(description="The records; left out where a frame is given.")] = None
    attributes: Annotated[
        dict[str, AttributePolicy], Field(description="What each column is; one that is not named is not published.")
    ] = {}
    tables: Annotated[
        dict[str, TablePolicy],
        Field(description="Linked tables in the place of `data` and `attributes`, each by the name of its file."),
    ] = {}
    privacy: Annotated[
        tuple[Annotated[PrivacyModel, OneOf("model", models)], ...], Field(description="What must hold, all at once.")
    ]
    method: Annotated[
        Annotated[Method, OneOf("name", methods)], Field(description="How the release is made.", validate_default=True)
    ] = "optimal"  # type: ignore[assignment]
    profile: Annotated[
        Annotated[Profile, OneOf("name", profiles)] | None,
        Field(description="A set of rules that fills in, refuses and checks, such as `hipaa-safe-harbor`."),
    ] = None
    pseudonyms: Annotated[
        PseudonymPolicy, Field(description="The secret behind columns of the roles key and date.")
    ] = PseudonymPolicy()
    release: Annotated[
        AboutPolicy, Field(description="What recipients are told of the release: its title, purpose and contact.")
    ] = AboutPolicy()
    output: Annotated[OutputPolicy, Field(description="How the release is written.")] = OutputPolicy()
    evaluation: Annotated[
        EvaluationPolicy, Field(description="What is measured in addition to the usual measures.")
    ] = EvaluationPolicy()
    engine: Annotated[
        Annotated[EngineSpec, OneOf("type", engines)] | None,
        Field(description="Where rows are scanned and counted (default: DuckDB, in this process)."),
    ] = None
    leakage: Annotated[
        LeakagePolicy | None, Field(description="Nothing is published where the release leaks more than that.")
    ] = None
    seed: Annotated[
        int | None, Field(ge=0, description="Makes the run repeatable, and the release not for publication.")
    ] = None

    @model_validator(mode="after")
    def _roles_fit_together(self) -> Policy:
        if self.tables:
            check_tables(self)
        elif "attributes" not in self.model_fields_set:
            raise PydanticCustomError("no_attributes", "'attributes' or 'tables' is required")
        elif any(attribute.set for attribute in self.attributes.values()):
            raise PydanticCustomError("set_of_one_table", "'set: true' is for linked tables: see 'tables'")
        subjects = [name for name, a in self.attributes.items() if a.role is Role.SUBJECT or a.subject]
        if len(subjects) > 1:
            raise PydanticCustomError("subjects", "only one column can be the subject")
        _check_people(self.attributes, named=bool(subjects))
        if not self.privacy:
            raise PydanticCustomError("no_privacy", "'privacy' must name at least one model")
        if self.seed is not None and any(model.basis == "proof" for model in self.privacy):
            raise PydanticCustomError(
                "seed", "differential privacy draws on the system's randomness: 'seed' must be left out"
            )
        self._check_leakage()
        return self

    def _check_leakage(self) -> None:
        if self.leakage is None:
            return
        if any(model.declared_domains for model in self.privacy):
            raise PydanticCustomError(
                "leakage", "under differential privacy 'leakage' must be left out: refusing a release tells of the data"
            )
        hidden = {Role.IDENTIFIER, Role.SUBJECT}
        published = [name for name, a in self.attributes.items() if a.role not in hidden]
        for name in self.leakage.columns:
            if name not in published:
                raise PydanticCustomError(
                    "leakage_column",
                    "'leakage' names '{name}', which is not published. {hint}",
                    {"name": name, "hint": did_you_mean(name, published)},
                )


_TABLE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_TAKEN = frozenset({"manifest", "report", "internal", "release"})


def check_tables(policy: Policy) -> None:
    """Refuse tables that cannot be linked: one holds the people, and every other leads to it."""
    if policy.model_fields_set & {"data", "attributes"}:
        raise PydanticCustomError("both", "'tables' stands in the place of 'data' and 'attributes'")
    if policy.profile is not None or policy.leakage is not None:
        raise PydanticCustomError("one_table", "'profile' and 'leakage' are for one table, not for linked ones")
    if policy.output.database is not None:
        raise PydanticCustomError("one_table", "'output.database' is for one table, not for linked ones")
    for name in policy.tables:
        if not _TABLE_NAME.fullmatch(name) or name.lower() in _TAKEN:
            raise PydanticCustomError(
                "table_name",
                "a table is called by letters, digits, - and _, as its file will be, and not {taken}",
                {"taken": ", ".join(sorted(_TAKEN))},
            )
    if len({name.lower() for name in policy.tables}) < len(policy.tables):
        raise PydanticCustomError("table_names", "tables differ in more than case: their files may not")
    roots = [name for name, table in policy.tables.items() if not table.key]
    if len(roots) != 1:
        raise PydanticCustomError(
            "roots",
            "one table holds the people and points to no other, and every other has a 'key' that leads to it; here {n} "
            "tables point to no other",
            {"n": len(roots)},
        )
    for name, table in policy.tables.items():
        for target in table.key.values():
            _check_target(policy, name, target)
        if any(a.role is Role.SUBJECT or a.subject for a in table.attributes.values()):
            raise PydanticCustomError("table_subject", "in linked tables the key of the first table names the person")
        twice = sorted(table.key.keys() & table.attributes.keys())
        if twice:
            raise PydanticCustomError(
                "key_twice", "'{name}' points to another table and needs no line under 'attributes'", {"name": twice[0]}
            )
        _own_key(policy, name)
    in_order(policy)


def _own_key(policy: Policy, name: str) -> str | None:
    """The column that other tables point to."""
    keys = [column for column, a in policy.tables[name].attributes.items() if a.role is Role.KEY]
    if len(keys) > 1 or (not keys and not policy.tables[name].key):
        raise PydanticCustomError(
            "own_key", "table '{table}' needs one column of role key, which names its records", {"table": name}
        )
    return keys[0] if keys else None


def _check_target(policy: Policy, name: str, target: str) -> None:
    table, _, column = target.partition(".")
    if table not in policy.tables or table == name or _own_key(policy, table) != column:
        raise PydanticCustomError(
            "target",
            "'{target}' is not the key of another table: write 'table.column', with a column of role key",
            {"target": target},
        )


def in_order(policy: Policy) -> list[str]:
    """The tables, each after those that it points to."""
    ordered: list[str] = []
    while len(ordered) < len(policy.tables):
        ready = [
            name
            for name, table in policy.tables.items()
            if name not in ordered and all(target.partition(".")[0] in ordered for target in table.key.values())
        ]
        if not ready:
            raise PydanticCustomError("circle", "tables point to each other in a circle")
        ordered += ready
    return ordered


def _check_people(attributes: Mapping[str, AttributePolicy], *, named: bool) -> None:
    """Whose a record is must be clear where keys link records, or dates move by person."""
    keys = [name for name, a in attributes.items() if a.role is Role.KEY]
    if len(keys) > 1 and not named:
        raise PydanticCustomError(
            "several_keys", "several columns are keys: give the one that names the person 'subject: true'"
        )
    moved = [
        name
        for name, a in attributes.items()
        if a.role is Role.DATE or (a.derive is not None and a.derive.days_since is not None)
    ]
    if moved and not keys and not named:
        raise PydanticCustomError(
            "nobodys_dates",
            "'{name}' goes by person: give the column that names the person the role key or subject",
            {"name": moved[0]},
        )


def load_policy(
    given: Policy | Mapping[str, Any] | str | Path, workspace: Workspace | None = None
) -> tuple[Policy, Workspace]:
    """A policy from an object, a mapping or a file, and where its paths lead: those of a file start in its folder."""
    workspace = workspace or Workspace()
    if isinstance(given, Policy):
        return given, workspace
    if isinstance(given, Mapping):
        return _validate(given, None), workspace
    path = workspace.resolve(given)
    content, lines = read_policy_file(path)
    return _validate(content, lines), replace(workspace, folder=path.parent)


def check_policy(text: str) -> Policy:
    """A policy from its text; its paths start wherever the caller says."""
    content, lines = read_policy_text(text)
    return _validate(content, lines)


def _validate(content: Mapping[str, Any], lines: Lines | None) -> Policy:
    try:
        return Policy.model_validate(content)
    except ValidationError as error:
        faults = [fault for detail in error.errors() for fault in _faults(detail, (), list(Policy.model_fields))]
        raise PolicyError.of([_explain(fault, lines) for fault in _meant(faults)]) from None


@dataclass(frozen=True)
class _Fault:
    """One thing that is wrong: where, of what kind, in pydantic's words, and which keys would be known there."""

    place: tuple[Any, ...]
    kind: str
    message: str
    known: list[str]


def _faults(detail: Any, outer: tuple[Any, ...], known: list[str]) -> Iterator[_Fault]:
    """The faults behind one of pydantic's errors, down into the parts whose class is chosen by a name."""
    inner = tuple(part for part in detail["loc"] if not isinstance(part, str) or not _WRAPPER.fullmatch(part))
    place, kind = (*outer, *inner), detail["type"]
    if kind == "inside":
        for nested in detail["ctx"]["errors"]:
            yield from _faults(nested, place, detail["ctx"]["known"])
    elif kind in {"value_error", "assertion_error"}:
        yield _Fault(place, kind, str(detail["ctx"]["error"]), known)
    else:
        yield _Fault(place, kind, detail["msg"], known if outer else _known_keys(place[:-1]))


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


def _explain(fault: _Fault, lines: Lines | None) -> Fault:
    """A fault in a sentence that says what to do. Values of the policy are not repeated."""
    place = ".".join(str(part) for part in fault.place)
    line = lines.number(fault.place) if lines else None
    if fault.kind == "extra_forbidden":
        hint = did_you_mean(str(fault.place[-1]), fault.known)
        return Fault(place, line, f"there is no such key. {hint}".rstrip())
    if fault.kind == "missing":
        return Fault(place, line, "it is required.")
    end = "" if fault.message.endswith((".", "?")) else "."
    return Fault(place, line, f"{fault.message[0].lower()}{fault.message[1:]}{end}")


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
