"""The queue: jobs wait in the database and are done one after the other, each in a process that can be ended."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.exc import SQLAlchemyError

from medveil import errors
from medveil.errors import MedveilError
from medveil.processes import Child
from medveil.studio.database import Job, Store
from medveil.studio.settings import StudioSettings

LANES = ("run", "look")
PASSAGE = "passage"
LATER = 2.0
"""Seconds after which a new spare process is started."""
WAITING, RUNNING, DONE, FAILED, CANCELLED, INTERRUPTED = (
    "queued",
    "running",
    "done",
    "failed",
    "cancelled",
    "interrupted",
)
OPEN = (WAITING, RUNNING)


@dataclass
class Progress:
    """How far a job is that is being done. `version` grows with every change."""

    stage: str = ""
    share: float | None = None
    detail: str = ""
    warnings: list[str] = field(default_factory=list)
    version: int = 0
    cancelled: bool = False
    child: Child | None = None


class Queue:
    """Does what the database says is to be done. A spare process that has loaded everything waits for the next job."""

    def __init__(self, store: Store, settings: StudioSettings) -> None:
        self.store = store
        self.settings = settings
        self.live: dict[str, Progress] = {}
        self._changed = threading.Condition()
        self._stopping = False
        self._spare: Child | None = None
        self._threads: list[threading.Thread] = []

    # What others call

    def start(self) -> None:
        """Close what a former studio left open, and begin."""
        with self.store() as session:
            for job in session.scalars(select(Job).where(Job.state == RUNNING)):
                job.state, job.ended = INTERRUPTED, time.time()
                self._clean(job)
        self._threads = [threading.Thread(target=self._work, args=[lane], daemon=True) for lane in LANES]
        for thread in self._threads:
            thread.start()
        threading.Thread(target=self._prepare, daemon=True).start()

    def stop(self) -> None:
        """End everything; what was being done is interrupted."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
            children = [progress.child for progress in self.live.values()] + [self._spare]
        for child in children:
            if child is not None:
                child.end()
        for thread in self._threads:
            thread.join(10)

    def submit(
        self,
        kind: str,
        arguments: Mapping[str, Any],
        *,
        project: str | None = None,
        revision: str | None = None,
        lane: str = "run",
        key: str | None = None,
        identity: str | None = None,
    ) -> str:
        """Queue a use case by its name; the job's identity."""
        job = Job(kind=kind, lane=lane, project=project, revision=revision, task=dict(arguments), key=key)
        if identity is not None:
            job.id = identity
        with self.store() as session:
            session.add(job)
        with self._changed:
            self._changed.notify_all()
        return job.id

    def look(
        self, kind: str, arguments: Mapping[str, Any], *, project: str | None, again: bool = False, stamp: str = ""
    ) -> Job:
        """A short look at the data, done once for the same question; `stamp` tells the same words at other times
        apart.
        """
        known = self.looked(kind, arguments, project=project, stamp=stamp)
        if known is not None and not again and known.state != INTERRUPTED:
            return known
        # Of what is asked of one project only the newest question matters.
        with self.store() as session:
            session.execute(delete(Job).where(Job.project == project, Job.kind == kind, Job.state == WAITING))
        key = _key(kind, arguments, stamp)
        found = self.store.job(self.submit(kind, arguments, project=project, lane="look", key=key))
        assert found is not None
        return found

    def looked(self, kind: str, arguments: Mapping[str, Any], *, project: str | None, stamp: str = "") -> Job | None:
        """The newest look of this kind, where there was one."""
        same = select(Job).where(Job.project == project, Job.kind == kind, Job.key == _key(kind, arguments, stamp))
        with self.store() as session:
            return session.scalar(same.order_by(Job.created.desc()).limit(1))

    def cancel(self, identity: str) -> None:
        with self.store() as session:
            waiting = update(Job).where(Job.id == identity, Job.state == WAITING)
            session.execute(waiting.values(state=CANCELLED, ended=time.time()))
        progress = self.live.get(identity)
        if progress is not None:
            progress.cancelled = True
            if progress.child is not None:
                progress.child.end()

    def ask(self, task: Mapping[str, Any]) -> Any:
        """The answer to a task that leaves no trace here; what the use case refuses is raised."""
        child = self._take()
        try:
            for line in child.ask(json.dumps(dict(task))):
                match line:
                    case {"result": found}:
                        return found
                    case {"error": told}:
                        kind = getattr(errors, told["kind"], MedveilError)
                        raise kind(told["problem"], told["remedy"])
        finally:
            child.close()
        raise MedveilError("The question was not answered.", "Try it again.")

    def place(self, job: Job) -> int:
        """How many jobs are before this one."""
        with self.store() as session:
            before = select(Job.id).where(Job.lane == job.lane, Job.state.in_(OPEN), Job.created < job.created)
            return len(session.scalars(before).all())

    # The threads

    def _work(self, lane: str) -> None:
        while True:
            with self._changed:
                while not self._stopping and (job := self._next(lane)) is None:
                    self._changed.wait(5)
                if self._stopping:
                    return
            assert job is not None
            try:
                self._do(job)
            except (OSError, SQLAlchemyError):
                self._give_up(job)

    def _give_up(self, job: Job) -> None:
        """The disk is full, or the database is held by another program."""
        self.live.pop(job.id, None)
        error = {"kind": "fault", "problem": "The studio's folder cannot be written.", "remedy": "Is the disk full?"}
        with suppress(SQLAlchemyError), self.store() as session:
            session.execute(update(Job).where(Job.id == job.id).values(state=FAILED, error=error, ended=time.time()))

    def _next(self, lane: str) -> Job | None:
        with self.store() as session:
            oldest = select(Job).where(Job.lane == lane, Job.state == WAITING).order_by(Job.created).limit(1)
            job = session.scalar(oldest)
            if job is not None:
                job.state, job.started = RUNNING, time.time()
                self.live[job.id] = Progress()
            return job

    def _do(self, job: Job) -> None:
        progress = self.live[job.id]
        folder = self.settings.run(job.project, job.id)
        passage = folder / PASSAGE
        passage.mkdir(parents=True, exist_ok=True)
        child = progress.child = self._take()
        seconds = self.settings.look_seconds
        timer = threading.Timer(seconds, child.expire, [seconds]) if job.lane == "look" else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        state, result, error = FAILED, None, None
        try:
            if progress.cancelled:
                child.end()
            for line in child.ask(json.dumps(self._task(job, passage))):
                match line:
                    case {"event": told}:
                        self._tell(job, progress, told)
                    case {"result": found}:
                        state, result = DONE, found
                        break
                    case {"error": told} if not child.is_late(told):
                        error = told
                        break
        finally:
            if timer is not None:
                timer.cancel()
            child.close()
        if progress.cancelled and state != DONE:
            state, error = CANCELLED, None
        elif self._stopping and state != DONE:
            state, error = INTERRUPTED, None
        elif state == FAILED and error is None:
            error = {"kind": "fault", "problem": f"It did not finish: {child.why()}.", "remedy": ""}
        self._finish(job, state, result, error)
        self._prepare()

    def _task(self, job: Job, passage: Path) -> dict[str, Any]:
        workspace = self.settings.workspace(job.project) if job.project is not None else None
        confined = (
            {"root": str(self.settings.folder), "also": [str(self.settings.data)]}
            if workspace is None
            else {
                "folder": str(workspace.folder),
                "root": str(workspace.root),
                "also": [str(root) for root in workspace.also],
            }
        )
        return {
            "use_case": job.kind,
            "arguments": job.task,
            "owned": str(passage),
            "ledgers": str(self.settings.ledgers),
            "connections": dict(self.settings.connections),
            "nice": job.lane == "run",
            **confined,
        }

    def _tell(self, job: Job, progress: Progress, told: Mapping[str, Any]) -> None:
        if told["stage"] == "warn":
            progress.warnings.append(told["detail"])
        elif told["stage"] != progress.stage:
            job.stages = [*job.stages, [told["stage"], round(told["seconds"], 2)]]
            with self.store() as session:
                session.execute(update(Job).where(Job.id == job.id).values(stages=job.stages))
        if told["stage"] != "warn":
            progress.stage, progress.share, progress.detail = told["stage"], told["share"], told["detail"]
        progress.version += 1

    def _finish(self, job: Job, state: str, result: Any, error: Any) -> None:
        if state != DONE:
            self._clean(job)
        else:
            shutil.rmtree(self.settings.run(job.project, job.id) / PASSAGE, ignore_errors=True)
            with suppress(OSError):
                self.settings.run(job.project, job.id).rmdir()
        warnings = [["warn", text] for text in self.live[job.id].warnings]
        with self.store() as session:
            values = {"state": state, "result": result, "error": error, "ended": time.time()}
            session.execute(update(Job).where(Job.id == job.id).values(stages=job.stages + warnings, **values))
        self.live.pop(job.id).version += 1

    def _clean(self, job: Job) -> None:
        """Remove what a job that did not end had begun to write."""
        shutil.rmtree(self.settings.run(job.project, job.id), ignore_errors=True)

    # The spare process

    def _prepare(self) -> None:
        with self._changed:
            if not self._stopping and (self._spare is None or not self._spare.alive):
                self._spare = Child(arguments=["--ready"])

    def _take(self) -> Child:
        with self._changed:
            spare, self._spare = self._spare, None
        # The next one is loaded when this job has begun, so as not to be in its way.
        later = threading.Timer(LATER, self._prepare)
        later.daemon = True
        later.start()
        if spare is not None and spare.alive:
            return spare
        return Child(arguments=["--ready"])


def _key(kind: str, arguments: Mapping[str, Any], stamp: str) -> str:
    asked = json.dumps([kind, dict(arguments), stamp], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()
