"""What a node costs: losses in [0, 1], each with a lower bound that needs column counts only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from medveil.errors import PolicyError, did_you_mean
from medveil.lattice.space import Levels, Space
from medveil.loss.class_sizes import average_class_share, discernibility
from medveil.loss.generalization import loss_metric

Nodes = NDArray[np.int8]
Numbers = NDArray[np.float64]


class Counted(Protocol):
    """What a loss reads of an evaluated node."""

    @property
    def levels(self) -> Levels: ...
    @property
    def suppressed(self) -> int: ...
    @property
    def hidden(self) -> Sequence[NDArray[np.int64]]:
        """For each quasi-identifier, the suppressed records by group at the node's level."""

    @property
    def squares(self) -> int:
        """The sum of the squared sizes, in records, of the classes that are kept."""

    @property
    def classes(self) -> int:
        """The number of classes that are kept."""


class Loss(ABC):
    """A loss over the nodes of one space.

    `bound`: no release of the node loses less, whatever is suppressed. `bound_hiding`: the same where at least so many
    records are known to be suppressed. `excess` of an evaluated node: what its suppression adds to `bound`, if that
    is also added to every more specific node; 0 where no such thing is known.
    `counts_classes`: whether `value` reads `squares` or `classes`.
    """

    name: ClassVar[str]
    counts_classes: bool

    @abstractmethod
    def bound(self, nodes: Nodes) -> Numbers: ...

    @abstractmethod
    def bound_hiding(self, nodes: Nodes, suppressed: NDArray[np.int64]) -> Numbers: ...

    @abstractmethod
    def bound_between(self, low: Levels, high: Levels, suppressed: int) -> float:
        """No node from `low` to `high` that suppresses at least so many records loses less."""

    @abstractmethod
    def value(self, node: Counted) -> float: ...

    def excess(self, node: Counted) -> float:  # noqa: ARG002 - only some losses know one
        return 0.0

    def least_added(self, nodes: Nodes) -> Numbers | None:  # noqa: ARG002 - only some losses know one
        """What each suppressed record adds at least to the bound of a node; None where that depends on their number."""
        return None


class NodeLossMetric(Loss):
    """LM: how much of each domain a published value stands for; a suppressed record stands for everything.

        LM = 1/n * sum over records r of ( 1 if r is suppressed else sum over a of w_a * (c_a(r) - 1) / (m_a - 1) )

    n: records. c_a(r): leaves that r's published group covers in quasi-identifier a. m_a: leaves of its whole domain.
    w_a: weights, summing to 1. Iyengar 2002, Transforming data to satisfy privacy constraints.
    """

    name = "lm"
    counts_classes = False

    def __init__(
        self, space: Space, columns: Sequence[NDArray[np.int64]], weights: Sequence[float] | None = None
    ) -> None:
        share = _shares(weights, len(space))
        self.records = int(columns[0].sum())
        self.group_losses: list[list[Numbers]] = []
        self.by_level: list[Numbers] = []
        self.worst: list[Numbers] = []
        for hierarchy, column, weight in zip(space.hierarchies, columns, share, strict=True):
            by_group = [weight * loss_metric(level.covered, hierarchy.size) for level in hierarchy.levels]
            totals = [np.bincount(level.groups, column, minlength=len(level.labels)) for level in hierarchy.levels]
            self.group_losses.append(by_group)
            self.by_level.append(
                np.array([(t * g).sum() / self.records for t, g in zip(totals, by_group, strict=True)])
            )
            self.worst.append(np.array([(g * (t > 0)).max(initial=0.0) for t, g in zip(totals, by_group, strict=True)]))

    def bound(self, nodes: Nodes) -> Numbers:
        return _look_up(self.by_level, nodes)

    def bound_hiding(self, nodes: Nodes, suppressed: NDArray[np.int64]) -> Numbers:
        bounds: Numbers = self.bound(nodes) + suppressed * self.least_added(nodes)
        return bounds

    def least_added(self, nodes: Nodes) -> Numbers:
        added: Numbers = np.maximum(1.0 - _look_up(self.worst, nodes), 0.0) / self.records
        return added

    def bound_between(self, low: Levels, high: Levels, suppressed: int) -> float:
        least_added = max(1.0 - sum(float(w[level]) for w, level in zip(self.worst, high, strict=True)), 0.0)
        return self._base(low) + suppressed / self.records * least_added

    def _base(self, levels: Levels) -> float:
        base = 0.0
        for by_level, level in zip(self.by_level, levels, strict=True):
            base += float(by_level[level])
        return base

    def value(self, node: Counted) -> float:
        return self._base(node.levels) + self.excess(node)

    def excess(self, node: Counted) -> float:
        """What suppression adds: each record goes from its loss to 1.

        A more specific node suppresses at least the same records, each of which loses no more there before.
        """
        if node.suppressed == 0:
            return 0.0
        spared = 0.0
        for by_group, level, hidden in zip(self.group_losses, node.levels, node.hidden, strict=True):
            spared += float(by_group[level] @ hidden)
        return (node.suppressed - spared) / self.records


