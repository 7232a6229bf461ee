"""The Data step: what the project works on, how it is read, a peek that is logged, and the end of a project."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete as remove
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from medveil.studio.database import Job, Project, Revision
from medveil.studio.jobs.queue import DONE, OPEN
from medveil.studio.policies import change
from medveil.studio.site import SEE_OTHER, Studio, see, studio_of
from medveil.studio.steps import project_page, running

OPTIONS = ("delimiter", "encoding", "missing", "columns")


def data(request: Request) -> Response:
    studio = studio_of(request)
    project = studio.project(request)
    studio.policy(project)
    return _page(request, studio, project)


def _page(request: Request, studio: Studio, project: Project, status: int = 200, **more: Any) -> Response:
    look = studio.first_look(project)
    result = look.result if look.state == DONE else {}
    found = result.get("inspection")
    described = (result.get("named") or project.data).get("data")
    reading = described if isinstance(described, dict) else {"path": described}
    told: dict[str, Any] = {
        "title": project.title,
        "origin": project.origin,
        "size": project.size,
        "state": look.state,
        "rows": found and found["rows"],
        "columns": found and len(found["columns"]),
        "tables": _tables(result),
        "left_out": result.get("left_out") or {},
        "missing_words": (found or {}).get("missing_words") or {},
        "error": look.error,
    }
    return project_page(
        request,
        project,
        "data.html",
        "data",
        status,
        look=running(studio, look),
        told=told,
        reading=None if described is None else reading,
        command=f"medveil inspect {_files(project, result)} --policy-out policy.yaml",
        data=told,
        **{"rows": None, "reason_missing": False, **more},
    )


def _tables(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The linked tables that were found, and where each is."""
    return [
        {
            "name": name,
            "rows": found["rows"],
            "columns": len(found["columns"]),
            "file": _file(result["named"]["tables"].get(name)),
        }
        for name, found in result.get("tables", {}).items()
    ]


def _file(data: Any) -> str:
    """The last part of where a table is."""
    if data is None:
        return ""
    place = data if isinstance(data, str) else data.get("path") or data.get("connection") or data.get("type")
    return str(place).rpartition("/")[2]


def _files(project: Project, result: Mapping[str, Any]) -> str:
    """What the command line is given in the place of the project's data."""
    named = project.data if "together" in project.data else result.get("named") or project.data
    given = [named["data"]] if "data" in named else named.get("together") or list(named["tables"].values())
    paths = [one if isinstance(one, str) else (one or {}).get("path", "FILE") for one in given]
    return " ".join(dict.fromkeys(_shell(str(path)) for path in paths))


def _shell(text: str) -> str:
    return f"'{text}'" if " " in text or "'" in text else text


async def read_again(request: Request) -> Response:
    """Other words on how the file is read: the columns are looked at anew, and the policy begins anew."""
    form = await request.form()
    return await run_in_threadpool(_read_again, request, form)


def _read_again(request: Request, form: FormData) -> Response:
    studio = studio_of(request)
    project = studio.project(request)
    look = studio.first_look(project)
    described = (look.result["named"] if look.state == DONE else project.data).get("data")
    if described is None:
        studio.first_look(project, again=True)
        return see(request, "data", project=project.id)
    kept = dict(described) if isinstance(described, dict) else {"path": described}
    for option in OPTIONS:
        text = str(form.get(option, "")).strip("\r\n")
        kept.pop(option, None)
        if option in {"missing", "columns"}:
            listed = [line.strip() for line in text.splitlines() if line.strip()]
            if listed:
                kept[option] = listed
        elif text:
            kept[option] = "\t" if text == "tab" else text
    given = kept if set(kept) != {"path"} else kept["path"]
    revision = None
    if studio.store.revision(project.id) is not None:
        revision, _ = studio.amend(project, lambda now: change(now.text, ["data"], given))
    with studio.store() as session:
        found = session.get(Project, project.id)
        assert found is not None
        if revision is None:  # there is none yet, or it would be none: the look says why
            found.data = {"data": given}
        session.execute(remove(Job).where(Job.project == project.id, Job.kind == "starter", Job.state.not_in(OPEN)))
    renewed = studio.store.project(project.id)
    assert renewed is not None
    studio.first_look(renewed, again=True)
    return see(request, "data", project=project.id)


async def rename(request: Request) -> Response:
    studio = studio_of(request)
    project = studio.project(request)
    title = str((await request.form()).get("title", "")).strip()[:200]
    with studio.store() as session:
        found = session.get(Project, project.id)
        assert found is not None
        found.title = title or found.title
    return see(request, "data", "saved", project=project.id)


async def stop_look(request: Request) -> Response:
    studio = studio_of(request)
    project = studio.project(request)
    studio.queue.cancel(studio.first_look(project).id)
    return see(request, "data", project=project.id)


async def peek(request: Request) -> Response:
    """Twenty original records, shown in the answer to the post and never kept."""
    studio = studio_of(request)
    form = await request.form()
    reason, table = str(form.get("reason", "")).strip()[:300], str(form.get("table", "")) or None

    def look() -> Response:
        project = studio.project(request)
        revision = studio.policy(project)
        if revision is None or not reason:
            return _page(request, studio, project, 422, reason_missing=not reason)
        studio.store.log("peek", project.id, reason)
        arguments = {"policy": revision.checked["policy"], "number": 20, "table": table}
        rows = studio.once("peek", arguments, project.id)
        return _page(request, studio, project, rows=rows)

    return await run_in_threadpool(look)


async def delete(request: Request) -> Response:
    sure = (await request.form()).get("sure") == "on"
    return await run_in_threadpool(_delete, request, sure)


def _delete(request: Request, sure: bool) -> Response:
    studio = studio_of(request)
    project = studio.project(request)
    if not sure:
        return see(request, "data", project=project.id)
    with studio.store() as session:
        jobs = [job.id for job in session.query(Job).where(Job.project == project.id, Job.state.in_(OPEN))]
    for job in jobs:
        studio.queue.cancel(job)
    shutil.rmtree(studio.settings.project(project.id), ignore_errors=True)
    with studio.store() as session:
        for table in (Job, Revision):
            session.execute(remove(table).where(table.project == project.id))
        session.execute(remove(Project).where(Project.id == project.id))
    studio.store.log("delete", None, "project")
    return RedirectResponse("/", SEE_OTHER)


ROUTES = [
    Route("/projects/{project}", data, name="project"),
    Route("/projects/{project}/data", data, name="data"),
    Route("/projects/{project}/data/read", read_again, methods=["POST"], name="read_again"),
    Route("/projects/{project}/data/stop", stop_look, methods=["POST"], name="stop_look"),
    Route("/projects/{project}/rename", rename, methods=["POST"], name="rename"),
    Route("/projects/{project}/peek", peek, methods=["POST"], name="peek"),
    Route("/projects/{project}/delete", delete, methods=["POST"], name="delete"),
]
