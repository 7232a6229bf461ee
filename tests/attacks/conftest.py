"""An attacker who knows the program and runs it on every original that could be behind a release.

A small table of people and quasi-identifiers, which he knows; every way in which they may have values, all equally
likely beforehand; and the method on each of them, with the same few streams of random numbers. What he believes of a
person after a release is the share of the runs with this very release in which the person has the value. All of it is
counted, in fractions: there is no tolerance.
"""

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from medveil.hierarchy.hierarchy import build
from medveil.methods.h_ceiling.bundles import (
    SensitiveValues,
    catalog_entries,
    failing_shares,
    input_reference,
    judge,
    published_rows,
)
from medveil.methods.h_ceiling.method import LARGER_GROUPS
from medveil.methods.h_ceiling.objective import Objective
from medveil.methods.h_ceiling.paper import PaperFill
from medveil.methods.h_ceiling.people import settle
from medveil.methods.h_ceiling.planner import Planner, Settings, seat
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.t_closeness import TCloseness
from medveil.table.domain import Domain
from medveil.table.schema import Kind

LETTERS = tuple("abcd")
HALVES = [["ab", "ab", "cd", "cd"]]
VALUES = Domain(Kind.CATEGORY, ("flu", "hiv"))
MODELS = {
    "k": [],
    "l": [LDiversity(l=2, attribute="s")],
    "t": [TCloseness(t=0.4, attribute="s")],
}
MANY = 10**6


@dataclass(frozen=True)
class Case:
    """One small table and how it is to be protected. `person[i]`: whose the i-th record is."""

    records: tuple[tuple[str, str], ...]
    person: tuple[int, ...]
    k: int
    h: float
    recoding: str
    models: str
    price: float

    @property
    def several(self):
        """Whether somebody has several records."""
        return len(set(self.person)) < len(self.person)


