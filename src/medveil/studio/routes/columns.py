"""The Columns step: what each column is, what it gives away, and how it may be coarsened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from medveil.studio.jobs.queue import DONE, OPEN
from medveil.studio.policies import change
from medveil.studio.site import Studio, in_order, see, studio_of
from medveil.studio.steps import ShownJob, project_page, running
from medveil.studio.tables import ANY, PolicyColumn, asked_tables, columns_of, tables_of

STEERS = ("weight", "min_level", "max_level")
"""What only a column that others may know can have."""
SHIFT = {"days": 183}
"""How far dates are shifted that nobody says more of."""


def columns(request: Request) -> Response:
    studio = studio_of(request)
    project = studio.project(request)
    revision = studio.policy(project)
    if revision is None or studio.first_look(project).state in OPEN:
        return see(request, "data", project=project.id)
    return _page(request, studio, project, revision)


def _page(
    request: Request, studio: Studio, project: Project, revision: Revision, faults: Sequence[str] = ()
) -> Response:
    look = _exposure(studio, project, revision)
    listed = _columns(studio, project, revision, look)
    linked = bool(revision.checked["policy"].get("tables"))
    return project_page(
        request,
        project,
        "columns.html",
        "columns",
        422 if faults else 200,
        revision=revision,
        look=look,
        columns=listed,
        linked=linked,
        faults=faults,
        roles=[role for role in studio.answering.parts["words"]["roles"] if not (linked and role == "subject")],
        number=sum(column["role"] == "quasi" for column in listed),
        command="medveil inspect FILES" if linked else "medveil leakage policy.yaml --up-to 2",
        data={"columns": listed, "exposure": look.result if look.state == DONE else None, "faults": faults},
    )


def _exposure(studio: Studio, project: Project, revision: Revision) -> ShownJob:
    """What the columns give away under the roles that they have now."""
    policy = revision.checked["policy"]
    if policy.get("tables"):
        asked = asked_tables(policy)
    else:
        roles = {name: {"role": one["role"]} for name, one in policy["attributes"].items()}
        asked = {"data": policy.get("data"), "attributes": roles, "privacy": [ANY]}
    return running(studio, studio.queue.look("exposure", {"policy": asked}, project=project.id))


def _columns(studio: Studio, project: Project, revision: Revision, look: ShownJob) -> list[dict[str, Any]]:
    """The columns as pages show them."""
    leaks = {}
    if look.state == DONE:
        leaks = {one["attributes"][0]: one["normalized"] for one in look.result["columns"]}
    shown = []
    for column in columns_of(revision.checked["policy"], studio.first_look(project)):
        found, attribute = column.found or {}, column.attribute or {}
        shown.append(
            {
                "number": column.number,
                "table": column.table,
                "name": column.name,
                "points": column.points,
                "guess": found.get("role"),
                "reason": found.get("reason", ""),
                "distinct": found.get("distinct"),
                "missing": found.get("missing"),
                "role": attribute.get("role"),
                "type": attribute.get("type") or found.get("type") or "",
                "hierarchy": (attribute.get("hierarchy") or {}).get("type"),
                "published": column.called.rpartition(".")[2] if attribute.get("derive") else None,
                "leaks": leaks.get(column.name if column.table is None else column.called),
            }
        )
    return shown


def exposure(request: Request, faults: Sequence[str] = ()) -> Response:
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
        faults=faults,
        swap=True,
        data=look.to_dict(),
    )


async def set_roles(request: Request) -> Response:
    studio = studio_of(request)
    project = studio.project(request)
    form = await request.form()

    def edit(revision: Revision) -> str:
        text, policy = revision.text, revision.checked["policy"]
        known = studio.answering.parts["words"]["roles"]
        for column in columns_of(policy, studio.first_look(project)):
            now = (column.attribute or {}).get("role") or ""
            role = str(form.get(f"role-{column.number}", now))
            if role == now or column.points is not None:
                continue
            if not role:
                text = change(text, column.place, None)
            elif role in known:
                text = change(text, column.place, with_role(column.attribute or {}, role))
        return text

    _, checked = await run_in_threadpool(studio.amend, project, edit)
    faults = [] if checked["policy"] is not None else [str(fault["sentence"]) for fault in checked["faults"]]
    if request.headers.get("hx-request"):
        return await run_in_threadpool(exposure, request, faults)
    if faults:
        revision = await run_in_threadpool(studio.policy, project)
        assert revision is not None
        return await run_in_threadpool(_page, request, studio, project, revision, faults)
    return see(request, "columns", "saved", project=project.id)


def with_role(attribute: Mapping[str, Any], role: str) -> dict[str, Any]:
    """A column in another role, without what only its former one may have.

    >>> with_role({"role": "quasi", "type": "date", "min_level": 1}, "date")
    {'role': 'date', 'type': 'date', 'shift': {'days': 183}}
    >>> with_role({"role": "sensitive", "type": "code", "set": True}, "plain")
    {'role': 'plain', 'type': 'code'}
    """
    gone = {"role", "shift"}
    if role != "quasi":
        gone |= {*STEERS}
    if role not in {"quasi", "sensitive"}:
        gone |= {"domain", "hierarchy"}
    if role not in {"quasi", "sensitive", "plain"}:
        gone |= {"derive", "labels"}
    if role != "sensitive":
        gone |= {"set"}
    if role != "key":
        gone |= {"subject"}
    if role != "date" and "derive" not in {*attribute} - gone and attribute.get("type") not in {"date", "number"}:
        gone |= {"format"}
    kept = {name: value for name, value in attribute.items() if name not in gone}
    return {"role": role, **kept, **({"shift": SHIFT} if role == "date" else {})}


# One column


def _column(studio: Studio, request: Request) -> tuple[Project, Revision, PolicyColumn, Mapping[str, Any]]:
    project = studio.project(request)
    revision = studio.policy(project)
    number = request.path_params["number"]
    listed = [] if revision is None else columns_of(revision.checked["policy"], studio.first_look(project))
    if revision is None or number >= len(listed):
        raise HTTPException(404)
    attribute = listed[number].attribute
    if attribute is None:
        raise HTTPException(404)
    return project, revision, listed[number], attribute


def _levels(studio: Studio, project: Project, policy: Mapping[str, Any], column: PolicyColumn) -> ShownJob:
    """What the levels of a column would hide. What is derived may be of any other column."""
    attribute = column.attribute or {}
    if column.table is not None:
        asked = asked_tables(policy, whole=column)
    else:
        attributes = policy["attributes"] if attribute.get("derive") else {column.name: attribute}
        asked = {"data": policy.get("data"), "attributes": attributes, "privacy": [ANY]}
    arguments = {"policy": asked, "column": column.name, "table": column.table}
    return running(studio, studio.queue.look("levels", arguments, project=project.id))


def column(request: Request) -> Response:
    return _column_page(request, None, {}, {})


def _column_page(request: Request, kind: str | None, given: dict[str, Any], faults: dict[str, str]) -> Response:
    studio = studio_of(request)
    project, revision, column, attribute = _column(studio, request)
    declared = attribute.get("hierarchy") or {"type": "flat", **_domain(attribute)}
    kinds = studio.answering.parts["hierarchies"]
    kind = kind or request.path_params.get("kind") or declared["type"]
    if kind not in kinds:
        raise HTTPException(404)
    shown = given or (declared if declared["type"] == kind else {})
    look = None
    if attribute["role"] == "quasi":
        look = _levels(studio, project, revision.checked["policy"], column)
    return project_page(
        request,
        project,
        "column.html",
        "columns",
        422 if faults else 200,
        revision=revision,
        name=column.name if column.table is None else f"{column.table}.{column.name}",
        number=request.path_params["number"],
        attribute=attribute,
        kind=kind,
        kinds=[name for name, _ in in_order(list(kinds.items()), studio.words.hierarchies)],
        fields=fields_of(kinds[kind]["schema"], shown, words_of(studio.words, kind)),
        faults=faults,
        look=look,
        types=studio.answering.parts["words"]["types"],
        command="medveil hierarchy DATA COLUMN",
        data={
            "column": column.called,
            "levels": None if look is None or look.state != DONE else look.result,
            "faults": faults,
        },
    )


def _domain(attribute: Mapping[str, Any]) -> dict[str, Any]:
    return {"domain": attribute["domain"]} if "domain" in attribute else {}


def _found(studio: Studio, project: Project, described: Any, path: str) -> str:
    """A file of steps by the path that a policy needs: it may be named from the project's folder, from that of its
    data, or from the folder of what can be chosen on this computer.
    """
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
    project, revision, column, attribute = await run_in_threadpool(_column, studio, request)
    kinds = studio.answering.parts["hierarchies"]
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
        data = tables_of(revision.checked["policy"])[column.table]["data"]
        new["hierarchy"]["path"] = _found(studio, project, data, given["path"])
    if not faults:
        _, checked = await run_in_threadpool(studio.amend, project, lambda now: change(now.text, column.place, new))
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
