"""Commands that check what was claimed, spent or printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from medveil.cli.options import (
    AsJson,
    Columns,
    Delimiter,
    Encoding,
    Header,
    LedgerFile,
    Memory,
    Missing,
    reading_options,
)
from medveil.cli.running import print_result, running


def audit(
    directory: Annotated[Path, typer.Argument(help="A release directory.")],
    source: Annotated[Path | None, typer.Option(help="The original data, for claims that need them.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    columns: Columns = None,
    header: Header = None,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Prove the claims of a release again, from its files."""
    from medveil.app import audit as use_case  # noqa: PLC0415
    from medveil.errors import VerificationError  # noqa: PLC0415
    from medveil.terminal.audit import show_audit  # noqa: PLC0415

    with running(memory=memory) as run:
        report = use_case.audit(
            directory, source, run=run, **reading_options(delimiter, encoding, missing, columns, header)
        )
    print_result(report, as_json, lambda: show_audit(report))
    if report.refuted:
        raise typer.Exit(VerificationError.exit_code)


def budget(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """Show what the releases of a policy's data have spent of its privacy budget."""
    from medveil.app import budget as use_case  # noqa: PLC0415
    from medveil.terminal.budget import show_account  # noqa: PLC0415

    with running() as run:
        account = use_case.budget(policy, ledger=ledger, run=run)
    print_result(account, as_json, lambda: show_account(account))


def audit_dp(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    runs: Annotated[int, typer.Option(help="Runs of the whole method on each small table.", min=100)] = 1000,
    confidence: Annotated[
        float, typer.Option(help="The confidence of all lower bounds together.", min=0.5, max=0.999999)
    ] = 0.999,
    as_json: AsJson = False,
) -> None:
    """Try to refute a policy's differential privacy on small neighbouring tables; the data are not read."""
    from medveil.app import audit_dp as use_case  # noqa: PLC0415
    from medveil.errors import VerificationError  # noqa: PLC0415
    from medveil.terminal.audit import show_privacy_audit  # noqa: PLC0415

    with running() as run:
        found = use_case.audit_dp(policy, runs=runs, confidence=confidence, run=run)
    print_result(found, as_json, lambda: show_privacy_audit(found))
    if found.caught:
        raise typer.Exit(VerificationError.exit_code)


def reproduce(
    paper: Annotated[str, typer.Argument(help="A paper's short name, or 'all'.")],
    data: Annotated[Path, typer.Option(envvar="MEDVEIL_DATA", help="The folder of public data sets.")] = Path("data"),
    out: Annotated[Path | None, typer.Option(help="A folder for the results as Markdown pages.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions, for a first look.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compute a paper's tables and figures anew and print them beside the paper's own."""
    from medveil.app import reproduce as use_case  # noqa: PLC0415
    from medveil.app.plain import to_json  # noqa: PLC0415
    from medveil.terminal.reproduction import show_reproduction  # noqa: PLC0415

    done, code = [], 0
    with running() as run:
        for found in use_case.reproduce(paper, data, out=out, quick=quick, run=run):
            if found.failed is not None:
                code = found.failed.exit_code
                typer.echo(f"medveil: {found.name}: {found.failed}", err=True)
                continue
            done.append({"paper": found.name, "sections": found.sections})
            if not as_json:
                show_reproduction(found)
    if as_json:
        typer.echo(to_json(done if paper == use_case.ALL else done[0]))
    if code:
        raise typer.Exit(code)
