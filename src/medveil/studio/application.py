"""The web application: its addresses, and who may ask for them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files

from sqlalchemy.exc import OperationalError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from medveil.errors import MedveilError
from medveil.studio.routes import columns, data, pages, policy, results, runs, start, text, tools
from medveil.studio.security.headers import RequestGuard
from medveil.studio.site import Studio, studio_of

LOG = logging.getLogger("medveil.studio")
STATIC = "/static"
OPEN = {"/start"}
"""What is answered without the cookie, beside the files that every studio has."""


class Admission:
    """Without the cookie there is nothing to see."""

    def __init__(self, app: ASGIApp, studio: Studio) -> None:
        self.app = app
        self.studio = studio

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            free = scope["path"] in OPEN or scope["path"].startswith(f"{STATIC}/")
            if not free and not await run_in_threadpool(self.studio.visits.knows, request):
                await _told(self.studio, request, 403)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def make_application(studio: Studio, names: frozenset[str]) -> Starlette:
    """The application; `names` are the hosts, with port, under which it may be asked for."""

    @asynccontextmanager
    async def living(_app: Starlette) -> AsyncIterator[None]:
        studio.queue.start()
        await run_in_threadpool(studio.answering.open)
        yield
        await run_in_threadpool(studio.queue.stop)
        await run_in_threadpool(studio.answering.close)
        studio.store.close()

    static = Mount(STATIC, StaticFiles(directory=str(files("medveil.studio") / "static")), name="static")
    modules = (start, data, columns, text, policy, runs, results, tools, pages)
    routes: list[Route | Mount] = [static, *(route for module in modules for route in module.ROUTES)]
    application = Starlette(
        routes=routes,
        lifespan=living,
        middleware=[Middleware(RequestGuard, names=names), Middleware(Admission, studio=studio)],
        exception_handlers={
            HTTPException: _refused,
            MedveilError: _cannot,
            OperationalError: _held,
            Exception: _bug,
        },
    )
    application.state.studio = studio
    return application


def _told(studio: Studio, request: Request, status: int, **filled: str) -> Response:
    words = studio.words.error
    title = words.get(f"title_{status}") or words.title_400
    text = words.get(f"text_{status}", "")
    return studio.page(request, "error.html", status, title=title, text=text.format(**filled), remedy="", data={})


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _told(studio_of(request), request, error.status_code)


async def _cannot(request: Request, error: Exception) -> Response:
    assert isinstance(error, MedveilError)
    return studio_of(request).fault(request, error)


async def _held(request: Request, _error: Exception) -> Response:
    """The database cannot be written now."""
    return _told(studio_of(request), request, 503)


async def _bug(request: Request, error: Exception) -> Response:
    """What is told of a bug is its kind and its place: the text of an error may hold a value of the data."""
    trace = error.__traceback__
    place = ""
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.startswith("medveil"):
            place = f"{name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    LOG.error("a bug: %s in %s", type(error).__name__, place)
    return _told(studio_of(request), request, 500, kind=f"{type(error).__name__}, {place}")


Handler = Callable[[Request], Response | Awaitable[Response]]
