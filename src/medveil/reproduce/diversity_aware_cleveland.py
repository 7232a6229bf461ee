"""The experiment of the diversity-aware paper: random splits of 282 Cleveland records, anonymized and learned from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from medveil.datasets.loaders import load
from medveil.errors import InputError
from medveil.methods.diversity_aware.assigning import Solvers
from medveil.methods.diversity_aware.caps import Caps, even_caps, halve, make_caps
from medveil.methods.diversity_aware.points import Points, make_points
from medveil.methods.diversity_aware.rounds import Effort, alternate, cluster_at_least, cluster_points
from medveil.privacy.classes import Classes, Histogram
from medveil.privacy.l_diversity import entropies, top_to_tail
from medveil.run import Run, Stage

ATTRIBUTES = (
    "age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal",
)  # fmt: skip
MODELS = ("ERT", "Random Forest", "XGBoost", "Decision Tree", "SVM")
TRAINED = 200
Numbers = NDArray[np.float64]
Codes = NDArray[np.int32]


def read_cleveland(folder: Path) -> tuple[Numbers, Codes, Codes]:
    """The 13 attributes of the 282 records whose family history is known, missing numbers imputed by the mean; family
    history; and whether heart disease is present.
    """
    table = load("heart76", folder)
    table = table.filter(pc.equal(table["site"], "cleveland"))
    columns = [_numbers(table[name]) for name in ATTRIBUTES]
    filled = [np.where(np.isnan(column), np.nanmean(column), column) for column in columns]
    history, stage = _numbers(table["famhist"]), _numbers(table["num"])
    return np.array(filled).T, history.astype(np.int32), (stage > 0).astype(np.int32)


def _numbers(column: Any) -> Numbers:
    return np.array([np.nan if text is None else float(text) for text in column.to_pylist()])


@dataclass(frozen=True)
class TrainingSetRecipe:
    """One way to make a training set: what is capped, on which scale, and from which centers."""

    name: str
    diversity: bool = True
    both: bool = False
    as_paper: bool = False
    """Unscaled values, centers of k-means, one assignment."""
    at_least: bool = False
    """Clusters of k to 2k - 1."""


def caps_of(way: TrainingSetRecipe, history: Codes, k: int, clusters: int | None = None) -> Caps:
    """The caps of a way; of so many clusters of at least k where that is given."""
    if not way.diversity:
        return even_caps(len(history), k, 2, clusters=clusters, at_least=clusters is not None)
    counts = np.bincount(history, minlength=2).tolist()
    at_least = clusters is not None
    return make_caps(counts, k, None, capped=[False, True], both=way.both, clusters=clusters, at_least=at_least)


def clusters_of(way: TrainingSetRecipe, numbers: Numbers, history: Codes, k: int, solvers: Solvers, run: Run) -> Codes:
    """The cluster of each record."""
    caps = caps_of(way, history, k)
    if way.as_paper:
        points = make_points(numbers)
        start = halve(points, history, caps, run)
        centers = _k_means(numbers, caps.clusters, run)
        return alternate(points, history, caps, centers, start, 1, solvers, run).cluster
    deviation = numbers.std(axis=0)
    scaled = (numbers - numbers.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    points = make_points(scaled)
    if way.at_least:
        found, _ = cluster_at_least(
            points, history, lambda number: caps_of(way, history, k, number), k, Effort(starts=3), solvers, run
        )
        return found.cluster
    return cluster_points(points, history, caps, Effort(starts=3), solvers, run).cluster


def _k_means(numbers: Numbers, clusters: int, run: Run) -> Points:
    from sklearn.cluster import KMeans  # noqa: PLC0415 - an extra

    found = KMeans(clusters, n_init=1, random_state=int(run.random.integers(2**31))).fit(numbers)
    return make_points(found.cluster_centers_)


def published_means(numbers: Numbers, cluster: Codes) -> Numbers:
    """Each record with the means of its cluster."""
    sizes = np.bincount(cluster)
    means = np.array([np.bincount(cluster, column) / sizes for column in numbers.T]).T
    return np.asarray(means[cluster])


@dataclass
class Worst:
    """The worst class of all splits, as in Table III."""

    k: int = 10**9
    l: int = 10**9  # noqa: E741 - the literature's name
    entropy: float = np.inf
    c: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    distance: float = 0.0

    def see(self, cluster: Codes, history: Codes) -> None:
        counts = np.array([np.bincount(cluster[history == v], minlength=int(cluster.max()) + 1) for v in (0, 1)]).T
        held = counts > 0
        histogram = Histogram(
            np.concatenate([[0], np.cumsum(held.sum(axis=1))]), np.nonzero(held)[1].astype(np.int32), counts[held]
        )
        classes = Classes(counts.sum(axis=1), counts.sum(axis=1), {"history": histogram})
        self.k = min(self.k, int(classes.sizes.min()))
        self.l = min(self.l, int(held.sum(axis=1).min()))
        self.entropy = min(self.entropy, float(np.exp(entropies(histogram)).min()))
        for l in (1, 2):  # noqa: E741
            self.c[l] = max(self.c[l], float(top_to_tail(histogram, l).max()))
        share = counts[:, 1] / counts.sum(axis=1)
        self.distance = max(self.distance, float(2 * np.abs(share - history.mean()).max()))


def learners(seed: int) -> Mapping[str, Callable[[], Any]]:
    """The paper's classifiers with the defaults of their libraries; the linear one on standardized values."""
    try:
        from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier  # noqa: PLC0415 - an extra
        from sklearn.pipeline import make_pipeline  # noqa: PLC0415
        from sklearn.preprocessing import StandardScaler  # noqa: PLC0415
        from sklearn.svm import LinearSVC  # noqa: PLC0415
        from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415
        from xgboost import XGBClassifier  # noqa: PLC0415
    except ImportError:
        raise InputError(
            "The classifiers of the paper are not installed.", "pip install 'medveil[learning,optimization]'"
        ) from None
    return {
        "ERT": lambda: ExtraTreesClassifier(random_state=seed),
        "Random Forest": lambda: RandomForestClassifier(random_state=seed),
        "XGBoost": lambda: XGBClassifier(random_state=seed, n_jobs=1),
        "Decision Tree": lambda: DecisionTreeClassifier(random_state=seed),
        "SVM": lambda: make_pipeline(StandardScaler(), LinearSVC(random_state=seed, dual=False)),
    }


