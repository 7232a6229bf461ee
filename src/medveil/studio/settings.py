"""Where a studio keeps its state, which files it may open, and what it accepts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from medveil.workspace import Workspace

PROJECTS = "projects"
DATABASE = "studio.sqlite"


@dataclass(frozen=True)
class StudioSettings:
    """folder: the one folder of all state. data: the root of what can be chosen on this computer. ledgers: the user's
    index of privacy ledgers, which the command line keeps too. connections: the addresses of the databases that may be
    named; they are on no page and in no file of the studio. most_upload: bytes. look_seconds: how long a look at the
    data may take.
    """

    folder: Path
    data: Path
    ledgers: Path
    host: str = "127.0.0.1"
    port: int = 8760
    connections: Mapping[str, str] = field(default_factory=dict, repr=False)
    most_upload: int = 20_000_000_000
    most_columns: int = 2_000
    look_seconds: float = 1_800.0

    @property
    def database(self) -> Path:
        return self.folder / DATABASE

    def project(self, identity: str) -> Path:
        """The folder of a project: relative paths of its policy start here."""
        return self.folder / PROJECTS / identity

    def workspace(self, project: str) -> Workspace:
        """What the policy of a project may name: files of the project, and those that can be chosen."""
        return Workspace(self.project(project), self.project(project), (self.data,))

    def run(self, project: str | None, job: str) -> Path:
        """The folder of what a job makes."""
        if project is None:
            return self.folder / "tools" / job
        return self.project(project) / "runs" / job
