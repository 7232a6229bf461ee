"""Who follows the advice of a refusal gets on. Every error that gives one is followed here, or has a reason not to be.

`test_advice_of_errors` does the same for goals that cannot be met.
"""

import ast
import copy
import gzip
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import medveil
from medveil.app.budget import budget
from medveil.app.inspect import inspect_linked, write_policy

ROOT = Path(medveil.__file__).parent
KINDS = {"PolicyError", "InputError", "OutputError"}
FRAME = pd.DataFrame(
    {
        "age": [20 + i % 4 for i in range(48)],
        "sex": ["f", "m"] * 24,
        "job": ["nurse", "nurse", "cook"] * 16,
        "ill": ["a", "b", "b", "c"] * 12,
        "born": [f"0{1 + i % 3}/0{1 + i % 4}/1980" for i in range(48)],
        "who": [f"p{i // 2}" for i in range(48)],
    }
)
AGE = {"role": "quasi", "type": "number", "hierarchy": {"type": "intervals", "widths": [2]}}
K = {"model": "k-anonymity", "k": 2}
DP = {"model": "differential-privacy", "epsilon": 5.0}
PRIVATE = {
    "attributes": {
        "age": {"role": "quasi", "type": "number", "domain": {"range": [0, 99]}},
        "ill": {"role": "sensitive", "domain": ["a", "b", "c"]},
    },
    "privacy": [DP],
    "method": "dp-histogram",
}
POLICY = {"attributes": {"age": AGE, "sex": {"role": "quasi"}, "ill": {"role": "sensitive"}}, "privacy": [K]}


@dataclass(frozen=True)
class Case:
    """Who raises it, what it advises, what is wrong, and the ways in which the advice can be followed."""

    place: str
    advice: str
    wrong: Callable[[Path], object]
    followed: tuple[Callable[[Path], object], ...]


def changed(base=POLICY, **parts):
    """A run of a policy, parts of which were changed; `attributes` are added to those that are there."""
    policy = copy.deepcopy({**base, "output": {"report": False}, "evaluation": {"advice": False}})
    policy["attributes"].update(parts.pop("attributes", {}))
    out, ledger, frame = parts.pop("out", None), parts.pop("ledger", None), parts.pop("frame", FRAME)
    policy.update(parts)
    policy["attributes"] = {name: a for name, a in policy["attributes"].items() if a is not None}

    def run(folder):
        given = policy
        if isinstance(policy.get("data"), str | dict):
            (folder / "policy.yaml").write_text(repr(policy).replace("True", "true").replace("False", "false"))
            given = folder / "policy.yaml"
        return medveil.anonymize(
            None if "data" in policy or frame is None else frame,
            given,
            out=None if out is None else folder / out,
            ledger=None if ledger is None else folder / ledger,
        )

    return run


def column(name, base=POLICY, frame=FRAME, **parts):
    """A run in which one column is declared so."""
    return changed(base, attributes={name: parts or None}, frame=frame)


def looked(name, content, **options):
    """A look at a file with this content."""

    def run(folder):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return medveil.inspect(path, **options)

    return run


def parts_of(pattern, **files):
    def run(folder):
        for name, content in files.items():
            path = folder / "parts" / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return medveil.inspect(folder / pattern)

    return run


def tree(content, **options):
    """A run with this hierarchy of jobs."""

    def run(folder):
        (folder / "jobs.csv").write_text(content)
        hierarchy = {"type": "file", "path": str(folder / "jobs.csv"), **options}
        return column("job", role="quasi", hierarchy=hierarchy)(folder)

    return run


def twice(first, second):
    def run(folder):
        first(folder)
        return second(folder)

    return run


def jobs_of(name):
    """A run with the hierarchy in this file."""
    return lambda folder: column("job", role="quasi", hierarchy={"type": "file", "path": str(folder / name)})(folder)


def of_parquet(**tables):
    """A look at a folder of these Parquet files."""

    def run(folder):
        for name, table in tables.items():
            pa.parquet.write_table(pa.table(table), folder / f"{name}.parquet")
        return medveil.inspect(folder)

    return run


