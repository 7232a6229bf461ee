"""From the classes of a generalization to the counterfeits and catalog that make it safe, or to nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from medveil.methods.h_ceiling.copying import fill_to_twins
from medveil.methods.h_ceiling.drawing import draw_and_group
from medveil.methods.h_ceiling.helping import fill_with_help
from medveil.methods.h_ceiling.holdings import Counts, Holdings
from medveil.methods.h_ceiling.plan import NOTHING, Plan
from medveil.methods.h_ceiling.twins import make_blocks
from medveil.methods.h_ceiling.verdicts import Asked, failing, keeps
from medveil.privacy.model import PrivacyModel, Reference, Requirement


@dataclass(frozen=True)
class Planner:
    """How counterfeits are placed.

    k: how many people a class must have, counterfeits included.
    concealed: classes are filled to the sizes of others; otherwise to exactly k people.
    uniform: values are drawn evenly from those that occur; otherwise so that they can be hidden.
    most: how many filled classes may stand beside one that is not, where padding is concealed.
    """

    k: int
    requirements: Sequence[Requirement]
    reference: Reference
    concealed: bool
    uniform: bool
    most: int = 1

    @cached_property
    def models(self) -> list[PrivacyModel]:
        """The models that k people alone do not keep, asked of whole classes."""
        found: list[PrivacyModel] = []
        for requirement in self.requirements:
            if not requirement.model.asks_size_alone and requirement.model not in found:
                found.append(requirement.model)
        return found

    def missing(self, people: Counts) -> int:
        """How many people the classes lack to have k each: no plan gets by with fewer counterfeits."""
        return int(np.maximum(self.k - people, 0).sum())

    def plan(self, holdings: Holdings, allowed: int, random: np.random.Generator) -> Plan | None:
        """The counterfeits and the catalog, or None where more than `allowed` are needed or they cannot be hidden."""
        if self.missing(holdings.people) > allowed:
            return None
        thin = np.flatnonzero(holdings.people < self.k)
        if self.models:
            plan = self._plan_with_models(holdings, thin, allowed, random)
        elif self.uniform or not self.concealed:
            plan = self._draw(holdings, thin, allowed, random)
        else:
            enough = np.flatnonzero(holdings.people >= self.k)
            needed = self.k - holdings.people[thin]
            plan = fill_to_twins(holdings, thin, needed, enough, self.most, allowed, random)
        if plan is None or plan.counterfeits > allowed:
            return None
        # k people in every class are k on every shield too: nothing is left to be looked at.
        return plan if not self.models or keeps(holdings, plan, self.requirements, self.reference) else None

    def _plan_with_models(
        self, holdings: Holdings, thin: Counts, allowed: int, random: np.random.Generator
    ) -> Plan | None:
        failed = failing(holdings, self.requirements, self.reference)
        failed[thin] = True
        needy, enough = np.flatnonzero(failed), np.flatnonzero(~failed)
        if not len(needy):
            return NOTHING
        if self.uniform:
            return self._draw(holdings, thin, allowed, random)
        return fill_with_help(
            holdings,
            needy,
            enough,
            Asked(self.k, self.models, self.reference),
            self.most,
            allowed,
            random,
            mirrored=self.concealed,
        )

    def _draw(self, holdings: Holdings, thin: Counts, allowed: int, random: np.random.Generator) -> Plan | None:
        wanted = self.k - holdings.people[thin]
        covers = np.ones(len(holdings), dtype=np.bool_)
        if self.concealed and len(thin):
            enough = np.flatnonzero(holdings.people >= self.k)
            blocks = make_blocks(holdings, thin, wanted, enough, self.most, allowed, random)
            if blocks is None:
                return None
            thin = blocks.thin
            sizes = holdings.records[blocks.twin]
            wanted = sizes[blocks.block] - holdings.records[thin]
            # A class that is larger than any filled one could not hide anything.
            covers = holdings.records <= int(sizes.max())
        if int(wanted.sum()) > allowed:
            return None
        return draw_and_group(holdings, holdings.contents(), thin, wanted, covers, random, uniform=self.uniform)
