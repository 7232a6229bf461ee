"""The command line: thin. Every command calls the workflow and prints what it returns."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from medveil import __version__
from medveil.errors import MedveilError

if TYPE_CHECKING:
    from medveil.connections import Connections
    from medveil.run import Run

app = typer.Typer(
    name="medveil",
    help="Publish health records so that patients stay hidden and the data stay useful.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    suggest_commands=False,  # what typer is built on suggests the nearest one already
    context_settings={"help_option_names": ["-h", "--help"]},
)

# What typer raises for a wrong call: its class is public in no version, and no longer that of the package click.
_USAGE_ERROR: Any = typer.BadParameter.__mro__[2]
FAULT = 1
STOPPED = 130
SHOW_FAULTS = "MEDVEIL_TRACEBACK"
STATE = "MEDVEIL_STATE"
CONNECTIONS = "MEDVEIL_CONNECTIONS"
"""The file that says where databases are."""
CONNECTION = "MEDVEIL_CONNECTION_"
"""Before the name of a database: its address."""
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Delimiter = Annotated[str | None, typer.Option(help="What separates the fields of a CSV file.")]
Encoding = Annotated[str | None, typer.Option(help="The encoding of a CSV file, such as latin-1.")]
Missing = Annotated[list[str] | None, typer.Option(help="A text that means a missing value; may be repeated.")]
Columns = Annotated[
    str | None, typer.Option(help="The names of the columns of a CSV file without header line, with commas between.")
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line of a CSV file holds names; found out."),
]
Threads = Annotated[int | None, typer.Option(help="Number of cores (default: all).", min=1, max=1024)]
LedgerFile = Annotated[
    Path | None, typer.Option("--ledger", help="The privacy ledger of the data (default: beside the data).")
]
EngineName = Annotated[
    str | None, typer.Option("--engine", help="Where rows are counted, instead of what the policy says.")
]
Memory = Annotated[str | None, typer.Option(help="How much memory the engine may use, such as 4GB.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"medveil {__version__}")
        raise typer.Exit


@app.callback()
def _global(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def anonymize(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    out: Annotated[Path, typer.Option(help="The release directory to make; it must not exist yet.")],
    data: Annotated[Path | None, typer.Option(help="Records to use instead of those the policy names.")] = None,
    trace: Annotated[
        Path | None, typer.Option(help="Also write the search tree to this file; keep it to yourself.")
    ] = None,
    ledger: LedgerFile = None,
    engine: EngineName = None,
    as_json: AsJson = False,
    threads: Threads = None,
    memory: Memory = None,
) -> None:
    """Make a release directory whose claims have been proved from what was written."""
    from medveil import terminal  # noqa: PLC0415
    from medveil.app import anonymize as use_case  # noqa: PLC0415

    if trace is not None:
        use_case.check_trace(policy, trace)
    with _run(threads, memory, engine) as run:
        release = use_case.anonymize(data, policy, out=out, ledger=ledger, run=run)
    if trace is not None:
        use_case.write_trace(release, trace)
    _print(release.manifest, as_json, lambda: terminal.show_release(release))


@app.command()
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
    from medveil import terminal  # noqa: PLC0415
    from medveil.app import compare as use_case  # noqa: PLC0415

    chosen = use_case.ALL if methods == use_case.ALL else [name.strip() for name in methods.split(",")]
    with _run(threads, memory) as run:
        outcomes = use_case.compare(
            policy,
            out=out,
            chosen=chosen,
            sweep=sweep,
            data=data,
            time_limit=time_limit,
            run=run,
        )
    _print(outcomes, as_json, lambda: terminal.show_comparison(outcomes, out))


@app.command()
def audit(
    directory: Annotated[Path, typer.Argument(help="A release directory.")],
    source: Annotated[Path | None, typer.Option(help="The original data, for claims that need them.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    columns: Columns = None,
    header: Header = None,
    as_json: AsJson = False,
) -> None:
    """Prove the claims of a release again, from its files."""
    from medveil import terminal  # noqa: PLC0415
    from medveil.app import audit as use_case  # noqa: PLC0415
    from medveil.errors import VerificationError  # noqa: PLC0415

    with _run() as run:
        report = use_case.audit(directory, source, run=run, **_reading(delimiter, encoding, missing, columns, header))
    _print(report, as_json, lambda: terminal.show_audit(report))
    if report.refuted:
        raise typer.Exit(VerificationError.exit_code)


@app.command()
def truthful(
    directory: Annotated[Path, typer.Argument(help="A release directory with a catalog of counterfeits.")],
    out: Annotated[Path, typer.Option(help="The file to write, .csv or .parquet; it must not exist yet.")],
    weights: Annotated[
        bool, typer.Option("--weights", help="All records instead, each with its probability of being real.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the table of which every record is real, from a release and its catalog alone."""
    from medveil import terminal  # noqa: PLC0415
    from medveil.app import truthful as use_case  # noqa: PLC0415

    with _run() as run:
        found = use_case.truthful(directory, out, weights=weights, run=run)
    _print(found, as_json, lambda: terminal.show_truthful(found, out))


