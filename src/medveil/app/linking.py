"""From a policy of linked tables to people: whom the release holds, and what is published of them in which column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.app.changing import release_key, warnings_on_dates
from medveil.app.linked_plan import LinkedPlan
from medveil.app.preparation import open_table, prepare, with_engine
from medveil.app.proving import refuse_false_name
from medveil.app.singling_out import refuse_what_names_people
from medveil.cells import Cells, Subjects
from medveil.engine import with_rows
from medveil.engine.links import read_links
from medveil.engine.tables import PERSON, LinkedTables
from medveil.errors import PolicyError, UnreachableError
from medveil.lattice.evaluate import Evaluator
from medveil.methods.method import Method
from medveil.methods.optimal import space_of
from medveil.methods.problem import Problem
from medveil.release.draft import Draft
from medveil.run import Run
from medveil.table.arrow import number_array
from medveil.table.schema import Role
from medveil.workspace import Workspace

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Labelled:
    """What a method made of the view: the people that are kept, by their numbers, and the labels of its columns.

    by_person: of the table of people, a label for each of those that are kept, by column of the view.
    by_value: of other tables, from each `value` to its `label`.
    draft: what the method handed over for the view; None where no model asks for classes.
    """

    kept: Numbers
    by_person: Mapping[str, pa.Array] = field(default_factory=dict)
    by_value: Mapping[str, pa.Table] = field(default_factory=dict)
    draft: Draft | None = None
    view: pa.Table | None = None


@contextmanager
def linked_tables(
    plan: LinkedPlan, workspace: Workspace, run: Run, *, published: bool = True
) -> Iterator[LinkedTables]:
    """The tables of a plan, read, checked and changed. Where nothing of them is `published`, columns that look like
    names are no fault.
    """
    run = with_engine(run, plan.policy)
    sources = {name: open_table(plan.policy.tables[name], workspace) for name in plan.names}
    for name in plan.names:
        for column in (*plan.policy.tables[name].attributes, *plan.policy.tables[name].key):
            sources[name].position(column)
    key = release_key(plan.policy, workspace, run)
    for words in warnings_on_dates(plan.policy, key):
        run.warn(words)
    with run.link(plan.tables, sources, key, plan.space) as tables:
        for name in plan.names:
            for column, count in tables.lost(name).items():
                if count:
                    run.warn(f"'{name}.{column}' is missing in {count:,} records although its date is there.")
            strays = tables.rows(name) - tables.alive(name)
            if strays:
                run.warn(
                    f"{strays:,} records of '{name}' point to people who are not in the data; they are not published."
                )
            if published:
                _refuse(plan, name, tables, run)
        if not tables.alive(plan.root):
            raise PolicyError(f"The table '{plan.root}' holds no people.", "Give a table with at least one record.")
        yield tables


def _refuse(plan: LinkedPlan, name: str, tables: LinkedTables, run: Run) -> None:
    """Columns that look like names or free text are published only where the policy insists."""
    attributes = plan.attributes[name]
    looked = [c for c, a in attributes.items() if a.role in {Role.SENSITIVE, Role.PLAIN}]
    if looked:
        with run.engine(tables.changed(name), looked, may_be_empty=True) as engine:
            refuse_what_names_people({c: attributes[c] for c in looked}, engine, f"{name}.")


@contextmanager
def viewed(plan: LinkedPlan, tables: LinkedTables, workspace: Workspace, run: Run) -> Iterator[Problem]:
    """The problem that the view of people poses, refused where the plan's method does not fit it."""
    with view_of(plan, tables, workspace, run) as problem:
        reason = linked_refusal(plan, plan.policy.method, problem)
        if reason is not None:
            raise PolicyError(
                f"The method '{plan.policy.method.name}' does not fit linked tables: {reason}.",
                "Choose 'optimal' or 'mondrian'.",
            )
        yield problem


@contextmanager
def view_of(plan: LinkedPlan, tables: LinkedTables, workspace: Workspace, run: Run) -> Iterator[Problem]:
    """The problem that the view of people poses, whichever method is to solve it."""
    columns = [(name, column, called) for called, (name, column) in plan.view.items()]
    with prepare(plan.view_policy(), tables.view(columns), workspace, run) as problem:
        if problem.cells.elsewhere is not None:
            raise problem.cells.elsewhere.refusal
        yield problem


