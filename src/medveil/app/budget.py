"""What the releases of a data set have spent, and what one more spends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medveil.app.preparation import data_path
from medveil.errors import InputError, PolicyError
from medveil.policy import Policy, load_policy
from medveil.privacy.model import Spending
from medveil.release.ledger import RECORD, Account, Budget, Charge, Ledger
from medveil.release.ledgers import Ledgers
from medveil.run import Run
from medveil.table.schema import Role
from medveil.workspace import Workspace


def budget(
    policy: Policy | Mapping[str, Any] | str | Path, *, ledger: str | Path | None = None, run: Run | None = None
) -> Account:
    """What all releases of a policy's data have spent. `ledger` names theirs where it does not stand beside them."""
    run = run or Run()
    checked, workspace = load_policy(policy, run.workspace)
    spending = spending_of(checked)
    kept = run.ledgers or Ledgers.of_user()
    ledgers = kept if ledger is None else Ledgers(Path(ledger))
    found = ledgers.of(data_path(checked, workspace), must=False)
    if found is None:
        raise PolicyError("The policy names no data that have a ledger.", "Name the ledger of the data.")
    return found.account(_budget(spending))


@dataclass(frozen=True)
class DataLedger:
    """The ledger that releases of a data set are charged to, where there is one."""

    ledgers: Ledgers | None
    data: Path | None
    content: str | None = None

    def charge(self, policy: Policy) -> None:
        """Write down what a release spends before anything is drawn, also one that voids what was promised before."""
        if self.ledgers is None:
            return
        private = _private(policy)
        if private is not None:
            self.ledgers.make_index()
        with self.ledgers.held():
            # Found again: since the run began another may have charged a copy of these data.
            ledger = self.ledgers.of(self.data, must=_is_limited(policy), content=self.content)
            if ledger is None or (private is None and not ledger.there):
                return
            if private is None:
                entry = ledger.charge(Charge(policy.method.name, None, guarantee=False), None)
            else:
                spent = Charge(
                    policy.method.name, private.epsilon, private.delta, policy.method.guaranteed, _unit(policy, private)
                )
                entry = ledger.charge(spent, _budget(private))
            self.ledgers.remember(self.content, ledger, entry)


def open_ledger(policy: Policy, data: Path | None, workspace: Workspace, ledgers: Ledgers | None) -> DataLedger:
    """The ledger of the data in a file, or of others where that is None; a budget needs one."""
    if ledgers is None:
        content, ledger = None, None
    else:
        # What no ledger is charged with, and none has been, need not be told from other data.
        wanted = _private(policy) is not None or (ledgers.index is not None and ledgers.index.is_dir())
        content = ledgers.content(data) if wanted else None
        ledger = ledgers.of(data, must=_is_limited(policy), content=content)
    if _is_limited(policy) and ledger is None:
        raise PolicyError(
            "The policy sets a budget, but nothing can write down what releases of these data spend.",
            "Name a ledger for them, or leave 'budget' out.",
        )
    if data is not None and ledger is not None and not ledger.there:
        _refuse_old_place(data, workspace, ledger)
    return DataLedger(ledgers, data, content)


def _is_limited(policy: Policy) -> bool:
    private = _private(policy)
    return private is not None and private.budget is not None


def _refuse_old_place(data: Path, workspace: Workspace, ledger: Ledger) -> None:
    """Version 0.1 kept ledgers beside the policy: one that is there must not be forgotten."""
    old = Ledger.beside(workspace.folder / data.name)
    if old.there and old.path.resolve() != ledger.path.resolve():
        raise InputError(
            f"The privacy ledger '{old.path}' is beside the policy, but belongs beside the data.",
            f"Move it, and the file '{old.head.name}', to the folder of the data. Nothing was released.",
        )


def _unit(policy: Policy, spending: Spending) -> str:
    subject = next((name for name, attribute in policy.attributes.items() if attribute.role is Role.SUBJECT), None)
    return RECORD if subject is None else f"{subject}, at most {spending.max_records_per_subject} records"


def _budget(spending: Spending) -> Budget | None:
    return None if spending.budget is None else Budget(spending.budget, spending.budget_delta, spending.composition)


def _private(policy: Policy) -> Spending | None:
    return next((model.spends for model in policy.privacy if model.spends is not None), None)


def spending_of(policy: Policy) -> Spending:
    """What the policy allows a release to spend."""
    found = _private(policy)
    if found is None:
        raise PolicyError("The policy asks for no differential privacy.", "Name 'differential-privacy' in 'privacy:'.")
    return found
