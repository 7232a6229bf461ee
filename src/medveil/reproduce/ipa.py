"""Lee and Chung 2020: figures 6 to 8 and Tables 9 to 12 on generated patients, proved and as published."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.datasets.calibration import RECORDS
from medveil.loss.information_loss import Losses
from medveil.reproduce.ipa_data import (
    EPSILONS,
    EQUAL,
    SEXES,
    Expected,
    MadeTable,
    Patients,
    generated,
    k_anonymous,
)
from medveil.reproduce.reproduction import Agreement, ReproducedLine, ReproducedSection, Reproduction
from medveil.run import Run, Stage

Numbers = NDArray[np.float64]

K = 10
THRESHOLD = 2
PATIENTS = RECORDS
"""The paper's patients, which its counts are of."""
NEAR_ERRORS = 1.25
ROUNDING = 1e-9
CHANCE = 3.0
"""How many standard errors a mean may rise by chance where it is said to fall."""
PAPER_LOSS = {"IPA": 0.28, "k-anonymity": 0.43, "noisy histogram": 0.69}
ONE_NODE = "the paper's hierarchies are not published; medveil takes the node of least loss"
NO_HIERARCHIES = (
    "k = 10, no suppression; the paper's hierarchies are not published, and bands of stays gather the long ones here"
)
QUERIES = [(sex, what) for what in ("counts", "stays") for sex in SEXES]
"""Q1 to Q4."""

WEIGHT_OF_AGE = 3.0
"""How much the detail of ages counts for those who want counts by age."""

COUNTS = {
    "M": (
        (1, 2, 1, 9, 12, 13, 27, 44, 104, 205, 341, 396, 472, 442, 430, 360, 197, 78),
        (1, 1, 4, 4, 12, 12, 34.5, 34.5, 150.5, 150.5, 367, 367, 452.5, 452.5, 386.5, 386.5, 141.5, 141.5),
        (6.3,) * 6 + (186.2,) * 6 + (329.8,) * 6,
    ),
    "F": (
        (0, 2, 7, 8, 4, 6, 10, 26, 63, 102, 178, 231, 279, 326, 457, 525, 445, 243),
        (1, 1, 8, 8, 4.5, 4.5, 17.5, 17.5, 79.5, 79.5, 201, 201, 298, 298, 489.5, 489.5, 363.5, 363.5),
        (4.5,) * 6 + (101.7,) * 6 + (379.2,) * 6,
    ),
}
"""Tables 9 (men) and 10 (women): original, the paper's method, k-anonymity."""

STAYS = {
    "M": (
        (1.0, 1.4, 2.1, 2.7, 3.4, 4.0, 3.6, 4.3, 5.8),
        (2.2, 1.4, 5.7, 5.5, 4.2, 4.1, 4.8, 4.5, 6.5),
        (8.9,) * 3 + (14.5,) * 3 + (15.7,) * 3,
    ),
    "F": (
        (3.0, 3.0, 7.7, 1.7, 2.7, 3.5, 3.5, 5.6, 8.0),
        (1.0, 1.4, 2.8, 2.4, 3.6, 3.2, 4.7, 6.1, 8.5),
        (15.0,) * 3 + (11.7,) * 3 + (21.1,) * 3,
    ),
}
"""Tables 11 and 12."""


@dataclass(frozen=True)
class _Results:
    """Every release that the sections print, by epsilon where there are several.

    scale: how many patients there are for one of the paper's, whose counts are compared as so many.
    """

    original: MadeTable
    generalized: MadeTable
    proved: dict[float, list[MadeTable]]
    by_age: list[MadeTable] = field(default_factory=list)
    published: dict[float, Expected] = field(default_factory=dict)
    histogram: dict[float, list[MadeTable]] = field(default_factory=dict)
    scale: float = 1.0


