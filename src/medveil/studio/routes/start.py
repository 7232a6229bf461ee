"""The first page, and the ways in which data come in."""

from __future__ import annotations

import hashlib
import hmac
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import func, select
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from medveil.errors import InputError, PolicyError
from medveil.studio.database import Job, Project, identity
from medveil.studio.forms.fields import fields_of
from medveil.studio.forms.reading import read_fields
from medveil.studio.forms.words import words_of
from medveil.studio.jobs.queue import DONE
from medveil.studio.security.uploads import receive
from medveil.studio.site import Studio, clean, in_order, see, studio_of
from medveil.workspace import Workspace

GENERATED = 10_000
TABLES = frozenset(
    f".{ending}"
    for ending in (
        *("csv", "tsv", "txt", "data", "gz", "zst", "parquet", "pq", "feather", "arrow", "json", "ndjson"),
        *("xlsx", "xls", "sas7bdat", "xpt", "sav", "por", "dta"),
    )
)
"""The endings of files that are offered."""
LISTED = 500


def enter(request: Request) -> Response:
    """The one-time address: its token is exchanged for a cookie and is then void."""
    studio = studio_of(request)
    if request.method != "GET":
        raise HTTPException(405)  # whoever only asks whether it is there does not use it up
    cookie = studio.visits.enter(request.query_params.get("token", ""))
    if cookie is None:
        if studio.visits.knows(request):
            return RedirectResponse("/", 303)
        raise HTTPException(403)
    response = RedirectResponse("/", 303)
    studio.visits.give(response, cookie)
    return response


def home(request: Request) -> Response:
    studio = studio_of(request)
    with studio.store() as session:
        projects = session.scalars(select(Project).order_by(Project.created.desc()).limit(100)).all()
        runs = select(Job.project, func.count()).where(Job.kind == "anonymize", Job.state == DONE).group_by(Job.project)
        releases = dict(session.execute(runs).tuples().all())
    listed = [
        {"id": p.id, "title": p.title, "origin": p.origin, "created": p.created, "releases": releases.get(p.id, 0)}
        for p in projects
    ]
    return studio.page(
        request,
        "home.html",
        projects=listed,
        most=studio.settings.most_upload,
        command="medveil inspect FILE --policy-out policy.yaml",
        data={"projects": listed},
    )


async def upload(request: Request) -> Response:
    studio = studio_of(request)
    project = identity()
    folder = studio.settings.project(project) / "data"
    await run_in_threadpool(folder.mkdir, 0o700, True, True)
    try:
        received = await receive(request, folder, studio.settings.most_upload)
    except InputError as error:
        await run_in_threadpool(shutil.rmtree, studio.settings.project(project), True)
        return studio.fault(request, error)
    names = received.names
    given = {"data": f"data/{names[0]}"} if len(names) == 1 else {"together": ["data"]}
    await run_in_threadpool(
        lambda: studio.start(_title(studio, names), "upload", given, size=received.size, project=project)
    )
    return see(request, "data", project=project)


def _title(studio: Studio, names: Sequence[str]) -> str:
    """What a project of these files is called."""
    first = clean(names[0])
    return first if len(names) == 1 else studio.words.home.title_together.format(first=first, more=len(names) - 1)


def generated(request: Request) -> Response:
    studio = studio_of(request)
    project = identity()
    folder = studio.settings.project(project) / "data"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    studio.answering.ask("generate", {"rows": GENERATED, "out": str(folder / "patients.csv")})
    studio.start(
        "Made-up patients",
        "generated",
        {"data": "data/patients.csv"},
        size=(folder / "patients.csv").stat().st_size,
        project=project,
    )
    return see(request, "data", project=project)


# A file on this computer


def _name(studio: Studio, path: Path) -> str:
    """What an address calls a path, which is remembered: names of files are nobody's business."""
    inside = str(path.relative_to(studio.settings.data.resolve()))
    name = hmac.new(studio.secret, inside.encode(), hashlib.sha256).hexdigest()[:24]
    studio.shown[name] = inside
    return name


def _find(studio: Studio, name: str) -> Path:
    """The folder or file of a name that was shown; links that lead out are no way."""
    root = studio.settings.data.resolve()
    path = root / studio.shown[name] if name in studio.shown else None
    if path is None or not path.resolve().is_relative_to(root) or not path.exists():
        raise HTTPException(404)
    return path


