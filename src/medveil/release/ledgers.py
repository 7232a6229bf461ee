"""Which ledger a data set has: the budget belongs to the data, wherever the policy stands.

The ledger stands beside the data's file and is called after it, so that a file whose content changes continues it. An
index of the user's knows every content that was ever charged, by its hash, and where its ledger is: a copy, or a file
that was renamed, finds it there. What no longer equals any of these contents is new data to the index, and data that
are no file have a ledger only where somebody names one.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from medveil import system
from medveil.errors import InputError, OutputError
from medveil.release.ledger import Ledger, LedgerEntry
from medveil.release.manifest import file_hash
from medveil.sources.parts import home_of, is_parts, part_files

LEDGERS = "ledgers"
"""What the index is called."""
_HELD = ".held"
"""The file of the index that a run holds while it finds a ledger and charges it."""
_PATIENCE = 10.0
"""Seconds that a run waits for another that is charging; that takes a moment."""


@dataclass(frozen=True)
class Ledgers:
    """Where ledgers are kept.

    named: the ledger to use, whatever the data are; it must know what was charged for these data elsewhere.
    index: the user's folder of contents that are known; None where copies are not to be found.
    """

    named: Path | None = None
    index: Path | None = None

    @staticmethod
    def of_user() -> Ledgers:
        """Beside the data, with the index where the user's programs keep what they must not forget."""
        return Ledgers(index=system.state_folder() / LEDGERS)

    def of(self, data: Path | None, *, must: bool, content: str | None = None) -> Ledger | None:
        """The ledger of the data in a file; None for other data where none is named.

        must: it will be charged against a budget, so that the index has to be writable too. content: the hash of the
        data, where it is known.
        """
        if data is None:
            return None if self.named is None else Ledger(self.named)
        beside = Ledger.beside(home_of(data.resolve()))
        if self.named is not None:
            known = None
            with suppress(InputError):  # naming a ledger is the way out of a damaged index
                known = self._known(data, content)
            return _continuing(Ledger(self.named), beside, known)
        if must and self.index is not None:
            self._make_index(self.index)
        known = self._known(data, content)
        return beside if known is None else known.ledger(beside)

    def _known(self, data: Path, content: str | None) -> _KnownContent | None:
        if self.index is None or not self.index.is_dir():
            return None
        return _KnownContent.read(self.index / (content or content_hash(data)))

    def content(self, data: Path | None) -> str | None:
        """What the index knows the data by; None where it knows nothing of them."""
        return None if data is None or self.index is None else content_hash(data)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within this no other run of the user's finds or charges a ledger: of two copies that nobody knows yet, the
        second finds what the first was charged.
        """
        if self.index is None or not self.index.is_dir() or not os.access(self.index, os.W_OK):
            yield
            return
        with (self.index / _HELD).open("a", encoding="utf-8") as stream:
            until = time.monotonic() + _PATIENCE
            while not system.lock(stream.fileno()):
                if time.monotonic() > until:
                    raise OutputError(
                        f"The index of privacy ledgers in '{self.index}' is locked: another run is charging.",
                        "Nothing was released. Try again when that is done.",
                    )
                time.sleep(_PATIENCE / 500)
            yield

    def remember(self, content: str | None, ledger: Ledger, last: LedgerEntry) -> None:
        """Write down that data of this content have this ledger, which has come to this entry."""
        if self.index is None or content is None or not os.access(self.index, os.W_OK):
            return
        _KnownContent(ledger.path.resolve(), last.number, last.hash).write(self.index / content)

    def make_index(self) -> None:
        """Make the index, where that can be done; a budget without a ledger of its own refuses to go on without."""
        if self.index is not None:
            with suppress(OSError):
                self.index.mkdir(mode=0o700, parents=True, exist_ok=True)

    @staticmethod
    def _make_index(index: Path) -> None:
        try:
            index.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            usable = False
        else:
            usable = os.access(index, os.W_OK)
        if not usable:
            raise OutputError(
                f"The index of privacy ledgers in '{index}' cannot be written, and copies of the data would not be "
                "known.",
                "Nothing was released. Make it writable, or name the ledger of these data.",
            )


def _continuing(named: Ledger, beside: Ledger, known: _KnownContent | None) -> Ledger:
    """The ledger that was named, where it knows every release of these data that another one was charged with."""
    before = None if known is None else known.last
    if before is None and beside.there and beside.path.resolve() != named.path.resolve():
        before = next(((entry.number, entry.hash) for entry in reversed(beside.entries())), None)
    if before is None:
        return named
    number, last = before
    entries = named.entries()
    if len(entries) < number or entries[number - 1].hash != last:
        elsewhere = beside.path if known is None else known.path
        raise InputError(
            f"These data already have the privacy ledger '{elsewhere}', and '{named.path}' lacks releases that it was "
            "charged with.",
            "Nothing was released. Name that ledger, or copy it, with its head, to where it is to be kept.",
        )
    return named


def content_hash(data: Path) -> str:
    """What tells the content of a file, or of a table in parts, from others."""
    hashes = [file_hash(file) for file in part_files(data)] if is_parts(data) else [file_hash(data)]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256(" ".join(hashes).encode()).hexdigest()


@dataclass(frozen=True)
class _KnownContent:
    """What the index holds of one content: its ledger, and the last entry of it that is known."""

    path: Path
    entries: int
    hash: str

    @staticmethod
    def read(place: Path) -> _KnownContent | None:
        try:
            content = json.loads(place.read_text(encoding="utf-8"))
            return _KnownContent(Path(content["ledger"]), int(content["entries"]), str(content["hash"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(
                f"The index of privacy ledgers in '{place.parent}' is damaged.",
                "What was spent is no longer known. Restore it from a backup, or name the ledger of these data.",
            ) from None

    def write(self, place: Path) -> None:
        beside = place.with_name(f"{place.name}.{secrets.token_hex(4)}")
        content = {"ledger": str(self.path), "entries": self.entries, "hash": self.hash}
        try:
            beside.write_text(json.dumps(content) + "\n", encoding="utf-8")
            beside.replace(place)
        except OSError as error:
            raise OutputError(
                f"The index of privacy ledgers in '{place.parent}' cannot be written: {error.strerror}.",
                "Nothing was released. Make it writable, or name the ledger of these data.",
            ) from None

    @property
    def last(self) -> tuple[int, str]:
        """The number and the hash of the last entry that is known."""
        return self.entries, self.hash

    def ledger(self, beside: Ledger) -> Ledger:
        """The ledger of this content, also where its file has one beside it, or has taken it along."""
        kept = Ledger(self.path)
        if beside.path == kept.path or not beside.there:
            return self._checked(kept)
        if not kept.there:
            return self._checked(beside)
        mine, other = kept.entries(), beside.entries()
        if mine[: len(other)] == other:
            return self._checked(kept)
        if other[: len(mine)] == mine:
            return self._checked(beside)
        raise InputError(
            f"Two privacy ledgers are about these data, '{kept.path}' and '{beside.path}', and each lists releases "
            "that the other does not.",
            "What was spent is in both: nothing is released. Name the one to continue, once its budget is agreed.",
        )

    def _checked(self, ledger: Ledger) -> Ledger:
        entries = ledger.entries()
        if len(entries) < self.entries or entries[self.entries - 1].hash != self.hash:
            raise InputError(
                f"The privacy ledger '{ledger.path}' of these data is missing, or lacks releases that were charged.",
                "What was spent is no longer known. Restore it from a backup; nothing is released.",
            )
        return ledger
