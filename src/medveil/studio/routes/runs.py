"""The Run step: a preview, what a run spends, the queue, and a run that is watched while it goes on."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from sqlalchemy import delete as remove
from sqlalchemy import func, select
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from medveil.studio.database import Job, Project, Revision, identity
from medveil.studio.jobs.queue import DONE, OPEN
from medveil.studio.releases import RELEASE, read_result
from medveil.studio.site import DrawnProgress, Studio, see, studio_of
from medveil.studio.steps import BASE, ShownJob, project_page, running, settled

WATCH = 0.25
"""Seconds between two looks at how far a run is."""
BEAT = 15.0
MOST_STREAMS = 200
COMPARISON = "comparison"


def run(request: Request) -> Response:
    studio = studio_of(request)
    project = studio.project(request)
    revision = studio.policy(project)
    if revision is None:
        return see(request, "data", project=project.id)
    return _page(request, studio, project, revision)


def _page(
    request: Request, studio: Studio, project: Project, revision: Revision, status: int = 200, **more: Any
) -> Response:
    with studio.store() as session:
        open_jobs = session.scalars(
            select(Job).where(Job.lane == "run", Job.state.in_(OPEN), Job.project == project.id).order_by(Job.created)
        ).all()
    spending = revision.checked["spending"]
    policy = revision.checked["policy"]
    name = policy.get("method", {"name": "optimal"})["name"]
    preview = _preview(studio, project, revision, start=False)
    return project_page(
        request,
        project,
        "run.html",
        "run",
        status,
        revision=revision,
        method_title=studio.words.methods.get(name, {}).get("title") or name,
        queue=[running(studio, job) for job in open_jobs],
        preview=None if preview is None else running(studio, preview),
        spending=spending,
        budget=_budget(studio, project, revision) if spending else None,
        command="medveil anonymize policy.yaml --out release",
        data={"queue": [running(studio, job).to_dict() for job in open_jobs], "spending": spending},
        **{"unticked": False, **more},
    )


def _budget(studio: Studio, project: Project, revision: Revision) -> ShownJob:
    """What the ledger of these data says; it is read again after every run."""
    with studio.store() as session:
        ended = session.scalar(select(func.count()).where(Job.project == project.id, Job.lane == "run", Job.ended > 0))
    arguments = {"policy": revision.checked["policy"]}
    return running(studio, studio.queue.look("budget", arguments, project=project.id, stamp=str(ended)))


def budget(request: Request) -> Response:
    studio, project, revision = settled(request)
    if revision.checked["spending"] is None:
        raise HTTPException(404)
    look = _budget(studio, project, revision)
    return studio.page(
        request,
        "_budget.html",
        project=project,
        budget=look,
        spending=revision.checked["spending"],
        unticked=False,
        data=look.result if look.state == DONE else look.to_dict(),
    )


async def start(request: Request) -> Response:
    form = await request.form()
    studio, project, revision = await run_in_threadpool(settled, request)
    if revision.checked["spending"] is not None and form.get("spend") != "on":
        return await run_in_threadpool(lambda: _page(request, studio, project, revision, 422, unticked=True))
    job = await run_in_threadpool(submit, studio, project, revision)
    return see(request, "job", project=project.id, job=job)


def submit(studio: Studio, project: Project, revision: Revision) -> str:
    job = identity()
    out = studio.settings.run(project.id, job) / RELEASE
    arguments = {"data": None, "policy": revision.checked["policy"], "out": str(out)}
    # Paths of a policy start where it is: the tools read the original by it.
    policy_file(studio, project.id, revision.number).write_text(revision.text, encoding="utf-8")
    studio.queue.submit("anonymize", arguments, project=project.id, revision=revision.id, identity=job)
    studio.store.log("run", project.id, f"version {revision.number}")
    return job


def policy_file(studio: Studio, project: str, number: int) -> Path:
    """Where a version of a policy is kept that was run."""
    return studio.settings.project(project) / f"policy-{number}.yaml"


async def compare(request: Request) -> Response:
    """Every method that fits, one after the other."""
    form = await request.form()
    studio, project, revision = await run_in_threadpool(settled, request)
    job = identity()
    out = studio.settings.run(project.id, job) / COMPARISON
    sweep = str(form.get("sweep", "")).strip()[:200] or None
    arguments = {"policy": revision.checked["policy"], "out": str(out), "sweep": sweep, "time_limit": 60.0}
    await run_in_threadpool(
        lambda: studio.queue.submit("compare", arguments, project=project.id, revision=revision.id, identity=job)
    )
    return see(request, "job", project=project.id, job=job)


# The preview


def _preview(studio: Studio, project: Project, revision: Revision, *, start: bool) -> Job | None:
    arguments = {"policy": revision.checked["policy"]}
    if start:
        return studio.queue.look("preview", arguments, project=project.id, again=True)
    return studio.queue.looked("preview", arguments, project=project.id)


def preview(request: Request) -> Response:
    studio, project, revision = settled(request)
    found = _preview(studio, project, revision, start=False)
    shown = None if found is None else running(studio, found)
    return studio.page(
        request,
        "_preview.html",
        project=project,
        preview=shown,
        spending=revision.checked["spending"],
        data=None if shown is None else {**shown.to_dict(), "result": shown.result},
    )


def start_preview(request: Request) -> Response:
    studio, project, revision = settled(request)
    _preview(studio, project, revision, start=True)
    if request.headers.get("hx-request"):
        return preview(request)
    return see(request, "run", project=project.id)


# One job


def _job(request: Request) -> tuple[Studio, Project, Job]:
    studio = studio_of(request)
    project = studio.project(request)
    job = studio.store.job(request.path_params["job"])
    if job is None or job.project != project.id or job.lane != "run":
        raise HTTPException(404)
    return studio, project, job


def job(request: Request) -> Response:
    studio, project, found = _job(request)
    shown = running(studio, found)
    with studio.store() as session:
        revision = session.get(Revision, found.revision) if found.revision else None
    spending = revision.checked["spending"] if revision is not None and found.kind == "anonymize" else None
    told: dict[str, Any] = {
        "job": shown,
        "of": revision,
        "spending": spending,
        "charged": spending is not None and any(stage == "search" for stage, _ in shown.stages),
        "perhaps": spending is not None and found.started is not None,
        "data": shown.to_dict(),
        "command": _command(found.kind),
    }
    if shown.open or shown.state != DONE:
        return project_page(request, project, "job.html", "run", **told)
    folder = studio.settings.run(project.id, found.id)
    if found.kind == "compare":
        return project_page(request, project, "comparison.html", "results", **told, outcomes=shown.result)
    result = read_result(folder / RELEASE, found.result)
    if result is None:
        raise HTTPException(404)
    rows = running(studio, studio.queue.look("rows", {"directory": str(folder / RELEASE)}, project=project.id))
    told["data"] = {**shown.to_dict(), "manifest": result.manifest, "measures": result.measures, "risks": result.risks}
    return project_page(request, project, "result.html", "results", **told, result=result, rows=rows)


def _command(kind: str) -> str:
    return {
        "anonymize": "medveil anonymize policy.yaml --out release && medveil audit release",
        "compare": "medveil compare policy.yaml --out comparison",
    }[kind]


def rows(request: Request) -> Response:
    studio, project, found = _job(request)
    folder = studio.settings.run(project.id, found.id) / RELEASE
    look = running(studio, studio.queue.look("rows", {"directory": str(folder)}, project=project.id))
    return studio.page(
        request,
        "_rows.html",
        project=project,
        rows=look,
        job=running(studio, found),
        data={"tables": look.result if look.state == DONE else None},
    )


async def events(request: Request) -> Response:
    """How a job gets on, as server-sent events: `progress` for eyes, `stage` for ears, `end` when it is over."""
    studio, _, found = await run_in_threadpool(_job, request)
    if len(studio.streams) >= MOST_STREAMS:
        raise HTTPException(503)
    token = object()
    studio.streams.add(token)
    # Also where the browser is gone before the first event.
    over = BackgroundTask(studio.streams.discard, token)
    return StreamingResponse(_watch(request, studio, found.id, token), media_type="text/event-stream", background=over)


async def _watch(request: Request, studio: Studio, name: str, token: object) -> AsyncIterator[str]:
    stage, shown_before, beat = "", "", time.monotonic()
    try:
        while not await request.is_disconnected():
            drawn = await _drawn(studio, name)
            if drawn.state not in OPEN:
                yield _event("end", drawn.state)
                return
            if drawn.text != shown_before:
                shown_before = drawn.text
                yield _event("progress", drawn.text)
            if drawn.stage and drawn.stage != stage:
                stage = drawn.stage
                words = studio.words.stages.get(stage, stage)
                yield _event("stage", studio.words.run.stage_now.format(stage=words))
            if time.monotonic() - beat > BEAT:
                beat = time.monotonic()
                yield ": still here\n\n"
            await asyncio.sleep(WATCH)
    finally:
        studio.streams.discard(token)
        if not studio.streams:
            studio.drawn.clear()


async def _drawn(studio: Studio, name: str) -> DrawnProgress:
    """How a job gets on, drawn once for all who watch it."""
    async with studio.drawing:
        kept, now, live = studio.drawn.get(name), time.monotonic(), studio.queue.live.get(name)
        version = live.version if live is not None else -2
        if kept is None or now - kept.at > (1.0 if kept.version == version else WATCH / 2):
            kept = await run_in_threadpool(_draw, studio, name, version)
            studio.drawn[name] = kept
        return kept


def _draw(studio: Studio, name: str, version: int) -> DrawnProgress:
    found = studio.store.job(name)
    if found is None or found.state not in OPEN:
        return DrawnProgress(version, time.monotonic(), found.state if found is not None else "gone")
    shown = running(studio, found)
    text = studio.templates.get_template("_progress.html").render(t=studio.words, job=shown)
    return DrawnProgress(version, time.monotonic(), found.state, text, shown.stage)


def _event(name: str, content: str) -> str:
    lines = "".join(f"data: {line}\n" for line in content.splitlines() or [""])
    return f"event: {name}\n{lines}\n"


def cancel(request: Request) -> Response:
    studio, project, found = _job(request)
    studio.queue.cancel(found.id)
    studio.store.log("cancel", project.id)
    return see(request, "job", project=project.id, job=found.id)


def again(request: Request) -> Response:
    """The same policy once more, as a new run: what was charged stays charged. What spends of a budget goes by the Run
    page, where what is left is shown and the spending confirmed.
    """
    studio, project, found = _job(request)
    with studio.store() as session:
        revision = session.get(Revision, found.revision)
    if revision is None or found.kind != "anonymize":
        raise HTTPException(404)
    if revision.checked["spending"] is not None:
        studio.revise(project, revision.text)
        return see(request, "run", project=project.id)
    return see(request, "job", project=project.id, job=submit(studio, project, revision))


def delete(request: Request) -> Response:
    studio, project, found = _job(request)
    if found.state in OPEN:
        raise HTTPException(400)
    shutil.rmtree(studio.settings.run(project.id, found.id), ignore_errors=True)
    with studio.store() as session:
        session.execute(remove(Job).where(Job.id == found.id))
    studio.store.log("delete", project.id, "run")
    return see(request, "results", project=project.id)


ROUTES = [
    Route(f"{BASE}/run", run, methods=["GET"], name="run"),
    Route(f"{BASE}/run", start, methods=["POST"], name="start_run"),
    Route(f"{BASE}/run/budget", budget, name="budget_part"),
    Route(f"{BASE}/run/preview", preview, methods=["GET"], name="preview"),
    Route(f"{BASE}/run/preview", start_preview, methods=["POST"], name="start_preview"),
    Route(f"{BASE}/run/compare", compare, methods=["POST"], name="start_comparison"),
    Route(f"{BASE}/runs/{{job}}", job, name="job"),
    Route(f"{BASE}/runs/{{job}}/events", events, name="events"),
    Route(f"{BASE}/runs/{{job}}/rows", rows, name="rows"),
    Route(f"{BASE}/runs/{{job}}/cancel", cancel, methods=["POST"], name="cancel"),
    Route(f"{BASE}/runs/{{job}}/again", again, methods=["POST"], name="again"),
    Route(f"{BASE}/runs/{{job}}/delete", delete, methods=["POST"], name="delete_run"),
]
