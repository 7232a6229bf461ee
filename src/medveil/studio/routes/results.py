"""The Results step: every run with its figures, runs compared, and what is handed over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from medveil.studio.database import Job, Revision
from medveil.studio.jobs.queue import DONE
from medveil.studio.policies import change
from medveil.studio.releases import RELEASE, Result, published, read_result, summary, zipped
from medveil.studio.routes.runs import COMPARISON, submit
from medveil.studio.security.headers import REPORT_POLICY
from medveil.studio.site import Studio, see, studio_of
from medveil.studio.steps import BASE, project_page

SHOWN = 200
REPORTS = ("steward", "recipient")


def results(request: Request) -> Response:
    studio = studio_of(request)
    project = studio.project(request)
    if studio.policy(project) is None:
        return see(request, "data", project=project.id)
    chosen = request.query_params.getlist("run")
    with studio.store() as session:
        mine = select(Job).where(Job.project == project.id, Job.lane == "run")
        jobs = session.scalars(mine.order_by(Job.created.desc()).limit(SHOWN)).all()
        revisions = {one.id: one for one in session.scalars(select(Revision).where(Revision.project == project.id))}
    listed: list[dict[str, Any]] = []
    for job in jobs:
        found = None
        if job.state == DONE and job.kind == "anonymize":
            found = read_result(studio.settings.run(project.id, job.id) / RELEASE, job.result)
        revision = revisions.get(job.revision or "")
        listed.append(
            {
                "id": job.id,
                "kind": job.kind,
                "state": job.state,
                "created": job.created,
                "seconds": None if job.ended is None or job.started is None else job.ended - job.started,
                "asked": [] if revision is None else revision.checked["summaries"],
                "method": _method(revision),
                "version": None if revision is None else revision.number,
                "figures": None if found is None else summary(found),
                "chosen": job.id in chosen,
            }
        )
    compared = [one for one in listed if one["figures"] and (one["chosen"] or not chosen)]
    return project_page(
        request,
        project,
        "results.html",
        "results",
        runs=listed,
        compared=compared,
        chosen=chosen,
        points=_points(compared),
        command="medveil compare policy.yaml --out comparison",
        data={"runs": listed},
    )


def _method(revision: Revision | None) -> dict[str, Any]:
    if revision is None:
        return {}
    found: dict[str, Any] = revision.checked["policy"].get("method", {"name": "optimal"})
    return found


def _points(compared: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Risk against loss, where both are known."""
    return [
        {
            "label": str(number + 1),
            "x": one["figures"]["loss"],
            "y": one["figures"]["risk"],
            "name": one["figures"]["method"],
        }
        for number, one in enumerate(compared)
        if one["figures"]["loss"] is not None and one["figures"]["risk"] is not None
    ]


def _result(request: Request) -> tuple[Studio, Job, Result]:
    studio = studio_of(request)
    project = studio.project(request)
    job = studio.store.job(request.path_params["job"])
    if job is None or job.project != project.id or job.kind != "anonymize" or job.state != DONE:
        raise HTTPException(404)
    found = read_result(studio.settings.run(project.id, job.id) / RELEASE, job.result)
    if found is None:
        raise HTTPException(404)
    return studio, job, found


def download(request: Request) -> Response:
    """Everything for recipients, and nothing else, as a ZIP file."""
    studio, job, found = _result(request)
    studio.store.log("download", job.project)
    headers = {"content-disposition": 'attachment; filename="release.zip"'}
    return StreamingResponse(
        zipped(published(found.folder), found.folder, RELEASE), media_type="application/zip", headers=headers
    )


def policy(request: Request) -> Response:
    studio, job, _ = _result(request)
    with studio.store() as session:
        revision = session.get(Revision, job.revision)
    if revision is None:
        raise HTTPException(404)
    headers = {"content-disposition": 'attachment; filename="policy.yaml"'}
    return PlainTextResponse(revision.text, headers=headers)


def report(request: Request) -> Response:
    """A report, which runs nothing: its own policy for the browser says so, and the frame around it does too."""
    _, _, found = _result(request)
    who = request.path_params["who"]
    path = found.report(who) if who in REPORTS else None
    if path is None:
        raise HTTPException(404)
    return _page(str(path))


def comparison(request: Request) -> Response:
    studio = studio_of(request)
    project = studio.project(request)
    job = studio.store.job(request.path_params["job"])
    if job is None or job.project != project.id or job.kind != "compare" or job.state != DONE:
        raise HTTPException(404)
    path = studio.settings.run(project.id, job.id) / COMPARISON / "comparison.html"
    if not path.is_file():
        raise HTTPException(404)
    return _page(str(path))


def _page(path: str) -> Response:
    headers = {"content-security-policy": REPORT_POLICY, "x-frame-options": "SAMEORIGIN"}
    return FileResponse(path, media_type="text/html", headers=headers)


# Advice


def follow(request: Request) -> Response:
    """Try a suggestion: the policy of this run with its change, and a run of that."""
    studio, job, found = _result(request)
    project = studio.project(request)
    with studio.store() as session:
        revision = session.get(Revision, job.revision)
    suggestions = (found.advice or {}).get("suggestions", [])
    number = request.path_params["number"]
    if revision is None or number >= len(suggestions):
        raise HTTPException(404)
    text = patched(revision.text, suggestions[number]["change"])
    new, _ = studio.revise(project, text)
    if new is None:
        raise HTTPException(400)
    if new.checked["spending"] is not None:
        return see(request, "run", project=project.id)
    return see(request, "job", project=project.id, job=submit(studio, project, new))


def patched(text: str, patch: Mapping[str, Any], place: tuple[str, ...] = ()) -> str:
    """A policy's text with a merge patch (RFC 7396): null takes a key out, a mapping is merged."""
    for key, value in patch.items():
        inner = isinstance(value, Mapping)
        text = patched(text, value, (*place, key)) if inner else change(text, [*place, key], value)
    return text


ROUTES = [
    Route(f"{BASE}/results", results, name="results"),
    Route(f"{BASE}/runs/{{job}}/download", download, methods=["POST"], name="download"),
    Route(f"{BASE}/runs/{{job}}/policy.yaml", policy, name="policy_of"),
    Route(f"{BASE}/runs/{{job}}/report/{{who}}", report, name="report"),
    Route(f"{BASE}/runs/{{job}}/comparison", comparison, name="comparison_page"),
    Route(f"{BASE}/runs/{{job}}/advice/{{number:int}}", follow, methods=["POST"], name="follow"),
]
