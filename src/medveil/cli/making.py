"""Commands that make something out of records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from medveil.cli.options import AsJson, EngineName, LedgerFile, Memory, Remote, Threads
from medveil.cli.running import print_result, running
from medveil.kernels import load_numba


def anonymize(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    out: Annotated[Path, typer.Option(help="The release directory to make; it must not exist yet.")],
    data: Annotated[Path | None, typer.Option(help="Records to use instead of those the policy names.")] = None,
    trace: Annotated[
        Path | None, typer.Option(help="Also write the search tree to this file; keep it to yourself.")
    ] = None,
    ledger: LedgerFile = None,
    engine: EngineName = None,
    remote: Remote = None,
    as_json: AsJson = False,
    threads: Threads = None,
    memory: Memory = None,
) -> None:
    """Make a release directory whose claims have been proved from what was written."""
    load_numba()
    from medveil.app import anonymize as use_case  # noqa: PLC0415
    from medveil.terminal.release import show_release  # noqa: PLC0415

    if trace is not None:
        use_case.check_trace(policy, trace)
    with running(threads, memory, engine, remote) as run:
        release = use_case.anonymize(data, policy, out=out, ledger=ledger, run=run)
    if trace is not None:
        use_case.write_trace(release, trace)
    print_result(release.manifest, as_json, lambda: show_release(release))


def compare(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    out: Annotated[Path, typer.Option(help="The directory to make; it must not exist yet.")],
    methods: Annotated[str, typer.Option(help="'all', or names separated by commas.")] = "all",
    sweep: Annotated[str | None, typer.Option(help="A parameter and the values to try, such as k=2,5,10,25.")] = None,
    data: Annotated[Path | None, typer.Option(help="Records to use instead of those the policy names.")] = None,
    time_limit: Annotated[float, typer.Option(min=1, help="Seconds that each search may take.")] = 120.0,
    as_json: AsJson = False,
    threads: Threads = None,
    memory: Memory = None,
) -> None:
    """Run every method that fits a policy on the same data, and show what each reaches and costs."""
    from medveil.app import compare as use_case  # noqa: PLC0415
    from medveil.terminal.comparison import show_comparison  # noqa: PLC0415

    chosen = use_case.ALL if methods == use_case.ALL else [name.strip() for name in methods.split(",")]
    with running(threads, memory) as run:
        outcomes = use_case.compare(
            policy,
            out=out,
            chosen=chosen,
            sweep=sweep,
            data=data,
            time_limit=time_limit,
            run=run,
        )
    print_result(outcomes, as_json, lambda: show_comparison(outcomes, out))


def truthful(
    directory: Annotated[Path, typer.Argument(help="A release directory with a catalog of counterfeits.")],
    out: Annotated[Path, typer.Option(help="The file to write, .csv or .parquet; it must not exist yet.")],
    weights: Annotated[
        bool, typer.Option("--weights", help="All records instead, each with its probability of being real.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the table of which every record is real, from a release and its catalog alone."""
    from medveil.app import truthful as use_case  # noqa: PLC0415
    from medveil.terminal.truthful import show_truthful  # noqa: PLC0415

    with running() as run:
        found = use_case.truthful(directory, out, weights=weights, run=run)
    print_result(found, as_json, lambda: show_truthful(found, out))


def demo(
    rows: Annotated[int, typer.Option(min=100, help="How many records of patients to generate.")] = 20_000,
    out: Annotated[Path, typer.Option(help="The directory to make; it must not exist yet.")] = Path("demo"),
    as_json: AsJson = False,
) -> None:
    """Generate patients, anonymize them by every method of the papers and show what was achieved."""
    load_numba()
    from medveil.app import demo as use_case  # noqa: PLC0415
    from medveil.terminal.comparison import show_tour  # noqa: PLC0415

    with running() as run:
        tour = use_case.demo(rows, out, run=run)
    print_result(tour, as_json, lambda: show_tour(tour, out))
