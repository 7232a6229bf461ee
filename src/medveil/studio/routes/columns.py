"""The Columns step: what each column is, what it gives away, and how it may be coarsened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from medveil.studio.database import Project, Revision
from medveil.studio.forms.fields import fields_of
from medveil.studio.forms.reading import read_fields
from medveil.studio.forms.words import words_of
from medveil.studio.jobs.queue import DONE
from medveil.studio.policies import change
from medveil.studio.site import Studio, see, studio_of
from medveil.studio.steps import ShownJob, project_page, running

STEERS = ("weight", "min_level", "max_level")
"""What only a column that others may know can have."""


def columns(request: Request) -> Response:
    studio = studio_of(request)
    project = studio.project(request)
    revision = studio.policy(project)
    if revision is None:
        return see(request, "data", project=project.id)
    return _page(request, studio, project, revision)


def _page(request: Request, studio: Studio, project: Project, revision: Revision) -> Response:
    look = _exposure(studio, project, revision)
    listed = _columns(studio, project, revision, look)
    return project_page(
        request,
        project,
        "columns.html",
        "columns",
        revision=revision,
        look=look,
        columns=listed,
        roles=studio.desk.parts["words"]["roles"],
        number=sum(column["role"] == "quasi" for column in listed),
        command="medveil leakage policy.yaml --up-to 2",
        data={"columns": listed, "exposure": look.result if look.state == DONE else None},
    )


def _exposure(studio: Studio, project: Project, revision: Revision) -> ShownJob:
    """What the columns give away under the roles that they have now."""
    policy = revision.checked["policy"]
    roles = {name: {"role": one["role"]} for name, one in policy["attributes"].items()}
    asked = {"data": policy.get("data"), "attributes": roles, "privacy": [{"model": "k-anonymity", "k": 1}]}
    return running(studio, studio.queue.look("exposure", {"policy": asked}, project=project.id))


def _columns(studio: Studio, project: Project, revision: Revision, look: ShownJob) -> list[dict[str, Any]]:
    first = studio.first_look(project)
    found = first.result["inspection"]["columns"] if first.state == DONE else []
    attributes = revision.checked["policy"]["attributes"]
    leaks = {}
    if look.state == DONE:
        leaks = {one["attributes"][0]: one["normalized"] for one in look.result["columns"]}
    return [
        {
            **column,
            "number": number,
            "guess": column["role"],
            "role": attributes.get(column["name"], {}).get("role"),
            "type": attributes.get(column["name"], {}).get("type") or column["type"],
            "hierarchy": (attributes.get(column["name"], {}).get("hierarchy") or {}).get("type"),
            "leaks": leaks.get(column["name"]),
        }
        for number, column in enumerate(found)
    ]


def exposure(request: Request) -> Response:
    """What is below the table, for a page that waits for it."""
    studio = studio_of(request)
    project = studio.project(request)
    revision = studio.policy(project)
    if revision is None:
        raise HTTPException(404)
    look = _exposure(studio, project, revision)
    listed = _columns(studio, project, revision, look)
    number = sum(column["role"] == "quasi" for column in listed)
    return studio.page(
        request,
        "_exposure.html",
        project=project,
        look=look,
        number=number,
        columns=listed,
        swap=True,
        data=look.to_dict(),
    )


async def set_roles(request: Request) -> Response:
    studio = studio_of(request)
    project = studio.project(request)
    form = await request.form()

    def edit(revision: Revision) -> str:
        text, attributes = revision.text, revision.checked["policy"]["attributes"]
        known = studio.desk.parts["words"]["roles"]
        for column in _columns(studio, project, revision, _exposure(studio, project, revision)):
            name, role = column["name"], str(form.get(f"role-{column['number']}", column["role"] or ""))
            if role == (column["role"] or ""):
                continue
            if not role:
                text = change(text, ["attributes", name], None)
            elif role in known:
                text = change(text, ["attributes", name], with_role(attributes.get(name, {}), role))
        return text

    _, checked = await run_in_threadpool(studio.amend, project, edit)
    if checked["policy"] is None:
        raise HTTPException(400)
    if request.headers.get("hx-request"):
        return await run_in_threadpool(exposure, request)
    return see(request, "columns", "saved", project=project.id)


def with_role(attribute: Mapping[str, Any], role: str) -> dict[str, Any]:
    """A column in another role, without what only its former one may have."""
    kept = {name: value for name, value in attribute.items() if name != "role"}
    if role != "quasi":
        kept = {name: value for name, value in kept.items() if name not in STEERS}
    if role not in {"quasi", "sensitive"}:
        kept = {name: value for name, value in kept.items() if name not in {"domain", "hierarchy"}}
    return {"role": role, **kept}


# One column


def _column(studio: Studio, request: Request) -> tuple[Project, Revision, str, dict[str, Any]]:
    project = studio.project(request)
    revision = studio.policy(project)
    first = studio.first_look(project)
    if revision is None or first.state != DONE:
        raise HTTPException(404)
    found = first.result["inspection"]["columns"]
    number = request.path_params["number"]
    if number >= len(found) or found[number]["name"] not in revision.checked["policy"]["attributes"]:
        raise HTTPException(404)
    name = found[number]["name"]
    return project, revision, name, revision.checked["policy"]["attributes"][name]


def column(request: Request) -> Response:
    return _column_page(request, None, {}, {})


def _column_page(request: Request, kind: str | None, given: dict[str, Any], faults: dict[str, str]) -> Response:
    studio = studio_of(request)
    project, revision, name, attribute = _column(studio, request)
    declared = attribute.get("hierarchy") or {"type": "flat", **_domain(attribute)}
    kinds = studio.desk.parts["hierarchies"]
    kind = kind or request.path_params.get("kind") or declared["type"]
    if kind not in kinds:
        raise HTTPException(404)
    shown = given or (declared if declared["type"] == kind else {})
    look = None
    policy = revision.checked["policy"]
    if attribute["role"] == "quasi":
        asked = {**policy, "attributes": {name: attribute}, "privacy": [{"model": "k-anonymity", "k": 1}]}
        asked = {key: asked[key] for key in ("data", "attributes", "privacy") if key in asked}
        look = running(studio, studio.queue.look("levels", {"policy": asked, "column": name}, project=project.id))
    return project_page(
        request,
        project,
        "column.html",
        "columns",
        422 if faults else 200,
        revision=revision,
        name=name,
        number=request.path_params["number"],
        attribute=attribute,
        kind=kind,
        kinds=list(kinds),
        fields=fields_of(kinds[kind]["schema"], shown, words_of(studio.words, kind)),
        faults=faults,
        look=look,
        types=studio.desk.parts["words"]["types"],
        command="medveil hierarchy DATA COLUMN",
        data={"column": name, "levels": None if look is None or look.state != DONE else look.result, "faults": faults},
    )


def _domain(attribute: Mapping[str, Any]) -> dict[str, Any]:
    return {"domain": attribute["domain"]} if "domain" in attribute else {}


def _found(studio: Studio, project: Project, path: str) -> str:
    """A file of steps by the path that a policy needs: it may be named from the project's folder, from that of its
    data, or from the folder of what can be chosen on this computer.
    """
    described = project.data["data"]
    data = described.get("path") if isinstance(described, Mapping) else described
    own, chosen = studio.settings.project(project.id), studio.settings.data.resolve()
    for folder in (own, *(() if data is None else ((own / str(data)).parent,)), chosen):
        place = (folder / path).resolve()
        if place.is_file() and any(place.is_relative_to(root.resolve()) for root in (own, chosen)):
            return path if folder == own else str(place)
    return path


async def set_hierarchy(request: Request) -> Response:
    studio = studio_of(request)
    form = await request.form()
    kind = request.path_params["kind"]
    project, _, name, attribute = await run_in_threadpool(_column, studio, request)
    kinds = studio.desk.parts["hierarchies"]
    if kind not in kinds:
        raise HTTPException(404)
    given, faults = read_fields(fields_of(kinds[kind]["schema"], {}, words_of(studio.words, kind)), form)
    new = {
        key: value for key, value in attribute.items() if key not in {"hierarchy", "domain", "min_level", "max_level"}
    }
    new["hierarchy"] = {"type": kind, **given}
    if str(form.get("column_type", "")):
        new["type"] = str(form["column_type"])
    for level in ("min_level", "max_level"):
        text = str(form.get(level, "")).strip()
        if text.isdecimal() and attribute["role"] == "quasi" and (level == "max_level" or int(text)):
            new[level] = int(text)
    if isinstance(given.get("path"), str):
        new["hierarchy"]["path"] = _found(studio, project, given["path"])
    if not faults:
        _, checked = await run_in_threadpool(
            studio.amend, project, lambda now: change(now.text, ["attributes", name], new)
        )
        if checked["policy"] is not None:
            return see(request, "column", "saved", project=project.id, number=request.path_params["number"])
        faults = {"": " ".join(fault["sentence"] for fault in checked["faults"])}
    return await run_in_threadpool(_column_page, request, kind, given, faults)


ROUTES = [
    Route("/projects/{project}/columns", columns, methods=["GET"], name="columns"),
    Route("/projects/{project}/columns", set_roles, methods=["POST"], name="set_roles"),
    Route("/projects/{project}/exposure", exposure, name="exposure"),
    Route("/projects/{project}/columns/{number:int}", column, name="column"),
    Route("/projects/{project}/columns/{number:int}/{kind}", column, methods=["GET"], name="column_kind"),
    Route("/projects/{project}/columns/{number:int}/{kind}", set_hierarchy, methods=["POST"], name="set_hierarchy"),
]