def linked_refusal(plan: LinkedPlan, method: Method, problem: Problem) -> str | None:
    """Why a method cannot take linked tables, or None."""
    if not method.keeps_records:
        return "it does not publish each record as one row, so nothing could be linked"
    outside = [called for called in problem.schema.quasi if plan.view[called][0] != plan.root]
    if outside and not method.one_level:
        return (
            f"it gives each record labels of its own, and '{outside[0]}' stands in several records of a person: only "
            "quasi-identifiers of the table of people go with it"
        )
    return method.why_refused(problem)


def anonymize_view(plan: LinkedPlan, problem: Problem, run: Run, folder: Path) -> Labelled:
    """Labels for the columns of the view; a person of whom anything is suppressed is left out everywhere."""
    method = plan.policy.method
    while True:
        draft = method.anonymize(problem, run)
        refuse_false_name(draft, method)
        labelled = _read(plan, problem, draft, folder)
        people = len(np.unique(_people(problem)))
        lost = people - len(labelled.kept)
        if plan.one_row_each or not lost or lost <= plan.policy.method.may_suppress * people:
            if not len(labelled.kept):
                raise UnreachableError("Nobody would be left.", "Allow less suppression, or ask for a smaller k.")
            return labelled
        run.check()
        method = method.suppressing(_next(method.may_suppress))


def _next(share: float) -> float:
    """Half, and soon nothing: leaving a person out takes people from every group that the person is in."""
    return share / 2 if share > 0.001 else 0.0


def _people(problem: Problem) -> Numbers:
    """The person of each line of the view."""
    return np.array([int(number) for number in with_rows(problem.engine).texts([PERSON])[PERSON].to_pylist()])


def _read(plan: LinkedPlan, problem: Problem, draft: Draft, folder: Path) -> Labelled:
    """The labels of the view, as the method's links tell them."""
    path = folder / "links.parquet"
    assert draft.links is not None
    draft.links(path)
    links = read_links(path)
    people = _people(problem)
    kept = np.setdiff1d(people, people[~links.kept])
    if not plan.one_row_each:
        kept = _cascade(problem, draft, kept, people)
    lines = np.flatnonzero(np.isin(people, kept))
    lines = lines[np.argsort(people[lines], kind="stable")]
    published = links.labels.take(number_array(lines))
    first = np.unique(people[lines], return_index=True)[1]
    texts = with_rows(problem.engine).texts(problem.counted)
    by_person, by_value = {}, {}
    for called, (name, column) in plan.view.items():
        labels = published[called].combine_chunks()
        if name == plan.root:
            by_person[column] = labels.take(number_array(first)).cast(pa.string())
        else:
            values = texts[called].take(number_array(lines)).combine_chunks()
            by_value[called] = _distinct(values, labels.cast(pa.string()))
    return Labelled(kept, by_person, by_value, draft, published)


def _distinct(values: pa.Array, labels: pa.Array) -> pa.Table:
    return pa.table({"value": values, "label": labels}).group_by(["value", "label"]).aggregate([])


def _cascade(problem: Problem, draft: Draft, kept: Numbers, people: Numbers) -> Numbers:
    """Whom of these a group still hides when those before are gone: again and again, until everybody is hidden.

    Views with several rows a person only: a person who is left out leaves the groups of all of them.
    """
    levels = {a.name: a.level for a in draft.attributes}
    at = tuple(int(levels[name] or 0) for name in problem.cells.quasi)
    space = space_of(problem)
    while len(kept):
        staying = np.isin(people, kept)
        cells = _only(problem.cells, problem.cell_of_row[staying], people[staying])
        evaluator = Evaluator(cells, space, problem.requirements, reference=problem.reference)
        seen = evaluator.kept_at(at)[problem.cell_of_row]
        gone = np.unique(people[staying & ~seen])
        if not len(gone):
            break
        kept = np.setdiff1d(kept, gone)
    return kept


def _only(cells: Cells, of_row: Numbers, people: Numbers) -> Cells:
    """The cells with these rows and people alone."""
    order = np.lexsort((people, of_row))
    _, codes = np.unique(people[order], return_inverse=True)
    offsets = np.searchsorted(of_row[order], np.arange(len(cells) + 1)).astype(np.int64)
    subjects = Subjects(offsets, codes.astype(np.int32), int(codes.max(initial=-1)) + 1)
    return replace(cells, counts=np.diff(offsets), subjects=subjects)
