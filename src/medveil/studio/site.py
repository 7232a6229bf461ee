"""The studio as its pages see it: what is kept, what computes, and how a page is made."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jinja2
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from medveil.errors import MedveilError
from medveil.studio.database import Job, Project, Revision, Store, identity
from medveil.studio.jobs.answering import AnsweringProcess
from medveil.studio.jobs.queue import DONE, Queue
from medveil.studio.policies import change
from medveil.studio.releases import looks_like_formula
from medveil.studio.security.visits import Visits
from medveil.studio.settings import StudioSettings
from medveil.studio.tables import named
from medveil.studio.wording import Wording, load_words

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")
SEE_OTHER = 303


@dataclass(frozen=True)
class DrawnProgress:
    """How a job gets on, as its page shows it: what version of its progress that is, and when it was drawn."""

    version: int
    at: float
    state: str
    text: str = ""
    stage: str = ""


@dataclass(frozen=True)
class Studio:
    """One studio: everything that pages need.

    shown: the paths behind the names under which files of this computer were listed since the start. streams: the
    event streams that are open. drawn: the progress of the jobs that are being watched, of which one is drawn at a time
    (drawing). editing: held while a policy is read and written, so that no change is lost.
    """

    settings: StudioSettings
    store: Store
    queue: Queue
    answering: AnsweringProcess
    visits: Visits
    words: Wording
    templates: jinja2.Environment
    shown: dict[str, str] = field(default_factory=dict)
    streams: set[object] = field(default_factory=set)
    drawn: dict[str, DrawnProgress] = field(default_factory=dict)
    drawing: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)
    editing: threading.RLock = field(default_factory=threading.RLock, repr=False)

    # Projects and their policies

    def project(self, request: Request) -> Project:
        """The project of the address."""
        found = self.store.project(request.path_params["project"])
        if found is None:
            raise HTTPException(404)
        return found

    def start(
        self, title: str, origin: str, given: Mapping[str, Any], *, size: int | None = None, project: str | None = None
    ) -> str:
        """A new project on some data, which are looked at at once. `given`: what the first look is at, `data` as a
        policy names them, or files or a folder `together`.
        """
        new = Project(id=project or identity(), title=title[:200], origin=origin, data=dict(given), size=size)
        self.settings.project(new.id).mkdir(parents=True, exist_ok=True)
        with self.store() as session:
            session.add(new)
        self.store.log("upload", new.id, origin)
        self.first_look(new)
        return new.id

    def first_look(self, project: Project, *, again: bool = False) -> Job:
        """What the data seem to be."""
        arguments = {**project.data, "bounds": {"columns": self.settings.most_columns}}
        return self.queue.look("starter", arguments, project=project.id, again=again)

    def policy(self, project: Project) -> Revision | None:
        """The policy of a project, made of the first look where there is none; None as long as that is going on."""
        found = self.store.revision(project.id)
        if found is not None:
            return found
        look = self.first_look(project)
        if look.state != DONE:
            return None
        text, where = look.result["policy"], look.result["named"]
        if "data" in where:
            text = change(text, ["data"], where["data"])
        with self.editing:
            # Another page may have made it in the meantime.
            return self.store.revision(project.id) or self.revise(project, text)[0]

    def amend(self, project: Project, edit: Callable[[Revision], str]) -> tuple[Revision | None, Mapping[str, Any]]:
        """A new version, made of the policy as it stands now: what another tab has changed meanwhile stays."""
        with self.editing:
            now = self.policy(project)
            if now is None:
                raise HTTPException(404)
            return self.revise(project, edit(now))

    def revise(self, project: Project, text: str) -> tuple[Revision | None, Mapping[str, Any]]:
        """A new version of the policy where the text is one, and what was found when it was checked."""
        with self.editing:
            return self._revise(project, text)

    def _revise(self, project: Project, text: str) -> tuple[Revision | None, Mapping[str, Any]]:
        checked = self.answering.ask("check", {"text": text})
        if checked["policy"] is None:
            return None, checked
        newest, where = self.store.revision(project.id), named(checked["policy"])
        if newest is not None and named(newest.checked["policy"]) != where:
            with self.store() as session:
                kept = session.get(Project, project.id)
                assert kept is not None
                kept.data = where
        if newest is not None and newest.text == text:
            return newest, checked
        number = 1 if newest is None else newest.number + 1
        revision = Revision(project=project.id, number=number, text=text, checked=checked)
        with self.store() as session:
            session.add(revision)
        (self.settings.project(project.id) / "policy.yaml").write_text(text, encoding="utf-8")
        return revision, checked

    def once(self, use_case: str, arguments: Mapping[str, Any], project: str) -> Any:
        """The answer to a question that is not to be remembered, such as a peek: it stands in no database."""
        workspace = self.settings.workspace(project)
        task = {
            "use_case": use_case,
            "arguments": dict(arguments),
            "folder": str(workspace.folder),
            "root": str(workspace.root),
            "also": [str(root) for root in workspace.also],
            "connections": dict(self.settings.connections),
        }
        return self.queue.ask(task)

    # Pages

    def page(self, request: Request, template: str, status: int = 200, **context: Any) -> Response:
        """A page, or its data where JSON is asked for: what stands under `data`."""
        if wants_json(request):
            return Response(json.dumps(context.get("data", {}), default=str), status, media_type="application/json")
        path = request.url.path
        told = {"t": self.words, "path": path, "notice": NOTICES.get(request.query_params.get("notice", ""))}
        text = self.templates.get_template(template).render(**told, **context)
        return HTMLResponse(text, status)

    def fault(self, request: Request, error: MedveilError, status: int = 400) -> Response:
        """A page that says what cannot be done and why."""
        told = {"problem": error.problem, "remedy": error.remedy}
        title = self.words.error.title_400
        return self.page(request, "error.html", status, title=title, text=error.problem, remedy=error.remedy, data=told)


NOTICES = {"saved": "saved"}


def wants_json(request: Request) -> bool:
    accept = request.headers.get("accept", "")
    return "application/json" in accept and "text/html" not in accept


def see(request: Request, name: str, notice: str = "", **parameters: Any) -> Response:
    """Go to another page after something was changed; the browser then begins to read at the notice."""
    address = request.app.url_path_for(name, **parameters)
    return RedirectResponse(f"{address}?notice={notice}#notice" if notice else address, SEE_OTHER)


def studio_of(request: Request) -> Studio:
    found: Studio = request.app.state.studio
    return found


# What templates can do with values


def clean(text: Any, longest: int = 80) -> str:
    """A name that a page can hold: no control characters, none that turn the writing around, and not endless.

    >>> clean("a" + chr(0x202e) + "b"), clean("x" * 100, 5), clean("")
    ('a b', 'xxxx…', '(empty)')
    """
    whole = _CONTROL.sub(" ", str(text)).strip() or "(empty)"
    return whole if len(whole) <= longest else f"{whole[: longest - 1]}…"


def percent(share: float | None) -> str:
    """A share as people read it.

    >>> percent(0.5), percent(-1e-17), percent(0.0001), percent(1.0), percent(None), percent(0.123)
    ('50%', '0%', 'under 0.1%', '100%', '', '12.3%')
    """
    if share is None:
        return ""
    if 1e-9 < share < 0.001:
        return "under 0.1%"
    return f"{round(share * 100, 1) + 0.0:.1f}".removesuffix(".0") + "%"


def figure(value: Any) -> str:
    """Any parameter or figure.

    >>> figure(0.123456), figure(12345), figure(True), figure(None), figure([1, 2]), figure({"k": 5})
    ('0.1235', '12,345', 'yes', '', '1, 2', 'k = 5')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e6 else f"{value:,.0f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {figure(inner)}" for key, inner in value.items() if inner is not None)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(figure(inner) for inner in value)
    return clean(value, 200)


