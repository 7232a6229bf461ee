"""Majeed 2018: Tables 5 to 10, the attack of section 4, and Figures 5 and 6."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from medveil.app.anonymize import anonymize
from medveil.reproduce.fixed_interval_adult import HELD, METHODS, ORIGINAL, Adult, Setting, accuracies, books_of
from medveil.reproduce.reproduction import Agreement, ReproducedLine, ReproducedSection, Reproduction
from medveil.risk.linkage import Attack, Linkage
from medveil.run import Run, Stage
from medveil.utility.classification import Estimate

TABLE_5 = pa.table(
    {
        "Age": ["21", "26", "32", "36", "48", "56"],
        "Sex": ["M", "M", "F", "F", "M", "F"],
        "Zip code": ["53706", "53706", "53710", "53715", "52108", "52100"],
        "Disease": ["Anemia", "Flu", "Cancer", "Torn ACL", "Flu", "Whiplash"],
    }
)
TABLE_9 = pa.table(
    {
        "Age": ["20-30", "20-30", "30-40", "30-40", "45-60", "45-60"],
        "Sex": ["M", "M", "F", "F", "M", "F"],
        "Zip code": ["53705-53710"] * 2 + ["53710-53715"] * 2 + ["52100-52108"] * 2,
        "Disease": TABLE_5["Disease"],
    }
)
IDS = ["Anemia", "Flu", "Torn ACL", "Whiplash", "Cancer"]
PRINTED = {
    "Age": "26, 26, 36, 36, 52, 52",
    "Sex": "0; 0; 1; 1; 0,1; 0,1",
    "Zip code": "52104, 52104, 53715, 53715, 53709, 53709",
    "Disease": "0,1; 0,1; 2,4; 2,4; 1,3; 1,3",
}
SIZES = (5, 10, 15, 20, 25)
KNOWN = ("Age", "Sex", "Zip code")


def settings(*, quick: bool) -> list[Setting]:
    """What is trained how often. A support vector machine on all rows takes minutes: that is done once for the two
    methods that the paper compares at the least and the greatest k, and on a fifth of the rows, with several seeds,
    for all.
    """
    every, ends = (ORIGINAL, *METHODS), (SIZES[0], SIZES[-1])
    if quick:
        return [
            Setting("random forest, 5,000 of 30,162 rows", "random-forest", 5_000, 2, every, ends),
            Setting("SVM, 2,000 of 30,162 rows", "svm", 2_000, 2, every, ends),
        ]
    return [
        Setting("random forest, all 30,162 rows", "random-forest", None, 3, every, SIZES),
        Setting("SVM, 6,000 of 30,162 rows", "svm", 6_000, 3, every, SIZES),
        Setting("SVM, all 30,162 rows", "svm", None, 1, (ORIGINAL, "fixed-interval", "iack"), ends),
    ]


class FixedIntervalPaper(Reproduction):
    """Tables with their misprints put right, the attack that the paper describes, and accuracies on Adult."""

    name: ClassVar[str] = "fixed-interval"
    paper: ClassVar[str] = (
        "Majeed 2018, Attribute-centric anonymization scheme for improving user privacy and utility of publishing "
        "e-health data"
    )

    def sections(self, data: Path, run: Run, *, quick: bool) -> Iterator[ReproducedSection]:
        yield _tables(run)
        adult = Adult(data)
        yield _attack(adult, run, (5,) if quick else SIZES[::2])
        yield from _figures(adult, run, quick=quick)


def _release(support: int) -> Any:
    policy = {
        "attributes": {
            "Age": {"role": "quasi"},
            "Sex": {"role": "quasi", "hierarchy": {"type": "flat", "domain": ["M", "F"]}},
            "Zip code": {"role": "quasi", "type": "number"},
            "Disease": {"role": "sensitive", "hierarchy": {"type": "flat", "domain": IDS}},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "fixed-interval", "intervals": 3, "minimum_support": support},
    }
    return anonymize(TABLE_5, policy)


def _tables(run: Run) -> ReproducedSection:
    """Table 10 from Table 5, on the way Tables 6 to 8."""
    run.step(Stage.REPRODUCE, None, "Tables 5 to 10")
    unsafe, safe = _release(1), _release(2)
    table = unsafe.to_arrow()
    shown = {name: table[name].cast(pa.string()).to_pylist() for name in table.column_names}
    texts = {name: "; ".join(_as_printed(label) for label in shown[name]) for name in shown}
    ours = {name: text.replace("; ", ", ") if name in {"Age", "Zip code"} else text for name, text in texts.items()}
    why = {"Zip code": "The printed column has the two means of Table 7 the wrong way round, and 53715, a raw value."}
    lines = [
        ReproducedLine(
            f"Table 10, {name}",
            PRINTED[name],
            ours[name],
            Agreement.REPRODUCED if ours[name] == PRINTED[name] else Agreement.DIFFERS,
            why.get(name, ""),
        )
        for name in PRINTED
    ]
    ages = safe.to_arrow()["Age"].cast(pa.string()).to_pylist()
    lines.append(
        ReproducedLine(
            "Table 10, Age, with two people behind each mean",
            "no such rule: 36 in Table 6 is one person's age",
            ", ".join(ages),
            Agreement.OURS,
            "The interval 33-45 holds one person and is joined with 45-57.",
        )
    )
    return ReproducedSection(
        "Tables 5 to 10",
        tuple(lines),
        "k = 2, three intervals, T = 0 (the second class has an age range of 4). Ids without the letter that medveil "
        "puts before them.",
    )


def _as_printed(label: str) -> str:
    """A label as the paper prints it: ids without braces and without the letter before them."""
    return re.sub(r"s(\d+)", r"\1", label.strip("{}").replace(", ", ","))


def _attack(adult: Adult, run: Run, sizes: Sequence[int]) -> ReproducedSection:
    """Who knows age, sex and zip code (on Adult: age, sex, race and marital status) looks for the record."""
    release = _release(1)
    on_9 = Attack(TABLE_5, TABLE_9, KNOWN, "Disease").run()
    on_10 = Attack(
        TABLE_5, release.to_arrow(), KNOWN, "Disease", books=books_of(release), means=("Age", "Zip code")
    ).run()
    bob = "Bob is 21, male, 53706: his disease"
    lines = [
        ReproducedLine(f"Table 9, {bob}", "anemia or flu", f"one of {on_9.possible[0]}", Agreement.REPRODUCED),
        ReproducedLine(
            "Table 9, people whose disease is certain",
            "the attacker can infer it",
            f"{on_9.certain:.0%}",
            Agreement.REPRODUCED,
            "The last two rows differ in sex: the table for k = 2 has two classes of one.",
        ),
        ReproducedLine(
            f"Table 10, {bob}",
            "better protected",
            f"one of {on_10.possible[0]}",
            Agreement.DIFFERS,
            "The same set.",
        ),
        ReproducedLine(
            "Table 10, people whose disease is certain",
            "protected",
            f"{on_10.certain:.0%}",
            Agreement.REPRODUCED,
            "Sets are the same for all records of a class.",
        ),
    ]
    for method in (ORIGINAL, *METHODS):
        for k in (0,) if method == ORIGINAL else sizes:
            run.step(Stage.REPRODUCE, None, f"Attacking {method}" + (f", k = {k}" if k else ""))
            found = adult.attack(method, k)
            lines.append(
                ReproducedLine(
                    f"Adult, {method}" + (f", k = {k}" if k else ""),
                    "not measured",
                    _told(found),
                    Agreement.OURS,
                )
            )
    return ReproducedSection(
        "The attack of section 4",
        tuple(lines),
        f"On Adult the attacker knows age, sex, race and marital status of all 30,162 people and looks for '{HELD}'. "
        "Of means the nearest are taken, sets count by equal shares. Told are, on average, the records that may be a "
        "person's and the probability that they give to the true value, and the people whose value is certain.",
    )


def _told(found: Linkage) -> str:
    return (
        f"{found.candidates.mean():.1f} records, probability {found.mean_confidence:.3f}, "
        f"certain {found.certain:.2%}, singled out {found.singled_out:.2%}"
    )


def _figures(adult: Adult, run: Run, *, quick: bool) -> Iterator[ReproducedSection]:
    """Figures 5 and 6: accuracy of random forest and SVM by k."""
    chosen = settings(quick=quick)
    found: dict[str, dict[tuple[str, int], Estimate]] = {setting.title: {} for setting in chosen}
    for setting, method, k, figure in accuracies(adult, chosen, run):
        found[setting.title][method, k] = figure
    for setting in chosen:
        figure_number = 5 if setting.classifier == "random-forest" else 6
        figures = found[setting.title]
        yield ReproducedSection(
            f"Figure {figure_number}: {setting.title}",
            tuple(_compared(figures, k) for k in setting.sizes),
            _table(figures, setting) + "\n\n" + _chart(figures, setting),
        )


def _compared(figures: Mapping[tuple[str, int], Estimate], k: int) -> ReproducedLine:
    """The paper's claim at one k: fixed-interval is at least as accurate as IACk."""
    ours, theirs = figures["fixed-interval", k], figures["iack", k]
    gap = ours.mean - theirs.mean
    by_chance = float(np.hypot(ours.mean - ours.low, theirs.mean - theirs.low))
    if not by_chance:
        verdict, why = Agreement.UNDECIDED, "one run: what chance does is not known"
    elif abs(gap) <= by_chance:
        verdict, why = Agreement.UNDECIDED, "as much as seeds do by chance"
    else:
        verdict, why = (Agreement.REPRODUCED, "") if gap > 0 else (Agreement.DIFFERS, "fixed-interval is below iack")
    return ReproducedLine(
        f"k = {k}: fixed-interval against iack",
        "fixed-interval is above (a picture; no figures are printed)",
        f"{ours.mean:.4f} against {theirs.mean:.4f} ({gap:+.4f}" + (f" +- {by_chance:.4f})" if by_chance else ")"),
        verdict,
        why,
    )