def random_case(seed):
    """A table of a few people; with a third of the seeds some of them have two records."""
    random = np.random.default_rng(seed)
    number = int(random.integers(5, 8))
    records = [tuple(random.choice(LETTERS, 2)) for _ in range(number)]
    person = list(range(number))
    if seed % 3 == 2:
        person[-1] = 0
        person = np.unique(person, return_inverse=True)[1].tolist()
    return Case(
        tuple((str(p), str(q)) for p, q in records),
        tuple(person),
        int(random.integers(2, 4)),
        float(random.choice([0.2, 0.4, 1.0])),
        ("full-domain", "mondrian", "clustering")[seed % 3 if seed % 2 else (seed // 2) % 3],
        ("k", "l", "t")[(seed // 3) % 3],
        float(random.choice([0.0, 0.1, 1.0])),
    )


@dataclass(frozen=True)
class Seen:
    """What one run published, and the truth behind it: for each person of a published group whether her bundle has
    each value, and R_v/|R|.
    """

    release: tuple
    has: dict[int, tuple[bool, ...]]
    claimed: dict[int, tuple[Fraction, ...]]


class Method:
    """The default protection, on arrays; broken copies change one step."""

    shared = True

    def __init__(self, case):
        self.case = case
        self.planned = {}
        hierarchies = [build(LETTERS, HALVES, None, 4.0, name) for name in ("p", "q")]
        codes = np.array([[LETTERS.index(record[a]) for record in case.records] for a in (0, 1)], dtype=np.int32)
        self.residents = settle(("p", "q"), hierarchies, codes, self.whose())
        self.settings = Settings(
            case.k,
            case.h,
            "record",
            case.recoding,
            Objective("lm", case.price, [1.0, 1.0], [False, False], 1),
            [0, 1],
            [],
            [(0, 2), (0, 2)],
            np.zeros(1),
        )

    def whose(self):
        return np.array(self.case.person, dtype=np.int64)

    def values(self, original):
        return SensitiveValues({"s": np.array(original, dtype=np.int32)}, {"s": VALUES})

    def reference(self, original):
        return input_reference(self.values(original), {})

    def plan(self, original, failing, random):  # noqa: ARG002 - broken copies look at it
        """What the planner makes of its arguments; it is given no values, so each of them is planned for once."""
        asked = failing.tobytes(), str(random.bit_generator.state)
        if asked not in self.planned:
            self.planned[asked] = self.filled(failing, random), random.bit_generator.state
        filled, random.bit_generator.state = self.planned[asked]
        return filled

    def filled(self, failing, random):
        sizes = LARGER_GROUPS if failing[min(self.case.k, len(failing) - 1)] > 0 else LARGER_GROUPS[:1]
        found = []
        for times in sizes:
            settings = replace(self.settings, k=times * self.case.k, failing=failing)
            made = Planner(self.residents.crowd, settings, random, lambda _share, _detail: None).plan(MANY)
            if made is not None:
                found.append(made.filled)
        return min(found, key=lambda filled: filled.key)

    def run(self, original, seed):
        random = np.random.default_rng(seed)
        values, models, reference = self.values(original), MODELS[self.case.models], self.reference(original)
        failing = failing_shares(values, self.case.k, models, reference, random)
        filled = self.plan(original, failing, random)
        made = seat(self.residents, filled, self.case.k, random, shared=self.shared)
        held = judge(made, values, models, reference) if made.groups else np.zeros(0, dtype=np.bool_)
        return self.seen(made, values, held, original)

    def seen(self, made, values, held, original):
        partition = made.partition
        labels = [
            (partition.levels[:, c].tolist(), partition.groups[:, c].tolist(), n)
            for c, n in zip(made.of_partition, _numbers(made), strict=True)
        ]
        name = [str(label) for label in labels]
        rows = published_rows(made, held)
        table = Counter((name[c], original[line]) for line, c in zip(rows.lines, rows.classes, strict=True))
        by_id = {int(number): name[c] for c, number in enumerate(made.ids)}
        catalog = sorted(
            (tuple(sorted(zip((by_id[i] for i in e.class_ids), e.people, strict=True))), e.values, e.count)
            for e in catalog_entries(made, values, held)
        )
        bundles = defaultdict(set)
        for line, person in zip(made.lines.tolist(), made.person.tolist(), strict=True):
            bundles[person].add(original[line])
        members = defaultdict(list)
        for person, c in {(int(p), int(c)) for p, c in zip(made.person, made.class_of_line, strict=True)}:
            if made.group[c] >= 0 and held[made.group[c]]:
                members[int(made.group[c])].append(person)
        has, claimed = {}, {}
        for people in members.values():
            shares = tuple(Fraction(sum(v in bundles[p] for p in people), len(people)) for v in (0, 1))
            for person in people:
                has[person] = tuple(v in bundles[person] for v in (0, 1))
                claimed[person] = shares
        return Seen((tuple(sorted(table.items())), tuple(catalog)), has, claimed)


def _numbers(made):
    """How many records each person of each class keeps, where that is the same for all of them."""
    rows = np.bincount(made.class_of_line, minlength=len(made.people))
    return (rows / np.maximum(made.people, 1)).tolist()


def told(method, seeds):
    """Beliefs that are not what was claimed: (release, person, value, belief, claim), over every original."""
    runs = defaultdict(list)
    for original in itertools.product((0, 1), repeat=len(method.case.records)):
        for seed in range(seeds):
            seen = method.run(original, seed)
            runs[seen.release].append(seen)
    found = []
    for release, every in runs.items():
        people = set(every[0].has)
        assert all(set(seen.has) == people for seen in every), "the release tells who is published"
        for person in people:
            for v in (0, 1):
                belief = Fraction(sum(seen.has[person][v] for seen in every), len(every))
                claim = sum((seen.claimed[person][v] for seen in every), Fraction(0)) / len(every)
                if belief != claim:
                    found.append((release, person, v, belief, claim))
    return found


def paper_told(case, seeds):
    """The published method: people of classes that publish both values, of whom somebody is certain all the same."""
    method = Method(replace(case, person=tuple(range(len(case.records)))))
    runs = defaultdict(list)
    for original in itertools.product((0, 1), repeat=len(case.records)):
        for seed in range(seeds):
            random = np.random.default_rng(seed)
            objective = method.settings.objective
            fill = PaperFill(
                method.residents,
                np.arange(len(original)),
                method.values(original),
                case.k,
                "hideable",
                objective,
                random,
                MODELS[case.models],
            )
            planner = Planner(method.residents.crowd, method.settings, random, lambda _share, _detail: None)
            if case.recoding == "full-domain":
                search = replace_search(planner, fill)
                found = search.best(case.h, "record", MANY, lambda _share: None)
                filled = None if found is None else found.filled
            else:
                made = [fill.fill(partition, MANY) for partition in planner.partitions([case.h])]
                filled = next((one for one in made if one is not None), None)
            if filled is None:
                continue
            partition, plan = filled.partition, filled.plan
            name = [
                f"{partition.levels[:, c].tolist()}{partition.groups[:, c].tolist()}" for c in range(len(partition))
            ]
            classes = fill.class_of_row(partition)
            table = Counter((name[c], v) for c, v in zip(classes, original, strict=True))
            codes = fill.tuples[0]
            table.update(
                Counter(
                    {
                        (name[c], int(codes[t])): int(n)
                        for c, t, n in zip(plan.classes, plan.tuples, plan.counts, strict=True)
                    }
                )
            )
            listed = plan.listed
            catalog = sorted(
                (
                    tuple(sorted(name[c] for c in listed.classes[listed.offsets[i] : listed.offsets[i + 1]])),
                    int(codes[listed.tuples[i]]),
                    int(listed.counts[i]),
                )
                for i in range(len(listed))
            )
            runs[tuple(sorted(table.items())), tuple(catalog)].append((original, [name[c] for c in classes]))
    certain = 0
    for (table, _), every in runs.items():
        values = defaultdict(set)
        for (label, v), _ in table:
            values[label].add(v)
        for person in range(len(case.records)):
            label = every[0][1][person]
            same = {original[person] for original, _ in every}
            certain += len(values[label]) > 1 and len(same) == 1
    return certain


def replace_search(planner, fill):
    """The planner's search with the paper's fill."""
    search = planner.search
    search.lack, search.fill = fill.lack, fill.fill
    return search


@pytest.fixture(scope="session")
def enumeration():
    """The attack: cases, the method, what is told of it, and of the paper's."""
    return random_case, Method, told, paper_told
