"""Every method that fits a policy on the same data: what each reaches, what it costs, and why others do not fit."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from medveil.app.elsewhere import Progressed, run_elsewhere
from medveil.app.linked_plan import LinkedPlan
from medveil.app.linked_profiling import profiled_plan
from medveil.app.linking import linked_refusal, linked_tables, view_of
from medveil.app.preparation import opened
from medveil.app.starting import started
from medveil.engine import Limits
from medveil.errors import InputError, MedveilError, PolicyError, did_you_mean
from medveil.methods import methods
from medveil.methods.method import Method
from medveil.methods.problem import Problem
from medveil.policy import Policy, load_policy
from medveil.release.directory import staged
from medveil.release.manifest import INTERNAL, read_manifest
from medveil.report.comparison_page import comparison_page
from medveil.report.page import can_be_made, render
from medveil.run import Listener, Run, Stage
from medveil.workspace import Workspace

ALL = "all"
GRACE = 120.0
"""Seconds that a run may take beyond its search, for reading, writing, proving and measuring."""
SUPPRESSION, USUAL = "suppression", 0.02
"""The parameter that lets a method leave records out, and how many it is let where the policy does not say."""
_SWEEP = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(.+)")


@dataclass(frozen=True)
class Sweep:
    """A parameter of a privacy model or a method, and the values that are tried one after the other."""

    name: str
    values: tuple[Any, ...]

    @staticmethod
    def read(text: str) -> Sweep:
        """From `k=2,5,10`.

        >>> Sweep.read("k=2,5,10")
        Sweep(name='k', values=(2, 5, 10))
        """
        found = _SWEEP.fullmatch(text)
        if found is None:
            raise InputError("A sweep is a parameter and its values.", "Write it like k=2,5,10.")
        return Sweep(found[1], tuple(_value(part.strip()) for part in found[2].split(",")))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@dataclass(frozen=True)
class Trial:
    """A policy to be run: under which name, and with which setting of what is swept over; `folder`: what its release is
    called where it is kept.
    """

    name: str
    policy: Mapping[str, Any]
    setting: Mapping[str, Any] = field(default_factory=dict)
    folder: str = ""


@dataclass(frozen=True)
class ComparedRun:
    """What became of a trial: a reason why there is nothing, or what the release reached and cost.

    seconds, memory: until the release was proved; what measuring took is not counted. memory in bytes, of which
    `program` were taken before anything was read. forms: what is published instead of values, by column.
    """

    name: str
    setting: Mapping[str, Any]
    reason: str | None = None
    seconds: float = 0.0
    memory: int = 0
    program: int = 0
    status: str = ""
    rows: Mapping[str, int] = field(default_factory=dict)
    claims: Sequence[Mapping[str, Any]] = ()
    method: Mapping[str, Any] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, Any] = field(default_factory=dict)
    risks: Mapping[str, Any] = field(default_factory=dict)


def compare(
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    out: str | Path,
    chosen: Sequence[str] | str = ALL,
    sweep: Sweep | str | None = None,
    data: str | Path | None = None,
    time_limit: float = 120.0,
    limits: Limits | None = None,
    progress: Listener | None = None,
    cancelled: Callable[[], bool] | None = None,
    run: Run | None = None,
) -> list[ComparedRun]:
    """Run every chosen method on a policy's data and write what came out: `comparison.json`, `comparison.html`.

    Parameters that the policy gives its own method are passed on to others that know them; a method that may leave
    records out is run with and without that, since others leave nobody out. Releases are not kept, and no privacy
    budget is charged: a comparison is for the steward, and nothing of it leaves the house.
    """
    run = started(run, limits=limits, progress=progress, cancelled=cancelled)
    checked, workspace = load_policy(policy, run.workspace)
    names = _chosen(chosen)
    swept = Sweep.read(sweep) if isinstance(sweep, str) else sweep
    with staged(Path(out)) as target, run.stoppable():
        fits = fitting_methods(checked, workspace, data, names, run)
        trials, refused = _trials(checked, fits, swept, time_limit)
        found = run_trials(
            trials,
            target,
            owned=target,
            base=workspace.folder,
            data=None if data is None else Path(data),
            seconds=time_limit * 1.2 + GRACE,
            run=run,
        )
        outcomes = [*found, *refused]
        private = any(model.spends is not None for model in checked.privacy)
        write_comparison(outcomes, target, private=private, swept=None if swept is None else swept.name, run=run)
    return outcomes


def fitting_methods(
    policy: Policy, workspace: Workspace, data: Any, names: Sequence[str], run: Run
) -> dict[str, str | None]:
    """For each method why it does not fit, or None."""
    if not policy.tables:
        with opened(policy, workspace, data, run) as (problem, _):
            return {name: why_not_method(policy, name, problem) for name in names}
    if data is not None:
        raise PolicyError("The policy names several tables.", "Leave the data out: each table has its own.")
    run.step(Stage.READ)
    plan = LinkedPlan(policy)
    with linked_tables(plan, workspace, run) as tables:
        plan, _ = profiled_plan(plan, tables, run)
        with view_of(plan, tables, workspace, run) as problem:
            return {
                name: why_not_method(policy, name, problem) or linked_refusal(plan, _with_method(policy, name), problem)
                for name in names
            }


def write_comparison(
    outcomes: Sequence[ComparedRun], folder: Path, *, private: bool, swept: str | None = None, run: Run | None = None
) -> None:
    """The figures as JSON, and the page where it can be made."""
    run = run or Run()
    plain = [asdict(outcome) for outcome in outcomes]
    text = json.dumps(plain, indent=2, ensure_ascii=False, default=str)
    (folder / "comparison.json").write_text(text + "\n", encoding="utf-8")
    if can_be_made():
        page = comparison_page(plain, private=private, swept=swept)
        drawn = render(page, lambda share: run.step(Stage.DRAW, share))
        (folder / "comparison.html").write_text(drawn, encoding="utf-8")


def _chosen(chosen: Sequence[str] | str) -> list[str]:
    known = methods()
    if chosen == ALL:
        return list(known)
    names = [chosen] if isinstance(chosen, str) else list(chosen)
    for name in names:
        if name not in known:
            raise PolicyError(f"There is no method '{name}'.", did_you_mean(name, [*known, ALL]))
    return list(dict.fromkeys(names))


def _with_method(policy: Policy, name: str) -> Method:
    """A method with the parameters of the policy's own that it knows."""
    if name == policy.method.name:
        return policy.method
    given = policy.method.model_dump(mode="json", exclude_unset=True)
    method = methods()[name]
    return method.model_validate({key: value for key, value in given.items() if key in method.model_fields})


