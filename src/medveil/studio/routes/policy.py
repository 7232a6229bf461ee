"""The Privacy and Method steps: what must hold, and how it is done."""

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
from medveil.studio.policies import change
from medveil.studio.site import Studio, see
from medveil.studio.steps import BASE, ShownJob, project_page, running, settled
from medveil.studio.tables import has_sets, roles_of

PRIVATE = "differential-privacy"


def _roles(revision: Revision) -> dict[str, str]:
    return roles_of(revision.checked["policy"])


# Privacy


def privacy(request: Request) -> Response:
    return _privacy_page(request, None, {}, {}, None)


def add(request: Request) -> Response:
    """The form of a model that is to be added."""
    return _privacy_page(request, request.path_params["model"], {}, {}, None)


def edit(request: Request) -> Response:
    _, _, revision = settled(request)
    models, place = revision.checked["policy"]["privacy"], request.path_params["place"]
    if place >= len(models):
        raise HTTPException(404)
    return _privacy_page(request, models[place]["model"], models[place], {}, place)


def _privacy_page(
    request: Request, model: str | None, given: Mapping[str, Any], faults: dict[str, str], place: int | None
) -> Response:
    studio, project, revision = settled(request)
    known = studio.answering.parts["models"]
    if model is not None and model not in known:
        raise HTTPException(404)
    fields = []
    if model is not None:
        fields = fields_of(known[model]["schema"], given, words_of(studio.words, model), _roles(revision))
    now = revision.checked["policy"]["privacy"]
    return project_page(
        request,
        project,
        "privacy.html",
        "privacy",
        422 if faults else 200,
        revision=revision,
        now=list(zip(now, revision.checked["summaries"], strict=True)),
        cards=_cards(studio, revision),
        model=model,
        place=place,
        profiles=_profiles(studio, revision),
        fields=fields,
        faults=faults,
        command="medveil anonymize policy.yaml --out release",
        data={"privacy": now, "faults": faults},
    )


def _cards(studio: Studio, revision: Revision) -> dict[str, list[dict[str, Any]]]:
    """The models by the question that they answer, each with why it does not fit now."""
    roles = set(_roles(revision).values())
    policy = revision.checked["policy"]
    linked, used = bool(policy.get("tables")), [one["model"] for one in policy["privacy"]]
    cards: dict[str, list[dict[str, Any]]] = {question: [] for question in studio.words.questions.names()}
    for name, part in studio.answering.parts["models"].items():
        told = studio.words.models.get(name, {})
        reason = None
        if part["about_sets"] and not has_sets(policy):
            reason = studio.words.privacy.needs_set if linked else studio.words.privacy.needs_tables
        elif linked and name == PRIVATE:
            reason = studio.words.privacy.one_table
        elif name != PRIVATE and "quasi" not in roles:
            reason = studio.words.privacy.needs_quasi
        elif part["needs_sensitive"] and "sensitive" not in roles:
            reason = studio.words.privacy.needs_sensitive
        elif name != PRIVATE and PRIVATE in used:
            reason = studio.words.privacy.beside_private
        cards[told.get("question") or "both"].append(
            {
                "name": name,
                "title": told.get("title") or name,
                "sentence": told.get("sentence") or part["schema"].get("description", "").split("\n\n")[0],
                "when": told.get("when", ""),
                "used": name in used,
                "reason": reason,
            }
        )
    return {question: listed for question, listed in cards.items() if listed}


def _profiles(studio: Studio, revision: Revision) -> list[dict[str, Any]]:
    followed = revision.checked["policy"].get("profile") or {}
    return [
        {
            "name": name,
            "title": studio.words.profiles.get(name, {}).get("title") or name,
            "sentence": studio.words.profiles.get(name, {}).get("sentence") or part["schema"].get("description", ""),
            "used": followed.get("name") == name,
        }
        for name, part in studio.answering.parts["profiles"].items()
    ]


