"""What a release of interval means and sets of ids claims, and what is told of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from medveil.methods.fixed_interval.cleaning import Records
from medveil.methods.problem import Problem
from medveil.release.draft import Basis, Promise, PublishedAttribute


def promises(problem: Problem, records: Records, support: int, parameters: Mapping[str, Any]) -> list[Promise]:
    """The policy's models, and what holds beyond them.

    Models of a sensitive attribute count what the sets do not publish, so that their proof needs the source.
    """
    counted = Basis.SOURCE if problem.schema.subject else Basis.FILES
    enough = f"{support} {'person' if support == 1 else 'people'}"
    k = f"{problem.k} {'person' if problem.k == 1 else 'people'}"
    of_policy = [
        replace(promise, basis=Basis.SOURCE) if promise.attribute is not None else promise
        for promise in problem.promises()
    ]
    told = {
        "decimals": {column.name: column.written.decimals for column in records.attributes if column.is_number},
        "digits": list(parameters["codes_as_numbers"]),
        "ranges": {name: list(ends) for name, ends in parameters["ranges"].items()},
        "imputed": [column.name for column in records.attributes if column.imputed],
        "statistic": parameters["statistic"],
    }
    return [
        *of_policy,
        Promise(
            model="class-size",
            summary=f"{k} behind every published combination of means and sets, sensitive ones included",
            required={"k": problem.k},
            basis=counted,
        ),
        Promise(
            model="mean-support",
            summary=f"{enough} behind every published {parameters['statistic']}",
            required={"people": support},
            basis=Basis.FILES,
        ),
        Promise(
            model="code-book",
            summary="the code book is true to the source, and what can be worked out from its means together rests on "
            + enough,
            required={"people": support},
            basis=Basis.SOURCE,
            parameters=told,
        ),
    ]


def published_attributes(problem: Problem, records: Records) -> list[PublishedAttribute]:
    """The columns, each with the form in which it is published in place of its values."""
    forms = {column.name: "means" if column.is_number else "ids" for column in records.attributes}
    return [replace(attribute, form=forms.get(attribute.name)) for attribute in problem.attributes()]
