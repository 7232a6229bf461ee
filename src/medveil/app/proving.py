"""A manifest whose claims the auditor has proved, or no release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from medveil.app.profiling import refuse_by_profile
from medveil.auditor import ClaimFinding, audit
from medveil.auditor.known import CHECKS
from medveil.errors import VerificationError
from medveil.methods import methods, own_methods
from medveil.methods.method import Method
from medveil.methods.problem import Problem
from medveil.privacy import model_of
from medveil.release.claim import Basis
from medveil.release.draft import Draft, Promise
from medveil.release.manifest import Manifest
from medveil.release.places import attribute_for_recipients, claim_for_recipients, table_for_recipients
from medveil.release.status import Status
from medveil.run import Run, Stage
from medveil.sources.source import Source
from medveil.workspace import Workspace


def refuse_weaker(draft: Draft, problem: Problem, method: Method) -> None:
    """Refuse a draft that claims less than the policy asks for: the auditor proves what is claimed, and no more.

    A method of another package might leave a claim out, ask less of it, count over fewer columns, or go by the name of
    a method of which something is proved.
    """
    refuse_false_name(draft, method)
    if draft.status is Status.FOR_PUBLICATION:
        left_out = [asked for asked in problem.promises() if not any(_covers(p, asked) for p in draft.promises)]
        if left_out:
            raise _weaker(draft, f"does not claim {left_out[0].summary}, which the policy asks for")
    roles = {attribute.name: attribute.role for attribute in problem.schema}
    for attribute in draft.attributes:
        if attribute.made and attribute.name in roles:
            raise _weaker(draft, f"publishes '{attribute.name}' as a column of its own, but the source has it")
        if not attribute.made and roles.get(attribute.name) is not attribute.role:
            raise _weaker(draft, f"publishes '{attribute.name}' as {attribute.role.value}, which the policy does not")
    for name in draft.companions:
        # Any other ending is that of a report or of a copy of the release, which medveil itself writes.
        if Path(name).name != name or not name.endswith(".csv"):
            raise _weaker(draft, "publishes a file that is not called like a CSV file beside the release")


def refuse_false_name(draft: Draft, method: Method) -> None:
    """Refuse a draft that another method than the policy's is said to have made: proofs go by a method's name."""
    named = draft.method.get("name")
    if named != method.name or methods().get(method.name, type(method)) is not type(method):
        raise VerificationError(
            f"The release was not published: the method '{method.name}' uses the name of another.",
            "This is a bug in the method: please report it to its authors.",
        )


def in_own_words(draft: Draft, problem: Problem) -> Draft:
    """The draft with claims that medveil's checks prove in medveil's words, whatever words a method of another package
    has for them; what no check of ours proves is shown as not checked.
    """
    if draft.method["name"] in own_methods():
        return draft
    return replace(draft, promises=[_in_own_words(promise, problem) for promise in draft.promises])


def _in_own_words(promise: Promise, problem: Problem) -> Promise:
    if promise.model not in CHECKS:
        return promise
    counting = "" if promise.counting is None else f" {promise.counting.value.replace('-', ' ')}"
    asked = next((asked.summary for asked in problem.promises() if _covers(promise, asked)), None)
    if asked is None:
        asked = ", ".join([promise.model, *(f"{term} {value}" for term, value in promise.required.items())])
    return replace(promise, summary=f"{asked}{counting}")


def _covers(promise: Promise, asked: Promise) -> bool:
    """Whether a promise is at least what is asked; one that names no columns is about all."""
    same = ("model", "required", "parameters", "attribute")
    return promise.on in (asked.on, None) and all(getattr(promise, name) == getattr(asked, name) for name in same)


def _weaker(draft: Draft, what: str) -> VerificationError:
    return VerificationError(
        f"The release was not published: the method '{draft.method['name']}' {what}.",
        "This is a bug in the method: please report it to its authors.",
    )


def prove(
    target: Path,
    source: Source | Mapping[str, Source],
    manifest: Manifest,
    workspace: Workspace,
    run: Run,
    secret: bytes | None = None,
) -> Manifest:
    """The manifest with what the auditor found instead of what the method promised; refused where one fails."""
    manifest.write(target)
    # What holds by proof is not looked up in the source: refusing a release for what the data hold would tell of them.
    counted = any(claim["basis"] != Basis.PROOF.value for claim in manifest.claims)
    report = audit(
        target,
        source if counted else None,
        base=workspace,
        secret=secret,
        step=lambda share: run.step(Stage.PROVE, share),
        interrupting=run.interrupting,
        memory=run.limits.memory,
    )
    refuse_by_profile(report)
    if not report.publishable:
        faults = [*report.problems, *(f"{f.claim['summary']}: {_fault(f)}" for f in report.findings if not f.proved)]
        raise VerificationError(
            f"The release was not published: what was written does not keep what it claims ({'; '.join(faults)}).",
            "This is a bug in medveil: please report it."
            if manifest.method["name"] in own_methods()
            else "This is a bug in the method: please report it to its authors.",
        )
    claims = [
        {
            **f.claim,
            "achieved": None if tells_left_out(f.claim, manifest) else f.finding.achieved,
            "holds": True if f.proved else None,
            "basis": f.claim["basis"] if f.proved else f.basis.value,
        }
        for f in report.findings
    ]
    assert report.status is not None
    proved = replace(
        manifest,
        status=report.status,
        claims=[claim_for_recipients(claim) for claim in claims],
        attributes=[attribute_for_recipients(attribute, workspace) for attribute in manifest.attributes],
        tables={name: table_for_recipients(table, workspace) for name, table in manifest.tables.items()},
        uncovered=list(report.uncovered),
    )
    proved.write(target)
    return proved


def tells_left_out(claim: Mapping[str, Any], manifest: Manifest) -> bool:
    """Whether what a claim reached would tell the values of records that are left out: how far a group is from the
    whole input tells the shares of values in it, and the difference to what is published is theirs.
    """
    model = model_of(claim)
    return model is not None and model.compares_with_input and bool(manifest.rows.get("suppressed"))


def _fault(found: ClaimFinding) -> str:
    return found.finding.note or f"required {dict(found.claim['required'])}, reached {found.finding.achieved}"