class IPAReproduction(Reproduction):
    name: ClassVar[str] = "ipa"
    paper: ClassVar[str] = (
        "Lee, Chung 2020, Differentially private release of medical microdata: an efficient and practical approach for "
        "preserving informative attribute values"
    )

    def sections(self, data: Path, run: Run, *, quick: bool) -> Iterator[ReproducedSection]:  # noqa: ARG002 - all is generated
        records = RECORDS // 10 if quick else RECORDS
        with generated(records) as (people, table):
            run.step(Stage.REPRODUCE, None, "k-anonymity")
            levels = k_anonymous(table, K, run)
            results = _Results(
                people.original(),
                people.generalized(levels),
                _proved(people, run, 3 if quick else 10),
                people.proved(1.0, 3 if quick else 10, WEIGHT_OF_AGE),
                people.published(THRESHOLD, run),
                _histograms(people, run, 1 if quick else 10, 1),
                records / PATIENTS,
            )
            yield _losses(people, results)
            yield _sweep(results)
            yield _by_level(results)
            for sex, counted, stayed in (("M", "Table 9: Q1", "Table 11: Q3"), ("F", "Table 10: Q2", "Table 12: Q4")):
                yield _answers(f"{counted}, patients with stroke by age", results, sex, "counts", COUNTS[sex], 5)
                yield _answers(f"{stayed}, mean length of stay by age", results, sex, "stays", STAYS[sex], 10)
            yield _goals(results)
        with generated(records, stays=EQUAL) as (people, table):
            run.step(Stage.REPRODUCE, None, "Stays in equal intervals")
            alone = people.generalized(k_anonymous(table, K, run, EQUAL))
            proved = _proved(people, run, 3 if quick else 10, EPSILONS[:1])
            yield _elsewhere(_Results(people.original(), alone, proved))


def _proved(
    people: Patients, run: Run, runs: int, epsilons: Sequence[float] = EPSILONS
) -> dict[float, list[MadeTable]]:
    found = {}
    for epsilon in epsilons:
        run.step(Stage.REPRODUCE, None, f"IPA as proved, epsilon {epsilon:g}")
        found[epsilon] = people.proved(epsilon, runs)
    return found


def _histograms(people: Patients, run: Run, first: int, others: int) -> dict[float, list[MadeTable]]:
    found = {}
    for epsilon in EPSILONS:
        run.step(Stage.REPRODUCE, None, f"Noisy histogram, epsilon {epsilon:g}")
        found[epsilon] = [people.histogram(epsilon) for _ in range(first if epsilon == EPSILONS[0] else others)]
    return found


def _mean(made: Sequence[MadeTable]) -> Losses:
    return Losses(*(float(np.mean([getattr(one.losses, part) for one in made])) for part in ("ncp", "emd", "rate")))


def _told(losses: Losses) -> str:
    return f"{losses.total:.3f} (NCP {losses.ncp:.3f}, EMD {losses.emd:.3f}, Rate {losses.rate:.3f})"


def _losses(people: Patients, results: _Results) -> ReproducedSection:
    rows = [
        ("IPA, proved", PAPER_LOSS["IPA"], _mean(results.proved[1.0]), ONE_NODE),
        (
            "IPA, published",
            PAPER_LOSS["IPA"],
            results.published[1.0].mean,
            "expected over all nodes, of which none is much likelier: epsilon u / 6 is small",
        ),
        (
            "k-anonymity",
            PAPER_LOSS["k-anonymity"],
            results.generalized.losses,
            NO_HIERARCHIES,
        ),
        (
            "noisy histogram",
            PAPER_LOSS["noisy histogram"],
            _mean(results.histogram[1.0]),
            "here noise is drawn for every cell of the domain, as the guarantee needs; nearly all of them are empty",
        ),
    ]
    lines = [
        ReproducedLine(what, f"{paper:g}", _told(losses), _near(paper, losses.total), why)
        for what, paper, losses, why in rows
    ]
    order = rows[0][2].total < rows[2][2].total < rows[3][2].total
    lines.append(
        ReproducedLine(
            "IPA loses less than k-anonymity, which loses less than the histogram",
            "yes",
            "yes" if order else "no",
            Agreement.REPRODUCED if order else Agreement.DIFFERS,
            "" if order else "bands of stays cost k-anonymity little",
        )
    )
    domain = people.grid.cells(people.grid.space.bottom)
    return ReproducedSection(
        "Figure 6: information loss, epsilon 1",
        tuple(lines),
        f"{people.records:,} generated patients, {people.grid.space.size} nodes, {domain:,} cells in the domain. Means "
        f"of {len(results.proved[1.0])} runs proved and {len(results.histogram[1.0])} of the histogram; the published "
        "form is expected over all nodes.",
    )


