"""Pages beside the steps: the log and help."""

from __future__ import annotations

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from medveil.studio.database import LogEntry, Project
from medveil.studio.site import studio_of

SHOWN = 300


def log(request: Request) -> Response:
    studio = studio_of(request)
    newest_first = select(LogEntry).order_by(LogEntry.id.desc())
    with studio.store() as session:
        entries = session.scalars(newest_first.limit(SHOWN)).all()
        titles = {one.id: one.title for one in session.scalars(select(Project))}
    listed = [
        {"at": one.at, "action": one.action, "project": titles.get(one.project or ""), "detail": one.detail}
        for one in entries
    ]
    command = f"sqlite3 '{studio.settings.database}' '{' '.join(str(newest_first).split())}'"
    return studio.page(request, "log.html", entries=listed, command=command, data={"entries": listed})


def help_page(request: Request) -> Response:
    studio = studio_of(request)
    return studio.page(request, "help.html", folder=str(studio.settings.folder), command="medveil --help", data={})


ROUTES = [Route("/log", log, name="log"), Route("/help", help_page, name="help")]
