"""A wire that breaks: it carries bytes between a client and a server, and cuts a stream where it is told to."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

Cut = Callable[[bytes, bytes], int | None]
"""What was asked on a connection and what is coming back: how many of these bytes still arrive, None for all."""


@dataclass
class Wire:
    port: int
    cuts: int = 0
    resumed: int = 0
    """How often a client came back with the id of an event."""


@asynccontextmanager
async def breaking(port: int, cut: Cut) -> AsyncIterator[Wire]:
    """A port that leads to another, until something is cut."""
    wire = Wire(0)

    async def carried(near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        far, there = await asyncio.open_connection("127.0.0.1", port)
        asked = bytearray()

        async def up() -> None:
            while data := await near.read(65536):
                asked.extend(data)
                wire.resumed += data.lower().count(b"last-event-id")
                there.write(data)
                await there.drain()

        async def down() -> None:
            while data := await far.read(65536):
                arriving = cut(bytes(asked), data) if not wire.cuts else None
                back.write(data[:arriving])
                await back.drain()
                if arriving is not None:
                    wire.cuts += 1
                    return

        ways = {asyncio.create_task(up()), asyncio.create_task(down())}
        try:
            # Cancelled only when all is over: nobody is left who would want to hear of it.
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            for end in (back, there):
                end.close()
                with contextlib.suppress(OSError):
                    await end.wait_closed()

    server = await asyncio.start_server(carried, "127.0.0.1", 0)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        server.close()
