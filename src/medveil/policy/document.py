"""The policy file: what each column is, what privacy must hold, and by which method."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from medveil.engine import engines
from medveil.engine.specification import EngineSpec
from medveil.errors import did_you_mean
from medveil.evaluation.settings import EvaluationPolicy
from medveil.methods import methods
from medveil.methods.method import Method
from medveil.policy.attribute import AttributePolicy
from medveil.policy.chosen import OneOf
from medveil.policy.fitting import check_people, check_tables, check_windows
from medveil.policy.part import PolicyPart
from medveil.policy.publishing import AboutPolicy, LeakagePolicy, OutputPolicy, PseudonymPolicy
from medveil.privacy import models
from medveil.privacy.model import PrivacyModel
from medveil.profiles import profiles
from medveil.profiles.profile import Profile
from medveil.sources import sources
from medveil.sources.file import FileSpec
from medveil.sources.source import SourceSpec
from medveil.table.schema import Role

Data = str | Annotated[SourceSpec, OneOf("type", sources, usual=FileSpec.name)]


class TablePolicy(PolicyPart):
    """One of several linked tables."""

    data: Annotated[Data, Field(description="The records of this table.")]
    key: Annotated[
        dict[str, str],
        Field(
            description="Columns that point to another table, `{PATIENT: patients.Id}`; they are published as the "
            "pseudonym of what they point to, and need no line of their own under `attributes`."
        ),
    ] = Field(default={})
    attributes: Annotated[dict[str, AttributePolicy], Field(description="What each other column of this table is.")]


class Policy(PolicyPart):
    """A data set, what each of its columns is, and what must hold for its release."""

    data: Annotated[Data | None, Field(description="The records; not needed where a frame is given.")] = None
    attributes: Annotated[
        dict[str, AttributePolicy], Field(description="What each column is; one that is not named is not published.")
    ] = Field(default={})
    tables: Annotated[
        dict[str, TablePolicy],
        Field(description="Linked tables in the place of `data` and `attributes`, each by the name of its file."),
    ] = Field(default={})
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
        AboutPolicy, Field(description="What recipients are told about the release: its title, purpose and contact.")
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
        LeakagePolicy | None, Field(description="Nothing is published if the release leaks more than this.")
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
        elif self.output.format == "fhir":
            raise PydanticCustomError("fhir_of_one_table", "'format: fhir' is for linked tables: see 'tables'")
        subjects = [name for name, a in self.attributes.items() if a.role is Role.SUBJECT or a.subject]
        if len(subjects) > 1:
            raise PydanticCustomError("subjects", "only one column can be the subject")
        check_people(self.attributes, named=bool(subjects))
        check_windows(self)
        if not self.privacy:
            raise PydanticCustomError("no_privacy", "'privacy' must name at least one model")
        if self.seed is not None and any(model.basis == "proof" for model in self.privacy):
            raise PydanticCustomError("seed", "differential privacy draws on the system's randomness: remove 'seed'")
        self._check_leakage()
        return self

    def _check_leakage(self) -> None:
        if self.leakage is None:
            return
        if any(model.declared_domains for model in self.privacy):
            raise PydanticCustomError(
                "leakage",
                "'leakage' cannot be used with differential privacy: a refusal would tell something about the data",
            )
        hidden = {Role.IDENTIFIER, Role.SUBJECT}
        published = [name for name, a in self.attributes.items() if a.role not in hidden]
        # Of linked tables the view of people is looked at, which holds quasi-identifiers.
        published += [
            f"{table}.{a.derive.name if a.derive is not None and a.derive.name is not None else name}"
            for table, given in self.tables.items()
            for name, a in given.attributes.items()
            if a.role is Role.QUASI
        ]
        for name in self.leakage.columns:
            if name not in published:
                raise PydanticCustomError(
                    "leakage_column",
                    "'leakage' names '{name}', which is not {what}. {hint}",
                    {
                        "name": name,
                        "what": "a quasi-identifier of a table" if self.tables else "published",
                        "hint": did_you_mean(name, published),
                    },
                )
