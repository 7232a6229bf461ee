"""Who follows the advice on a table that cannot be read can read it."""

import gzip

import pandas as pd
import pytest
from tests.first_contact.following import AGE, FRAME, Case, K, changed, column, looked, of_parquet, parts_of, twice

import medveil
from medveil.app.inspect import inspect_linked, write_policy

DATES = {"role": "quasi", "type": "date", "hierarchy": {"type": "dates", "levels": ["year"]}}


def sheets(sheet, **tables):
    """A look at a sheet of a workbook."""

    def run(folder):
        with pd.ExcelWriter(folder / "a.xlsx", engine="xlsxwriter") as writer:
            for name, table in tables.items():
                table.to_excel(writer, sheet_name=name, index=False)
        return medveil.inspect(folder / "a.xlsx", **({} if sheet is None else {"sheet": sheet}))

    return run


def linked(*files):
    """A look at several tables, and a policy for them."""

    def run(folder):
        paths = []
        for name, content in files:
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
            paths.append(path)
        return inspect_linked(paths).policy({path.stem: str(path) for path in paths})

    return run


PEOPLE = "id,age\n" + "".join(f"q{i},{20 + i}\n" for i in range(30))
VISITS = "id,dose\n" + "".join(f"q{i % 30},{i % 7}\n" for i in range(60))
STRANGERS = "id,dose\n" + "".join(f"z{i % 7},{i % 7}\n" for i in range(60))
CSV = looked("a.csv", "age\n1\n")
CASES = {
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
        "Give every column a text as its name.",
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
    "a policy that is there": Case(
        "app/inspect.py",
        "Name a new file, or remove that one first.",
        twice(*[lambda folder: write_policy(medveil.inspect(FRAME), folder / "a.csv", folder / "a.yaml")] * 2),
        (lambda folder: write_policy(medveil.inspect(FRAME), folder / "a.csv", folder / "b.yaml"),),
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
        "Write the path alone, without 'file://'.",
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
    "a web address": Case(
        "sources/files.py", "Download the file first.", lambda _: medveil.inspect("https://ward.example/a.csv"), (CSV,)
    ),
    "an address in a store": Case(
        "sources/files.py", "Copy the file here first.", lambda _: medveil.inspect("s3://ward/a.csv"), (CSV,)
    ),
    "a device": Case("sources/files.py", "Name a CSV or Parquet file.", lambda _: medveil.inspect("/dev/null"), (CSV,)),
    "lists in JSON lines": Case(
        "sources/json_lines.py",
        "Flatten it, or leave it out.",
        looked("a.jsonl", '{"age": 1, "doses": [1, 2]}\n{"age": 2, "doses": [3]}\n'),
        (
            looked("a.jsonl", '{"age": 1, "dose": 1}\n{"age": 2, "dose": 3}\n'),
            looked("a.jsonl", '{"age": 1}\n{"age": 2}\n'),
        ),
    ),
    "an empty sheet among others": Case(
        "sources/excel.py",
        "Name the one that holds the table: 'sheet:' under 'data:', or '--sheet'.",
        sheets(None, empty=pd.DataFrame(), people=FRAME),
        (sheets("people", empty=pd.DataFrame(), people=FRAME),),
    ),
    "an empty sheet alone": Case(
        "sources/excel.py", "Give a table with a header row.", sheets(None, a=pd.DataFrame()), (sheets(None, a=FRAME),)
    ),
    "a sheet that is not there": Case(
        "sources/excel.py",
        "did_you_mean(sheet, names)",
        sheets("peple", people=FRAME),
        (sheets("people", people=FRAME),),
    ),
    "two files of one name": Case(
        "app/inspect.py",
        "Tables are called after their files: rename one.",
        linked(("a/people.csv", PEOPLE), ("b/people.csv", VISITS)),
        (linked(("a/people.csv", PEOPLE), ("b/visits.csv", VISITS)),),
    ),
    "tables that nothing connects": Case(
        "app/inspect.py",
        "One table needs a column with a value of its own in every record",
        linked(("people.csv", PEOPLE), ("visits.csv", STRANGERS)),
        (linked(("people.csv", PEOPLE), ("visits.csv", VISITS)),),
    ),
    "a policy in a folder that is not there": Case(
        "app/inspect.py",
        "cause",
        lambda folder: write_policy(medveil.inspect(FRAME), folder / "a.csv", folder / "none" / "a.yaml"),
        (lambda folder: write_policy(medveil.inspect(FRAME), folder / "a.csv", folder / "a.yaml"),),
    ),
}
"""Cases by what is wrong."""


@pytest.mark.parametrize("name", CASES)
def test_who_follows_the_advice_gets_on(name, tmp_path):
    CASES[name].check(tmp_path)
