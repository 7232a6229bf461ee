"""Aminifar, Rabbi, Pun and Lamo 2021: Tables II and III and figures 2 and 3, on the 282 Cleveland records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from medveil.reproduce.diversity_aware_cleveland import (
    ATTRIBUTES,
    MODELS,
    Codes,
    Numbers,
    Results,
    TrainingSetRecipe,
    Worst,
    read_cleveland,
    run_splits,
)
from medveil.reproduce.reproduction import Agreement, ReproducedLine, ReproducedSection, Reproduction
from medveil.run import Run

__all__ = ["ATTRIBUTES", "DiversityAwarePaper", "read_cleveland"]

Data = tuple[Numbers, Codes, Codes]
METRICS = ("F1", "accuracy", "MCC")
TABLE_II = {
    "ERT": ((81.0, 81.0, 0.615), (81.1, 81.4, 0.625), (81.0, 81.4, 0.625)),
    "Random Forest": ((82.5, 82.6, 0.647), (80.1, 80.4, 0.603), (80.0, 80.3, 0.602)),
    "XGBoost": ((78.9, 79.0, 0.573), (74.7, 75.1, 0.493), (74.7, 75.1, 0.495)),
    "Decision Tree": ((73.8, 73.8, 0.470), (68.9, 69.3, 0.372), (69.2, 69.8, 0.382)),
    "SVM": ((83.0, 83.1, 0.656), (73.3, 73.3, 0.459), (72.8, 72.9, 0.449)),
}
SETS = ("original", "without diversity", "with diversity")
AS_PAPER = (
    TrainingSetRecipe("paper, without", diversity=False, as_paper=True),
    TrainingSetRecipe("paper, with", as_paper=True),
)
OURS = (
    TrainingSetRecipe("without", diversity=False),
    TrainingSetRecipe("with"),
    TrainingSetRecipe("both", both=True),
    TrainingSetRecipe("free", at_least=True),
)
SIZES = (5, 10, 15, 20, 25)
SPLITS, SPLITS_BY_SIZE = 100, 50
"""Splits of the tables, and of each k of the figures: what they tell is said with its standard errors."""

PAPER_SPLITS = 1000
NEAR = 3.0
"""Standard errors of the difference of two means within which a figure counts as reproduced."""


class DiversityAwarePaper(Reproduction):
    """Tables II and III and figures 2 and 3; Table I and figure 1 are tests."""

    name: ClassVar[str] = "diversity-aware"
    paper: ClassVar[str] = "Aminifar, Rabbi, Pun, Lamo 2021, Diversity-aware anonymization for structured health data"

    def sections(self, data: Path, run: Run, *, quick: bool) -> Iterator[ReproducedSection]:
        splits = 10 if quick else SPLITS
        records = read_cleveland(data)
        found = run_splits(records, (*AS_PAPER, *OURS), MODELS, 10, splits, run)
        yield table_two(found, splits)
        yield ours_two(found)
        yield goals(found)
        yield table_three(found, splits)
        yield from figures(records, min(splits, SPLITS_BY_SIZE), run)


def table_two(found: Results, splits: int) -> ReproducedSection:
    """The paper's own setting: unscaled values, k-means centers, one assignment."""
    lines = []
    for model, printed in TABLE_II.items():
        for place, (part, paper) in enumerate(zip(SETS, printed, strict=True)):
            name = ("original", AS_PAPER[0].name, AS_PAPER[1].name)[place]
            ours = _points(found, name, model)
            allowed = _tolerance(found, name, model)
            near = all(abs(ours[i] - paper[i]) <= allowed[i] for i in (0, 1))
            lines.append(
                ReproducedLine(
                    f"{model}, {part}",
                    _shown(paper),
                    f"{_shown(ours)} (+- {allowed[0]:.1f}, {allowed[1]:.1f})",
                    Agreement.REPRODUCED if near else Agreement.DIFFERS,
                    "" if near else _why(model),
                )
            )
    return ReproducedSection(
        "Table II: F1, accuracy, MCC; k = 10",
        tuple(lines),
        f"Means over {splits} random splits (the paper: 1,000) in the paper's setting: unscaled values, centers of "
        f"k-means, one assignment. Reproduced: F1 and accuracy within {NEAR:g} standard errors of the difference of "
        "both means, as +- tells.",
    )


