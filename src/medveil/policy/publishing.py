"""What a policy says of how a release is published, and of when it is not."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from medveil.policy.part import PolicyPart


class PseudonymPolicy(PolicyPart):
    """Where the secret behind pseudonyms and offsets comes from."""

    key_file: Annotated[
        str | None,
        Field(
            description="The steward's secret, at least 32 random bytes: releases made with it share pseudonyms and "
            "offsets. By default, a key is drawn for this release alone."
        ),
    ] = None


class AboutPolicy(PolicyPart):
    """What recipients are told of a release beside what it holds."""

    title: Annotated[str | None, Field(min_length=1, max_length=200, description="What the release is called.")] = None
    purpose: Annotated[str | None, Field(max_length=2000, description="What it may be used for.")] = None
    contact: Annotated[str | None, Field(max_length=500, description="Whom recipients may ask.")] = None


class DatabasePolicy(PolicyPart):
    """Where a release is written to beside its directory: a new table, or none at all where anything fails."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    connection: Annotated[str, Field(description="The name of the database.")]
    # It is called so in policies; pydantic has given that name to something of its own.
    into: Annotated[
        str | None, Field(alias="schema", description="The schema, created if it does not exist; SQLite has none.")
    ] = None
    table: Annotated[str, Field(description="The name of the new table.")] = "release"


class OutputPolicy(PolicyPart):
    """How the release is written."""

    database: Annotated[
        DatabasePolicy | None, Field(description="A database that gets the release too, in a new table.")
    ] = None

    format: Annotated[
        Literal["csv", "parquet", "excel", "spss", "stata", "fhir"],
        Field(
            description="The release's file format; the last four come beside CSV, with the same rows. `fhir` is for "
            "linked tables that were read from FHIR."
        ),
    ] = "csv"
    suppressed: Annotated[
        Literal["removed", "stars"], Field(description="Suppressed records are removed, or kept as rows of `*`.")
    ] = "removed"
    report: Annotated[
        bool, Field(description="Make a page for recipients, and one for the steward that compares with the original.")
    ] = True


class LeakagePolicy(PolicyPart):
    """The level of leakage above which nothing is published (Arca and Hewett 2021, figure 1: alerting publishers)."""

    most: Annotated[
        float,
        Field(ge=0, le=1, description="The most of what there is to learn of who somebody is, as a share."),
    ]
    columns: Annotated[
        tuple[str, ...],
        Field(description="The published columns that are looked at, together and each; all quasi-identifiers."),
    ] = ()
