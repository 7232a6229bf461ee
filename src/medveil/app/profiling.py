"""The profile of a policy, applied: what it fills in, what it refuses, and the claim that the auditor proves again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from medveil.auditor.report import AuditReport
from medveil.engine import Engine
from medveil.errors import PolicyError
from medveil.guessing.guess import guess
from medveil.policy import AttributePolicy, Policy
from medveil.profiles import profiles
from medveil.profiles.profile import Profile, ProfiledColumn, ProfileOutcome, ProfileTerms, Ruling
from medveil.release.claim import Basis
from medveil.release.draft import Promise
from medveil.table.changes import Derivation
from medveil.table.schema import Role


def profiled(policy: Policy, engine: Engine, derived: Mapping[str, Derivation]) -> tuple[Policy, tuple[Promise, ...]]:
    """The policy with what its profile fills in, and what the release then promises; both as they were where no
    profile is named. `derived` says how columns were made of dates.
    """
    if policy.profile is None:
        return policy, ()
    if any(model.declared_domains for model in policy.privacy):
        raise PolicyError(
            f"The profile '{policy.profile.name}' looks at the data, which differential privacy would have to pay for.",
            "Leave 'profile' out, or take models that count.",
        )
    columns = [
        profiled_column(name, attribute, engine, derived.get(name))
        for name, attribute in policy.attributes.items()
        if attribute.role is not Role.IDENTIFIER
    ]
    outcome = ruled(policy.profile, columns, policy)
    attributes = {name: filled(attribute, outcome.filled.get(name)) for name, attribute in policy.attributes.items()}
    return policy.model_copy(update={"attributes": attributes}), (promise_of(policy.profile, columns, outcome),)


def promise_of(profile: Profile, columns: Sequence[ProfiledColumn], outcome: ProfileOutcome) -> Promise:
    """What a release under a profile promises."""
    return Promise(
        model=profile.name,
        summary=f"checks of {profile.title}",
        required={"faults": 0},
        basis=Basis.FILES,
        parameters={**profile.parameters(columns, outcome), "attested": dict(outcome.attested)},
    )


def refuse_by_profile(report: AuditReport) -> None:
    """Refuse a release in which the auditor found what its profile forbids: the data hold it, whoever asked for it."""
    for found in report.findings:
        if found.claim["model"] in profiles() and not found.proved:
            raise PolicyError(
                f"The release was not published under the profile '{found.claim['model']}': {found.finding.note}.",
                "Remove the column, generalize it further, or attest that it is none of these with 'insist: true'.",
            )


def profiled_column(
    name: str, attribute: AttributePolicy, engine: Engine, derived: Derivation | None, table: str = ""
) -> ProfiledColumn:
    """A column as a profile sees it; `table` stands before its name where there are several."""
    counted = engine.profile(name)
    return ProfiledColumn(
        name=f"{table}{name}",
        role=attribute.role,
        guess=guess(counted),
        counted=counted,
        kind=attribute.type,
        hierarchy=attribute.hierarchy,
        min_level=attribute.min_level,
        steered="min_level" in attribute.model_fields_set,
        derived=None if derived is None else derived.kind,
        counted_from=None if derived is None or derived.fixed else derived.by,
        insist=attribute.insist is True,
    )


def ruled(profile: Profile, columns: Sequence[ProfiledColumn], policy: Policy) -> ProfileOutcome:
    """What the profile says of every column; all that it refuses is told at once."""
    rulings = {column.name: profile.rule(column) for column in columns}
    terms = _terms(policy, columns)
    refused = [
        *(ruling.refused for ruling in rulings.values() if ruling.refused),
        *profile.refused(columns, terms),
    ]
    if refused:
        raise PolicyError(f"The profile '{profile.name}' refuses this policy.\n" + "\n".join(refused))
    given = {name: ruling for name, ruling in rulings.items() if ruling.hierarchy or ruling.min_level}
    return ProfileOutcome(given, {name: ruling.attest for name, ruling in rulings.items() if ruling.attest})


def filled(attribute: AttributePolicy, ruling: Ruling | None) -> AttributePolicy:
    """A column with what a profile fills in."""
    if ruling is None or attribute.role is not Role.QUASI:
        return attribute
    update: dict[str, Any] = {}
    if ruling.hierarchy is not None:
        update["hierarchy"] = ruling.hierarchy
        if ruling.hierarchy.kinds and attribute.type not in ruling.hierarchy.kinds:
            update["type"] = ruling.hierarchy.kinds[0]
    if ruling.min_level is not None:
        update["min_level"] = max(attribute.min_level, ruling.min_level)
    return attribute.model_copy(update=update)


def _terms(policy: Policy, columns: Sequence[ProfiledColumn]) -> ProfileTerms:
    sensitive = [column.name for column in columns if column.role is Role.SENSITIVE]
    about = [one for model in policy.privacy if model.needs_sensitive for one in model.for_attributes(sensitive)]
    asked = [*about, *(model for model in policy.privacy if model.about_sets)]
    sizes = [model.required.get("k", 1) for model in policy.privacy if model.on is None and not model.about_sets]
    return ProfileTerms(
        kept_key=policy.pseudonyms.key_file is not None,
        models=[model.name for model in policy.privacy],
        people=max((int(size) for size in sizes), default=1),
        guarded=frozenset(str(model.sensitive_attribute) for model in asked),
    )