GOOD_TREE = "nurse;care;*\ncook;house;*\n"
DATES = {"role": "quasi", "type": "date", "hierarchy": {"type": "dates", "levels": ["year"]}}
TOP = {"type": "intervals", "widths": [2], "top": 90}
MAIL = FRAME.assign(mail=[f"someone{i}@ward.example" for i in range(48)])
MASK = {"type": "mask", "length": 2, "alphabet": "alphanumeric"}
MANY = pd.DataFrame({f"c{i}": [f"v{j % 2}" for j in range(40)] for i in range(70)})
CASES = {
    "a budget without a ledger": Case(
        "app/budget.py",
        "Name a ledger for them, or leave 'budget' out.",
        changed(PRIVATE, privacy=[{**DP, "budget": 9}]),
        (changed(PRIVATE, privacy=[{**DP, "budget": 9}], ledger="ledger"), changed(PRIVATE)),
    ),
    "one name twice": Case(
        "app/changing.py",
        "Choose another 'name' under 'derive'.",
        column("born", role="plain", format="%d/%m/%Y", derive={"age_at": "2020-01-01", "name": "age"}),
        (column("born", role="plain", format="%d/%m/%Y", derive={"age_at": "2020-01-01", "name": "years"}),),
    ),
    "no data": Case(
        "app/preparation.py",
        "Add 'data: FILE', or give a frame.",
        changed(frame=None),
        (changed(),),
    ),
    "privacy twice": Case(
        "app/preparation.py",
        "Name 'differential-privacy' once.",
        changed(PRIVATE, privacy=[DP, DP]),
        (changed(PRIVATE),),
    ),
    "records of nobody": Case(
        "app/preparation.py",
        "Give a column 'role: subject', or leave it out: every record is then a person of its own.",
        changed(PRIVATE, privacy=[{**DP, "max_records_per_subject": 2}]),
        (
            changed(PRIVATE, privacy=[{**DP, "max_records_per_subject": 2}], attributes={"who": {"role": "subject"}}),
            changed(PRIVATE),
        ),
    ),
    "a top code above the highest level": Case(
        "app/preparation.py",
        "Raise it, or take the code out of the hierarchy.",
        column("age", **{**AGE, "hierarchy": TOP, "max_level": 0}),
        (column("age", **{**AGE, "hierarchy": TOP, "max_level": 1}), column("age", **{**AGE, "max_level": 0})),
    ),
    "a level that is not there": Case(
        "app/preparation.py",
        "Choose a level from 0 to ",
        column("age", **AGE, min_level=9),
        (column("age", **AGE, min_level=1),),
    ),
    "a model on another column": Case(
        "app/preparation.py",
        "did_you_mean(name, schema.quasi)",
        changed(privacy=[{**K, "on": ["sexx"]}]),
        (changed(privacy=[{**K, "on": ["sex"]}]),),
    ),
    "too many quasi-identifiers": Case(
        "app/preparation.py",
        "Give columns that nobody outside can know the role sensitive or plain, take out those that nobody needs",
        changed({"attributes": {name: {"role": "quasi"} for name in MANY}, "privacy": [K]}, frame=MANY),
        (
            changed(
                {
                    "attributes": {
                        name: {"role": "quasi" if number < 8 else "sensitive"} for number, name in enumerate(MANY)
                    },
                    "privacy": [{"model": "lkc-privacy", "l": 2, "k": 2, "c": 1.0, "attribute": "c69"}],
                },
                frame=MANY,
            ),
        ),
    ),
    "a profile under differential privacy": Case(
        "app/profiling.py",
        "Leave 'profile' out, or take models that count.",
        changed(PRIVATE, profile="hipaa-safe-harbor"),
        (changed(PRIVATE), changed(profile="hipaa-safe-harbor", attributes={"age": {**AGE, "hierarchy": TOP}})),
    ),
    "an identifier that is plain": Case(
        "app/singling_out.py",
        "' the role identifier, or insist with 'insist: true'.",
        column("mail", frame=MAIL, role="plain"),
        (column("mail", frame=MAIL, role="identifier"), column("mail", frame=MAIL, role="plain", insist=True)),
    ),
    "a plain column that tells": Case(
        "app/singling_out.py",
        "' the role quasi (with a hierarchy), sensitive or identifier, or insist on what it tells with 'insist: ",
        column("dose", frame=FRAME.assign(dose=[*range(6), *[7] * 42]), role="plain"),
        tuple(
            column("dose", frame=FRAME.assign(dose=[*range(6), *[7] * 42]), **declared)
            for declared in (AGE, {"role": "sensitive"}, {"role": "identifier"}, {"role": "plain", "insist": 0.13})
        ),
    ),
    "no declared domain": Case(
        "declared_cells.py",
        "remedy",
        column("age", PRIVATE, role="quasi", type="number"),
        (
            changed(PRIVATE),
            column("age", PRIVATE, **{**AGE, "hierarchy": {"type": "intervals", "widths": [10], "domain": [0, 99]}}),
        ),
    ),
    "a hierarchy of another type": Case(
        "hierarchy/specification.py",
        "Declare '",
        column("age", role="quasi", type="category", hierarchy={"type": "intervals", "widths": [2]}),
        (column("age", **AGE), column("age", role="quasi", type="category", hierarchy=MASK)),
    ),
    "a hierarchy with lines of other lengths": Case(
        "hierarchy/file.py",
        "Give every line one cell for each level, or declare the 'delimiter:'.",
        tree("nurse;care;*\ncook;*\n"),
        (tree(GOOD_TREE), tree(GOOD_TREE.replace(";", "|"), delimiter="|")),
    ),
    "a hierarchy of one level": Case(
        "hierarchy/file.py", "Write 'leaf;level 1;...;*' on every line.", tree("nurse\ncook\n"), (tree(GOOD_TREE),)
    ),
    "a hierarchy with two roots": Case(
        "hierarchy/file.py",
        "End every line with the same label, such as '*'.",
        tree("nurse;care;*\ncook;house;all\n"),
        (tree(GOOD_TREE),),
    ),
    "a hierarchy with an empty cell": Case(
        "hierarchy/file.py", "Write a label into every cell.", tree("nurse;;*\ncook;house;*\n"), (tree(GOOD_TREE),)
    ),
    "an empty hierarchy": Case("hierarchy/file.py", "Write one line for each value.", tree(" \n"), (tree(GOOD_TREE),)),
    "a leaf with two parents": Case(
        "hierarchy/tabulated.py",
        "Give every leaf one line.",
        tree(GOOD_TREE + "cook;care;*\n"),
        (tree(GOOD_TREE),),
    ),
    "a group with two parents": Case(
        "hierarchy/tabulated.py",
        "Give every group exactly one parent.",
        tree("nurse;care;in;*\ncook;care;out;*\n"),
        (tree("nurse;care;in;*\ncook;care;in;*\n"),),
    ),
    "intervals that are too narrow": Case(
        "hierarchy/intervals.py",
        "Give a wider one, or a smaller domain.",
        column("age", role="quasi", type="number", hierarchy={"type": "intervals", "widths": [1e-18]}),
        (column("age", **AGE),),
    ),
    "a method that does not fit": Case(
        "app/making.py",
        "_fitting(problem)",
        changed(PRIVATE, method="mondrian"),
        tuple(changed(PRIVATE, method=name) for name in ("dp-histogram", "ipa")),
    ),
    "no sensitive column": Case(
        "privacy/sensitive.py",
        "Give a column the role sensitive.",
        changed(attributes={"ill": None}, privacy=[{"model": "l-diversity", "variant": "distinct", "l": 2}]),
        (changed(privacy=[{"model": "l-diversity", "variant": "distinct", "l": 2}]),),
    ),
    "a model about another column": Case(
        "privacy/sensitive.py",
        "did_you_mean(self.attribute, sensitive)",
        changed(privacy=[{"model": "l-diversity", "variant": "distinct", "l": 2, "attribute": "il"}]),
        (changed(privacy=[{"model": "l-diversity", "variant": "distinct", "l": 2, "attribute": "ill"}]),),
    ),
    "a value that does not occur": Case(
        "privacy/sensitive.py",
        "Write it exactly as in the data.",
        changed(privacy=[{"model": "lkc-privacy", "l": 2, "k": 2, "c": 0.9, "values": ["A"], "attribute": "ill"}]),
        (changed(privacy=[{"model": "lkc-privacy", "l": 2, "k": 2, "c": 0.9, "values": ["a"], "attribute": "ill"}]),),
    ),
    "an order of words": Case(
        "privacy/t_closeness.py",
        "Use 'distance: equal' or 'hierarchical', or declare the type of '",
        changed(privacy=[{"model": "t-closeness", "t": 0.9, "distance": "ordered"}]),
        (changed(privacy=[{"model": "t-closeness", "t": 0.9, "distance": "equal"}]),),
    ),
    "a tree of words": Case(
        "privacy/t_closeness.py",
        " a hierarchy, or use 'distance: equal'.",
        changed(privacy=[{"model": "t-closeness", "t": 0.9, "distance": "hierarchical"}]),
        (
            changed(privacy=[{"model": "t-closeness", "t": 0.9, "distance": "equal"}]),
            changed(
                privacy=[{"model": "t-closeness", "t": 0.9, "distance": "hierarchical"}],
                attributes={
                    "ill": {
                        "role": "sensitive",
                        "hierarchy": {"type": "taxonomy", "tree": {"x": ["a", "b"], "y": ["c"]}},
                    }
                },
            ),
        ),
    ),
    "too many sets to check": Case(
        "privacy/lkc.py",
        "Lower 'l', or name fewer quasi-identifiers under 'on:' (at most ",
        changed(
            {"attributes": {name: {"role": "quasi"} for name in MANY}, "privacy": []},
            privacy=[{"model": "lkc-privacy", "l": 8, "k": 2, "c": 1.0}],
            frame=MANY.assign(ill=["a", "b"] * 20),
            attributes={"ill": {"role": "sensitive"}},
        ),
        tuple(
            changed(
                {"attributes": {name: {"role": "quasi"} for name in list(MANY)[:30]}, "privacy": []},
                privacy=[{"model": "lkc-privacy", "k": 2, "c": 1.0, **fewer}],
                frame=MANY.assign(ill=["a", "b"] * 20),
                attributes={"ill": {"role": "sensitive"}},
            )
            for fewer in ({"l": 1}, {"l": 8, "on": ["c0", "c1"]})
        ),
    ),
    "dates that can be read in two ways": Case(
        "table/domain.py",
        "Declare the right one: 'format: \"",
        column("born", **DATES),
        (column("born", **DATES, format="%d/%m/%Y"), column("born", **DATES, format="%m/%d/%Y")),
    ),
    "numbers that are none": Case(
        "table/domain.py",
        "Fix them, list them under 'missing:', or declare '",
        column("job", role="quasi", type="number"),
        (column("job", role="quasi", type="category"),),
    ),
    "dates that are none": Case(
        "table/domain.py",
        "Declare it, for example 'format: \"%d/%m/%Y\"', or declare the column as 'type: category'.",
        column("job", role="quasi", type="date"),
        (column("job", role="quasi", type="category"),),
    ),
    "a column that is not there": Case(
        "sources/source.py",
        "self.instead_of(name)",
        column("agee", role="quasi"),
        (column("age", **AGE),),
    ),
    "columns without names": Case(
        "sources/source.py",
        "_NAME_THEM",
        looked("a.csv", "age,,sex\n1,2,f\n", header=True),
        (looked("a.csv", "age,,sex\n1,2,f\n", header=True, columns=["age", "dose", "sex"]),),
    ),
    "columns of one name": Case(
        "sources/source.py",
        "_NAME_THEM",
        looked("a.csv", "age,age\n1,2\n", header=True),
        (looked("a.csv", "age,dose\n1,2\n"), looked("a.csv", "age,age\n1,2\n", header=True, columns=["age", "dose"])),
    ),
    "a first line that is a record": Case(
        "sources/csv.py",
        "Name them: 'columns: [...]' under 'data:' of a policy, '--columns' in a command ('--no-header' numbers ",
        looked("a.csv", "39,Private\n50,Private\n38,State\n"),
        tuple(
            looked("a.csv", "39,Private\n50,Private\n38,State\n", **options)
            for options in ({"columns": ["age", "class"]}, {"header": False}, {"header": True})
        ),
    ),
    "a delimiter of two letters": Case(
        "sources/csv_dialect.py",
        "Write for example 'delimiter: \";\"'.",
        looked("a.csv", "age;sex\n1;f\n", delimiter=";;"),
        (looked("a.csv", "age;sex\n1;f\n", delimiter=";"),),
    ),
    "another number of columns": Case(
        "sources/csv_dialect.py",
        "Name every column once.",
        looked("a.csv", "1,f\n2,m\n", columns=["age"]),
        (looked("a.csv", "1,f\n2,m\n", columns=["age", "sex"]),),
    ),
    "another encoding": Case(
        "sources/csv_dialect.py",
        "Name its encoding, or leave it out.",
        looked("a.csv", "name\nJos\u00e9\n".encode("latin-1"), encoding="utf-8"),
        tuple(
            looked("a.csv", "name\nJos\u00e9\n".encode("latin-1"), **options)
            for options in ({"encoding": "latin-1"}, {})
        ),
    ),
    "an unknown encoding": Case(
        "sources/formats.py",
        "Common ones are utf-8, latin-1, cp1252 and utf-16.",
        looked("a.csv", "age\n1\n", encoding="utf-88"),
        (looked("a.csv", "age\n1\n", encoding="utf-8"),),
    ),
    "an empty file": Case(
        "sources/files.py",
        "Give a table with a header line and records.",
        looked("a.csv", ""),
        (looked("a.csv", "age\n1\n"),),
    ),
    "a file of spaces": Case(
        "sources/csv_dialect.py",
        "Give a table with a header line and records.",
        looked("a.csv", " \n \n"),
        (looked("a.csv", "age\n1\n"),),
    ),
    "a table without records": Case(
        "engine/duckdb.py",
        "Give a table with at least one record.",
        looked("a.csv", "age,sex\n"),
        (looked("a.csv", "age,sex\n1,f\n"),),
    ),
    "a line with too many fields": Case(
        "engine/duckdb.py", "remedy", looked("a.csv", "a,b\n1,2\n3,4,5\n"), (looked("a.csv", "a,b\n1,2\n3,4\n"),)
    ),
    "a memory without unit": Case(
        "working_folder.py",
        "Write a number and a unit, such as 4GB.",
        looked("a.csv", "age\n1\n", limits=medveil.Limits(memory="4")),
        (looked("a.csv", "age\n1\n", limits=medveil.Limits(memory="4GB")),),
    ),
    "names that are numbers": Case(
        "sources/frame.py",
        "Give every column a name that is a text: the first record is none.",
        changed(frame=pd.DataFrame({0: [1, 1]})),
        (changed({"attributes": {"age": AGE}, "privacy": [K]}, frame=pd.DataFrame({"age": [1, 1]})),),
    ),
    "no table": Case(
        "sources/frame.py",
        "Give a path, or a pandas, polars or Arrow table.",
        lambda _: medveil.inspect(5),
        (lambda _: medveil.inspect(FRAME),),
    ),
    "an empty folder": Case(
        "sources/parts.py",
        "Name a file, a folder of CSV or Parquet files, or a pattern such as 'visits/*.csv'.",
        parts_of("parts/*.csv", a_txt="x\n1\n"),
        (parts_of("parts/*.txt", a_txt="age\n1\n"), parts_of("parts/a.txt", a_txt="age\n1\n")),
    ),
    "a folder of folders": Case(
        "sources/parts.py",
        "Name them by a pattern, such as '",
        parts_of("parts", y__a_csv="age\n1\n", z__a_csv="age\n2\n"),
        (parts_of("parts/*/*.csv", y__a_csv="age\n1\n", z__a_csv="age\n2\n"),),
    ),
    "files of several kinds": Case(
        "sources/parts.py",
        "Name those of one kind by a pattern, such as 'visits/*.csv'.",
        parts_of("parts", a_csv="age\n1\n", b_json='{"a": 1}'),
        (parts_of("parts/*.csv", a_csv="age\n1\n", b_json='{"a": 1}'),),
    ),
    "parts of other widths": Case(
        "sources/parts.py",
        "Give every part the same columns, or name the parts that have them by a pattern.",
        parts_of("parts", a1_csv="age\n1\n", b_csv="age,sex\n1,f\n"),
        (
            parts_of("parts", a1_csv="age\n1\n", b_csv="age\n1\n"),
            parts_of("parts/a*.csv", a1_csv="age\n1\n", a2_csv="age\n1\n", b_csv="age,sex\n1,f\n"),
        ),
    ),
    "parts in another order": Case(
        "sources/parts.py",
        "Give every part the same columns in one order; with 'columns:' names are given for all of them.",
        parts_of("parts", a_csv="age,sex\n1,f\n", b_csv="sex,age\nf,1\n"),
        (parts_of("parts", a_csv="age,sex\n1,f\n", b_csv="age,sex\n1,f\n"),),
    ),
    "parts as linked tables": Case(
        "app/inspect.py",
        'Name their folder, or put the pattern in quotation marks: "visits/*.csv".',
        lambda folder: twice(
            parts_of("parts", a_csv="age\n1\n", b_csv="age\n1\n"),
            lambda _: inspect_linked([folder / "parts/a.csv", folder / "parts/b.csv"]),
        )(folder),
        (parts_of("parts", a_csv="age\n1\n", b_csv="age\n1\n"), parts_of("parts/*.csv", a_csv="age\n1\n")),
    ),
    "a directory that is there": Case(
        "release/directory.py",
        "Name a new directory, or remove that one first.",
        twice(changed(out="release"), changed(out="release")),
        (changed(out="another"),),
    ),
    "a policy that is there": Case(
        "app/inspect.py",
        "Name a new file, or remove that one first.",
        twice(*[lambda folder: write_policy(medveil.inspect(FRAME), folder / "a.csv", folder / "a.yaml")] * 2),
        (lambda folder: write_policy(medveil.inspect(FRAME), folder / "a.csv", folder / "b.yaml"),),
    ),
    "a budget of nothing": Case(
        "app/budget.py",
        "Name the ledger of the data.",
        lambda _: budget(PRIVATE),
        (lambda folder: budget(PRIVATE, ledger=folder / "ledger"),),
    ),
    "a budget without privacy": Case(
        "app/budget.py",
        "Name 'differential-privacy' in 'privacy:'.",
        lambda folder: budget(POLICY, ledger=folder / "ledger"),
        (lambda folder: budget(PRIVATE, ledger=folder / "ledger"),),
    ),
    "a folder that is no release": Case(
        "app/measure.py",
        "Name the table itself, and a policy that says what its columns are.",
        medveil.measure,
        (lambda _: medveil.measure(FRAME, policy=POLICY, quick=True),),
    ),
    "a value that stands for suppressed ones": Case(
        "declared_cells.py",
        "No record is read with such a value, and '",
        column("ill", PRIVATE, role="sensitive", domain=["a", "*"]),
        (column("ill", PRIVATE, role="sensitive", domain=["a", "b"]),),
    ),
    "a hierarchy in another encoding": Case(
        "hierarchy/file.py",
        "Save it as UTF-8.",
        twice(lambda f: (f / "j.csv").write_bytes(b"\xff\xfe;x;*"), jobs_of("j.csv")),
        (tree(GOOD_TREE),),
    ),
    "a hierarchy that is not there": Case(
        "hierarchy/file.py",
        "Paths in a policy are relative to the policy file.",
        jobs_of("none.csv"),
        (tree(GOOD_TREE),),
    ),
    "half a file in another encoding": Case(
        "sources/csv_dialect.py",
        "Save it in one encoding, preferably UTF-8.",
        looked("a.csv", b"name\n" + b"x\n" * 600_000 + b"\x81\n", encoding="cp1252"),
        (looked("a.csv", b"name\n" + b"x\n" * 600_000 + b"y\n", encoding="utf-8"),),
    ),
    "a file that is packed": Case(
        "sources/files.py",
        "_instead_of(path)",
        twice(looked("a.csv.gz", gzip.compress(b"age\n1\n")), lambda f: medveil.inspect(f / "a.csv")),
        (looked("a.csv.gz", gzip.compress(b"age\n1\n")),),
    ),
    "the address of a file": Case(
        "sources/files.py",
        "Leave 'file://' away.",
        lambda folder: medveil.inspect(f"file://{folder}/a.csv"),
        (looked("a.csv", "age\n1\n"),),
    ),
    "a damaged file": Case(
        "sources/formats.py",
        "Pack it again.",
        looked("a.csv.gz", gzip.compress(b"age\n1\n2\n")[:-9]),
        (looked("a.csv.gz", gzip.compress(b"age\n1\n2\n")),),
    ),
    "lists alone": Case(
        "sources/parquet.py",
        "Flatten them into plain columns.",
        of_parquet(a={"ages": [[1], [2]]}),
        (of_parquet(a={"age": [1, 2]}),),
    ),
    "parts of other types": Case(
        "sources/parts.py",
        "Write all parts with one schema.",
        of_parquet(a={"age": [1]}, b={"age": ["1"]}),
        (of_parquet(a={"age": [1]}, b={"age": [2]}),),
    ),
    "columns named in two ways": Case(
        "app/measure.py",
        "Use one or the other.",
        lambda _: medveil.measure(FRAME, policy=POLICY, quasi=["age"]),
        (lambda _: medveil.measure(FRAME, quasi=["age"]), lambda _: medveil.measure(FRAME, policy=POLICY, quick=True)),
    ),
    "a column named twice": Case(
        "app/measure.py",
        "Name every column once.",
        lambda _: medveil.measure(FRAME, quasi=["age"], sensitive=["age"]),
        (lambda _: medveil.measure(FRAME, quasi=["age"], sensitive=["ill"]),),
    ),
}
EXEMPT = {
    r"pip install": "what is not installed cannot be installed by a test",
    r".*\?$": "a question, which tells where to look and nothing to do",
    r"did_you_mean": "a name that is known: the three cases above show that one is found",
    r".*(permission|readable|writable|backup|[Dd]isk|chmod|is done\.|nothing is released)": "done on the machine",
    r"(explain\(|cause$|hint$|remedy$|self\.remedy)": "words that are put together; each is told by tests of its own",
    r".*(Uninstall|uninstall)": "another distribution's fault",
}
"""Advice by its words that nobody can follow here, and why."""
ELSEWHERE = {
    r"(cli|studio|reproduce|datasets)/": "commands and pages: tests/test_cli.py, tests/studio",
    r"app/(linked|linking|sets|omop|counting|inspect_folder|compare|reproduce|generate|starter|exposure)|engine/linking|methods/sets":
        "linked tables and other use cases: tests/linked, tests/app",
    r"(auditor|release|evaluation|risk|utility)/": "files that somebody changed, or what is measured: their own tests",
    r"(connections|registry|workspace|policy_file)\.py|sources/(database|fhir|omop|excel|json_lines|loaded|statistics)":
        "databases and files of offices: tests/sources",
    r"(clusters|sources/spark)\.py": "clusters: tests/engine/test_spark_refusals.py, tests/engine/test_spark_tables.py",
    r"engine/(?!duckdb\.py|duckdb_session\.py)|table/(pseudonyms|schema)|lattice/":
        "engines have tests of their own; what a policy cannot cause; tests/app/test_keys_and_dates.py",
    r"methods/(diversity_aware|dp|fixed_interval|h_ceiling|iab|iack|method|mondrian)|privacy/(delta|differential|integer|km|ms)":
        "methods and models whose advice their own tests follow: tests/methods, tests/privacy",
    r"hierarchy/(code_tree|zip3|hierarchy|omop|concept)": "code trees: tests/hierarchy",
}  # fmt: skip
"""Files whose advice is followed in their own tests."""