def follow_profile(request: Request) -> Response:
    """Follow a profile of rules, or follow it no longer."""
    studio, project, revision = settled(request)
    name = request.path_params["profile"]
    if name not in studio.answering.parts["profiles"]:
        raise HTTPException(404)
    followed = (revision.checked["policy"].get("profile") or {}).get("name") == name
    new = None if followed else {"name": name}
    saved, checked = studio.amend(project, lambda now: change(now.text, ["profile"], new))
    if saved is None:
        faults = {"": " ".join(fault["sentence"] for fault in checked["faults"])}
        return _privacy_page(request, None, {}, faults, None)
    return see(request, "privacy", "saved", project=project.id)


async def put_model(request: Request) -> Response:
    """Add a model, or change the one at a place."""
    form = await request.form()
    studio, project, revision = await run_in_threadpool(settled, request)
    model, place = request.path_params["model"], request.path_params.get("place")
    known = studio.answering.parts["models"]
    if model not in known:
        raise HTTPException(404)
    fields = fields_of(known[model]["schema"], {}, words_of(studio.words, model), _roles(revision))
    given, faults = read_fields(fields, form)
    if not faults:
        entry = {"model": model, **given}

        def edit(now: Revision) -> str:
            listed = list(now.checked["policy"]["privacy"])
            if place is not None and place < len(listed):
                listed[place] = entry
            elif model == PRIVATE:
                listed = [entry]
            else:
                listed.append(entry)
            return change(now.text, ["privacy"], listed)

        saved, checked = await run_in_threadpool(studio.amend, project, edit)
        if saved is not None:
            return see(request, "privacy", "saved", project=project.id)
        faults = {"": " ".join(fault["sentence"] for fault in checked["faults"])}
    return await run_in_threadpool(_privacy_page, request, model, given, faults, place)


def drop_model(request: Request) -> Response:
    studio, project, _ = settled(request)
    place = request.path_params["place"]

    def edit(now: Revision) -> str:
        listed = list(now.checked["policy"]["privacy"])
        if place >= len(listed):
            raise HTTPException(404)
        del listed[place]
        return change(now.text, ["privacy"], listed)

    saved, checked = studio.amend(project, edit)
    if saved is None:
        faults = {"": " ".join(fault["sentence"] for fault in checked["faults"])}
        return _privacy_page(request, None, {}, faults, None)
    return see(request, "privacy", "saved", project=project.id)


# Method


def method(request: Request) -> Response:
    return _method_page(request, {}, {})


def _fits(studio: Studio, project: Project, revision: Revision) -> ShownJob:
    """Which methods fit, for the policy as it is but for its method and what is written and measured."""
    policy = revision.checked["policy"]
    asked = {key: policy[key] for key in ("data", "attributes", "tables", "privacy") if key in policy}
    return running(studio, studio.queue.look("fitting", {"policy": asked}, project=project.id))


def _method_page(request: Request, given: Mapping[str, Any], faults: dict[str, str]) -> Response:
    studio, project, revision = settled(request)
    known = studio.answering.parts["methods"]
    policy = revision.checked["policy"]
    chosen = policy.get("method", {"name": "optimal"})
    look = _fits(studio, project, revision)
    reasons = look.result if look.state == "done" else {}
    cards = []
    for name, part in known.items():
        told = studio.words.methods.get(name, {})
        cards.append(
            {
                "name": name,
                "title": told.get("title") or name,
                "sentence": told.get("sentence") or part["schema"].get("description", "").split("\n\n")[0],
                "when": told.get("when", ""),
                "used": name == chosen["name"],
                "reason": reasons.get(name),
            }
        )
    cards.sort(key=lambda card: (not card["used"], card["reason"] is not None))
    title = studio.words.methods.get(chosen["name"], {}).get("title") or chosen["name"]
    sections = {
        name: fields_of(part["schema"], policy.get(name, {}), words_of(studio.words, name), _roles(revision))
        for name, part in studio.answering.parts["settings"].items()
    }
    return project_page(
        request,
        project,
        "method.html",
        "method",
        422 if faults else 200,
        revision=revision,
        cards=cards,
        chosen=chosen["name"],
        chosen_title=title,
        fields=fields_of(
            known[chosen["name"]]["schema"], given or chosen, words_of(studio.words, chosen["name"]), _roles(revision)
        ),
        sections=sections,
        faults=faults,
        look=look,
        command="medveil compare policy.yaml --out comparison",
        data={"method": chosen, "fits": reasons, "faults": faults},
    )


