"""How much an attacker learns about who somebody is from attributes that they know of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from medveil.engine.classes import Told
from medveil.errors import PolicyError, did_you_mean
from medveil.markup import grid, paragraph
from medveil.risk.leakage_count import DIGITS, Counter, Division, Positions
from medveil.risk.leakage_entries import Entries
from medveil.risk.leakage_sets import Explorer


@dataclass(frozen=True)
class LeakageLoss:
    """What one set of attributes leaks: `values` combinations, `loss` in bits, `normalized` by all there is to learn,
    and the share of people whom some combination has for itself.
    """

    attributes: tuple[str, ...]
    values: int
    loss: float
    normalized: float
    unique: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "attributes": list(self.attributes),
            "values": self.values,
            "loss": self.loss,
            "normalized": self.normalized,
        }


@dataclass(frozen=True)
class Leakage:
    """What attributes leak about `people` of whom an attacker lacks `initial` bits.

    singles: every attribute, the most leaking first. sets: the most leaking sets, of which `examined` out of
    `possible` ones were counted; empty where none were asked for. smallest: the smallest set that makes more than
    `share` of the people unique, where that was asked for and there is one.
    """

    people: int
    counted: str
    initial: float
    singles: tuple[LeakageLoss, ...]
    sets: tuple[LeakageLoss, ...] = ()
    examined: int = 0
    possible: int = 0
    share: float | None = None
    smallest: LeakageLoss | None = None

    @property
    def losses(self) -> tuple[LeakageLoss, ...]:
        """Everything listed, each once, the most leaking first."""
        extra = () if self.smallest is None else (self.smallest,)
        return tuple(sorted(dict.fromkeys((*self.singles, *self.sets, *extra)), key=_by_loss))

    def __iter__(self) -> Iterator[LeakageLoss]:
        return iter(self.losses)

    def __len__(self) -> int:
        return len(self.losses)

    def __getitem__(self, attributes: str | tuple[str, ...]) -> LeakageLoss:
        """The loss of one attribute or set, in any order."""
        wanted = {attributes} if isinstance(attributes, str) else set(attributes)
        for loss in self.losses:
            if set(loss.attributes) == wanted:
                return loss
        raise KeyError(attributes)

    def to_list(self) -> list[dict[str, Any]]:
        """The losses as `{attributes, values, loss, normalized}`; where unique people were asked for, each also has
        `unique`, the share of people it makes so, and `smallest`, whether it is the smallest set that does.
        """
        if self.share is None:
            return [loss.to_dict() for loss in self.losses]
        return [{**loss.to_dict(), "unique": loss.unique, "smallest": loss == self.smallest} for loss in self.losses]

    @property
    def everybody(self) -> str:
        """How many records or people there are, in words."""
        one = {"records": "record", "people": "person"}
        return f"{self.people:,} {one[self.counted] if self.people == 1 else self.counted}"

    def _repr_html_(self) -> str:
        """The losses in a notebook."""
        told = [
            paragraph(
                f"{self.everybody}; an attacker who knows nothing lacks {self.initial:.2f} bits.",
                strong=True,
            )
        ]
        headers = ["values", "bits", "share", "unique"]
        for title, losses in (("column", self.singles), ("sets that leak most", self.sets)):
            rows = [
                [", ".join(x.attributes), f"{x.values:,}", f"{x.loss:.3f}", f"{x.normalized:.1%}", f"{x.unique:.1%}"]
                for x in losses
            ]
            if rows:
                told.append(grid([title, *headers], rows))
        return "".join(told)


def leakage_of(
    entries: Entries,
    *,
    up_to: int = 1,
    top: int | None = None,
    unique: float | None = None,
    among: Sequence[str] | None = None,
) -> Leakage:
    """The average information that an attacker gains from each attribute, and from sets of up to so many.

        Delta S = sum over values j of p(E_j) (S_0 - S_j)
        S_0 = -sum over people r of p(r) log2 p(r)        S_j = -sum over r in E_j of p(r | E_j) log2 p(r | E_j)

    E_j: the people with value j. p(r): how likely r is the one looked for, 1/n each unless the entries has a prior.
    Normalized: Delta S / S_0. A person of several records shows one of them, each equally often, and p(r | E_j) is by
    Bayes' rule; Delta S is then the information that values and people share.

    `top`: only so many sets, found without counting all. `unique`: also find the smallest set that makes more than
    this share of the people unique. `among`: the attributes that sets are made of (default: all).

    Longpre, Kreinovich, Dumrongpokaphan 2017, Entropy as a measure of average loss of privacy; Arca, Hewett 2021,
    Analytics on anonymity for privacy retention in smart health data (whose S_j lacks the minus sign).
    """
    chosen = entries.names if among is None else tuple(among)
    for name in chosen:
        if name not in entries.names:
            raise PolicyError(f"There is no column '{name}' to measure.", did_you_mean(name, entries.names))
    if unique is not None and not 0 <= unique < 1:
        raise PolicyError("The share of unique people must be from 0 to below 1.", "Give a number such as 0.5.")
    counter = Counter(entries)
    up_to = min(up_to, len(chosen))
    explorer = Explorer(counter, [entries.names.index(name) for name in chosen])
    sets: list[Positions] = []
    if up_to > 1:
        sets = explorer.all(up_to) if top is None else explorer.top(up_to, top)
    examined = explorer.examined
    explorer.examine([(position,) for position in range(len(entries.names))])
    smallest = explorer.smallest_unique(unique) if unique is not None and chosen else None

    def loss(positions: Positions) -> LeakageLoss:
        return _loss(entries, positions, explorer.known[positions])

    return Leakage(
        people=entries.people,
        counted="records" if entries.person is None else "people",
        initial=entries.initial,
        singles=tuple(sorted((loss((p,)) for p in range(len(entries.names))), key=_by_loss)),
        sets=tuple(loss(s) for s in sets),
        examined=examined,
        possible=explorer.number_of_sets(up_to) if up_to > 1 else 0,
        share=unique,
        smallest=None if smallest is None else loss(smallest),
    )


def loss_of(entries: Entries, names: Sequence[str]) -> LeakageLoss:
    """What one set of attributes leaks."""
    positions = tuple(sorted(entries.names.index(name) for name in names))
    return _loss(entries, positions, Counter(entries).divide(positions))


def loss_of_told(names: Sequence[str], told: Told) -> LeakageLoss:
    """The same where an engine has counted what the set tells; every person is as likely to be looked for."""
    initial = math.log2(max(told.people, 1))
    loss = min(max(0.0, round(initial - told.lacking, DIGITS)), initial)
    return LeakageLoss(
        attributes=tuple(names),
        values=told.values,
        loss=loss,
        normalized=loss / initial if initial > 0 else 0.0,
        unique=told.unique / max(told.people, 1),
    )


def _by_loss(loss: LeakageLoss) -> tuple[float, int, tuple[str, ...]]:
    """The most leaking first, of equals the smaller set."""
    return -loss.loss, len(loss.attributes), loss.attributes


def _loss(entries: Entries, positions: Positions, division: Division) -> LeakageLoss:
    return LeakageLoss(
        attributes=tuple(entries.names[p] for p in positions),
        values=division.values,
        loss=division.loss,
        normalized=division.loss / entries.initial if entries.initial > 0 else 0.0,
        unique=division.unique / max(entries.people, 1),
    )