def one_in(risk: float | None) -> str:
    """A risk as one in so many.

    >>> one_in(0.2), one_in(0.0123), one_in(0), one_in(None)
    ('1 in 5', '1 in 81', 'none', '')
    """
    if risk is None:
        return ""
    if risk <= 0:
        return "none"
    return f"1 in {1 / risk:,.0f}" if risk < 0.1 else f"1 in {1 / risk:.1f}".removesuffix(".0")


def size(number: int | None) -> str:
    """Bytes as people read them.

    >>> size(0), size(1500), size(3_200_000_000)
    ('0 bytes', '1.5 kB', '3.2 GB')
    """
    if number is None:
        return ""
    value, units = float(number), ["bytes", "kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.1f}".removesuffix(".0") + f" {units[0]}"


def moment(at: float | None) -> str:
    return "" if at is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def fill(text: str, **values: Any) -> str:
    return text.format(**values)


def in_order(pairs: Sequence[tuple[str, Any]], words: Wording) -> list[tuple[str, Any]]:
    """Named things in the order in which the words for them stand, and those without words after them.

    >>> in_order([("z", 1), ("a", 2), ("b", 3)], Wording({"b": {}, "a": {}}))
    [('b', 3), ('a', 2), ('z', 1)]
    """
    known = words.names()
    return sorted(pairs, key=lambda pair: known.index(pair[0]) if pair[0] in known else len(known))


def by_table(columns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Columns that stand in the order of their tables, those of one table together.

    >>> [(one["table"], len(one["columns"])) for one in by_table([{"table": "a"}, {"table": "a"}, {"table": "b"}])]
    [('a', 2), ('b', 1)]
    """
    grouped = itertools.groupby(columns, lambda column: column["table"])
    return [{"table": table, "columns": list(listed)} for table, listed in grouped]


def make_templates() -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("medveil.studio", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(
        clean=clean,
        percent=percent,
        figure=figure,
        one_in=one_in,
        size=size,
        moment=moment,
        fill=fill,
        in_order=in_order,
        by_table=by_table,
        has_formula=looks_like_formula,
    )
    return found


def make_studio(settings: StudioSettings, port: int) -> Studio:
    settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = Store(settings.database)
    return Studio(
        settings, store, Queue(store, settings), AnsweringProcess(), Visits(store, port), load_words(), make_templates()
    )