def _near(paper: float, ours: float) -> Agreement:
    return Agreement.REPRODUCED if abs(paper - ours) <= 0.1 else Agreement.DIFFERS


def _sweep(results: _Results) -> ReproducedSection:
    lines = []
    proved = [_mean(results.proved[epsilon]) for epsilon in EPSILONS]
    for epsilon, ours in zip(EPSILONS, proved, strict=True):
        published = results.published[epsilon].mean
        histogram = _mean(results.histogram[epsilon])
        lines.append(
            ReproducedLine(
                f"epsilon {epsilon:g}",
                "0.28" if epsilon == 1 else "drawn",
                f"proved {_told(ours)}; published {published.total:.3f}; histogram {histogram.total:.3f}",
                Agreement.REPRODUCED if epsilon == 1 and abs(ours.total - 0.28) <= 0.1 else Agreement.OURS,
            )
        )
    grows = all(a.total < b.total for a, b in itertools.pairwise(proved))
    lines.append(
        ReproducedLine(
            "the loss grows as epsilon falls",
            "yes",
            "yes" if grows else "no",
            Agreement.REPRODUCED if grows else Agreement.DIFFERS,
        )
    )
    return ReproducedSection("Figure 7: information loss as epsilon falls", tuple(lines))


def _parts(losses: Sequence[Losses]) -> Numbers:
    return np.array([[one.ncp, one.emd, one.rate] for one in losses])


def _yes(holds: bool) -> Agreement:
    return Agreement.REPRODUCED if holds else Agreement.DIFFERS


def falling(means: Numbers, variances: Numbers) -> tuple[Agreement, str]:
    """Whether means, by level along the second axis, never rise from one level to the next; undecided where none rises
    by more than chance lets it.
    """
    rises = np.diff(means, axis=1)
    if rises.max() <= ROUNDING:
        return Agreement.REPRODUCED, ""
    why = f"a mean rises by {rises.max():.1g} between two levels"
    errors = np.sqrt(variances[:, 1:] + variances[:, :-1])
    if np.all(rises <= ROUNDING + CHANCE * errors):
        return Agreement.UNDECIDED, f"{why}, as chance lets it: tables are drawn at single nodes"
    return Agreement.DIFFERS, why


