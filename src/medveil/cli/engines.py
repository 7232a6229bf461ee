"""Commands about engines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from medveil.cli.options import AsJson
from medveil.cli.running import print_result, running

engine = typer.Typer(help="Look at where rows are counted.", no_args_is_help=True)


@engine.callback()
def _group() -> None:
    """Look at where rows are counted."""


@engine.command()
def check(
    remote: Annotated[str, typer.Option(help="Where the engine is, such as sc://host:15002.")],
    name: Annotated[str, typer.Option("--engine", help="The kind of engine.")] = "spark",
    folder: Annotated[
        Path | None, typer.Option(help="A folder that this machine and the cluster see under the same path.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare a cluster of your own with DuckDB, on generated patients."""
    from medveil.app import check_engine as use_case  # noqa: PLC0415
    from medveil.engine import named_engine  # noqa: PLC0415
    from medveil.errors import VerificationError  # noqa: PLC0415
    from medveil.terminal.engine import show_engine_report  # noqa: PLC0415

    chosen = named_engine(name, remote)
    if folder is not None:
        chosen = chosen.model_copy(update={"folder": str(folder)})
    with running() as run:
        report = use_case.check_engine(chosen, folder=folder, run=run)
    print_result(report, as_json, lambda: show_engine_report(report))
    if not report.ok:
        raise typer.Exit(VerificationError.exit_code)