class _ClassLoss(Loss):
    """A loss that is at least 1 / (number of classes), and charges a suppressed record with a class of everybody."""

    counts_classes = True

    def __init__(self, space: Space, columns: Sequence[NDArray[np.int64]]) -> None:
        self.records = int(columns[0].sum())
        self.log_groups = [
            np.array(
                [np.log(max(np.count_nonzero(np.bincount(level.groups, column)), 1)) for level in hierarchy.levels]
            )
            for hierarchy, column in zip(space.hierarchies, columns, strict=True)
        ]

    def most_classes(self, nodes: Nodes) -> Numbers:
        """No more classes than combinations of groups, nor than records."""
        most: Numbers = np.exp(np.minimum(_look_up(self.log_groups, nodes), np.log(self.records)))
        return most

    def bound(self, nodes: Nodes) -> Numbers:
        return self.bound_hiding(nodes, np.zeros(nodes.shape[1], dtype=np.int64))

    def bound_hiding(self, nodes: Nodes, suppressed: NDArray[np.int64]) -> Numbers:
        """With s suppressed of n and at most C classes, at least ((n - s)^2 / C + s n) / n^2.

        That grows with s if C >= 2; with one class it is least at s = n / 2.
        """
        share = suppressed / self.records
        classes = self.most_classes(nodes)
        share = np.where(classes < 1.5, np.maximum(share, 0.5), share)
        return (1.0 - share) ** 2 / classes + share

    def bound_between(self, low: Levels, high: Levels, suppressed: int) -> float:  # noqa: ARG002
        """The lowest node has the most classes, and with more classes the bound is less."""
        return float(self.bound_hiding(np.array(low, dtype=np.int8)[:, None], np.array([suppressed]))[0])


class NodeDiscernibility(_ClassLoss):
    """From how many records each record cannot be told apart, as a share of all; a suppressed one from none.

        DM = ( sum over kept classes E of |E|^2 + s * n ) / n^2

    n: records. s: suppressed records. Bayardo and Agrawal 2005, Data privacy through optimal k-anonymization.
    """

    name = "discernibility"

    def value(self, node: Counted) -> float:
        return discernibility(node.squares, node.suppressed, self.records)


class NodeClassShare(_ClassLoss):
    """The average class size as a share of all records, charged to each kept record; a suppressed one is charged 1.

        ( (n - s) * (n - s) / m + s * n ) / n^2

    n: records. s: suppressed records. m: kept classes. LeFevre, DeWitt, Ramakrishnan 2006, Mondrian multidimensional
    k-anonymity, divide the average by k and leave suppression out (that is the measure `average-class-size`); dividing
    by n keeps it in [0, 1] for any model.
    """

    name = "average-class-share"

    def value(self, node: Counted) -> float:
        return average_class_share(node.classes, node.suppressed, self.records)


class Mix(Loss):
    """The weighted mean of other losses; weights are scaled to sum to 1."""

    name = "mix"

    def __init__(self, parts: Sequence[tuple[Loss, float]]) -> None:
        shares = _shares([weight for _, weight in parts], len(parts))
        self.parts = [(loss, share) for (loss, _), share in zip(parts, shares, strict=True)]
        self.counts_classes = any(loss.counts_classes for loss, _ in parts)

    def bound(self, nodes: Nodes) -> Numbers:
        return np.asarray(sum(share * loss.bound(nodes) for loss, share in self.parts), dtype=np.float64)

    def bound_hiding(self, nodes: Nodes, suppressed: NDArray[np.int64]) -> Numbers:
        return np.asarray(
            sum(share * loss.bound_hiding(nodes, suppressed) for loss, share in self.parts), dtype=np.float64
        )

    def bound_between(self, low: Levels, high: Levels, suppressed: int) -> float:
        return sum(share * loss.bound_between(low, high, suppressed) for loss, share in self.parts)

    def value(self, node: Counted) -> float:
        return sum(share * loss.value(node) for loss, share in self.parts)

    def excess(self, node: Counted) -> float:
        return sum(share * loss.excess(node) for loss, share in self.parts)


LOSSES = ("lm", "discernibility", "average-class-share")


def make_loss(
    given: str | Mapping[str, float],
    space: Space,
    columns: Sequence[NDArray[np.int64]],
    weights: Sequence[float] | None = None,
) -> Loss:
    """The loss that a policy names, or a mix such as `{lm: 0.7, discernibility: 0.3}`.

    `columns[j]` counts the records of each leaf of quasi-identifier j; `weights` are those of the attributes, for LM.
    """
    if isinstance(given, Mapping):
        return Mix([(make_loss(name, space, columns, weights), share) for name, share in given.items()])
    if given == NodeLossMetric.name:
        return NodeLossMetric(space, columns, weights)
    if given == NodeDiscernibility.name:
        return NodeDiscernibility(space, columns)
    if given == NodeClassShare.name:
        return NodeClassShare(space, columns)
    raise PolicyError(f"There is no loss '{given}'.", did_you_mean(given, LOSSES))


def _look_up(by_level: Sequence[Numbers], nodes: Nodes) -> Numbers:
    """The sum over quasi-identifiers, always added in their order so that equal nodes give equal sums."""
    total = np.zeros(nodes.shape[1])
    for values, levels in zip(by_level, nodes, strict=True):
        total += values[levels]
    return total


def _shares(weights: Sequence[float] | None, count: int) -> list[float]:
    """Weights scaled to sum to 1; equal where none are given."""
    given = [1.0] * count if weights is None else [float(weight) for weight in weights]
    total = sum(given)
    if len(given) != count or min(given) < 0 or total <= 0:
        raise PolicyError(
            "Weights must be numbers of at least 0, of which one is above 0.", "Fix the 'weight' entries."
        )
    return [weight / total for weight in given]
