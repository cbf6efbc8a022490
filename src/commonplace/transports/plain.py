"""A large answer as plain JSON, where a stream would carry nothing else: some clients take no event above 1 MiB.

Up to 2025-11-25 the SDK begins a stream for every request before there is an answer. The beginning is kept back until
it is known what follows, but not for long: with it comes the id that a client names whose connection broke.
A stream that has begun carries its answer as one event, however large: to write it in several `data:` lines would not
help, because the SDK's client counts all lines of an event, and an answer cannot be several events.
"""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGE = 512 * 1024
_PATIENCE = 1.0
_JSON = (b"content-type", b"application/json")


class PlainWhenLarge:
    """Around what answers requests with event streams. Whoever may ask it for one takes JSON too."""

    def __init__(self, app: ASGIApp, patience: float = _PATIENCE) -> None:
        self._app = app
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        beginning = _Beginning(send, self._patience)
        try:
            await self._app(scope, receive, beginning)
        finally:
            beginning.close()


class _Beginning:
    """Of one answer: kept back until it is large and over, or anything else."""

    def __init__(self, send: Send, patience: float) -> None:
        self._send = send
        self._patience = patience
        self._kept: list[Message] = []
        self._event = b""
        self._passing = False
        self._turn = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._late: asyncio.Task[None] | None = None

    async def __call__(self, message: Message) -> None:
        async with self._turn:
            if self._passing:
                await self._send(message)
                return
            self._kept.append(message)
            if self._event and not message.get("more_body"):
                await self._send_plain()
            elif not self._may_be_plain(message):
                await self._pass_on()

    def close(self) -> None:
        if self._timer:
            self._timer.cancel()

    def _may_be_plain(self, message: Message) -> bool:
        """A stream, and in it not more than one event, if any, which is large."""
        if message["type"] == "http.response.start":
            self._timer = asyncio.get_running_loop().call_later(self._patience, self._stop_waiting)
            return b"text/event-stream" in dict(message["headers"]).get(b"content-type", b"")
        if not message.get("more_body"):
            return False
        event, earlier = _data(message["body"]), self._event
        self._event = event or earlier
        return not event or (not earlier and len(event) >= LARGE)

    def _stop_waiting(self) -> None:
        async def pass_on() -> None:
            async with self._turn:
                if not self._passing:
                    await self._pass_on()

        self._late = asyncio.get_running_loop().create_task(pass_on())

    async def _pass_on(self) -> None:
        self._passing = True
        self.close()
        for message in self._kept:
            await self._send(message)

    async def _send_plain(self) -> None:
        self._passing = True
        self.close()
        start = self._kept[0]
        others = [header for header in start["headers"] if header[0] not in (b"content-type", b"content-length")]
        size = (b"content-length", str(len(self._event)).encode())
        await self._send({**start, "headers": [*others, _JSON, size]})
        await self._send({"type": "http.response.body", "body": self._event})


def _data(event: bytes) -> bytes:
    return b"\n".join(line[6:] for line in event.splitlines() if line.startswith(b"data: "))
