"""Tools for releases that are there already: audit, measure, the truthful table, and budgets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import select
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from medveil.errors import PolicyError
from medveil.studio.database import Job, Project, Revision, identity
from medveil.studio.jobs.queue import DONE
from medveil.studio.releases import RELEASE
from medveil.studio.routes.runs import policy_file
from medveil.studio.site import SEE_OTHER, Studio, moment, studio_of
from medveil.studio.steps import running
from medveil.workspace import Workspace

TOOLS = ("audit", "measure", "truthful")
TRUTHFUL = "truthful.csv"
RECENT = 20


def tools(request: Request) -> Response:
    studio = studio_of(request)
    with studio.store() as session:
        recent = session.scalars(
            select(Job).where(Job.project.is_(None), Job.kind.in_(TOOLS)).order_by(Job.created.desc()).limit(RECENT)
        ).all()
    return studio.page(
        request,
        "tools.html",
        tools=TOOLS,
        recent=[running(studio, job) for job in recent],
        budgets=_budgets(studio),
        command="medveil audit release",
        data={"recent": [running(studio, job).to_dict() for job in recent]},
    )


def _budgets(studio: Studio) -> list[Project]:
    """Projects whose policy spends of a budget."""
    with studio.store() as session:
        projects = session.scalars(select(Project).order_by(Project.created.desc()).limit(RECENT * 5)).all()
    found = [(project, studio.store.revision(project.id)) for project in projects]
    return [project for project, revision in found if revision is not None and revision.checked["spending"]]


def tool(request: Request) -> Response:
    return _form(request, 200)


def _form(request: Request, status: int, problem: str = "") -> Response:
    studio, name = studio_of(request), request.path_params["tool"]
    if name not in TOOLS:
        raise HTTPException(404)
    return studio.page(
        request,
        "tool.html",
        status,
        tool=name,
        releases=_releases(studio),
        root=str(studio.settings.data.resolve()),
        problem=problem,
        command={
            "audit": "medveil audit release --source original.csv",
            "measure": "medveil measure release --original original.csv",
            "truthful": "medveil truthful release --out truthful.csv",
        }[name],
        data={"problem": problem},
    )


def _releases(studio: Studio) -> list[tuple[str, str]]:
    """The releases that were made here."""
    made = select(Job, Project.title).join(Project, Job.project == Project.id)
    with studio.store() as session:
        found = session.execute(
            made.where(Job.kind == "anonymize", Job.state == DONE).order_by(Job.created.desc()).limit(100)
        ).all()
    return [(job.id, f"{title}, {moment(job.created)}") for job, title in found]


async def start(request: Request) -> Response:
    form = await request.form()
    studio, name = studio_of(request), request.path_params["tool"]
    if name not in TOOLS:
        raise HTTPException(404)
    try:
        arguments = await run_in_threadpool(_arguments, studio, name, {key: str(form[key]) for key in form})
    except PolicyError as error:
        return await run_in_threadpool(_form, request, 422, str(error))
    if arguments is None:
        return await run_in_threadpool(_form, request, 422, studio.words.tools.nothing)
    job = identity()
    if name == "truthful":
        arguments["out"] = str(studio.settings.run(None, job) / TRUTHFUL)
    await run_in_threadpool(lambda: studio.queue.submit(name, arguments, identity=job))
    studio.store.log("tool", None, name)
    return RedirectResponse(f"/tools/jobs/{job}", SEE_OTHER)


def _arguments(studio: Studio, name: str, form: dict[str, str]) -> dict[str, Any] | None:
    """What the tool is asked; None where no release is named. A release that was made here brings its own original."""
    root = studio.settings.data.resolve()
    confined = Workspace(root, root)
    original: str | None = None
    if form.get("folder", "").strip():
        place = str(confined.resolve(form["folder"].strip()).resolve())
        if form.get("original", "").strip():
            original = str(confined.resolve(form["original"].strip()).resolve())
    else:
        job = studio.store.job(form.get("release", ""))
        if job is None or job.project is None or job.kind != "anonymize" or job.state != DONE:
            return None
        place = str(studio.settings.run(job.project, job.id) / RELEASE)
        original = _original(studio, job, name)
    if name == "audit":
        return {"directory": place, "source": original}
    if name == "measure":
        return {"target": place, "original": original, "quick": form.get("quick") == "on"}
    return {"directory": place, "weights": form.get("weights") == "on"}


def _original(studio: Studio, job: Job, tool: str) -> str | None:
    """What a release was made from: its file, or the policy, which names tables, databases and folders too."""
    described = job.task["policy"].get("data")
    path = described.get("path") if isinstance(described, dict) else described
    if path is not None and (isinstance(described, str) or tool == "measure"):
        return str(studio.settings.project(str(job.project)) / path)
    if tool == "measure" and not job.task["policy"].get("tables"):
        return None
    with studio.store() as session:
        revision = session.get(Revision, job.revision)
    return None if revision is None else str(policy_file(studio, str(job.project), revision.number))


def job(request: Request) -> Response:
    studio = studio_of(request)
    found = studio.store.job(request.path_params["job"])
    if found is None or found.project is not None or found.kind not in TOOLS:
        raise HTTPException(404)
    shown = running(studio, found)
    return studio.page(
        request,
        "tool_result.html",
        job=shown,
        result=shown.result,
        command=f"medveil {found.kind} release",
        data={**shown.to_dict(), "result": shown.result},
    )


def cancel(request: Request) -> Response:
    studio = studio_of(request)
    found = studio.store.job(request.path_params["job"])
    if found is None or found.project is not None:
        raise HTTPException(404)
    studio.queue.cancel(found.id)
    return RedirectResponse(f"/tools/jobs/{found.id}", SEE_OTHER)


def table(request: Request) -> Response:
    """The truthful table."""
    studio = studio_of(request)
    found = studio.store.job(request.path_params["job"])
    if found is None or found.kind != "truthful" or found.state != DONE:
        raise HTTPException(404)
    path = studio.settings.run(None, found.id) / TRUTHFUL
    if not Path(path).is_file():
        raise HTTPException(404)
    return FileResponse(path, filename=TRUTHFUL, media_type="text/csv")


def budget(request: Request) -> Response:
    """The ledger of a project's data."""
    studio = studio_of(request)
    project = studio.project(request)
    revision = studio.store.revision(project.id)
    if revision is None or revision.checked["spending"] is None:
        raise HTTPException(404)
    with studio.store() as session:
        ended = len(
            session.scalars(select(Job.id).where(Job.project == project.id, Job.lane == "run", Job.ended > 0)).all()
        )
    look = running(
        studio,
        studio.queue.look("budget", {"policy": revision.checked["policy"]}, project=project.id, stamp=str(ended)),
    )
    return studio.page(
        request,
        "budget.html",
        project=project,
        look=look,
        spending=revision.checked["spending"],
        command="medveil budget policy.yaml",
        data=look.result if look.state == DONE else look.to_dict(),
    )


ROUTES = [
    Route("/tools", tools, name="tools"),
    Route("/tools/budget/{project}", budget, name="budget"),
    Route("/tools/jobs/{job}", job, name="tool_job"),
    Route("/tools/jobs/{job}/cancel", cancel, methods=["POST"], name="cancel_tool"),
    Route("/tools/jobs/{job}/table", table, methods=["POST"], name="truthful_table"),
    Route("/tools/{tool}", tool, methods=["GET"], name="tool"),
    Route("/tools/{tool}", start, methods=["POST"], name="start_tool"),
]
