"""How well models that learn from the release predict originals that were held out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.codes.combine import Codes
from medveil.engine import with_rows
from medveil.errors import InputError
from medveil.evaluation.comparison import CODE_BOOK
from medveil.evaluation.coverage import Coverage, cover
from medveil.evaluation.matching import match
from medveil.table.domain import Domain, encode
from medveil.table.schema import Kind
from medveil.utility.classification import Encoding, Feature, Task, make_task
from medveil.utility.measure import Comparison, Measure, Score, Skipped
from medveil.utility.original import cell_codes
from medveil.utility.prediction_scores import Predictions

HELD_OUT = 0.2
MOST_TESTED = 5_000
MOST_TRAINED = 20_000
MOST_CLASSES = 50
MOST_VALUES = 1_000
"""A category of more values than this is not learned from: every value is a column of its own."""


class Prediction(Measure):
    """Models learn to predict the policy's `target` from the published quasi-identifiers and sensitive attributes, and
    are tested on originals that were held out.

    A fifth of the originals (5,000 at most) is held out, and their records are taken out of the release, as far as it
    can be seen which they are. What is left (20,000 rows at most) trains a random forest (scikit-learn) and boosted
    trees (xgboost); the same models trained on the originals stand beside them. Labels are read as the middle of a
    range, or as even shares of the values that a label covers. The value is the forest's accuracy; parts hold accuracy,
    F1 (macro), MCC and AUC (one against the rest) with the ends of their intervals (bootstrap over tested records,
    95 %).
    """

    name: ClassVar[str] = "classification"
    title: ClassVar[str] = "Accuracy of trained models"
    lower_is_better: ClassVar[bool] = False
    cheap: ClassVar[bool] = False

    def compute(self, comparison: Comparison) -> Score | Skipped:
        target = comparison.settings.target
        if target is None:
            return Skipped("the policy names no target ('evaluation: {target: COLUMN}')")
        if target not in comparison.published.column_names or target not in comparison.problem.published:
            return Skipped(f"the target '{target}' is not published")
        random = comparison.random(self.name)
        rows = _Rows(comparison.by_row, target)
        reason = rows.why_not()
        if reason is not None:
            return Skipped(reason)
        test = random.permutation(rows.number)[: min(max(int(HELD_OUT * rows.number), 1), MOST_TESTED)]
        release = np.setdiff1d(np.flatnonzero(rows.usable), rows.published_of(test))
        train = np.setdiff1d(np.arange(rows.number), test)
        chosen = {
            "release": rows.release(random.permutation(release)[:MOST_TRAINED]),
            "original": rows.original(random.permutation(train)[:MOST_TRAINED]),
        }
        held_out = rows.original(test)
        encoding, left_out = rows.encoding()
        if not encoding.features:
            return Skipped("there is no other column to predict it from")
        figures: dict[str, float] = {}
        skipped = dict(left_out)
        value = low = high = None
        for source, table in chosen.items():
            if len(np.unique(np.asarray(table[target].fill_null("")))) < 2:
                skipped[source] = f"'{target}' has one class only"
                continue
            task = make_task(encoding, table, held_out, target, rows.books if source == "release" else None)
            for model in ("random-forest", "xgboost"):
                try:
                    found = predict(task, model)
                except InputError as error:
                    skipped[model] = str(error)
                    continue
                scores, intervals = found.scores(), found.intervals(random)
                for figure, score in scores.items():
                    key = f"{model}, {source}, {figure}"
                    figures |= {key: score, f"{key}, low": intervals[figure][0], f"{key}, high": intervals[figure][1]}
                if value is None and source == "release":
                    value, (low, high) = scores["accuracy"], intervals["accuracy"]
        if value is None:
            return Skipped(" ".join(skipped.values()))
        return Score(value, low, high, figures, skipped)


class _Rows:
    """Original and release record by record, and which published records may be whose."""

    def __init__(self, comparison: Comparison, target: str) -> None:
        self.comparison = comparison
        self.target = target
        problem = comparison.problem
        self.plain = target not in problem.cells.domains
        cells = problem.cells
        self.cell = problem.cell_of_row if self.plain else np.repeat(np.arange(len(cells)), cells.counts)
        self.number = len(self.cell)
        self.domain, self.truth = self._truth()
        self.labels = self._labels()
        exact = self.labels.held.totals == 1
        self.usable = exact[self.labels.codes] & ~comparison.suppressed
        first = np.minimum(self.labels.held.offsets[:-1], len(self.labels.held.starts) - 1)
        self.said = np.where(exact, self.labels.held.starts[first], -1).astype(np.int64)[self.labels.codes]

    def _truth(self) -> tuple[Domain, Codes]:
        """The target of each original record."""
        problem = self.comparison.problem
        if not self.plain:
            return problem.cells.domains[self.target], cell_codes(self.comparison, self.target)[self.cell].astype(
                np.int64
            )
        coded = with_rows(problem.engine).codes(self.target)
        domain, codes = encode(coded.dictionary.to_pylist(), Kind.CATEGORY, self.target)
        return domain, codes[coded.indices.to_numpy(zero_copy_only=False)].astype(np.int64)

    def _labels(self) -> Coverage:
        known = {**self.comparison.coverage, **self.comparison.sensitive_coverage}
        return known[self.target] if not self.plain else cover(self.comparison.published[self.target], self.domain)

    def why_not(self) -> str | None:
        classes = len(np.unique(self.truth))
        if classes < 2:
            return f"the target '{self.target}' has one class only"
        if classes > MOST_CLASSES:
            return f"the target '{self.target}' has {classes:,} classes; models are trained for at most {MOST_CLASSES}"
        if not self.usable.any():
            return f"the target '{self.target}' is published in groups, never as a value"
        return None

    @property
    def books(self) -> Mapping[str, Mapping[str, str]]:
        """What published ids stand for, by column."""
        book = self.comparison.companions.get(CODE_BOOK)
        found: dict[str, dict[str, str]] = {}
        for name, form in self.comparison.forms.items():
            if form == "ids" and book is not None:
                lines = zip(*(book[key].to_pylist() for key in ("attribute", "published", "stands_for")), strict=True)
                found[name] = {published: value for attribute, published, value in lines if attribute == name}
        return found

    def encoding(self) -> tuple[Encoding, dict[str, str]]:
        """The columns to learn from, and why others are not."""
        problem = self.comparison.problem
        features, left_out = [], {}
        for name in (*problem.schema.quasi, *problem.schema.sensitive):
            domain = problem.cells.domains[name]
            number = domain.kind in {Kind.NUMBER, Kind.DATE}
            if name == self.target or name not in self.comparison.published.column_names:
                continue
            if not number and len(domain) > MOST_VALUES:
                left_out[name] = f"'{name}' has more than {MOST_VALUES:,} values to learn from"
                continue
            features.append(Feature(name, domain, problem.hierarchies.get(name)))
        return Encoding(tuple(features)), left_out

    def published_of(self, records: Codes) -> Codes:
        """Published rows that may be these records', one for each as far as there are: all that is known of a record
        must be covered, and the target must be the same.
        """
        comparison = self.comparison
        cells = comparison.problem.cells
        coverage = [*comparison.coverage.values(), *comparison.sensitive_coverage.values()]
        used, place = np.unique(self.cell[records], return_inverse=True)
        codes = np.array([*cells.codes[:, used], *(codes[used] for codes in cells.sensitive.values())], dtype=np.int32)
        offsets, groups = match(codes.reshape(len(coverage), -1), comparison.tuples.labels, coverage)
        wanted = np.zeros(len(comparison.tuples), dtype=np.bool_)
        wanted[groups] = True
        free: dict[tuple[int, int], list[int]] = {}
        for row in np.flatnonzero(wanted[comparison.tuples.of_row] & (comparison.tuples.of_row >= 0)).tolist():
            free.setdefault((int(comparison.tuples.of_row[row]), int(self.said[row])), []).append(row)
        taken = []
        for number, record in zip(place.reshape(-1).tolist(), records.tolist(), strict=True):
            own = ((int(g), int(self.truth[record])) for g in groups[offsets[number] : offsets[number + 1]])
            rows = next((free[key] for key in own if free.get(key)), None)
            if rows:
                taken.append(rows.pop())
        return np.array(taken, dtype=np.int64)

    def release(self, rows: Codes) -> pa.Table:
        """These published rows, the target as the original has it."""
        table = self.comparison.published.take(pa.array(rows))
        position = table.column_names.index(self.target)
        return table.set_column(position, self.target, _texts(self.domain, self.said[rows]))

    def original(self, records: Codes) -> pa.Table:
        """These original records."""
        cells = self.comparison.problem.cells
        columns = {
            name: _texts(domain, cell_codes(self.comparison, name)[self.cell[records]])
            for name, domain in cells.domains.items()
        }
        return pa.table({**columns, self.target: _texts(self.domain, self.truth[records])})


def _texts(domain: Domain, codes: NDArray[np.int64 | np.int32]) -> pa.Array:
    return pa.array(domain.values, pa.string()).take(pa.array(codes))


def predict(task: Task, model: str) -> Predictions:
    """Train on the release's rows, and predict the held-out ones."""
    classes = np.unique(np.concatenate([task.train_target, task.test_target]).astype(str))
    known, train = np.unique(task.train_target.astype(str), return_inverse=True)
    fitted = _model(model, len(known))
    fitted.fit(task.train, train.reshape(-1))
    probabilities = np.zeros((len(task.test), len(classes)))
    probabilities[:, np.searchsorted(classes, known)] = fitted.predict_proba(task.test)
    truth = np.searchsorted(classes, task.test_target.astype(str))
    return Predictions(truth, probabilities.argmax(axis=1), probabilities)


def _model(model: str, classes: int) -> Any:
    if model == "random-forest":
        try:
            from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415
        except ImportError:
            raise InputError("scikit-learn is not installed.", "pip install 'medveil[learning]'") from None
        return RandomForestClassifier(n_estimators=100, random_state=0, n_jobs=2)
    try:
        from xgboost import XGBClassifier  # noqa: PLC0415
    except ImportError:
        raise InputError("xgboost is not installed.", "pip install 'medveil[learning]'") from None
    objective = "binary:logistic" if classes == 2 else "multi:softprob"
    return XGBClassifier(n_estimators=100, max_depth=6, objective=objective, random_state=0, n_jobs=2, verbosity=0)
