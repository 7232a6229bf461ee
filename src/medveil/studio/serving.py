"""Starting a studio: a port of this machine alone, one address to enter by, and an end that leaves nothing behind."""

from __future__ import annotations

import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import uvicorn

from medveil.errors import InputError
from medveil.studio.application import make_application
from medveil.studio.settings import StudioSettings
from medveil.studio.site import make_studio
from medveil.system import lock

NAMES = ("127.0.0.1", "localhost")
LOCK = "lock"


def serve(settings: StudioSettings, *, tell: Callable[[str], None], browser: bool) -> None:
    """Serve until somebody ends it. `tell` is given the address, which lets in once."""
    settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Held as long as this process lives, however it ends.
    if not lock(os.open(settings.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)):
        raise InputError(
            f"Another studio is using the folder '{settings.folder}'.",
            "Use that one, or name another folder with --folder.",
        )
    with _listening(settings) as listener:
        port = listener.getsockname()[1]
        studio = make_studio(replace(settings, port=port), port)
        application = make_application(studio, frozenset(f"{name}:{port}" for name in NAMES))
        address = f"http://{settings.host}:{port}/start?token={studio.visits.token()}"
        configuration = uvicorn.Config(
            application,
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
            timeout_keep_alive=30,  # a busy machine answers late: a connection must outlast that
        )
        # Whoever comes before the server has begun waits for it: the port is open already.
        tell(address)
        if browser:
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        # Ctrl-C is how one ends it.
        with suppress(KeyboardInterrupt):
            uvicorn.Server(configuration).run(sockets=[listener])


def _listening(settings: StudioSettings) -> socket.socket:
    # With the protocol named, connections send at once; without it each answer waits 40 ms for the browser to confirm
    # the one packet before.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError:
        listener.close()
        raise InputError(
            f"Port {settings.port} is in use.", "Name another one with --port, or 0 for any that is free."
        ) from None
    listener.listen(128)
    return listener
