"""The privacy ledger: what every release of a data set has spent, so that the total can be kept.

A text file, one entry a line, appended to and never rewritten. Each entry holds the hash of the one
before, so that no entry can be changed or taken out unnoticed, and a second small file holds the number of entries and
the last hash, so that none can be cut off at the end. An entry is written, and on the disk, before any noise is drawn;
it stays where the run fails afterwards, because nobody knows what was seen of it.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

from medveil.errors import InputError, OutputError, UnreachableError
from medveil.system import lock

ENDING = ".ledger"
HEAD_ENDING = "-head"
RECORD = "record"
_START = "0" * 64


@dataclass(frozen=True)
class Charge:
    """What one release spends. `guarantee`: that it is differentially private; one that is not voids the total.

    unit: who is protected: `record`, or the column of the subjects and, after a comma, how many of their records.
    """

    method: str
    epsilon: float | None
    delta: float = 0.0
    guarantee: bool = True
    unit: str = ""

    @property
    def protects(self) -> str:
        """Whose epsilons can be added up: how many records a subject may have makes no difference to that."""
        return self.unit.partition(", at most ")[0] or RECORD


@dataclass(frozen=True)
class LedgerEntry:
    """A charge as it stands in the ledger."""

    number: int
    time: str
    charge: Charge
    previous: str
    hash: str


@dataclass(frozen=True)
class Budget:
    """What all releases together may spend: epsilon with delta, and how releases add up (basic or zcdp)."""

    epsilon: float
    delta: float = 0.0
    composition: str = "basic"


@dataclass(frozen=True)
class TotalSpending:
    """What charges add up to, and why the sum bounds nothing where that is so.

    void: a release had no guarantee. mixed: some releases protect whole subjects and others single records.
    """

    epsilon: float
    delta: float
    void: bool
    mixed: bool = False


@dataclass(frozen=True)
class Account:
    """A data set's ledger as `medveil budget` shows it: its entries, what they add up to, and the budget if any."""

    ledger: str
    entries: Sequence[LedgerEntry]
    spent: TotalSpending
    budget: Budget | None

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, with what is left."""
        return {**asdict(self), "left": self.left}

    @property
    def left(self) -> float | None:
        """The largest epsilon that one more release without delta may ask for; None without a budget, or where it
        bounds nothing any more.

        basic: budget - spent.  zcdp: sqrt(2 (r - rho)), r being the rho that the budget allows,
        r + 2 sqrt(r ln(1 / d)) = budget.
        """
        if self.budget is None or self.spent.void or self.spent.mixed:
            return None
        if self.budget.composition == "basic":
            return float(max(Fraction(str(self.budget.epsilon)) - Fraction(str(self.spent.epsilon)), Fraction(0)))
        charges = [entry.charge for entry in self.entries if entry.charge.guarantee]
        free = self.budget.delta - float(sum(Fraction(str(charge.delta)) for charge in charges))
        if free <= 0:
            return 0.0
        log = math.log(1 / free)
        allowed = (math.sqrt(log + self.budget.epsilon) - math.sqrt(log)) ** 2
        return math.sqrt(2 * max(allowed - _rho(charges), 0.0))


def composed(charges: Sequence[Charge], budget: Budget | None) -> TotalSpending:
    """What releases spend together.

    basic: epsilon = sum of epsilons, delta = sum of deltas (Dwork and others 2006).
    zcdp:  rho = sum of epsilon^2 / 2, epsilon = rho + 2 sqrt(rho ln(1 / d)), delta = d + sum of deltas, where d is
           what the budget's delta leaves (Bun and Steinke 2016, Concentrated differential privacy).
    """
    void = any(not charge.guarantee for charge in charges)
    spent = [charge for charge in charges if charge.guarantee and charge.epsilon is not None]
    mixed = len({charge.protects for charge in spent}) > 1
    delta = float(sum(Fraction(str(charge.delta)) for charge in spent))
    if budget is None or budget.composition == "basic":
        return TotalSpending(float(sum(Fraction(str(charge.epsilon)) for charge in spent)), delta, void, mixed)
    rho = _rho(spent)
    left = budget.delta - delta
    if left <= 0:
        return TotalSpending(math.inf if spent else 0.0, delta, void, mixed)
    return TotalSpending(rho + 2 * math.sqrt(rho * math.log(1 / left)), delta + left if spent else 0.0, void, mixed)


def _rho(charges: Sequence[Charge]) -> float:
    return math.fsum((charge.epsilon or 0.0) ** 2 / 2 for charge in charges)


class Ledger:
    """The ledger of one data set, in a file, with its head beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head = path.with_name(f"{path.name}{HEAD_ENDING}")

    @staticmethod
    def beside(data: Path) -> Ledger:
        """The ledger that stands beside a data set's file."""
        return Ledger(data.with_name(f"{data.name}{ENDING}"))

    @property
    def there(self) -> bool:
        return self.path.exists() or self.head.exists()

    def entries(self) -> list[LedgerEntry]:
        """Every entry, the chain of hashes and the head checked."""
        if not self.there or (not self.head.exists() and not self.path.stat().st_size):
            return []
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise self._tampered("it is missing, but its head still exists") from None
        except (OSError, UnicodeDecodeError):
            raise InputError(
                f"The privacy ledger '{self.path.name}' cannot be read.", "Check its permissions."
            ) from None
        return self._checked(text)

    def account(self, budget: Budget | None) -> Account:
        """Everything that was charged, against the budget."""
        entries = self.entries()
        return Account(str(self.path), entries, composed([entry.charge for entry in entries], budget), budget)

    def charge(self, charge: Charge, budget: Budget | None) -> LedgerEntry:
        """Append a charge, or refuse it where the budget would be passed. On the disk when this returns."""
        with self._locked() as stream:
            entries = self._checked(stream.read())
            _afford([entry.charge for entry in entries], charge, budget)
            entry = _entry(
                len(entries) + 1,
                dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
                charge,
                entries[-1].hash if entries else _START,
            )
            stream.seek(0, os.SEEK_END)
            stream.write(_line(entry) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
            self._write_head(entry.number, entry.hash)
        return entry

    @contextmanager
    def _locked(self) -> Iterator[IO[str]]:
        try:
            with self.path.open("a+", encoding="utf-8") as stream:
                _hold(stream, self.path.name)
                if not self.path.stat().st_size and not self.head.exists():
                    self._write_head(0, _START)
                stream.seek(0)
                yield stream
        except OSError as error:
            raise OutputError(
                f"The privacy ledger '{self.path.name}' cannot be written: {error.strerror}.",
                "Nothing was released. Make its folder writable, or name a ledger elsewhere.",
            ) from None

    def _checked(self, text: str) -> list[LedgerEntry]:
        entries: list[LedgerEntry] = []
        if text and not text.endswith("\n"):
            raise InputError(
                f"The privacy ledger '{self.path.name}' ends within a line: a run was stopped while it wrote, or the "
                "file was changed from outside.",
                "A run draws nothing before its line is whole: remove the incomplete line from the file, or restore "
                "the ledger and its head from a backup. Until then nothing is released.",
            )
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                content = json.loads(line)
                given = content.pop("hash")
                entry = _entry(content["number"], content["time"], Charge(**content["charge"]), content["previous"])
            except (ValueError, KeyError, TypeError, AttributeError):
                raise self._tampered(f"line {number} is not an entry") from None
            before = entries[-1].hash if entries else _START
            if entry.number != number or entry.previous != before or entry.hash != given:
                raise self._tampered(f"line {number} does not follow from the one before")
            entries.append(entry)
        known, last = self._read_head()
        # A run that stopped between the two files leaves one entry more than the head knows, which takes nothing away.
        if known > len(entries) or (entries[known - 1].hash if known else _START) != last:
            raise self._tampered("entries were cut off at its end")
        return entries

    def _read_head(self) -> tuple[int, str]:
        try:
            head = json.loads(self.head.read_text(encoding="utf-8"))
            return int(head["entries"]), str(head["hash"])
        except (OSError, ValueError, KeyError, TypeError):
            raise self._tampered(f"'{self.head.name}' beside it is missing or damaged") from None

    def _write_head(self, entries: int, last: str) -> None:
        beside = self.head.with_name(f"{self.head.name}.{os.getpid()}")
        with beside.open("w", encoding="utf-8") as stream:
            stream.write(json.dumps({"entries": entries, "hash": last}) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(self.head)

    def _tampered(self, what: str) -> InputError:
        return InputError(
            f"The privacy ledger '{self.path.name}' was changed from outside: {what}.",
            "What was spent is no longer known. Restore the ledger and its head from a backup; nothing is released.",
        )


def _afford(before: Sequence[Charge], charge: Charge, budget: Budget | None) -> None:
    """Refuse a charge that would exceed the budget."""
    if budget is None or not charge.guarantee:
        return
    after = composed([*before, charge], budget)
    if after.mixed:
        other = next(one for one in before if one.guarantee and one.protects != charge.protects)
        raise UnreachableError(
            f"This release protects {_people(charge)}, but another of the same data {_people(other)}: what they spend "
            "does not add up to one budget.",
            "Nothing was released. Give the same column the role subject in all policies of these data.",
        )
    if budget.composition == "basic" and after.delta > budget.delta:
        raise UnreachableError(
            f"This release would exceed the budget's delta of {budget.delta:g}: {after.delta:g} together.",
            "Nothing was released. Raise 'budget_delta', or declare every domain and ask for no delta.",
        )
    if after.epsilon > budget.epsilon:
        spent = composed(before, budget)
        raise UnreachableError(
            f"This release would exceed the budget: {spent.epsilon:g} of epsilon {budget.epsilon:g} are spent "
            f"({budget.composition} composition), and it asks for {charge.epsilon:g}, which makes {after.epsilon:g}.",
            "Nothing was released. Ask for less, or raise the budget if those who own the data agree.",
        )


def _people(charge: Charge) -> str:
    return f"subjects by '{charge.protects}'" if charge.protects != RECORD else "single records"


def _entry(number: int, time: str, charge: Charge, previous: str) -> LedgerEntry:
    unhashed = {"number": number, "time": time, "charge": asdict(charge), "previous": previous}
    text = json.dumps(unhashed, sort_keys=True, ensure_ascii=False)
    return LedgerEntry(number, time, charge, previous, hashlib.sha256(text.encode()).hexdigest())


def _line(entry: LedgerEntry) -> str:
    content: dict[str, Any] = asdict(entry)
    return json.dumps(content, ensure_ascii=False)


def _hold(stream: IO[str], name: str) -> None:
    """Hold the file for this process alone, until it is closed."""
    if not lock(stream.fileno()):
        raise OutputError(
            f"The privacy ledger '{name}' is locked: another run is charging it.", "Try again when that is done."
        )
