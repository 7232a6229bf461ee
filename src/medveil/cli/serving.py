"""The command that opens the studio."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from medveil.cli.running import STATE, named_connections


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
        folder=(folder or state / "studio").resolve(),
        data=data.resolve(),
        ledgers=state / "ledgers",
        port=port,
        connections=named_connections().addresses,
    )
    # One line, however narrow the terminal: it is copied, and read by programs.
    serve(settings, tell=lambda address: print(address, flush=True), browser=not no_browser)  # noqa: T201