def _table(figures: Mapping[tuple[str, int], Estimate], setting: Setting) -> str:
    """All methods, with confidence intervals."""
    sizes = setting.sizes
    lines = ["| method | " + " | ".join(f"k = {k}" for k in sizes) + " |", "|---" * (len(sizes) + 1) + "|"]
    for method in setting.methods:
        cells = [figures[method, 0 if method == ORIGINAL else k] for k in sizes]
        texts = [
            f"{cell.mean:.4f}" + (f" ({cell.low:.4f} to {cell.high:.4f})" if setting.seeds > 1 else "")
            for cell in cells
        ]
        lines.append(f"| {method} | " + " | ".join(texts) + " |")
    told = f"95 % confidence intervals over {setting.seeds} seeds." if setting.seeds > 1 else "One run, no seeds."
    return f"Accuracy on 15,060 test rows. {told}\n\n" + "\n".join(lines)


def _chart(figures: Mapping[tuple[str, int], Estimate], setting: Setting) -> str:
    """Mean accuracies on one scale, a line for each method and k."""
    means = [figure.mean for figure in figures.values()]
    low, high = min(means), max(means)
    span = (high - low) or 1.0
    width = 50
    lines = [f"{'':24}{low:<{width - 4}.4f}{high:.4f}"]
    for method in setting.methods:
        for k in (0,) if method == ORIGINAL else setting.sizes:
            place = round((figures[method, k].mean - low) / span * width)
            name = method if not k else f"{method}, k = {k}"
            lines.append(f"{name:<24}" + "-" * place + "o")
    return "```\n" + "\n".join(lines) + "\n```"
