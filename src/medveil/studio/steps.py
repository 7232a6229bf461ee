"""What the pages of a project share: the steps on top, the policy beside, and jobs as pages show them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from medveil.studio.database import Job, Project, Revision
from medveil.studio.jobs.queue import OPEN
from medveil.studio.site import Studio, studio_of

BASE = "/projects/{project}"
STEPS = ("data", "columns", "privacy", "method", "run", "results")


@dataclass(frozen=True)
class ShownJob:
    """A job as a page shows it: how far it is, and what came of it."""

    id: str
    kind: str
    state: str
    stages: list[tuple[str, float]]
    stage: str
    share: float | None
    detail: str
    seconds: float
    before: int
    warnings: list[str]
    error: Mapping[str, Any] | None
    result: Any
    created: float
    version: int

    @property
    def open(self) -> bool:
        return self.state in OPEN

    def to_dict(self) -> dict[str, Any]:
        """For whoever asks for JSON."""
        return {
            name: getattr(self, name)
            for name in ("id", "kind", "state", "stages", "stage", "share", "seconds", "before", "warnings", "error")
        }


def running(studio: Studio, job: Job) -> ShownJob:
    """A job with its progress where it is being done."""
    live = studio.queue.live.get(job.id)
    stages = [(str(name), float(at)) for name, at in job.stages if name != "warn"]
    warnings = [str(text) for name, text in job.stages if name == "warn"]
    ended = job.ended or time.time()
    return ShownJob(
        id=job.id,
        kind=job.kind,
        state=job.state,
        stages=stages,
        stage=live.stage if live is not None else "",
        share=live.share if live is not None else None,
        detail=live.detail if live is not None else "",
        seconds=0.0 if job.started is None else max(ended - job.started, 0.0),
        before=studio.queue.place(job) if job.state == "queued" else 0,
        warnings=[*warnings, *(live.warnings if live is not None else ())],
        error=job.error,
        result=job.result,
        created=job.created,
        version=live.version if live is not None else -1,
    )


def settled(request: Request) -> tuple[Studio, Project, Revision]:
    """The project of the address and its policy, which must be there already."""
    studio = studio_of(request)
    project = studio.project(request)
    revision = studio.policy(project)
    if revision is None:
        raise HTTPException(404)
    return studio, project, revision


def project_page(
    request: Request,
    project: Project,
    template: str,
    step: str,
    status: int = 200,
    *,
    revision: Revision | None = None,
    **context: Any,
) -> Response:
    studio = studio_of(request)
    revision = revision or studio.store.revision(project.id)
    return studio.page(request, template, status, project=project, step=step, steps=STEPS, revision=revision, **context)
