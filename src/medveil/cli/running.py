"""How a command runs: with what its environment says, and with its result as text or as JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from medveil.connections import Connections
    from medveil.run import Run

STATE = "MEDVEIL_STATE"
CONNECTIONS = "MEDVEIL_CONNECTIONS"
"""The file that says where databases are."""
CONNECTION = "MEDVEIL_CONNECTION_"
"""Before the name of a database: its address."""


@contextmanager
def running(
    threads: int | None = None, memory: str | None = None, engine: str | None = None, remote: str | None = None
) -> Iterator[Run]:
    """A run that shows how far it is, and keeps ledgers where the user's programs keep such things."""
    from medveil.engine import Limits, named_engine  # noqa: PLC0415
    from medveil.errors import InputError  # noqa: PLC0415
    from medveil.release.ledgers import LEDGERS, Ledgers  # noqa: PLC0415
    from medveil.run import Run  # noqa: PLC0415
    from medveil.system import state_folder  # noqa: PLC0415
    from medveil.terminal.progress import progress  # noqa: PLC0415
    from medveil.workspace import Workspace  # noqa: PLC0415

    state = Path(os.environ.get(STATE) or state_folder())
    if remote is not None and engine is None:
        raise InputError("'--remote' says where an engine is, and none is named.", "Add '--engine spark'.")
    chosen = None if engine is None else named_engine(engine, remote)
    with progress() as listener:
        yield Run(
            listener=listener,
            limits=Limits(threads, memory),
            ledgers=Ledgers(index=state / LEDGERS),
            engines=None if chosen is None else chosen.open,
            tables=chosen,
            workspace=Workspace(connections=named_connections()),
        )


def named_connections() -> Connections:
    """The databases that the environment names: in a file, and one by one, in whatever case."""
    from medveil.connections import Connections, read_connections  # noqa: PLC0415

    file = os.environ.get(CONNECTIONS)
    named = dict(read_connections(Path(file)).addresses) if file else {}
    single = {
        key.removeprefix(CONNECTION).lower(): value for key, value in os.environ.items() if key.startswith(CONNECTION)
    }
    return Connections({**named, **single})


def print_result(result: Any, as_json: bool, show: Callable[[], None]) -> None:
    if as_json:
        from medveil.app.plain import to_json  # noqa: PLC0415

        typer.echo(to_json(result))
    else:
        show()
