"""The process's own ends as streams of the loop: whoever started the server is at the other side of them.

Pipes and sockets are read and written by the loop itself, without a thread in between. What a loop cannot wait for (a
file, a terminal, anything at all on Windows) is reached through a socket that a thread fills or empties.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import stat
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from threading import Thread

import anyio

logger = logging.getLogger(__name__)

_CHUNK = 65536
_PARTING = 5.0
"""Seconds in which the other side may read the rest when we are asked to stop."""


@contextlib.asynccontextmanager
async def standard() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """stdin and stdout. Meanwhile whatever reads the former finds nothing, whatever prints lands on stderr."""
    with _diverted(0, _nothing) as stdin, _diverted(1, _stderr) as stdout:
        async with _reader(stdin) as reader, _writer(stdout) as writer:
            yield reader, writer


@contextlib.contextmanager
def _diverted(descriptor: int, elsewhere: Callable[[], int]) -> Iterator[int]:
    """A private copy of the descriptor, which itself leads elsewhere."""
    private = os.dup(descriptor)
    blocks = sys.platform == "win32" or os.get_blocking(private)
    away = elsewhere()
    os.dup2(away, descriptor)
    os.close(away)
    try:
        yield private
    finally:
        if sys.platform != "win32":
            os.set_blocking(private, blocks)  # the other holders of the same pipe would notice
        os.dup2(private, descriptor)  # the copy stays open: a thread may still wait for it


def _nothing() -> int:
    return os.open(os.devnull, os.O_RDWR)


def _stderr() -> int:
    try:
        return os.dup(2)
    except OSError:  # it is closed
        return _nothing()


@contextlib.asynccontextmanager
async def _reader(descriptor: int) -> AsyncIterator[asyncio.StreamReader]:
    if not _waitable(descriptor):
        near, far = socket.socketpair()
        # A daemon: the process ends without waiting for it, whatever it waits for.
        Thread(target=_fill, args=(descriptor, far), daemon=True).start()
        reader, unwritten = await asyncio.open_connection(sock=near)
        async with _closing(unwritten):  # kept until then: a writer that nobody holds takes the reader along
            yield reader
        return
    reader = asyncio.StreamReader()
    pipe = os.fdopen(os.dup(descriptor), "rb", buffering=0)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        yield reader
    finally:
        transport.close()


@contextlib.asynccontextmanager
async def _writer(descriptor: int) -> AsyncIterator[asyncio.StreamWriter]:
    if not _waitable(descriptor):
        near, far = socket.socketpair()
        emptying = Thread(target=_empty, args=(far, descriptor), daemon=True)
        emptying.start()
        async with _closing((await asyncio.open_connection(sock=near))[1]) as writer:
            yield writer
        await asyncio.to_thread(emptying.join, _PARTING)
        return
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(os.dup(descriptor), "wb", buffering=0)
    unread = asyncio.StreamReader()
    transport, protocol = await loop.connect_write_pipe(lambda: asyncio.StreamReaderProtocol(unread), pipe)
    async with _closing(asyncio.StreamWriter(transport, protocol, None, loop)) as writer:
        yield writer


@contextlib.asynccontextmanager
async def _closing(writer: asyncio.StreamWriter) -> AsyncIterator[asyncio.StreamWriter]:
    """At the end the other side may take its time to read the rest; but not when we are asked to stop."""
    try:
        yield writer
        writer.close()
        with contextlib.suppress(OSError):  # the other side has gone
            await writer.wait_closed()
    finally:
        writer.close()
        with anyio.move_on_after(_PARTING, shield=True), contextlib.suppress(OSError):
            await writer.wait_closed()
        writer.transport.abort()


def _waitable(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def _fill(descriptor: int, far: socket.socket) -> None:
    with far, contextlib.suppress(OSError):  # one end has gone
        while chunk := os.read(descriptor, _CHUNK):
            far.sendall(chunk)


def _empty(far: socket.socket, descriptor: int) -> None:
    with far:
        try:
            while chunk := far.recv(_CHUNK):
                while chunk:
                    chunk = chunk[os.write(descriptor, chunk) :]
        except OSError as error:
            logger.error("stdout cannot be written to: %s", error.strerror)
