"""Every method that fits a policy on the same data: what each reaches, what it costs, and why others do not fit."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from medveil.app.making import Progress
from medveil.app.preparation import opened
from medveil.engine import Limits
from medveil.errors import InputError, MedveilError, PolicyError, did_you_mean
from medveil.methods import methods
from medveil.methods.method import Method
from medveil.methods.problem import Problem
from medveil.policy import Policy, load_policy
from medveil.release.directory import staged
from medveil.report.comparison_page import comparison_page
from medveil.report.page import can_be_made, render

ALL = "all"
GRACE = 120.0
"""Seconds that a run may take beyond its search, for reading, writing, proving and measuring."""
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
    """A policy to be run: under which name, and with which setting of what is swept over."""

    name: str
    policy: Mapping[str, Any]
    setting: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ComparedRun:
    """What became of a trial: a reason why there is nothing, or what the release reached and cost.

    seconds, memory: until the release was proved; what measuring took is not counted. memory in bytes, of which
    `program` were taken before anything was read. forms: what is published in the place of values, by column.
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
    policy: str | Path,
    *,
    out: str | Path,
    chosen: Sequence[str] | str = ALL,
    sweep: Sweep | None = None,
    data: Path | None = None,
    limits: Limits | None = None,
    time_limit: float = 120.0,
    progress: Progress | None = None,
) -> list[ComparedRun]:
    """Run every chosen method on a policy's data and write what came out: `comparison.json`, `comparison.html`.

    Parameters that the policy gives its own method are passed on to others that know them. Releases are not kept, and
    no privacy budget is charged: a comparison is for the steward, and nothing of it leaves the house.
    """
    checked, folder = load_policy(policy)
    names = _chosen(chosen)
    tell = progress or (lambda _stage, _share: None)
    with staged(Path(out)) as target:
        tell("Reading the data", None)
        with opened(checked, folder, data, limits) as (problem, _):
            fits = {name: _why_not(checked, name, problem) for name in names}
        trials, refused = _trials(checked, fits, sweep, time_limit)
        found = run_trials(
            trials, target, base=folder, data=data, limits=limits, seconds=time_limit * 1.2 + GRACE, progress=tell
        )
        outcomes = [*found, *refused]
        private = any(model.spends is not None for model in checked.privacy)
        write_comparison(outcomes, target, private=private, swept=None if sweep is None else sweep.name)
    return outcomes


def write_comparison(outcomes: Sequence[ComparedRun], folder: Path, *, private: bool, swept: str | None = None) -> None:
    """The figures as JSON, and the page where it can be made."""
    plain = [asdict(outcome) for outcome in outcomes]
    text = json.dumps(plain, indent=2, ensure_ascii=False, default=str)
    (folder / "comparison.json").write_text(text + "\n", encoding="utf-8")
    if can_be_made():
        page = comparison_page(plain, private=private, swept=swept)
        (folder / "comparison.html").write_text(render(page), encoding="utf-8")


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


def _why_not(policy: Policy, name: str, problem: Problem) -> str | None:
    try:
        return _with_method(policy, name).why_refused(problem)
    except ValidationError:
        return "the policy's parameters are not right for it"
    except MedveilError as error:
        return str(error)


def _trials(
    policy: Policy, fits: Mapping[str, str | None], sweep: Sweep | None, time_limit: float
) -> tuple[list[Trial], list[ComparedRun]]:
    """What is to be run, and what does not fit, with the reason."""
    written = policy.model_dump(mode="json", exclude_unset=True)
    written["output"] = {**written.get("output", {}), "report": False}
    # Only attacks put every method on one scale, those under differential privacy among them.
    written["evaluation"] = {"attacks": True, **written.get("evaluation", {})}
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
            trials.append(Trial(name, {**written, "method": given}))
        elif of_model:
            trials += [_with_model(written, given, sweep.name, value, policy) for value in sweep.values]
        elif sweep.name in type(method).model_fields:
            settings = ({sweep.name: value} for value in sweep.values)
            trials += [Trial(name, {**written, "method": {**given, **setting}}, setting) for setting in settings]
        else:
            refused.append(ComparedRun(name, {}, f"it has no parameter '{sweep.name}'"))
    return trials, refused


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
    data: Path | None = None,
    base: Path | None = None,
    limits: Limits | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
    keep: bool = False,
) -> list[ComparedRun]:
    """Run each trial in a process of its own, one after the other.

    base: the folder that the policies' paths are relative to. keep: releases stay in `folder`, under their names.
    """
    outcomes = []
    for number, trial in enumerate(trials):
        title = " ".join([trial.name, *(f"{key} = {value}" for key, value in trial.setting.items())])
        release = folder / (trial.name if keep else f"trial-{number}")
        task = {
            "policy": dict(trial.policy),
            "data": None if data is None else str(data.resolve()),
            "out": str(release.resolve()),
            "threads": None if limits is None else limits.threads,
            "memory": None if limits is None else limits.memory,
        }

        def tell(stage: str, _share: float | None, title: str = title, done: float = number / len(trials)) -> None:
            if progress is not None:
                progress(f"{title}: {stage}", done)

        outcomes.append(ComparedRun(trial.name, trial.setting, **_run(task, base or Path(), seconds, tell)))
        # A run that was ended leaves what it had begun to write.
        for left in [*folder.glob(f".{release.name}.*"), *([] if keep else [release])]:
            shutil.rmtree(left, ignore_errors=True)
    return outcomes


def _run(task: Mapping[str, Any], folder: Path, seconds: float | None, tell: Progress) -> dict[str, Any]:
    """What a trial's process answers; where it does not, why."""
    with _started(folder, seconds) as (process, late):
        assert process.stdin is not None
        assert process.stdout is not None
        # A process that is gone already answers nothing, and why is found out below.
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(task, default=str))
            process.stdin.close()
        for text in process.stdout:
            line = json.loads(text)
            if "result" in line:
                return dict(line["result"])
            tell(line["stage"], line["share"])
        if late.is_set():
            return {"reason": f"it was stopped after {seconds:,.0f} seconds"}
        return {"reason": f"its process ended with code {process.wait()}, perhaps for lack of memory"}


@contextmanager
def _started(folder: Path, seconds: float | None) -> Iterator[tuple[subprocess.Popen[str], threading.Event]]:
    """A process that is ended with this block, or after so many seconds."""
    late = threading.Event()
    command = [sys.executable, "-m", "medveil.worker"]
    process = subprocess.Popen(  # noqa: S603 - this program itself
        command,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )

    def end() -> None:
        # With whatever it has started itself.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def stop() -> None:
        late.set()
        end()

    timer: threading.Timer | None = None
    if seconds is not None:
        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
    try:
        yield process, late
    finally:
        if timer is not None:
            timer.cancel()
        end()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
