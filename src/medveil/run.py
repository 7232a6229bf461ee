"""What a run has of the outside: random numbers, someone to tell, a way to be stopped, and what it may use."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from medveil.engine import Engine, EngineFactory, Limits, open_engine, own_tables
from medveil.engine.tables import ChangedTables, LinkedTables, TableFactory
from medveil.errors import CancelledError
from medveil.release.ledgers import Ledgers
from medveil.sources.source import Source
from medveil.system import raise_in_thread
from medveil.table.changes import ChangedTable
from medveil.table.pseudonyms import ReleaseKey
from medveil.workspace import Workspace

_POLL = 0.1
"""Seconds between two looks at whether a run was cancelled."""
_GRACE = 0.5
"""Seconds in which a cancelled run may stop by itself, at its next step or interrupted query, and clean up."""


class Stage(StrEnum):
    """What a run is doing. The values are for programs; `words` is for people."""

    GENERATE = "generate"
    READ = "read"
    COUNT = "count"
    SEARCH = "search"
    WRITE = "write"
    PROVE = "prove"
    MEASURE = "measure"
    ATTACK = "attack"
    ADVISE = "advise"
    DRAW = "draw"
    COMPARE = "compare"
    REFUTE = "refute"
    REPRODUCE = "reproduce"
    WARN = "warn"

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS = {
    Stage.GENERATE: "Generating patients",
    Stage.READ: "Reading the data",
    Stage.COUNT: "Counting distinct records",
    Stage.SEARCH: "Searching",
    Stage.WRITE: "Writing",
    Stage.PROVE: "Proving the claims again",
    Stage.MEASURE: "Measuring what it is good for",
    Stage.ATTACK: "Measuring what it gives away",
    Stage.ADVISE: "Looking for what would help",
    Stage.DRAW: "Drawing the reports",
    Stage.COMPARE: "Comparing",
    Stage.REFUTE: "Trying to tell neighbours apart",
    Stage.REPRODUCE: "Computing a paper's tables",
    Stage.WARN: "Warning",
}


@dataclass(frozen=True)
class Event:
    """How far a stage is: its share that is done, None where nobody knows. `detail` says what of it is going on."""

    stage: Stage
    share: float | None = None
    detail: str = ""

    @property
    def words(self) -> str:
        return self.detail or self.stage.words


Listener = Callable[[Event], None]


def _nobody(event: Event) -> None:
    """Nobody listens."""


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Run:
    """One run of a use case, as all its parts see it.

    random, seeded: random numbers; `seeded` where they can be drawn again, so that nothing may be published.
    listener: is told of every event.
    cancelled: whether somebody wants the run to stop; looked at in every step, and while an engine counts.
    engines, limits: what opens an engine, and what that may use. Where no engine is handed in, it is the one that the
        policy names, or DuckDB in this process.
    tables: what changes and links tables before they are counted; likewise.
    workspace: where paths start, and how far they may lead.
    ledgers: where the privacy ledgers of data sets are kept; None where none is, so that no budget can be.
    reached: the stage that it is in, so that an engine which knows how far it is can be heard.
    """

    random: np.random.Generator = field(default_factory=np.random.default_rng)
    seeded: bool = False
    listener: Listener = _nobody
    cancelled: Callable[[], bool] = _never
    engines: EngineFactory | None = None
    tables: TableFactory | None = None
    limits: Limits = field(default_factory=Limits)
    workspace: Workspace = field(default_factory=Workspace)
    ledgers: Ledgers | None = None
    reached: list[Stage] = field(default_factory=lambda: [Stage.READ], compare=False, repr=False)

    def step(self, stage: Stage, share: float | None = None, detail: str = "") -> None:
        """Tell how far a stage is; stop here where the run was cancelled."""
        self.check()
        if stage is not Stage.WARN:
            self.reached[:] = [stage]
        self.listener(Event(stage, share, detail))

    def warn(self, words: str) -> None:
        """Tell what somebody should know before the run goes on."""
        self.step(Stage.WARN, None, words)

    def check(self) -> None:
        """Stop here where the run was cancelled."""
        if self.cancelled():
            raise _cancelled()

    @contextmanager
    def engine(self, source: Source, columns: Sequence[str], *, may_be_empty: bool = False) -> Iterator[Engine]:
        """An engine that holds a source's columns, and stops counting where the run is cancelled.

        Names that may be a record are refused here, before anything is counted or shown; where the data may be empty,
        which is where the policy alone decides, they are not.
        """
        if source.doubt is not None and not may_be_empty:
            raise source.doubt
        for remark in source.remarks:
            self.warn(remark)
        engines = self.engines or open_engine
        opened = engines(source, columns, self.limits, may_be_empty=may_be_empty, interrupting=self.interrupting)
        try:
            for remark in opened.remarks:
                self.warn(remark)
            opened.listen(lambda share: self.listener(Event(self.reached[-1], share)))
            with self.interrupting(opened.interrupt):
                yield opened
            opened.close()
        except BaseException:
            # A run may be stopped while it cleans up, but only once.
            opened.close()
            raise

    def change(
        self, tables: Mapping[str, ChangedTable], sources: Mapping[str, Source], key: ReleaseKey, space: str
    ) -> ChangedTables:
        """Tables whose columns are changed before they are counted."""
        return (self.tables or own_tables()).change(tables, sources, key, space, self.limits, self.interrupting)

    def link(
        self, tables: Mapping[str, ChangedTable], sources: Mapping[str, Source], key: ReleaseKey, space: str
    ) -> LinkedTables:
        """Tables that point to each other."""
        return (self.tables or own_tables()).link(tables, sources, key, space, self.limits, self.interrupting)

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """Within this, a run that is cancelled stops wherever its Python is, as Ctrl-C would stop it.

        A library that computes for long without coming back to Python is stopped by ending its process: see
        `medveil.worker`.
        """
        thread = threading.get_ident()
        try:
            with self._watched(lambda: raise_in_thread(thread, _Stop), again=False):
                yield
                self.check()
        except _Stop:
            raise _cancelled() from None

    @contextmanager
    def interrupting(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Within this, `interrupt` is called where the run is cancelled; whatever that raises is a cancelled run."""
        try:
            with self._watched(interrupt, again=True):
                yield
        except Exception:
            self.check()
            raise

    @contextmanager
    def _watched(self, stop: Callable[[], None], *, again: bool) -> Iterator[None]:
        """Call `stop` from another thread when the run is cancelled; again and again, or once.

        Whoever holds the one token may act: the watcher takes it to stop the run, and the run takes it when it ends, so
        that nothing is stopped afterwards. What is raised in a thread may come between any two of its steps, locks
        included, so there are none: taking from a list cannot be interrupted.
        """
        if self.cancelled is _never:
            yield
            return
        token: list[None] = [None]
        over: list[None] = []

        def watch() -> None:
            while token and not over:
                time.sleep(_POLL)
                if not self.cancelled():
                    continue
                if not again:
                    time.sleep(_GRACE)
                try:
                    token.pop()
                except IndexError:
                    return
                # What ends in this very moment can no longer be stopped.
                with suppress(Exception):
                    stop()
                if not again:
                    return
                token.append(None)

        threading.Thread(target=watch, daemon=True).start()
        try:
            yield
        except _Stop:
            over.append(None)
            raise
        except BaseException:
            _take(token)
            raise
        _take(token)


def _take(token: list[None]) -> None:
    """Wait for the token; where a run is being stopped it does not come back, but `_Stop` does come."""
    while True:
        try:
            token.pop()
        except IndexError:
            time.sleep(_POLL / 10)
        else:
            return


class _Stop(BaseException):
    """Raised wherever a run is that has to stop; no `except Exception` holds it up."""


def _cancelled() -> CancelledError:
    return CancelledError("The run was stopped.", "Nothing was written.")
