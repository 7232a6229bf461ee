"""What the studio remembers: projects, revisions of their policies, jobs, sessions, and who looked at what."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, create_engine, event, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, sessionmaker

from medveil.errors import InputError

VERSION = 1
"""Of the tables; a folder of another version is refused rather than guessed at."""

PATIENCE = 5.0
"""Seconds that a change waits for another one to end."""


def identity() -> str:
    """A name that nobody guesses."""
    return secrets.token_hex(16)


class Base(DeclarativeBase):
    type_annotation_map = {dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012 - SQLAlchemy's own form


class Project(Base):
    """Data and what is to become of them. `data`: what the first look is at, by the names of its arguments: `data`,
    `tables` as a policy names them, or files or a folder `together`. `origin`: where they came from.
    """

    __tablename__ = "project"
    id: Mapped[str] = mapped_column(primary_key=True, default=identity)
    title: Mapped[str]
    origin: Mapped[str]
    data: Mapped[dict[str, Any]]
    size: Mapped[int | None]
    created: Mapped[float] = mapped_column(default=time.time)


class Revision(Base):
    """A policy as it stood at one moment: never changed."""

    __tablename__ = "revision"
    id: Mapped[str] = mapped_column(primary_key=True, default=identity)
    project: Mapped[str] = mapped_column(ForeignKey("project.id"), index=True)
    number: Mapped[int]
    text: Mapped[str]
    checked: Mapped[dict[str, Any]]
    created: Mapped[float] = mapped_column(default=time.time)


class Job(Base):
    """Something that is computed in a process of its own.

    lane: `run` for what is queued one after the other, `look` for short looks at the data. key: what a look is about,
    so that it is not repeated. stages: what it has done so far, with the seconds at which each began.
    """

    __tablename__ = "job"
    id: Mapped[str] = mapped_column(primary_key=True, default=identity)
    project: Mapped[str | None] = mapped_column(ForeignKey("project.id"))
    revision: Mapped[str | None] = mapped_column(ForeignKey("revision.id"))
    kind: Mapped[str]
    lane: Mapped[str]
    key: Mapped[str | None]
    state: Mapped[str] = mapped_column(default="queued")
    task: Mapped[dict[str, Any]]
    stages: Mapped[list[Any]] = mapped_column(default=list)
    result: Mapped[Any] = mapped_column(JSON(none_as_null=True), nullable=True)
    error: Mapped[Any] = mapped_column(JSON(none_as_null=True), nullable=True)
    created: Mapped[float] = mapped_column(default=time.time)
    started: Mapped[float | None]
    ended: Mapped[float | None]

    __table_args__ = (Index("job_queue", "lane", "state", "created"), Index("job_project", "project", "kind", "key"))


class LogEntry(Base):
    """What somebody did that has to be known later, such as a peek or a download. It holds no value of the data."""

    __tablename__ = "entry"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    at: Mapped[float] = mapped_column(default=time.time)
    project: Mapped[str | None]
    action: Mapped[str]
    detail: Mapped[str] = mapped_column(default="")


class Visit(Base):
    """A browser that was let in: the hash of its cookie."""

    __tablename__ = "visit"
    hash: Mapped[str] = mapped_column(primary_key=True)
    created: Mapped[float] = mapped_column(default=time.time)


class Store:
    """The database of one folder."""

    def __init__(self, path: Path) -> None:
        self.engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": PATIENCE})
        event.listen(self.engine, "connect", _prepare)
        Base.metadata.create_all(self.engine)
        with self.engine.begin() as connection:
            found = connection.exec_driver_sql("PRAGMA user_version").scalar()
            if found == 0:
                connection.exec_driver_sql(f"PRAGMA user_version = {VERSION}")
            elif found != VERSION:
                raise InputError(
                    f"The folder '{path.parent}' belongs to another version of the studio.",
                    "Name another one with --folder, or use the version that made it.",
                )
        self._session = sessionmaker(self.engine, expire_on_commit=False)

    @contextmanager
    def __call__(self) -> Iterator[Session]:
        """One transaction."""
        with self._session.begin() as session:
            yield session

    def close(self) -> None:
        self.engine.dispose()

    def log(self, action: str, project: str | None = None, detail: str = "") -> None:
        with self() as session:
            session.add(LogEntry(project=project, action=action, detail=detail))

    def project(self, identity: str) -> Project | None:
        with self() as session:
            return session.get(Project, identity)

    def revision(self, project: str) -> Revision | None:
        """The policy as it stands now."""
        with self() as session:
            newest = select(Revision).where(Revision.project == project).order_by(Revision.number.desc()).limit(1)
            return session.scalar(newest)

    def job(self, identity: str) -> Job | None:
        with self() as session:
            return session.get(Job, identity)


def _prepare(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for command in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {command}")
    cursor.close()