def here(request: Request) -> Response:
    studio = studio_of(request)
    root = studio.settings.data.resolve()
    name = request.path_params.get("name")
    folder = root if name is None else _find(studio, name)
    if not folder.is_dir():
        raise HTTPException(404)
    entries = []
    try:
        inside = sorted(folder.iterdir(), key=lambda path: (not path.is_dir(), path.name.lower()))
    except OSError:
        raise InputError("The folder cannot be read.", "Choose another one.") from None
    for path in inside:
        if path.name.startswith(".") or not path.resolve().is_relative_to(root):
            continue
        if not (path.is_dir() or (path.is_file() and path.suffix.lower() in TABLES)):
            continue
        entries.append(
            {
                "key": _name(studio, path),
                "name": path.name,
                "folder": path.is_dir(),
                "size": None if path.is_dir() else path.stat().st_size,
            }
        )
    up = None
    if folder != root:
        up = "" if folder.parent == root else _name(studio, folder.parent)
    return studio.page(
        request,
        "here.html",
        entries=entries[:LISTED],
        more=max(len(entries) - LISTED, 0),
        up=up,
        own=_name(studio, folder),
        root=str(root),
        command="medveil inspect FILE --policy-out policy.yaml",
        data={
            "own": _name(studio, folder),
            "entries": [{"key": e["key"], "folder": e["folder"], "size": e["size"]} for e in entries[:LISTED]],
        },
    )


def use(request: Request) -> Response:
    """Begin with a file that was listed, or with a folder of tables that belong together."""
    studio = studio_of(request)
    path = _find(studio, request.path_params["name"])
    if path.is_dir():
        project = studio.start(clean(path.resolve().name), "computer", {"together": [str(path.resolve())]})
    else:
        project = studio.start(clean(path.name), "computer", {"data": str(path.resolve())}, size=path.stat().st_size)
    return see(request, "data", project=project)


async def use_together(request: Request) -> Response:
    """Begin with several files that were listed, which point to each other."""
    form = await request.form()
    return await run_in_threadpool(_use_together, request, [str(name) for name in form.getlist("file")])


def _use_together(request: Request, names: Sequence[str]) -> Response:
    studio = studio_of(request)
    paths = [_find(studio, name).resolve() for name in dict.fromkeys(names)]
    if not paths or not all(path.is_file() for path in paths):
        raise InputError(studio.words.here.none_ticked, studio.words.here.tick)
    given = {"data": str(paths[0])} if len(paths) == 1 else {"together": [str(path) for path in paths]}
    size = sum(path.stat().st_size for path in paths)
    project = studio.start(_title(studio, [path.name for path in paths]), "computer", given, size=size)
    return see(request, "data", project=project)


# Any source


def source(request: Request) -> Response:
    return _source_page(request, request.path_params.get("kind", "file"), {}, {})


def _source_page(request: Request, kind: str, given: dict[str, Any], faults: dict[str, str]) -> Response:
    studio = studio_of(request)
    kinds = studio.answering.parts["sources"]
    if kind not in kinds:
        raise HTTPException(404)
    return studio.page(
        request,
        "source.html",
        422 if faults else 200,
        kind=kind,
        kinds=[name for name, _ in in_order(list(kinds.items()), studio.words.sources)],
        fields=fields_of(kinds[kind]["schema"], given, words_of(studio.words, kind)),
        faults=faults,
        root=str(studio.settings.data.resolve()),
        command="medveil inspect FILE --policy-out policy.yaml",
        data={"kinds": list(kinds), "faults": faults},
    )


async def describe(request: Request) -> Response:
    studio, kind = studio_of(request), request.path_params["kind"]
    form = await request.form()
    kinds = await run_in_threadpool(lambda: studio.answering.parts["sources"])
    if kind not in kinds:
        raise HTTPException(404)
    fields = fields_of(kinds[kind]["schema"], {}, words_of(studio.words, kind))
    given, faults = read_fields(fields, form)
    if faults:
        return await run_in_threadpool(_source_page, request, kind, given, faults)
    root = studio.settings.data.resolve()
    for field in ("path", "folder"):
        if isinstance(given.get(field), str):
            try:
                given[field] = str(Workspace(root, root).resolve(given[field]).resolve())
            except PolicyError as error:
                return studio.fault(request, error)
    title = clean(Path(str(given.get("path") or given.get("connection") or kind)).name)
    project = await run_in_threadpool(studio.start, title, "source", {"data": {"type": kind, **given}})
    return see(request, "data", project=project)


ROUTES = [
    Route("/start", enter, methods=["GET"]),
    Route("/", home, name="home"),
    Route("/upload", upload, methods=["POST"], name="upload"),
    Route("/generated", generated, methods=["POST"], name="generated"),
    Route("/here", here, name="here"),
    Route("/here/together", use_together, methods=["POST"], name="use_together"),
    Route("/here/{name}", here, name="here_in"),
    Route("/here/{name}/use", use, methods=["POST"], name="use"),
    Route("/source", source, name="source"),
    Route("/source/{kind}", source, name="source_kind"),
    Route("/source/{kind}/look", describe, methods=["POST"], name="describe"),
]
