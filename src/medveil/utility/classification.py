"""Models trained on a release and tested on originals that were held out, through one encoding of labels.

    numbers      the value itself; the middle of a range; the mean as it was published; the middle of the column for `*`
    categories   one column a value: 1 for the value itself, 1/m for each of the m values that a set or a group holds
    missing      numbers: the mean of the training rows; categories: a value of its own

The same encoding reads the release, whatever method made it, and the held-out originals, so that a model may be
trained on the one and tested on the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.errors import InputError
from medveil.evaluation.coverage import Coverage, cover
from medveil.evaluation.runs import are_whole
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.table.domain import Domain, encode, find_kind
from medveil.table.labels import ANYTHING
from medveil.table.schema import Kind

Matrix = NDArray[np.float32]
Floats = NDArray[np.float64]
Classifier = Literal["random-forest", "svm"]
CLASSIFIERS: tuple[Classifier, ...] = ("random-forest", "svm")
TREES = 100
MOST_AT_ONCE = 10_000
"""The most training rows whose kernel is kept as a whole."""
PIECE = 2_000
"""How many rows are predicted at a time."""


@dataclass(frozen=True)
class Feature:
    """A column that a model learns from: its values in the original, and how they generalize."""

    name: str
    domain: Domain
    hierarchy: Hierarchy | None = None

    @property
    def is_number(self) -> bool:
        return self.domain.kind in {Kind.NUMBER, Kind.DATE} and bool(self.domain.present)


@dataclass(frozen=True)
class Encoding:
    """From published or original rows to numbers that a model can learn from."""

    features: tuple[Feature, ...]

    def matrix(self, table: pa.Table, books: Mapping[str, Mapping[str, str]] | None = None) -> Matrix:
        """A row of numbers for each row of the table; NaN where a number is missing.

        `books` say, for columns of which ids were published, what each id stands for.
        """
        blocks = []
        for feature in self.features:
            column = table[feature.name]
            texts = column.cast(pa.string()) if not pa.types.is_dictionary(column.type) else column
            read = cover(texts, feature.domain, feature.hierarchy, (books or {}).get(feature.name))
            by_label = _middles(read)[:, None] if feature.is_number else _shares(read)
            blocks.append(by_label.astype(np.float32)[read.codes])
        return np.concatenate(blocks, axis=1)


def make_encoding(
    original: pa.Table,
    names: Sequence[str],
    kinds: Mapping[str, Kind] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Encoding:
    """The encoding of these columns over the values that the original training rows have.

    Hierarchies must be over the same values, in the order of their domain.
    """
    features = []
    for name in names:
        texts = original[name].cast(pa.string()).unique().to_pylist()
        kind = (kinds or {}).get(name) or find_kind([text for text in texts if text is not None])
        features.append(Feature(name, encode(texts, kind, name)[0], (hierarchies or {}).get(name)))
    return Encoding(tuple(features))


def _middles(read: Coverage) -> Floats:
    """The middle of what each label covers on the line, NaN where it covers nothing of it."""
    assert read.line is not None
    whole, runs = are_whole(read.domain.numbers), read.line
    # A run of whole numbers ends before the next one; a point, such as a mean, is itself.
    ends = np.where(whole & (runs.ends > runs.starts), runs.ends - 1.0, runs.ends)
    sums = np.bincount(runs.label, runs.weights * (runs.starts / 2 + ends / 2), minlength=len(runs))
    return np.where(np.diff(runs.offsets) > 0, sums, np.nan)


def _shares(read: Coverage) -> Floats:
    """For each label the share of each value that it may stand for."""
    held = read.leaves.astype(np.float64)
    totals = held.sum(axis=1, keepdims=True)
    return np.divide(held, totals, out=np.zeros_like(held), where=totals > 0)


@dataclass(frozen=True)
class Task:
    """A prediction: rows to train on and held-out rows to test on, as numbers, with what is to be predicted."""

    train: Matrix
    train_target: NDArray[Any]
    test: Matrix
    test_target: NDArray[Any]


def make_task(
    encoding: Encoding,
    release: pa.Table,
    held_out: pa.Table,
    target: str,
    books: Mapping[str, Mapping[str, str]] | None = None,
) -> Task:
    """A task from a release and held-out originals; rows of `*` teach nothing and are left out."""
    labels = np.asarray(release[target].cast(pa.string()).fill_null(""))
    train = encoding.matrix(release, books)
    test = encoding.matrix(held_out)
    known = labels != ANYTHING
    train, labels = train[known], labels[known]
    if not len(labels):
        raise InputError("There is nothing to learn from: every record was suppressed.", "Publish some records.")
    with np.errstate(all="ignore"):
        means = np.nan_to_num(np.nanmean(np.where(np.isnan(train).all(axis=0), 0.0, train), axis=0))
    return Task(
        np.where(np.isnan(train), means, train).astype(np.float32),
        labels,
        np.where(np.isnan(test), means, test).astype(np.float32),
        np.asarray(held_out[target].cast(pa.string()).fill_null("")),
    )


def accuracy(task: Task, classifier: Classifier, seed: int, rows: int | None = None) -> float:
    """The share of held-out rows that a model predicts right.

    `rows`: train on so many, drawn without replacement by the seed. The forest has a hundred trees, the support vector
    machine a radial kernel (C = 1, gamma = 1 / features) on columns scaled to unit variance.
    """
    train, target = task.train, task.train_target
    if rows is not None and rows < len(train):
        drawn = np.random.default_rng(seed).choice(len(train), rows, replace=False)
        train, target = train[drawn], target[drawn]
    if len(np.unique(target)) == 1:
        return float(np.mean(task.test_target == target[0]))
    model = _model(classifier, seed, train.shape)
    model.fit(train, target)
    right = [
        model.predict(rows) == truth for rows, truth in zip(_pieces(task.test), _pieces(task.test_target), strict=True)
    ]
    return float(np.mean(np.concatenate(right)))


def _pieces(rows: NDArray[Any]) -> list[NDArray[Any]]:
    """Rows a few thousand at a time: a kernel of all test rows with all training rows would fill the memory."""
    return [rows[start : start + PIECE] for start in range(0, max(len(rows), 1), PIECE)]


def _model(classifier: Classifier, seed: int, shape: tuple[int, ...]) -> Any:
    """A model for a training table of this shape."""
    try:
        from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415
        from sklearn.metrics.pairwise import rbf_kernel  # noqa: PLC0415
        from sklearn.pipeline import make_pipeline  # noqa: PLC0415
        from sklearn.preprocessing import StandardScaler  # noqa: PLC0415
        from sklearn.svm import SVC  # noqa: PLC0415
    except ImportError:
        raise InputError("scikit-learn is not installed.", "pip install 'medveil[learning]'") from None
    if classifier == "random-forest":
        return RandomForestClassifier(n_estimators=TREES, random_state=seed, n_jobs=2)
    rows, features = shape
    if rows > MOST_AT_ONCE:
        return make_pipeline(StandardScaler(), SVC(kernel="rbf", C=1.0, gamma="auto", cache_size=500))
    # The same kernel by matrix products, in half the time.
    return make_pipeline(StandardScaler(), SVC(kernel=partial(rbf_kernel, gamma=1.0 / features), C=1.0))


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with the ends of its 95 % confidence interval (Student's t)."""

    mean: float
    low: float
    high: float


def estimate(figures: Sequence[float]) -> Estimate:
    """The mean of repeated figures; one figure alone has no interval.

    >>> estimate([0.5])
    Estimate(mean=0.5, low=0.5, high=0.5)
    >>> found = estimate([0.84, 0.85, 0.86])
    >>> round(found.mean, 3), round(found.low, 4), round(found.high, 4)
    (0.85, 0.8252, 0.8748)
    """
    mean = float(np.mean(figures))
    if len(figures) < 2:
        return Estimate(mean, mean, mean)
    from scipy.stats import t  # noqa: PLC0415

    reach = float(t.ppf(0.975, len(figures) - 1) * np.std(figures, ddof=1) / np.sqrt(len(figures)))
    return Estimate(mean, mean - reach, mean + reach)
