"""Commands that look at a table, or at what a policy may say, and change nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from medveil.cli.options import AsJson, Columns, Delimiter, Encoding, Header, Memory, Missing, Threads, reading_options
from medveil.cli.running import print_result, running
from medveil.kernels import load_numba


def inspect(
    data: Annotated[
        list[Path],
        typer.Argument(help="A CSV or Parquet file; several for linked tables, or a folder of FHIR or OMOP."),
    ],
    policy_out: Annotated[Path | None, typer.Option(help="Write a commented starter policy to this file.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every column, also of a wide table.")] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    columns: Columns = None,
    header: Header = None,
    sheet: Annotated[str | None, typer.Option(help="The sheet of a workbook (default: the first).")] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what each column seems to be, how many people it gives away, and by which keys several tables are linked."""
    from medveil.app import inspect as use_case  # noqa: PLC0415
    from medveil.app import inspect_folder  # noqa: PLC0415
    from medveil.terminal.inspection import show_inspection, show_linked_inspection  # noqa: PLC0415

    reading = {**reading_options(delimiter, encoding, missing, columns, header), "sheet": sheet}
    folder = data[0] if len(data) == 1 and data[0].is_dir() else None
    with running() as run:
        if folder is not None:
            linked = inspect_folder.inspect_folder(folder, run=run, **reading)
        elif len(data) > 1:
            linked = use_case.inspect_linked(data, run=run, **reading)
        else:
            found = use_case.inspect(data[0], run=run, **reading)
    if len(data) > 1 or folder is not None:
        print_result(linked, as_json, lambda: show_linked_inspection(linked, every=every))
    else:
        print_result(found, as_json, lambda: show_inspection(found, every=every))
    if policy_out is not None:
        if folder is not None:
            inspect_folder.write_folder_policy(linked, folder, policy_out)
        elif len(data) > 1:
            use_case.write_linked_policy(linked, data, policy_out)
        else:
            use_case.write_policy(found, data[0], policy_out)
        typer.echo(f"A starter policy is in {policy_out}: read it, correct it, then run medveil anonymize.", err=True)


def leakage(
    given: Annotated[Path, typer.Argument(help="A CSV or Parquet file, or a policy.")],
    column: Annotated[list[str] | None, typer.Option(help="Measure only this column; may be repeated.")] = None,
    up_to: Annotated[int, typer.Option(min=1, help="Also measure sets of up to this many columns.")] = 1,
    top: Annotated[int, typer.Option(min=1, help="How many sets to find.")] = 10,
    every: Annotated[bool, typer.Option("--all", help="Count and list all sets.")] = False,
    unique: Annotated[
        float | None, typer.Option(help="Find the smallest set that makes more than this share of people unique.")
    ] = None,
    subject: Annotated[str | None, typer.Option(help="The column that says who a record belongs to.")] = None,
    prior: Annotated[
        str | None, typer.Option(help="A column of weights: how likely each person is the one looked for.")
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    columns: Columns = None,
    header: Header = None,
    as_json: AsJson = False,
    threads: Threads = None,
    memory: Memory = None,
) -> None:
    """Tell how much each column, or set of columns, gives away of who somebody is."""
    load_numba()
    from medveil.app import leakage as use_case  # noqa: PLC0415
    from medveil.terminal.leakage import show_leakage  # noqa: PLC0415

    read = reading_options(delimiter, encoding, missing, columns, header)
    with running(threads, memory) as run:
        found = use_case.leakage(
            given,
            columns=column,
            up_to=up_to,
            top=None if every else top,
            unique=unique,
            subject=subject,
            prior=prior,
            run=run,
            names=read.pop("columns"),
            **read,
        )
    print_result(found.to_list(), as_json, lambda: show_leakage(found))


def measure(
    given: Annotated[Path, typer.Argument(help="A CSV or Parquet file, or a release directory.")],
    original: Annotated[Path | None, typer.Option(help="The data that it was made from.")] = None,
    policy: Annotated[Path | None, typer.Option(help="A policy that says what each column is.")] = None,
    other: Annotated[Path | None, typer.Option(help="Another release of the same people, to intersect with.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out attacks and trained models.")] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    columns: Columns = None,
    header: Header = None,
    as_json: AsJson = False,
    threads: Threads = None,
    memory: Memory = None,
) -> None:
    """Measure what a table or a release is still good for, and what it gives away."""
    load_numba()
    from medveil.app import measure as use_case  # noqa: PLC0415
    from medveil.terminal.measurement import show_measurement  # noqa: PLC0415

    with running(threads, memory) as run:
        found = use_case.measure(
            given,
            original,
            policy,
            other=other,
            quick=quick,
            run=run,
            **reading_options(delimiter, encoding, missing, columns, header),
        )
    print_result(found, as_json, lambda: show_measurement(found))


def hierarchy(
    data: Annotated[Path, typer.Argument(help="A file of records; with --missing, a policy.")],
    column: Annotated[str, typer.Argument(help="The column to generalize.")],
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Annotated[
        bool, typer.Option("--missing", help="List the values of the column that its hierarchy lacks; for you alone.")
    ] = False,
    file: Annotated[Path | None, typer.Option(help="With --missing and a file of records: the hierarchy file.")] = None,
    missing_text: Missing = None,
    columns: Columns = None,
    header: Header = None,
    as_json: AsJson = False,
) -> None:
    """Propose a hierarchy for a column, and draw it; or list the values that the declared one lacks."""
    from medveil.app import hierarchy as use_case  # noqa: PLC0415
    from medveil.app.missing_values import missing_values  # noqa: PLC0415
    from medveil.terminal.hierarchy import show_missing_values, show_proposal  # noqa: PLC0415

    options = reading_options(delimiter, encoding, missing_text, columns, header)
    with running() as run:
        if missing:
            lacking = missing_values(data, column, file=file, run=run, **options)
        else:
            found = use_case.hierarchy(data, column, run=run, **options)
    if missing:
        print_result(lacking, as_json, lambda: show_missing_values(lacking))
    else:
        print_result(found, as_json, lambda: show_proposal(found))


def schema() -> None:
    """Print the JSON schema of the policy file."""
    from medveil.policy import Policy  # noqa: PLC0415

    typer.echo(json.dumps(Policy.model_json_schema(), indent=2))
