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
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from medveil import system
from medveil.errors import InputError, OutputError
from medveil.release.ledger import Ledger, LedgerEntry
from medveil.release.manifest import file_hash
from medveil.sources.parts import home_of, is_parts, part_files

LEDGERS = "ledgers"
"""What the index is called."""


@dataclass(frozen=True)
class Ledgers:
    """Where ledgers are kept.

    named: the ledger to use, whatever the data are. index: the user's folder of contents that are known; None where
    copies are not to be found.
    """

    named: Path | None = None
    index: Path | None = None

    @staticmethod
    def of_user() -> Ledgers:
        """Beside the data, with the index where the user's programs keep what they must not forget."""
        return Ledgers(index=system.state_folder() / LEDGERS)

    def of(self, data: Path | None, *, must: bool) -> Ledger | None:
        """The ledger of the data in a file; None for other data where none is named.

        must: it will be charged against a budget, so that the index has to be writable too.
        """
        if self.named is not None:
            return Ledger(self.named)
        if data is None:
            return None
        beside = Ledger.beside(home_of(data.resolve()))
        if self.index is None:
            return beside
        if must:
            self._make_index(self.index)
        elif not self.index.is_dir():
            return beside
        known = _KnownContent.read(self.index / content_hash(data))
        return beside if known is None else known.ledger(beside)

    def remember(self, data: Path | None, ledger: Ledger, last: LedgerEntry) -> None:
        """Write down that the content of a file has this ledger, which has come to this entry."""
        if self.index is None or self.named is not None or data is None:
            return
        with suppress(OSError):  # an index that a budget needs was made before anything was charged
            self.index.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(self.index, os.W_OK):
            return
        _KnownContent(ledger.path, last.number, last.hash).write(self.index / content_hash(data))

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
            f"Two privacy ledgers tell of these data, '{kept.path}' and '{beside.path}', and each of releases that the "
            "other does not know.",
            "What was spent is in both: nothing is released. Name the one that goes on, once its budget is agreed.",
        )

    def _checked(self, ledger: Ledger) -> Ledger:
        entries = ledger.entries()
        if len(entries) < self.entries or entries[self.entries - 1].hash != self.hash:
            raise InputError(
                f"The privacy ledger '{ledger.path}' of these data is missing, or lacks releases that were charged.",
                "What was spent is no longer known. Restore it from a backup; nothing is released.",
            )
        return ledger
