"""Adult, anonymized by several methods for several k: how well models learn from it, and what an attacker learns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from medveil.app.anonymize import anonymize
from medveil.app.preparation import opened
from medveil.datasets import load
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.methods.fixed_interval.publication import CODE_BOOK
from medveil.policy import load_policy
from medveil.release.reading import TEXT, read_csv
from medveil.release.release import Release
from medveil.risk.linkage import Attack, Linkage
from medveil.run import Run, Stage
from medveil.utility.classification import (
    Classifier,
    Encoding,
    Estimate,
    Task,
    accuracy,
    estimate,
    make_encoding,
    make_task,
)

QUASI = ("age", "sex", "race", "marital-status")
TARGET = "income"
HELD = "occupation"
"""What the attacker wants to know."""
SUPPRESSION = 0.05
"""What `iack` may suppress of records, and `optimal` of whole records."""
METHODS: Mapping[str, Mapping[str, Any]] = {
    "fixed-interval": {"name": "fixed-interval", "width": {"age": 5}, "threshold": {"age": 5}},
    "iack": {"name": "iack", "target": TARGET, "suppression": SUPPRESSION},
    "optimal": {"name": "optimal", "suppression": SUPPRESSION},
    "mondrian": {"name": "mondrian"},
}
"""The paper's T is 5; it does not tell its number of intervals: five years each, as in its generalized tables."""
ORIGINAL = "original"
HIERARCHIES: Mapping[str, Mapping[str, Any]] = {
    "age": {"type": "intervals", "domain": [17, 90], "widths": [5, 10, 20, 40]},
    "sex": {"type": "flat", "domain": ["Female", "Male"]},
    "race": {"type": "flat", "domain": ["White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"]},
    "marital-status": {
        "type": "taxonomy",
        "tree": {
            "Spouse present": ["Married-civ-spouse", "Married-AF-spouse"],
            "No spouse present": ["Never-married", "Divorced", "Separated", "Widowed", "Married-spouse-absent"],
        },
    },
}


@dataclass(frozen=True)
class Adult:
    """The training and test rows without missing values, and releases of the training rows."""

    folder: Path

    @cached_property
    def train(self) -> pa.Table:
        return load("adult", self.folder).drop_null()

    @cached_property
    def test(self) -> pa.Table:
        return load("adult-test", self.folder).drop_null()

    def policy(self, k: int, method: Mapping[str, Any], sensitive: Sequence[str] = ()) -> dict[str, Any]:
        # The paper publishes all other columns as they are, whomever they tell.
        attributes: dict[str, Any] = {
            name: {"role": "sensitive"} if name in sensitive else {"role": "plain", "insist": True}
            for name in self.train.column_names
        }
        attributes |= {name: {"role": "quasi", "hierarchy": HIERARCHIES[name]} for name in QUASI}
        return {"attributes": attributes, "privacy": [{"model": "k-anonymity", "k": k}], "method": dict(method)}

    @cached_property
    def hierarchies(self) -> Mapping[str, Hierarchy]:
        policy, folder = load_policy(self.policy(2, {"name": "optimal"}))
        with opened(policy, folder, self.train) as (problem, _):
            return dict(problem.hierarchies)

    @cached_property
    def encoding(self) -> Encoding:
        features = [name for name in self.train.column_names if name != TARGET]
        return make_encoding(self.train, features, hierarchies=self.hierarchies)

    def task(self, method: str, k: int) -> Task:
        """Learn from a release, or from the original itself, and predict the test rows."""
        if method == ORIGINAL:
            return make_task(self.encoding, self.train, self.test, TARGET)
        release = anonymize(self.train, self.policy(k, METHODS[method]))
        return make_task(self.encoding, release.to_arrow(), self.test, TARGET, books_of(release))

    def attack(self, method: str, k: int) -> Linkage:
        """An attacker who knows everybody's quasi-identifiers, and looks for their occupation."""
        if method == ORIGINAL:
            return Attack(self.train, self.train, QUASI, HELD).run()
        release = anonymize(self.train, self.policy(k, METHODS[method], [HELD]))
        return Attack(
            self.train,
            release.to_arrow(),
            QUASI,
            HELD,
            hierarchies=self.hierarchies,
            books=books_of(release),
            means=tuple(a["name"] for a in release.manifest.attributes if a.get("form") == "means"),
        ).run()


def books_of(release: Release) -> dict[str, dict[str, str]]:
    """What the ids of a release stand for, by column."""
    path = release.folder / CODE_BOOK
    if not path.is_file():
        return {}
    names = ("attribute", "published", "stands_for", "people", "low", "high")
    books: dict[str, dict[str, str]] = {}
    for line in read_csv(path, names, TEXT).to_pylist():
        if line["people"] is None:
            books.setdefault(line["attribute"], {})[line["published"]] = line["stands_for"]
    return books


@dataclass(frozen=True)
class Setting:
    """A model, how many training rows it gets (None: all), how often it is trained, by which methods, for which k."""

    title: str
    classifier: Classifier
    rows: int | None
    seeds: int
    methods: tuple[str, ...]
    sizes: tuple[int, ...]


def accuracies(adult: Adult, settings: Sequence[Setting], run: Run) -> Iterator[tuple[Setting, str, int, Estimate]]:
    """The accuracy of each setting for each method and k, with its confidence interval over seeds.

    The original has no k: it is measured once and stands as 0.
    """
    every = dict.fromkeys(method for setting in settings for method in setting.methods)
    sizes = dict.fromkeys(k for setting in settings for k in setting.sizes)
    jobs = [(method, k) for method in every for k in ((0,) if method == ORIGINAL else sizes)]
    for number, (method, k) in enumerate(jobs):
        run.step(Stage.REPRODUCE, number / len(jobs), f"Learning from {method}" + (f", k = {k}" if k else ""))
        task = adult.task(method, k)
        for setting in settings:
            if method in setting.methods and (k in setting.sizes or not k):
                figures = []
                for seed in range(setting.seeds):
                    run.step(
                        Stage.REPRODUCE, number / len(jobs), f"{setting.title}: {method}" + (f", k = {k}" if k else "")
                    )
                    figures.append(accuracy(task, setting.classifier, seed, setting.rows))
                yield setting, method, k, estimate(figures)