def why_not_method(policy: Policy, name: str, problem: Problem) -> str | None:
    try:
        return _with_method(policy, name).why_refused(problem)
    except ValidationError:
        return "the policy's parameters do not suit it"
    except MedveilError as error:
        return str(error)


def _trials(
    policy: Policy, fits: Mapping[str, str | None], sweep: Sweep | None, time_limit: float
) -> tuple[list[Trial], list[ComparedRun]]:
    """What is to be run, and what does not fit, with the reason."""
    written = policy.model_dump(mode="json", exclude_unset=True)
    # Nothing of a comparison leaves the house, so nothing is charged, and no budget has to be kept.
    for given in written["privacy"]:
        given.pop("budget", None)
    written["output"] = {**written.get("output", {}), "report": False, "database": None}
    # Only attacks put every method on one scale, those under differential privacy among them.
    written["evaluation"] = {"attacks": True, **written.get("evaluation", {}), "advice": False}
    of_model = sweep is not None and any(sweep.name in type(model).model_fields for model in policy.privacy)
    if sweep is not None and not of_model:
        known = sorted({field for name in fits for field in methods()[name].model_fields})
        if sweep.name not in known:
            models = [field for model in policy.privacy for field in type(model).model_fields]
            hint = did_you_mean(sweep.name, [*dict.fromkeys(models), *known])
            raise PolicyError(f"No privacy model of the policy and no method has a parameter '{sweep.name}'.", hint)
    trials, refused = [], []
    for name, reason in fits.items():
        if reason is not None:
            refused.append(ComparedRun(name, {}, reason))
            continue
        method = _with_method(policy, name)
        given = {"name": name, **method.model_dump(mode="json", exclude_unset=True)}
        if "time_limit" in type(method).model_fields:
            given.setdefault("time_limit", time_limit)
        if sweep is None:
            trials += [
                Trial(name, {**written, "method": {**given, **setting}}, setting) for setting in _suppressions(given)
            ]
        elif of_model:
            trials += [_with_model(written, given, sweep.name, value, policy) for value in sweep.values]
        elif sweep.name in type(method).model_fields:
            settings = ({sweep.name: value} for value in sweep.values)
            trials += [Trial(name, {**written, "method": {**given, **setting}}, setting) for setting in settings]
        else:
            refused.append(ComparedRun(name, {}, f"it has no parameter '{sweep.name}'"))
    return trials, refused