def score(model: Any, train: Numbers, labels: Codes, test: Numbers, truth: Codes) -> tuple[float, float, float]:
    """Weighted F1, accuracy and Matthews correlation of a model on records that it has not seen."""
    from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef  # noqa: PLC0415 - an extra

    found = model.fit(train, labels).predict(test)
    return (
        float(f1_score(truth, found, average="weighted")),
        float(accuracy_score(truth, found)),
        float(matthews_corrcoef(truth, found)),
    )


@dataclass(frozen=True)
class Results:
    """`scores[way][model]`: a line of F1, accuracy and correlation for each split; `worst[way]`; `infeasible`: the
    splits in which alpha = 1 has no solution.
    """

    scores: Mapping[str, Mapping[str, Numbers]]
    worst: Mapping[str, Worst]
    infeasible: int


def run_splits(
    data: tuple[Numbers, Codes, Codes],
    ways: Sequence[TrainingSetRecipe],
    models: Sequence[str],
    k: int,
    splits: int,
    run: Run,
    *,
    original: bool = True,
) -> Results:
    """Every way on the same random splits into 200 records for training and the rest for test.

    In each split every way has the same random numbers too, so that it begins at the same centers: what differs is
    what the way makes of them.
    """
    numbers, history, present = data
    scores: dict[str, dict[str, list[tuple[float, float, float]]]] = defaultdict(lambda: defaultdict(list))
    worst: dict[str, Worst] = defaultdict(Worst)
    infeasible = 0
    with Solvers() as solvers:
        for split, (train, test) in enumerate(_splits(len(numbers), splits, run)):
            run.step(Stage.REPRODUCE, split / splits, f"Learning from clusters of {k}")
            sets = {"original": numbers[train]} if original else {}
            seed = int(run.random.integers(2**63))
            infeasible += int(history[train].sum()) % (TRAINED // k) != 0
            for way in ways:
                alike = replace(run, random=np.random.default_rng(seed), listener=Run().listener)
                cluster = clusters_of(way, numbers[train], history[train], k, solvers, alike)
                worst[way.name].see(cluster, history[train])
                sets[way.name] = published_means(numbers[train], cluster)
            for name, made in sets.items():
                for model, make in learners(split).items():
                    if model in models:
                        found = score(make(), made, present[train], numbers[test], present[test])
                        scores[name][model].append(found)
    return Results(
        {name: {model: np.array(found) for model, found in of.items()} for name, of in scores.items()},
        worst,
        infeasible,
    )


def _splits(records: int, splits: int, run: Run) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    for _ in range(splits):
        order = run.random.permutation(records)
        yield order[:TRAINED], order[TRAINED:]
