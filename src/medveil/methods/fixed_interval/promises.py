"""What a release of interval means and sets of ids claims, and what is told of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from medveil.methods.fixed_interval.attributes import PERCENT
from medveil.methods.fixed_interval.cleaning import Records
from medveil.methods.fixed_interval.intervals import Statistic
from medveil.methods.problem import Problem
from medveil.release.claim import Basis
from medveil.release.draft import Promise, PublishedAttribute


def promises(
    problem: Problem,
    records: Records,
    support: int,
    parameters: Mapping[str, Any],
    statistics: Mapping[str, Statistic],
) -> list[Promise]:
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
        "decimals": {
            column.name: (PERCENT if statistics[column.name] == "percentage" else column.written).decimals
            for column in records.attributes
            if column.is_number
        },
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
        *(
            [
                Promise(
                    model="mean-support",
                    summary=f"{enough} behind every published {' and '.join(sorted(set(statistics.values())))}",
                    required={"people": support},
                    basis=Basis.FILES,
                )
            ]
            if statistics
            else []
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


def published_attributes(
    problem: Problem, records: Records, statistics: Mapping[str, Statistic]
) -> list[PublishedAttribute]:
    """The columns that are published, each with the form in which it is, in place of its values."""
    numbers = {name: "percentages" if of == "percentage" else "means" for name, of in statistics.items()}
    forms = {column.name: numbers[column.name] if column.is_number else "ids" for column in records.attributes}
    return [
        replace(attribute, form=forms.get(attribute.name))
        for attribute in problem.attributes()
        if attribute.name in forms or attribute.name not in problem.counted
    ]