def methods_fit(request: Request) -> Response:
    """Whether it is known which methods fit, for a page that waits for it."""
    studio, project, revision = settled(request)
    look = _fits(studio, project, revision)
    headers = {"HX-Refresh": "true"} if not look.open else {}
    response = studio.page(request, "_fitting.html", project=project, look=look, data=look.to_dict())
    response.headers.update(headers)
    return response


def choose(request: Request) -> Response:
    studio, project, _ = settled(request)
    name = request.path_params["method"]
    if name not in studio.answering.parts["methods"]:
        raise HTTPException(404)
    studio.amend(project, lambda now: change(now.text, ["method"], {"name": name}))
    return see(request, "method", "saved", project=project.id)


async def set_method(request: Request) -> Response:
    form = await request.form()
    studio, project, revision = await run_in_threadpool(settled, request)
    name = revision.checked["policy"].get("method", {"name": "optimal"})["name"]
    schema = studio.answering.parts["methods"][name]["schema"]
    given, faults = read_fields(fields_of(schema, {}, words_of(studio.words, name), _roles(revision)), form)
    if not faults:
        new = {"name": name, **given}
        saved, checked = await run_in_threadpool(studio.amend, project, lambda now: change(now.text, ["method"], new))
        if saved is not None:
            return see(request, "method", "saved", project=project.id)
        faults = {"": " ".join(fault["sentence"] for fault in checked["faults"])}
    return await run_in_threadpool(_method_page, request, {"name": name, **given}, faults)


async def set_section(request: Request) -> Response:
    """What the policy says of its output or of what is measured."""
    form = await request.form()
    studio, project, revision = await run_in_threadpool(settled, request)
    section = request.path_params["section"]
    known = studio.answering.parts["settings"]
    if section not in known:
        raise HTTPException(404)
    fields = fields_of(known[section]["schema"], {}, words_of(studio.words, section), _roles(revision))
    given, faults = read_fields(fields, form)
    if not faults:
        saved, checked = await run_in_threadpool(
            studio.amend, project, lambda now: change(now.text, [section], given or None)
        )
        if saved is not None:
            return see(request, "method", "saved", project=project.id)
        faults = {"": " ".join(fault["sentence"] for fault in checked["faults"])}
    return await run_in_threadpool(_method_page, request, {}, faults)


ROUTES = [
    Route(f"{BASE}/privacy", privacy, name="privacy"),
    Route(f"{BASE}/privacy/add/{{model}}", add, methods=["GET"], name="add_model"),
    Route(f"{BASE}/privacy/add/{{model}}", put_model, methods=["POST"], name="put_model"),
    Route(f"{BASE}/privacy/{{place:int}}", edit, methods=["GET"], name="edit_model"),
    Route(f"{BASE}/privacy/{{place:int}}/{{model}}", put_model, methods=["POST"], name="change_model"),
    Route(f"{BASE}/privacy/{{place:int}}", drop_model, methods=["POST"], name="drop_model"),
    Route(f"{BASE}/profile/{{profile}}", follow_profile, methods=["POST"], name="follow_profile"),
    Route(f"{BASE}/method", method, methods=["GET"], name="method"),
    Route(f"{BASE}/method", set_method, methods=["POST"], name="set_method"),
    Route(f"{BASE}/method/fits", methods_fit, name="methods_fit"),
    Route(f"{BASE}/method/{{method}}/use", choose, methods=["POST"], name="choose_method"),
    Route(f"{BASE}/settings/{{section}}", set_section, methods=["POST"], name="set_section"),
]