def _by_level(results: _Results) -> ReproducedSection:
    """Figure 8: the parts of the loss by level of the lattice: means and ranges over the nodes of a level."""
    lines = []
    heights = results.published[1.0].heights
    means = np.zeros((len(EPSILONS), int(heights.max()) + 1, 3))
    variances = np.zeros_like(means)
    for level in range(means.shape[1]):
        told = []
        for place, epsilon in enumerate(EPSILONS):
            found = results.published[epsilon]
            here, again = (_parts(drawn)[heights == level] for drawn in (found.losses, found.again))
            means[place, level] = here.mean(axis=0)
            variances[place, level] = np.square(here - again).sum(axis=0) / 2 / len(here) ** 2
            ranges = zip(here.mean(axis=0), here.min(axis=0), here.max(axis=0), strict=True)
            told.append(
                f"{epsilon:g}: " + " / ".join(f"{mean:.2f} ({low:.2f}-{high:.2f})" for mean, low, high in ranges)
            )
        lines.append(
            ReproducedLine(f"level {level}, epsilon: NCP / EMD / Rate", "drawn", "; ".join(told), Agreement.OURS)
        )
    grows = bool(np.all(np.diff(means[:, :, 0], axis=1) > 0))
    heavier = bool(np.all(np.diff(means[:, :, 1:].sum(axis=(1, 2))) > 0))
    falls, why = falling(means[:, :, 1:], variances[:, :, 1:])
    for what, verdict, reason in (
        ("NCP grows with the level", _yes(grows), ""),
        ("EMD and Rate fall with the level", falls, why),
        ("EMD and Rate weigh more the smaller epsilon is", _yes(heavier), ""),
    ):
        ours = "yes" if verdict is Agreement.REPRODUCED else "no"
        lines.append(ReproducedLine(what, "yes", ours, verdict, reason))
    return ReproducedSection(
        "Figure 8: parts of the loss by level of the lattice",
        tuple(lines),
        "Means over the nodes of a level, the least and the greatest of them, as published.",
    )


def _answers(
    title: str, results: _Results, sex: str, what: str, paper: tuple[tuple[float, ...], ...], years: int
) -> ReproducedSection:
    """Whether IPA answers nearer to the original than k-anonymity does, where it does so in the paper's table."""
    scale = results.scale if what == "counts" else 1.0
    printed = np.array(paper) * scale
    original, alone, histogram = (
        getattr(made, what)[sex] for made in (results.original, results.generalized, results.histogram[1.0][0])
    )
    runs = np.array([getattr(made, what)[sex] for made in results.proved[1.0]])
    off, off_alone = np.abs(runs - original).mean(axis=0), np.abs(alone - original)
    published = results.published[1.0].answer(sex, what)
    lines = []
    for group in range(len(original)):
        theirs = abs(printed[1][group] - printed[0][group]) <= abs(printed[2][group] - printed[0][group])
        ours = off[group] <= off_alone[group]
        columns = (original, runs.mean(axis=0), published, alone, histogram)
        lines.append(
            ReproducedLine(
                f"{group * years}-{group * years + years - 1}",
                ", ".join(f"{value:.4g}" for value in printed[:, group]),
                ", ".join(f"{column[group]:.1f}" for column in columns) + f"; proved is off by {off[group]:.1f}, "
                f"k-anonymity by {off_alone[group]:.1f}",
                Agreement.REPRODUCED if theirs == ours else Agreement.DIFFERS,
                "" if theirs == ours else f"{'proved' if ours else 'k-anonymity'} is nearer here",
            )
        )
    scaled = "" if scale == 1.0 else f" Its counts are taken for {scale:.2g} of its patients."
    return ReproducedSection(
        title,
        tuple(lines),
        "The paper's columns: original, its method, k-anonymity. Ours: original, proved (mean of all runs), published "
        "(expected over all nodes), k-anonymity, noisy histogram. Reproduced: IPA is nearer to the original than "
        "k-anonymity where it is so in the paper, by mean absolute error. The original itself is no finding: patients "
        "were generated to answer so. Rows of * alone meet no condition; where no other row is left the mean is that "
        "of all patients by the marginals beside proved, and without marginals 200.5, that of all possible days."
        f"{scaled}",
    )


def _error(results: _Results, made: Sequence[MadeTable], sex: str, what: str) -> float:
    truth = getattr(results.original, what)[sex]
    return float(np.mean([np.abs(getattr(one, what)[sex] - truth).mean() for one in made]))


