"""The commands, in the order in which the help lists them."""

from __future__ import annotations

from typing import Annotated

import typer

from medveil import __version__
from medveil.cli import checking, looking, making
from medveil.cli.engines import engine
from medveil.cli.serving import studio

app = typer.Typer(
    name="medveil",
    help="Publish health records so that patients stay hidden and the data stay useful.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    suggest_commands=False,  # what typer is built on suggests the nearest one already
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


for command in (
    making.anonymize,
    making.compare,
    checking.audit,
    making.truthful,
    checking.budget,
    checking.audit_dp,
    looking.inspect,
    looking.leakage,
    looking.measure,
    looking.hierarchy,
    making.demo,
    studio,
    looking.schema,
    checking.reproduce,
):
    app.command()(command)
app.add_typer(engine, name="engine")