@app.command()
def budget(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """Show what the releases of a policy's data have spent of its privacy budget."""
    from medveil import terminal  # noqa: PLC0415
    from medveil.app import budget as use_case  # noqa: PLC0415

    with _run() as run:
        account = use_case.budget(policy, ledger=ledger, run=run)
    _print(account, as_json, lambda: terminal.show_account(account))


@app.command(name="audit-dp")
def audit_dp(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    runs: Annotated[int, typer.Option(help="Runs of the whole method on each small table.", min=100)] = 1000,
    confidence: Annotated[
        float, typer.Option(help="The confidence of all lower bounds together.", min=0.5, max=0.999999)
    ] = 0.999,
    as_json: AsJson = False,
) -> None:
    """Try to refute a policy's differential privacy on small neighbouring tables; the data are not read."""
    from medveil import terminal  # noqa: PLC0415
    from medveil.app import audit_dp as use_case  # noqa: PLC0415
    from medveil.errors import VerificationError  # noqa: PLC0415

    with _run() as run:
        found = use_case.audit_dp(policy, runs=runs, confidence=confidence, run=run)
    _print(found, as_json, lambda: terminal.show_privacy_audit(found))
    if found.caught:
        raise typer.Exit(VerificationError.exit_code)


@app.command()
def inspect(
    data: Annotated[list[Path], typer.Argument(help="A CSV or Parquet file; several for linked tables.")],
    policy_out: Annotated[Path | None, typer.Option(help="Write a commented starter policy to this file.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every column, also of a wide table.")] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    columns: Columns = None,
    header: Header = None,
    as_json: AsJson = False,
) -> None:
    """Tell what each column seems to be, how many people it gives away, and by which keys several tables are linked."""
    from medveil import terminal  # noqa: PLC0415
    from medveil.app import inspect as use_case  # noqa: PLC0415

    reading = _reading(delimiter, encoding, missing, columns, header)
    with _run() as run:
        if len(data) > 1:
            linked = use_case.inspect_linked(data, run=run, **reading)
        else:
            found = use_case.inspect(data[0], run=run, **reading)
    if len(data) > 1:
        _print(linked, as_json, lambda: terminal.show_linked_inspection(linked, every=every))
    else:
        _print(found, as_json, lambda: terminal.show_inspection(found, every=every))
    if policy_out is not None:
        if len(data) > 1:
            use_case.write_linked_policy(linked, data, policy_out)
        else:
            use_case.write_policy(found, data[0], policy_out)
        typer.echo(f"A starter policy is in {policy_out}: read it, correct it, then run medveil anonymize.", err=True)


@app.command()
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
    from medveil import terminal  # noqa: PLC0415
    from medveil.app import leakage as use_case  # noqa: PLC0415

    read = _reading(delimiter, encoding, missing, columns, header)
    with _run(threads, memory) as run:
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
    _print(found.to_list(), as_json, lambda: terminal.show_leakage(found))


@app.command()
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
    from medveil import terminal  # noqa: PLC0415
    from medveil.app import measure as use_case  # noqa: PLC0415

    with _run(threads, memory) as run:
        found = use_case.measure(
            given,
            original,
            policy,
            other=other,
            quick=quick,
            run=run,
            **_reading(delimiter, encoding, missing, columns, header),
        )
    _print(found, as_json, lambda: terminal.show_measurement(found))


@app.command()
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
    from medveil import terminal  # noqa: PLC0415
    from medveil.app import hierarchy as use_case  # noqa: PLC0415
    from medveil.app.missing_values import missing_values  # noqa: PLC0415

    options = _reading(delimiter, encoding, missing_text, columns, header)
    with _run() as run:
        if missing:
            lacking = missing_values(data, column, file=file, run=run, **options)
        else:
            found = use_case.hierarchy(data, column, run=run, **options)
    if missing:
        _print(lacking, as_json, lambda: terminal.show_missing_values(lacking))
    else:
        _print(found, as_json, lambda: terminal.show_proposal(found))


@app.command()
def demo(
    rows: Annotated[int, typer.Option(min=100, help="How many records of patients to generate.")] = 20_000,
    out: Annotated[Path, typer.Option(help="The directory to make; it must not exist yet.")] = Path("demo"),
    as_json: AsJson = False,
) -> None:
    """Generate patients, anonymize them by every method of the papers and show what was achieved."""
    from medveil import terminal  # noqa: PLC0415
    from medveil.app import demo as use_case  # noqa: PLC0415

    with _run() as run:
        tour = use_case.demo(rows, out, run=run)
    _print(tour, as_json, lambda: terminal.show_tour(tour, out))


@app.command()
def studio(
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes a free one.")] = 8760,
    folder: Annotated[Path | None, typer.Option(help="The one folder of all state (default: the user's own).")] = None,
    data: Annotated[Path, typer.Option(help="The root of what can be chosen on this computer.")] = Path(),
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> None:
    """Open medveil in the browser: from a table to a release, on this computer alone."""
    from medveil.errors import InputError  # noqa: PLC0415
    from medveil.system import state_folder  # noqa: PLC0415

    try:
        from medveil.studio.serving import serve  # noqa: PLC0415
        from medveil.studio.settings import StudioSettings  # noqa: PLC0415
    except ModuleNotFoundError:
        raise InputError("The studio is not installed.", "pip install 'medveil[studio]'") from None
    if not data.is_dir():
        raise InputError(f"There is no folder '{data}'.", "Name one with --data.")
    state = Path(os.environ.get(STATE) or state_folder())
    settings = StudioSettings(
        folder=(folder or state / "studio").resolve(), data=data.resolve(), ledgers=state / "ledgers", port=port
    )
    # One line, however narrow the terminal: it is copied, and read by programs.
    serve(settings, tell=lambda address: print(address, flush=True), browser=not no_browser)  # noqa: T201


@app.command()
def schema() -> None:
    """Print the JSON schema of the policy file."""
    from medveil.policy import Policy  # noqa: PLC0415

    typer.echo(json.dumps(Policy.model_json_schema(), indent=2))


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help="A paper's short name, or 'all'.")],
    data: Annotated[Path, typer.Option(envvar="MEDVEIL_DATA", help="The folder of public data sets.")] = Path("data"),
    out: Annotated[Path | None, typer.Option(help="A folder for the results as Markdown pages.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions, for a first look.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compute a paper's tables and figures anew and print them beside the paper's own."""
    from medveil import terminal  # noqa: PLC0415
    from medveil.app import reproduce as use_case  # noqa: PLC0415
    from medveil.app.plain import to_json  # noqa: PLC0415

    done, code = [], 0
    with _run() as run:
        for found in use_case.reproduce(paper, data, out=out, quick=quick, run=run):
            if found.failed is not None:
                code = found.failed.exit_code
                typer.echo(f"medveil: {found.name}: {found.failed}", err=True)
                continue
            done.append({"paper": found.name, "sections": found.sections})
            if not as_json:
                terminal.show_reproduction(found)
    if as_json:
        typer.echo(to_json(done if paper == use_case.ALL else done[0]))
    if code:
        raise typer.Exit(code)


def _reading(
    delimiter: str | None, encoding: str | None, missing: list[str] | None, columns: str | None, header: bool | None
) -> dict[str, Any]:
    """How a file is read, as a command was told."""
    import csv  # noqa: PLC0415

    names = None if columns is None else [name.strip() for name in next(csv.reader([columns], skipinitialspace=True))]
    return {
        "delimiter": delimiter,
        "encoding": encoding,
        "missing": missing or [],
        "columns": names,
        "header": header,
    }


@contextmanager
def _run(threads: int | None = None, memory: str | None = None, engine: str | None = None) -> Iterator[Run]:
    """A run that shows how far it is, and keeps ledgers where the user's programs keep such things."""
    from medveil import terminal  # noqa: PLC0415
    from medveil.engine import Limits, named_engine  # noqa: PLC0415
    from medveil.release.ledgers import LEDGERS, Ledgers  # noqa: PLC0415
    from medveil.run import Run  # noqa: PLC0415
    from medveil.system import state_folder  # noqa: PLC0415
    from medveil.workspace import Workspace  # noqa: PLC0415

    state = Path(os.environ.get(STATE) or state_folder())
    with terminal.progress() as listener:
        yield Run(
            listener=listener,
            limits=Limits(threads, memory),
            ledgers=Ledgers(index=state / LEDGERS),
            engines=None if engine is None else named_engine(engine),
            workspace=Workspace(connections=_connections()),
        )


def _connections() -> Connections:
    """The databases that the environment names: in a file, and one by one, in whatever case."""
    from medveil.connections import Connections, read_connections  # noqa: PLC0415

    file = os.environ.get(CONNECTIONS)
    named = dict(read_connections(Path(file)).addresses) if file else {}
    single = {
        key.removeprefix(CONNECTION).lower(): value for key, value in os.environ.items() if key.startswith(CONNECTION)
    }
    return Connections({**named, **single})


def _print(result: Any, as_json: bool, show: Callable[[], None]) -> None:
    if as_json:
        from medveil.app.plain import to_json  # noqa: PLC0415

        typer.echo(to_json(result))
    else:
        show()


@contextmanager
def _stoppable() -> Iterator[None]:
    """A kill is an interrupt: everything that cleans up after Ctrl-C does so after a kill.

    Whatever an interrupted library raises instead is an interrupt too.
    """
    stopped = False

    def interrupt(_signal: int, _frame: Any) -> None:
        nonlocal stopped
        stopped = True
        raise KeyboardInterrupt

    previous = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    except BaseException:
        if stopped:
            raise typer.Abort from None
        raise
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _fault(error: Exception) -> str:
    """What is told of an error that is a fault of medveil: its kind and place, and no text of it."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
        return "there is not enough memory. Allow more with --memory, or give fewer columns."
    trace = error.__traceback__
    place = ""
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.startswith("medveil"):
            place = f" in {name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return (
        f"this is a bug in medveil ({type(error).__name__}{place}). Please report it; "
        f"{SHOW_FAULTS}=1 shows more, which may hold values of the data."
    )


def main() -> None:
    """Run the command line; an error is one clear message and an exit code."""
    # A command makes hundreds of thousands of objects that live until its end: looking for dead cycles after every 700
    # of them takes a tenth of a small run.
    gc.set_threshold(50_000)
    try:
        with _stoppable():
            code = app(standalone_mode=False) or 0
    except MedveilError as error:
        typer.echo(f"medveil: {error}", err=True)
        code = error.exit_code
    except typer.Abort:
        code = STOPPED
    except _USAGE_ERROR as error:
        error.show()
        code = error.exit_code
    except Exception as error:
        if os.environ.get(SHOW_FAULTS):
            raise
        # The text of an error that nobody foresaw may hold a value of the data.
        typer.echo(f"medveil: {_fault(error)}", err=True)
        code = FAULT
    if code == STOPPED:
        typer.echo("medveil: stopped; nothing was written.", err=True)
    sys.exit(code)
