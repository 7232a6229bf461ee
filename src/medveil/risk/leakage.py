"""How much an attacker learns about who somebody is from attributes that they know of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from medveil.errors import PolicyError, did_you_mean
from medveil.risk.leakage_count import Counter, Division, Positions
from medveil.risk.leakage_crowd import Crowd
from medveil.risk.leakage_sets import Explorer


@dataclass(frozen=True)
class Loss:
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
    """Losses, the most leaking first, in a crowd of `people` about whom an attacker lacks `initial` bits.

    `examined` of `sets` were counted. `smallest`: the smallest set that makes more than `share` of the people unique,
    where that was asked for and there is one.
    """

    people: int
    counted: str
    initial: float
    losses: tuple[Loss, ...]
    examined: int
    sets: int
    share: float | None = None
    smallest: Loss | None = None

    def __iter__(self) -> Iterator[Loss]:
        return iter(self.losses)

    def __len__(self) -> int:
        return len(self.losses)

    def __getitem__(self, attributes: str | tuple[str, ...]) -> Loss:
        """The loss of one attribute or set, in any order."""
        wanted = {attributes} if isinstance(attributes, str) else set(attributes)
        for loss in self.losses:
            if set(loss.attributes) == wanted:
                return loss
        raise KeyError(attributes)

    def to_list(self) -> list[dict[str, Any]]:
        """The losses as `{attributes, values, loss, normalized}`. Where uniqueness was asked for, each also has
        `unique`, and the smallest set, which is then listed too, is marked.
        """
        if self.share is None:
            return [loss.to_dict() for loss in self.losses]
        extra = [self.smallest] if self.smallest is not None and self.smallest not in self.losses else []
        return [
            {**loss.to_dict(), "unique": loss.unique, "smallest": loss == self.smallest}
            for loss in sorted((*self.losses, *extra), key=lambda loss: -loss.loss)
        ]


def leakage_of(
    crowd: Crowd,
    *,
    up_to: int = 1,
    top: int | None = None,
    unique: float | None = None,
    among: Sequence[str] | None = None,
) -> Leakage:
    """The average information that an attacker gains from each attribute, and from sets of up to so many.

        Delta S = sum over values j of p(E_j) (S_0 - S_j)
        S_0 = -sum over people r of p(r) log2 p(r)        S_j = -sum over r in E_j of p(r | E_j) log2 p(r | E_j)

    E_j: the people with value j. p(r): how likely r is the one looked for, 1/n each unless the crowd has a prior.
    Normalized: Delta S / S_0. A person of several records shows one of them, each equally often, and r | E_j is then by
    Bayes; Delta S is the information that values and people share.

    `top`: only so many, found without counting every set. `unique`: also find the smallest set that makes more than
    this share of the people unique. `among`: the attributes that sets are made of; all of them where left out.

    Longpre, Kreinovich, Dumrongpokaphan 2017, Entropy as a measure of average loss of privacy; Arca, Hewett 2021,
    Analytics on anonymity for privacy retention in smart health data (whose S_j lacks the minus sign).
    """
    chosen = crowd.names if among is None else tuple(among)
    for name in chosen:
        if name not in crowd.names:
            raise PolicyError(f"There is no column '{name}' to measure.", did_you_mean(name, crowd.names))
    if unique is not None and not 0 <= unique < 1:
        raise PolicyError("The share of unique people must be from 0 to below 1.", "Give a number such as 0.5.")
    explorer = Explorer(Counter(crowd), [crowd.names.index(name) for name in chosen])
    up_to = min(up_to, len(chosen))
    if top is None or up_to <= 1:
        explorer.examine(explorer.every_set(up_to))
        listed = list(explorer.known)
    else:
        listed = explorer.top(up_to, top)
    examined = explorer.examined
    smallest = explorer.smallest_unique(unique) if unique is not None and chosen else None
    others = [(p,) for p, name in enumerate(crowd.names) if name not in chosen] if up_to <= 1 else []
    explorer.examine(others)
    ranked = sorted([*listed, *others], key=lambda s: (-explorer.known[s].loss, len(s), s))
    return Leakage(
        people=crowd.people,
        counted="records" if crowd.person is None else "people",
        initial=crowd.initial,
        losses=tuple(_loss(crowd, s, explorer.known[s]) for s in (ranked if top is None else ranked[:top])),
        examined=examined,
        sets=explorer.number_of_sets(up_to),
        share=unique,
        smallest=None if smallest is None else _loss(crowd, smallest, explorer.known[smallest]),
    )


def _loss(crowd: Crowd, positions: Positions, division: Division) -> Loss:
    return Loss(
        attributes=tuple(crowd.names[p] for p in positions),
        values=division.values,
        loss=division.loss,
        normalized=division.loss / crowd.initial if crowd.initial > 0 else 0.0,
        unique=division.unique / max(crowd.people, 1),
    )
