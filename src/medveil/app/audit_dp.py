"""An attempt to refute the differential privacy of what a policy's method does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medveil.app.budget import spending_of
from medveil.app.preparation import specification
from medveil.policy import Policy, load_policy
from medveil.risk.dp_audit import PrivacyAudit, refuse_unauditable, run_audit
from medveil.run import Run, Stage
from medveil.table.schema import Role


def audit_dp(
    policy: str | Path | Mapping[str, Any] | Policy,
    *,
    runs: int = 1000,
    confidence: float = 0.999,
    run: Run | None = None,
) -> PrivacyAudit:
    """Try to refute the differential privacy of what a policy's method does, on small tables of its own."""
    run = run or Run()
    checked, workspace = load_policy(policy, run.workspace)
    spending = spending_of(checked)
    sensitive = [name for name, attribute in checked.attributes.items() if attribute.role is Role.SENSITIVE]
    declared = all(specification(checked.attributes[name]).leaves(name, workspace) is not None for name in sensitive)
    refuse_unauditable(spending.epsilon)
    trials = checked.method.privacy_trials(spending, runs, declared=declared)
    with run.stoppable():
        return run_audit(
            trials,
            spending.epsilon,
            spending.delta,
            guarantee=checked.method.guaranteed,
            confidence=confidence,
            step=lambda share: run.step(Stage.REFUTE, share),
        )