def _tolerance(found: Results, name: str, model: str) -> tuple[float, float]:
    """How far F1 and accuracy, in points, may be from the paper's by chance: sd sqrt(1 / ours + 1 / theirs)."""
    scores = 100 * found.scores[name][model][:, :2]
    f1, accuracy = NEAR * scores.std(axis=0) * np.sqrt(1 / len(scores) + 1 / PAPER_SPLITS)
    return float(f1), float(accuracy)


def _why(model: str) -> str:
    if model == "SVM":
        return "ours learns from standardized values; the paper does not say how its was set up"
    return "the paper tells neither seeds nor the settings of its learners"


def ours_two(found: Results) -> ReproducedSection:
    """Medveil's defaults: standardized, rounds until nothing is gained."""
    lines = [
        ReproducedLine(
            f"{model}, {part}",
            "",
            _shown(_points(found, name, model)),
            Agreement.OURS,
        )
        for model in MODELS
        for name, part in (
            ("without", "without diversity"),
            ("with", "with diversity"),
            ("both", "caps: both"),
            ("free", "sizes at least k"),
        )
    ]
    return ReproducedSection(
        "The same by medveil's defaults: standardized columns, rounds until nothing is gained",
        tuple(lines),
        "Three starts a split; clusters are of equal sizes but for the last of each.",
    )


def goals(found: Results) -> ReproducedSection:
    """What diversity costs: differences on the same splits."""
    lines = []
    for before, after, setting in (
        ("paper, without", "paper, with", "paper's setting"),
        ("without", "with", "defaults"),
    ):
        for model in MODELS:
            printed = TABLE_II[model]
            difference = 100 * (found.scores[after][model] - found.scores[before][model])[:, :2]
            mean, error = difference.mean(axis=0), difference.std(axis=0) / np.sqrt(len(difference))
            paper = f"{printed[2][0] - printed[1][0]:+.1f} / {printed[2][1] - printed[1][1]:+.1f}"
            within = bool(np.all(np.abs(mean) + 2 * error <= 1.0))
            beyond = bool(np.any(np.abs(mean) - 2 * error > 1.0))
            lines.append(
                ReproducedLine(
                    f"{model}, {setting}: F1 / accuracy, points",
                    paper,
                    f"{mean[0]:+.2f} / {mean[1]:+.2f} (standard errors {error[0]:.2f}, {error[1]:.2f})",
                    Agreement.REPRODUCED if within else Agreement.DIFFERS if beyond else Agreement.UNDECIDED,
                    "" if within else "more than one point apart" if beyond else "one point is within chance",
                )
            )
    return ReproducedSection(
        "What diversity costs: with less without, on the same splits; within one point", tuple(lines)
    )


def table_three(found: Results, splits: int) -> ReproducedSection:
    """The worst class of all splits."""
    columns = {
        "without": ("No Diversity", found.worst["paper, without"], ("10", "1", "1", "l=1, c>=1", "1.06")),
        "with": ("Our Method", found.worst["paper, with"], ("10", "2", "1.64", "l=2, c>=4", "0.38")),
    }
    names = ("k", "distinct l", "entropy l", "recursive (c,l)", "variational D")
    lines = []
    for title, worst, printed in columns.values():
        for name, paper, ours in zip(names, printed, _figures(worst), strict=True):
            same = paper == ours
            why = "" if same else _why_three(title, name)
            lines.append(
                ReproducedLine(
                    f"{title}: {name}",
                    paper,
                    ours,
                    Agreement.REPRODUCED if same else Agreement.DIFFERS,
                    why,
                )
            )
    for title, name in (("defaults, upper caps", "with"), ("defaults, caps: both", "both")):
        for figure, ours in zip(names, _figures(found.worst[name]), strict=True):
            lines.append(ReproducedLine(f"{title}: {figure}", "", ours, Agreement.OURS))
    both = found.worst["both"]
    reached = Agreement.REPRODUCED if both.distance <= 0.38 else Agreement.DIFFERS
    lines.append(
        ReproducedLine("goal: variational D with caps: both, at most 0.38", "0.38", f"{both.distance:.2f}", reached)
    )
    everywhere = min(found.worst[name].l for name in ("paper, with", "with", "both"))
    reached = Agreement.REPRODUCED if everywhere >= 2 else Agreement.DIFFERS
    lines.append(
        ReproducedLine("goal: distinct l in every class of every split, at least 2", "2", str(everywhere), reached)
    )
    return ReproducedSection(
        f"Table III: the worst class of {splits} splits, k = 10",
        tuple(lines),
        f"alpha = 1, taken literally, has no solution in {found.infeasible} of {splits} splits.",
    )


