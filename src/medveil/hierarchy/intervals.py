"""Numbers into intervals: equal widths, cuts of one's own, or quantiles; with top and bottom codes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from medveil.errors import PolicyError
from medveil.hierarchy.assemble import assemble
from medveil.hierarchy.hierarchy import ROOT, Hierarchy
from medveil.hierarchy.numberline import all_whole, check_ends, decimals, exact, line_of, present, whole_leaves
from medveil.hierarchy.spans import Cuts, cut_spans, data_ends, draft_of, quantile_cuts, width_spans
from medveil.hierarchy.specification import HierarchySpec, Number, describe
from medveil.table.domain import Domain
from medveil.table.schema import Kind
from medveil.workspace import Workspace

MOST_INTERVALS = 2**52
"""Numbers of intervals are exact up to here."""
LEAVES_PER_INTERVAL = 100
"""Numbers that are not whole have no natural count: the narrowest interval of level 1 counts as this many leaves."""


class Intervals(HierarchySpec):
    """Intervals at each level, those of one level being unions of those below.

    Whole numbers (all values, ends, widths and codes are whole) are published as `[0-4]`, both ends included, and the
    leaves of the domain are its whole numbers. Others are published as `[0.0-2.5)`, without the upper end except in the
    last interval, and the narrowest interval of level 1 counts as a hundred leaves. The last interval ends where
    the domain ends.

    A `top` code makes one group `90+` of all numbers from it on, a `bottom` code `<18` of those below it. At a higher
    level whose intervals do not end there the code moves to that interval's end: 90+ becomes 80+ where widths are 20.
    Codes hold in every method: with one, values are published from level 1 on; a width of 1 keeps the others exact.

    Without a declared domain it is taken from the data: rounded outwards to the first width, so that no label
    holds the smallest or largest value; with cuts and quantiles the first and last groups are open, `<18` and `65+`.
    """

    name: ClassVar[str] = "intervals"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMBER,)

    type: Literal["intervals"] = "intervals"
    domain: Annotated[tuple[Number, Number] | None, describe("The smallest and the largest possible number.")] = None
    widths: Annotated[
        tuple[Annotated[Number, Field(gt=0)], ...] | None,
        describe("One width for each level, each a multiple of the one before; counted from the domain's start."),
    ] = None
    cuts: Annotated[
        tuple[tuple[Number, ...], ...] | None,
        describe("For each level where a new interval begins; a level's cuts are some of those of the level below."),
    ] = None
    quantiles: Annotated[
        tuple[Annotated[int, Field(ge=2)], ...] | None,
        describe("For each level the number of groups with about as many records each, read from the data."),
    ] = None
    top: Annotated[Number | None, describe("Numbers from here on are one group, such as `90+`.")] = None
    bottom: Annotated[Number | None, describe("Numbers below this are one group, such as `<18`.")] = None

    @model_validator(mode="after")
    def _check(self) -> Intervals:
        ways = [way for way in (self.widths, self.cuts, self.quantiles) if way is not None]
        if len(ways) != 1 or not ways[0]:
            raise ValueError("Give exactly one of widths, cuts and quantiles, with at least one level.")
        check_ends(self.domain, self.top, self.bottom)
        for lower, upper in itertools.pairwise(self.widths or ()):
            if upper / lower > MOST_INTERVALS:
                raise ValueError("The widths are too far apart to be counted. Leave out the narrowest.")
            if upper <= lower or exact(upper) % exact(lower):
                raise ValueError("Each width must be a multiple of the one before, such as 5, 10, 20, 40.")
        for level in self.cuts or ():
            if not level or any(a >= b for a, b in itertools.pairwise(level)):
                raise ValueError("The cuts of a level must increase, and there must be at least one.")
            if self.domain and not self.domain[0] < level[0] <= level[-1] <= self.domain[1]:
                raise ValueError("A cut lies outside the domain. Move it inside, above the domain's start.")
        for below, above in itertools.pairwise(self.cuts or ()):
            if not set(above) < set(below):
                raise ValueError("The cuts of a level must be some, and fewer, of those of the level below.")
        for more, fewer in itertools.pairwise(self.quantiles or ()):
            if fewer >= more or more % fewer:
                raise ValueError("Each number of quantiles must divide the one before, such as 20, 10, 5.")
        return self

    def bind(
        self,
        domain: Domain,
        column: str,
        workspace: Workspace,  # noqa: ARG002
        counts: NDArray[np.int64] | None = None,
    ) -> Hierarchy:
        self.require_kind(domain, column)
        numbers = domain.numbers
        whole = all_whole(self._policy_numbers()) and bool(np.all(np.mod(present(numbers), 1) == 0))
        cuts = quantile_cuts(numbers, counts, self.quantiles, self.domain) if self.quantiles else self.cuts
        codes = [code for code in (self.top, self.bottom) if code is not None]
        if self.widths:
            self._refuse_too_narrow([*present(numbers), *codes, *(self.domain or ())], column)
        low, high = self.domain or data_ends([*present(numbers), *codes], cuts, self.widths, whole=whole)
        line = line_of(numbers, (low, high), whole=whole, top=self.top, bottom=self.bottom)
        # The domain's ends and the two codes are looked up along with the values, at the end of the array.
        ends_and_codes = [low, high, *(low if code is None else code for code in (self.top, self.bottom))]
        points = np.concatenate([line.points, np.clip(ends_and_codes, low, high)])
        if cuts is not None:
            levels = [cut_spans(line, points, level) for level in cuts]
        else:
            levels = width_spans(line, points, self.widths or (), counted_from=self.domain)
        step = 1.0 if whole else _narrowest(low, high, self.widths, cuts) / LEAVES_PER_INTERVAL
        places = max(map(decimals, (*self._policy_numbers(), *itertools.chain(*(cuts or ())))), default=0)
        open_ended = self.domain is None and cuts is not None
        drafts, root = [], ROOT
        for number, spans in enumerate(levels):
            top, bottom = self._codes(number, spans, cuts if open_ended else None)
            draft = draft_of(line, points, spans, (top, bottom), step, places, open_ended=open_ended)
            # A declared domain decides by itself whether its last level is the root; the data must not.
            if self.domain and draft.single and number == len(levels) - 1:
                root = draft.level.labels[0]
            else:
                drafts.append(draft.level)
        size = max((line.end - line.low) / step, 1.0)
        return assemble(self, domain, column, drafts, line.known, size, root=root, extra=line.extra)

    @property
    def least_level(self) -> int:
        return int(self.top is not None or self.bottom is not None)

    def _refuse_too_narrow(self, points: Sequence[float], column: str) -> None:
        """Intervals are numbered from the domain's start or from 0, exactly only up to 2^53."""
        width = (self.widths or (1.0,))[0]
        if max(map(abs, points), default=0.0) / width > MOST_INTERVALS:
            raise PolicyError(
                f"The first width of '{column}' is too narrow for its numbers: there would be more than "
                f"{MOST_INTERVALS:.0e} intervals.",
                "Give a wider one, or a smaller domain.",
            )

    @property
    def weighs_records(self) -> bool:
        return self.quantiles is not None

    def leaves(self, column: str, workspace: Workspace) -> list[str] | None:  # noqa: ARG002
        whole = all_whole(self._policy_numbers()) and not self.quantiles
        return whole_leaves(self.domain) if whole else None

    def _policy_numbers(self) -> list[float]:
        optional = (*(self.domain or ()), *(self.widths or ()), *itertools.chain(*(self.cuts or ())))
        return [number for number in (*optional, self.top, self.bottom) if number is not None]

    def _codes(
        self, number: int, spans: tuple[NDArray[np.float64], NDArray[np.float64]], cuts: Cuts | None
    ) -> tuple[float | None, float | None]:
        """Where the top group begins and the bottom group ends at a level, None where there is no such group.

        From level 2 on a code moves outwards to an end of the interval that it lies in, so that levels nest.
        """
        starts, stops = spans
        top: float | None = self.top
        bottom: float | None = self.bottom
        if top is not None and number:
            top = float(starts[-2])
        if bottom is not None and number and starts[-1] != bottom:
            bottom = float(stops[-1])
        if cuts is not None and cuts[number]:
            top = cuts[number][-1] if top is None else top
            bottom = cuts[number][0] if bottom is None else bottom
        return top, bottom


def _narrowest(low: float, high: float, widths: tuple[float, ...] | None, cuts: Cuts | None) -> float:
    """The length of the narrowest interval of level 1."""
    if widths:
        return float(widths[0])
    edges = np.unique([low, *(cuts or [[]])[0], high])
    return float(np.min(np.diff(edges))) if len(edges) > 1 else 1.0
