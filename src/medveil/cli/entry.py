"""Where the program starts and ends: stopped cleanly, and every error one clear message and an exit code."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from medveil.cli.application import app
from medveil.errors import MedveilError

# What typer raises for a wrong call: its class is public in no version, and no longer that of the package click.
_USAGE_ERROR: Any = typer.BadParameter.__mro__[2]
FAULT = 1
STOPPED = 130
SHOW_FAULTS = "MEDVEIL_TRACEBACK"


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
    """What is told of an error that is a bug in medveil: its kind and place, and no text of it."""
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