def _why_three(title: str, name: str) -> str:
    if title == "Our Method" and name == "variational D":
        return "the upper cap alone leaves open how few a class holds: 'caps: both' closes it"
    if title == "Our Method" and name == "entropy l":
        return "the worst of other splits; the paper cuts 1.649 to 1.64"
    return "the worst class of other, and of fewer, splits"


def figures(records: Data, splits: int, run: Run) -> Iterator[ReproducedSection]:
    """Figures 2 and 3 over k; the paper shows them without numbers."""
    by_size = {k: run_splits(records, (*AS_PAPER, *OURS[:2]), ("ERT",), k, splits, run, original=False) for k in SIZES}
    named = (
        ("without", "without diversity"),
        ("with", "with diversity"),
        ("paper, without", "without diversity, paper's setting"),
        ("paper, with", "with diversity, paper's setting"),
    )
    lines = [
        ReproducedLine(f"k = {k}, {part}", "a curve", _shown(_points(found, name, "ERT")), Agreement.OURS)
        for k, found in by_size.items()
        for name, part in named
    ]
    lines += [_trend(by_size, name, part) for name, part in named]
    yield ReproducedSection(
        "Figure 2: F1, accuracy, MCC of ERT over k",
        tuple(lines),
        f"Means over {splits} splits for each k. The paper prints curves without numbers, and does not say of which "
        "classifier. The slope is that of the line through all splits, with two standard errors.",
    )
    yield ReproducedSection(
        "Figure 3: the worst class of all splits over k",
        tuple(
            ReproducedLine(f"k = {k}, {part}: {name}", "a curve", ours, Agreement.OURS)
            for k, found in by_size.items()
            for way, part in (("without", "without diversity"), ("with", "with diversity"))
            for name, ours in zip(
                ("k", "distinct l", "entropy l", "recursive (c,l)", "variational D"),
                _figures(found.worst[way]),
                strict=True,
            )
        ),
    )


def _trend(by_size: Mapping[int, Results], name: str, part: str) -> ReproducedLine:
    """The paper: the larger k, the lower the performance."""
    sizes = np.concatenate([np.full(len(found.scores[name]["ERT"]), k) for k, found in by_size.items()])
    accuracy = 100 * np.concatenate([found.scores[name]["ERT"][:, 1] for found in by_size.values()])
    apart = sizes - sizes.mean()
    slope = float(apart @ accuracy / (apart @ apart))
    left = accuracy - accuracy.mean() - slope * apart
    error = float(np.sqrt(left @ left / (len(left) - 2) / (apart @ apart)))
    falls, rises = slope + 2 * error < 0, slope - 2 * error > 0
    return ReproducedLine(
        f"accuracy falls as k grows, {part}",
        "yes",
        f"{10 * slope:+.2f} points for ten more (+- {20 * error:.2f})",
        Agreement.REPRODUCED if falls else Agreement.DIFFERS if rises else Agreement.UNDECIDED,
        "" if falls else "it rises" if rises else "no slope beyond chance",
    )


def _points(found: Results, name: str, model: str) -> tuple[float, float, float]:
    f1, accuracy, correlation = found.scores[name][model].mean(axis=0)
    return 100 * float(f1), 100 * float(accuracy), float(correlation)


def _shown(figures: tuple[float, float, float]) -> str:
    return f"{figures[0]:.1f}%, {figures[1]:.1f}%, {figures[2]:.3f}"


def _figures(worst: Worst) -> tuple[str, str, str, str, str]:
    l = worst.l  # noqa: E741 - the literature's name
    return (
        str(worst.k),
        str(l),
        f"{worst.entropy:.2f}".removesuffix(".00"),
        f"l={l}, c>={worst.c[l]:.3g}",
        f"{worst.distance:.2f}",
    )