def _goals(results: _Results) -> ReproducedSection:
    lines = []
    for number, (sex, what) in enumerate(QUERIES, start=1):
        truth = getattr(results.original, what)[sex]
        errors = {
            "proved": _error(results, results.proved[1.0], sex, what),
            "published": float(results.published[1.0].error(sex, what, truth).mean()),
            "k-anonymity": _error(results, [results.generalized], sex, what),
            "histogram": _error(results, results.histogram[1.0], sex, what),
        }
        scale = results.scale if what == "counts" else 1.0
        paper = np.array((COUNTS if what == "counts" else STAYS)[sex]) * scale
        theirs = [np.abs(column - paper[0]).mean() for column in paper[1:]]
        better = errors["proved"] < errors["k-anonymity"]
        lines.append(
            ReproducedLine(
                f"Q{number}: mean absolute error",
                f"IPA {theirs[0]:.1f}, k-anonymity {theirs[1]:.1f}",
                ", ".join(f"{name} {error:.1f}" for name, error in errors.items()),
                Agreement.REPRODUCED if better else Agreement.DIFFERS,
                "proved is nearer than k-anonymity" if better else "proved is farther off than k-anonymity",
            )
        )
        lines.append(_beside(number, results, sex, what, float(theirs[0])))
    ours, theirs_total = _mean(results.proved[1.0]).total, _mean(results.histogram[1.0]).total
    half = ours <= theirs_total / 2
    lines.append(
        ReproducedLine(
            "total loss, proved against noisy histogram",
            "0.28 against 0.69",
            f"{ours:.3f} against {theirs_total:.3f}",
            Agreement.REPRODUCED if half else Agreement.DIFFERS,
            "less than half" if half else "more than half",
        )
    )
    return ReproducedSection("What the paper concludes", tuple(lines), "Errors are means over all runs, epsilon 1.")


def _beside(number: int, results: _Results, sex: str, what: str, paper: float) -> ReproducedLine:
    """How far the proved form is off beside the paper's own: by default settings, with a weight on age, and for counts
    also with labels spread evenly, as the paper spreads them.
    """
    proved = results.proved[1.0]
    errors = {
        "proved": _error(results, proved, sex, what),
        f"with weight {WEIGHT_OF_AGE:g} on age": _error(results, results.by_age, sex, what),
    }
    if what == "counts":
        truth = results.original.counts[sex]
        errors["labels spread evenly"] = float(np.mean([np.abs(one.evenly[sex] - truth).mean() for one in proved]))
        why = "labels of ten years are spread by the ages of all patients, and those with stroke are older"
    else:
        why = "stays of patients with stroke are in bands or given up, and the marginals are of all patients"
    least = min(errors, key=errors.__getitem__)
    near = errors[least] <= NEAR_ERRORS * paper
    return ReproducedLine(
        f"Q{number}: error of IPA, at most {NEAR_ERRORS:g} times the paper's",
        f"{paper:.1f}",
        ", ".join(f"{name} {error:.1f}" for name, error in errors.items()),
        Agreement.REPRODUCED if near else Agreement.DIFFERS,
        ("by default" if least == "proved" else least) if near else why,
    )


def _elsewhere(results: _Results) -> ReproducedSection:
    """What hierarchies decide: the same comparison where no interval of stays gathers the rare long ones."""
    lines = []
    for number, (sex, what) in enumerate(QUERIES, start=1):
        proved, alone = (_error(results, made, sex, what) for made in (results.proved[1.0], [results.generalized]))
        lines.append(
            ReproducedLine(
                f"Q{number}: mean absolute error",
                "",
                f"proved {proved:.1f}, k-anonymity {alone:.1f}",
                Agreement.OURS,
                "proved is nearer" if proved < alone else "k-anonymity is nearer",
            )
        )
    return ReproducedSection(
        "The same with stays in equal intervals",
        tuple(lines),
        "Above, stays are in bands: a day, up to three, a week, two weeks, a month, longer; k-anonymity, which "
        "suppresses nobody, then gives up ages. In intervals of 10 and 100 days the few long stays force it to give up "
        "stays in their place, and ages stay in tens, without any noise. Which of the two is nearer to a query is "
        "decided by the hierarchies, which the paper does not print.",
    )
