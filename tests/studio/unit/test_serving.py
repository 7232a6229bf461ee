"""The port that a studio listens on."""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

from medveil.studio.serving import _listening
from medveil.studio.settings import StudioSettings


def test_connections_send_at_once(tmp_path):
    """Otherwise every page takes 40 ms longer: its second packet waits until the first one is confirmed."""
    sends_at_once = []

    async def answer(_reader, writer):
        connection = writer.get_extra_info("socket")
        sends_at_once.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async def ask(listener):
        async with await asyncio.start_server(answer, sock=listener):
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            await reader.read()
            writer.close()

    listener = _listening(StudioSettings(tmp_path, tmp_path, tmp_path, port=0))
    with ThreadPoolExecutor(1) as other:  # a browser that another test opened may keep a loop in this thread
        other.submit(lambda: asyncio.run(ask(listener))).result()
    assert sends_at_once
    assert all(sends_at_once)
