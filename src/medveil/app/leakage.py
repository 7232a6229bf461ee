"""How much columns tell of who somebody is, before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medveil.app.preparation import open_data
from medveil.app.starting import started
from medveil.engine import Engine, Limits
from medveil.guessing.guess import guess
from medveil.guessing.starter_policy import one_subject
from medveil.policy import Policy, load_policy
from medveil.risk.leakage import Leakage, leakage_of
from medveil.risk.leakage_entries import entries_of
from medveil.run import Listener, Run, Stage
from medveil.sources.opening import open_source
from medveil.sources.source import Source
from medveil.table.schema import Kind, Role

POLICY_ENDINGS = frozenset({".yaml", ".yml", ".json"})


def leakage(
    data: Any,
    policy: Policy | Mapping[str, Any] | str | Path | None = None,
    *,
    columns: Sequence[str] | None = None,
    up_to: int = 1,
    top: int | None = None,
    unique: float | None = None,
    subject: str | None = None,
    prior: str | None = None,
    names: Sequence[str] | None = None,
    limits: Limits | None = None,
    progress: Listener | None = None,
    cancelled: Callable[[], bool] | None = None,
    run: Run | None = None,
    **options: Any,
) -> Leakage:
    """How much an attacker learns of who somebody is, from each column and from sets of up to so many.

    `data` is a frame or a path; with a policy, which may stand alone, the published columns are measured, sets are
    made of quasi-identifiers, and its subject says who a record belongs to. Without one every column is measured, and
    sets are made of what seem to be quasi-identifiers. `columns` names others. `options` say how a file is read, and
    `names` are those of the columns of a file without header line. See `medveil.risk.leakage.leakage_of`.
    """
    if policy is None and (
        isinstance(data, Policy) or (isinstance(data, (str, Path)) and Path(data).suffix.lower() in POLICY_ENDINGS)
    ):
        data, policy = None, data
    run = started(run, limits=limits, progress=progress, cancelled=cancelled)
    run.step(Stage.READ)
    if policy is None:
        known = _known_by_guess(open_source(data, columns=names, **options))
    else:
        known = _known_by_policy(policy, data, run)
    asked = tuple(dict.fromkeys(columns)) if columns else tuple(n for n in known.columns if n not in {subject, prior})
    subject = subject or known.subject
    for name in (*asked, *(n for n in (subject, prior) if n is not None)):
        known.source.position(name)
    needed = [*asked, *(n for n in (subject, prior) if n is not None)]
    with run.stoppable():
        with run.engine(known.source, needed) as engine:
            run.step(Stage.COUNT)
            guessed = not columns and (up_to > 1 or unique is not None)
            among = tuple(n for n in known.quasi(engine) if n in asked) if guessed else asked
            entries = entries_of(engine, asked, subject=subject, prior=prior, kinds=known.kinds, formats=known.formats)
        run.step(Stage.ATTACK, None, "Counting sets of columns")
        return leakage_of(entries, up_to=up_to, top=top, unique=unique, among=among or asked)


@dataclass(frozen=True)
class _Known:
    """What is known of a table before it is measured."""

    source: Source
    columns: tuple[str, ...]
    subject: str | None
    kinds: Mapping[str, Kind | None]
    formats: Mapping[str, str]
    quasi: Callable[[Engine], Sequence[str]]


def _known_by_policy(given: Policy | Mapping[str, Any] | str | Path, data: Any, run: Run) -> _Known:
    policy, workspace = load_policy(given, run.workspace)
    of_role = {role: [n for n, a in policy.attributes.items() if a.role is role] for role in Role}
    return _Known(
        open_data(policy, workspace, data),
        (*of_role[Role.QUASI], *of_role[Role.SENSITIVE], *of_role[Role.PLAIN]),
        next(iter(of_role[Role.SUBJECT]), None),
        {name: attribute.type for name, attribute in policy.attributes.items()},
        {name: attribute.format for name, attribute in policy.attributes.items() if attribute.format is not None},
        lambda _engine: of_role[Role.QUASI],
    )


def _known_by_guess(source: Source) -> _Known:
    def quasi(engine: Engine) -> list[str]:
        profiles = [engine.profile(name) for name in engine.columns]
        guesses = one_subject([(p.name, guess(p)) for p in profiles])
        return [name for name, found in guesses if found.role is Role.QUASI]

    return _Known(source, source.names, None, {}, {}, quasi)
