"""The policy as text: what forms change, and what changes forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from medveil.studio.database import Project
from medveil.studio.site import see, studio_of
from medveil.studio.steps import BASE, project_page, settled

LONGEST = 4 << 20
AROUND = 2
"""Lines before and after one that is wrong that are shown with it."""


def text(request: Request) -> Response:
    _, project, revision = settled(request)
    return project_page(
        request,
        project,
        "policy.html",
        "method",
        revision=revision,
        text=revision.text,
        near=[],
        faults=[],
        outdated=False,
        command="medveil schema",
        data={"number": revision.number, "text": revision.text, "policy": revision.checked["policy"]},
    )


async def set_text(request: Request) -> Response:
    studio = studio_of(request)
    project = studio.project(request)
    form = await request.form()
    written = str(form.get("text", ""))[:LONGEST].replace("\r\n", "\n")
    newest = await run_in_threadpool(studio.store.revision, project.id)
    opened = str(form.get("number", ""))
    if newest is not None and opened.isdecimal() and int(opened) != newest.number and newest.text != written:
        return await run_in_threadpool(_unsaved, request, project, written, 409, outdated=True)
    revision, checked = await run_in_threadpool(studio.revise, project, written)
    if revision is not None:
        return see(request, "policy", "saved", project=project.id)
    return await run_in_threadpool(_unsaved, request, project, written, 422, faults=checked["faults"])


def _unsaved(
    request: Request,
    project: Project,
    written: str,
    status: int,
    *,
    faults: Sequence[Mapping[str, Any]] = (),
    outdated: bool = False,
) -> Response:
    """The text as it was written, with why it was not saved: its faults, or a newer version that it would replace."""
    return project_page(
        request,
        project,
        "policy.html",
        "method",
        status,
        text=written,
        near=_near(written, {fault["line"] for fault in faults if fault["line"]}),
        faults=faults,
        outdated=outdated,
        command="medveil schema",
        data={"faults": faults, "outdated": outdated},
    )


def _near(text: str, wrong: set[int]) -> list[tuple[int, str, bool]]:
    r"""The lines around those that are wrong, with their numbers.

    >>> _near("a\nb\nc\nd\ne\nf", {6})
    [(4, 'd', False), (5, 'e', False), (6, 'f', True)]
    """
    lines = enumerate(text.splitlines(), 1)
    return [
        (number, line, number in wrong) for number, line in lines if any(abs(number - one) <= AROUND for one in wrong)
    ]


def download(request: Request) -> Response:
    _, _, revision = settled(request)
    headers = {"content-disposition": 'attachment; filename="policy.yaml"'}
    return PlainTextResponse(revision.text, headers=headers)


ROUTES = [
    Route(f"{BASE}/policy", text, methods=["GET"], name="policy"),
    Route(f"{BASE}/policy", set_text, methods=["POST"], name="set_text"),
    Route(f"{BASE}/policy.yaml", download, name="policy_file"),
]