def _suppressions(method: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a method may leave out: as much as it is given, or as is usual; and, on the terms of methods that leave
    nobody out, nothing.
    """
    if SUPPRESSION not in methods()[str(method["name"])].model_fields:
        return [{}]
    return [{SUPPRESSION: method.get(SUPPRESSION) or USUAL}, {SUPPRESSION: 0}]


def _with_model(
    written: Mapping[str, Any], method: Mapping[str, Any], parameter: str, value: Any, policy: Policy
) -> Trial:
    """The policy with one value of a parameter, in every model that has it."""
    privacy = [
        {**given, parameter: value} if parameter in type(model).model_fields else given
        for given, model in zip(written["privacy"], policy.privacy, strict=True)
    ]
    return Trial(str(method["name"]), {**written, "privacy": privacy, "method": method}, {parameter: value})


def run_trials(
    trials: Sequence[Trial],
    folder: Path,
    *,
    owned: Path,
    data: Path | None = None,
    base: Path | None = None,
    seconds: float | None = None,
    run: Run | None = None,
    keep: bool = False,
) -> list[ComparedRun]:
    """Run each trial in a process of its own, one after the other.

    owned: the folder of the whole run, removed by a trial's process that is left alone. base: the folder that the
    policies' paths are relative to. keep: releases stay in `folder`, under their names.
    """
    run = run or Run()
    outcomes = []
    for number, trial in enumerate(trials):
        title = " ".join([trial.name, *(f"{key} = {value}" for key, value in trial.setting.items())])
        release = (folder / (trial.folder or trial.name if keep else f"trial-{number}")).resolve()
        arguments = {
            "data": None if data is None else data.resolve(),
            "policy": trial.policy,
            "out": release,
        }
        taken: dict[str, Any] = {}

        def listen(
            told: Progressed, title: str = title, done: float = number / len(trials), taken: dict[str, Any] = taken
        ) -> None:
            # Until the release is proved: what measuring takes is not the method's.
            if told.event.stage is Stage.MEASURE and not taken:
                taken.update(seconds=told.seconds, memory=told.memory)
            run.step(Stage.COMPARE, done, f"{title}: {told.event.words}")

        try:
            answer = run_elsewhere(
                "anonymize", arguments, run=run, listen=listen, folder=base, owned=owned, seconds=seconds
            )
            if answer.reason is not None:
                outcomes.append(ComparedRun(trial.name, trial.setting, answer.reason))
            else:
                outcomes.append(
                    ComparedRun(trial.name, trial.setting, program=answer.program, **taken, **_read(release))
                )
        finally:
            # A run that was ended leaves what it had begun to write.
            for left in [*folder.glob(f".{release.name}.*"), *([] if keep else [release])]:
                shutil.rmtree(left, ignore_errors=True)
    return outcomes


def _read(folder: Path) -> dict[str, Any]:
    """What a trial's release says of itself."""
    manifest, internal = read_manifest(folder), folder / INTERNAL
    ran = json.loads((internal / "run.json").read_text(encoding="utf-8"))
    return {
        "status": manifest.status,
        # Recipients are not always told how many records were left out; those who compare are.
        "rows": dict(ran.get("rows", manifest.rows)),
        "claims": [dict(claim) for claim in manifest.claims],
        "method": dict(manifest.method),
        "forms": {a["name"]: a["form"] for a in manifest.attributes if a.get("form")},
        **{name: json.loads((internal / f"{name}.json").read_text(encoding="utf-8")) for name in ("measures", "risks")},
    }
