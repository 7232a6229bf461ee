"""What a release of h-ceiling claims, and what is said where none can be made."""

from __future__ import annotations

import math
from dataclasses import replace

from medveil.methods.h_ceiling.search import Ceiling
from medveil.methods.problem import Problem
from medveil.release.catalog import CATALOG, CLASS_ID
from medveil.release.claim import Basis, Counting
from medveil.release.draft import Promise


def people_promises(problem: Problem, ceiling: Ceiling, h: float) -> list[Promise]:
    """Every model for the people of each group, the ceiling, and what the catalog says of people and records."""
    return [
        *_kept(problem, Counting.IN_GROUPS),
        _ceiling(ceiling, h, "people"),
        Promise(
            "counterfeit-catalog",
            "every class of a group shows the records of all its people, so that by the method's proof no record is a "
            "given person's, or real, with another probability than the catalog says",
            {"k": problem.k},
            Basis.SOURCE if problem.schema.subject else Basis.FILES,
            {"column": CLASS_ID, "catalog": CATALOG, "protection": "people"},
        ),
    ]


def paper_promises(problem: Problem, ceiling: Ceiling, h: float) -> list[Promise]:
    """For every model counterfeits count as people, and the catalog keeps Lemma 1: no more is claimed."""
    more = any(not model.asks_size_alone for model in problem.models)
    return [
        *_kept(problem, Counting.WITH_COUNTERFEITS),
        _ceiling(ceiling, h, "records"),
        Promise(
            "counterfeit-catalog",
            "Lemma 1 alone: the catalog by itself tells no counterfeit, but who knows how classes are filled does",
            {"lemma_1": True},
            Basis.FILES,
            {
                "column": CLASS_ID,
                "catalog": CATALOG,
                "protection": "published",
                "k": problem.k,
                "filled": "k or more" if more else "exactly k",
            },
        ),
    ]


def _kept(problem: Problem, counting: Counting) -> list[Promise]:
    """The models of the policy, and what they count. What holds of whole groups holds whatever columns are known."""
    return [
        replace(
            promise,
            summary=f"{promise.summary} {counting.value.replace('-', ' ')}",
            on=None if counting is Counting.IN_GROUPS else promise.on,
            counting=counting,
        )
        for promise in problem.promises()
    ]


def _ceiling(ceiling: Ceiling, h: float, over: str) -> Promise:
    what = "no record generalized above" if ceiling == "record" else f"{over} generalized on average at most"
    return Promise("h-ceiling", f"{what} {h:g}", {"h": h}, Basis.SOURCE, {"ceiling": ceiling, "over": over})


def how_close(least: float | None, fewest: int | None, h: float, allowed: int, records: int) -> tuple[str, str]:
    """What an unreachable goal says: how close one can get by h alone and by counterfeits alone."""
    remedies = []
    if least is not None and least > h:
        remedies.append(f"with h {math.ceil(least * 10000) / 10000:g} it works")
    if fewest is not None and fewest > records:
        remedies.append(f"under this h it takes {fewest:,} counterfeits, more than there are records")
    elif fewest is not None:
        share = math.ceil(fewest / records * 10000) / 10000
        remedies.append(f"with {fewest:,} counterfeits (max_counterfeits: {share:g}) it works")
    problem = f"With h {h:g} and at most {allowed:,} counterfeits no release can be made."
    if not remedies:
        return problem, "Other values of h and max_counterfeits do not help either: loosen what must hold."
    text = "; ".join(remedies)
    return problem, f"{text[0].upper()}{text[1:]}."