NOT_HERE = {
    "app/anonymize.py": "where a search tree is written to: tests/test_cli.py",
    "app/budget.py": "a ledger of version 0.1: tests/app/test_budget.py",
    "app/inspect.py": "files that are not linked: tests/linked/test_inspect.py",
    "app/making.py": "linked tables",
    "app/measure.py": "a release that was taken apart: tests/app/test_measure.py",
    "app/missing_values.py": "the command 'hierarchy': tests/app/test_missing_values.py",
    "app/preparation.py": "linked tables, and two files of a population: tests/privacy",
    "app/profiling.py": "what a profile finds in the release: tests/profiles",
    "declared_cells.py": "an empty list of values, which the policy itself refuses",
    "engine/duckdb.py": "memory and disk of the machine",
    "hierarchy/file.py": "a path that is a folder, and quotes: tests/hierarchy",
    "privacy/sensitive.py": "a model that was made by hand, in Python",
    "sources/csv.py": "what only engines without CSV readers meet: tests/sources/test_kinds.py",
    "sources/files.py": "files of other places, which a test cannot fetch",
    "table/domain.py": "a method that was given words for numbers, by hand",
}
"""Of files with cases, why the rest of their advice is not followed here."""


@pytest.mark.parametrize("name", CASES)
def test_who_follows_the_advice_gets_on(name, tmp_path):
    case = CASES[name]
    (tmp_path / "wrong").mkdir()
    with pytest.raises((medveil.PolicyError, medveil.InputError, medveil.OutputError)) as caught:
        case.wrong(tmp_path / "wrong")
    assert case.place in places_of(caught.value), str(caught.value)
    if not re.fullmatch(r"[\w.]+(\(.*\))?", case.advice):
        assert case.advice in f"{caught.value.remedy}", str(caught.value)
    assert caught.value.remedy
    for number, follow in enumerate(case.followed):
        (tmp_path / str(number)).mkdir()
        follow(tmp_path / str(number))


def places_of(error):
    """The files of medveil that an error came through; a doubt is made in one, and raised in another."""
    inside = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    through = {path.relative_to(ROOT).as_posix() for path in inside if path.is_relative_to(ROOT)}
    return through | ({"sources/csv.py"} if "looks like a record" in str(error) else set())


def advised():
    """Every piece of advice in the code: its file, and its words as they stand there."""
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS
            if named and len(node.args) > 1:
                yield place, words_of(node.args[1])


def words_of(advice):
    if isinstance(advice, ast.Constant):
        return str(advice.value)
    if isinstance(advice, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{}" for part in ast.iter_child_nodes(advice)
        )
    return ast.unparse(advice)


def test_every_piece_of_advice_is_followed_or_has_a_reason_not_to_be():
    left = [
        (place, words)
        for place, words in advised()
        if not any(case.place == place and case.advice.strip("'") in words for case in CASES.values())
        and not any(re.match(pattern, words) for pattern in EXEMPT)
        and not any(re.match(pattern, place) for pattern in ELSEWHERE)
    ]
    assert {place for place, _ in left} == set(NOT_HERE), "a new file with advice needs somebody who follows it"
