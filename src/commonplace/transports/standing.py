"""Streams that stay open to tell what happens: each ends with the credential that opened it, and no one has all."""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from mcp.shared.inbound import MCP_METHOD_HEADER
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.domain.access import STRANGER, Actor
from commonplace.domain.errors import CommonplaceError, Unauthenticated
from commonplace.engine.access import Access
from commonplace.transports.mcp import ACTOR
from commonplace.transports.refusals import Refusal

_LOOK = 3.0
"""Seconds between two looks at the credentials. A stream lasts for one more: who calls meanwhile is told why."""
_RETRY_AFTER = 30
_LISTENING = "subscriptions/listen"

logger = logging.getLogger(__name__)


class Stream:
    """One that is open; when its time is over the application takes it for one whose client has gone."""

    def __init__(self, actor: Actor, receive: Receive, send: Send) -> None:
        self.actor = actor
        self.is_doubtful = False
        """Whether its credential opened nothing when it was last looked at."""
        self._receive = receive
        self._send = send
        self._over = anyio.Event()
        self._is_begun = False

    def end(self) -> None:
        self._over.set()

    async def receive(self) -> Message:
        heard: list[Message] = []
        async with anyio.create_task_group() as tasks:

            async def hear() -> None:
                heard.append(await self._receive())
                tasks.cancel_scope.cancel()

            tasks.start_soon(hear)
            await self._over.wait()
            tasks.cancel_scope.cancel()
        return heard[0] if heard else {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self._is_begun = message["type"] == "http.response.start" or bool(message.get("more_body"))
        await self._send(message)

    async def close(self) -> None:
        """Tell the client that no more will come, where the application has not."""
        if self._is_begun and self._over.is_set():
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


class Standing:
    """The streams of a port."""

    def __init__(self, access: Access, most: float = math.inf, every: float = _LOOK) -> None:
        self._access = access
        self._most = most
        self._every = every
        self._streams: set[Stream] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch)
            yield
            tasks.cancel_scope.cancel()

    def kept(self, app: ASGIApp) -> ASGIApp:
        """The same, with its streams under watch."""

        async def keeping(scope: Scope, receive: Receive, send: Send) -> None:
            if not _stands(scope):
                await app(scope, receive, send)
            elif refusal := self._refusal(scope[ACTOR]):
                await refusal(scope, receive, send)
            else:
                await self._keep(app, Stream(scope[ACTOR], receive, send), scope)

        return keeping

    async def look(self) -> None:
        """End the streams whose credential opens nothing, and did not at the last look either."""
        opened: dict[Actor, bool] = {}
        for stream in list(self._streams):
            if stream.actor not in opened:
                opened[stream.actor] = await self._access.is_current(stream.actor)
            if stream.is_doubtful and not opened[stream.actor]:
                stream.end()
            stream.is_doubtful = not opened[stream.actor]

    async def _keep(self, app: ASGIApp, stream: Stream, scope: Scope) -> None:
        self._streams.add(stream)
        try:
            await app(scope, stream.receive, stream.send)
            await stream.close()
        finally:
            self._streams.discard(stream)

    def _refusal(self, actor: Actor) -> Refusal | None:
        if actor is STRANGER:
            problem = Unauthenticated()  # but no 401: for that clients give up on what strangers are told
            return Refusal(403, problem.message, problem.remedy)
        caller = (actor.user, actor.credential)
        if sum((one.actor.user, one.actor.credential) == caller for one in self._streams) < self._most:
            return None
        later = {"Retry-After": str(_RETRY_AFTER)}
        return Refusal(429, "this credential has too many streams", f"close one, or repeat in {_RETRY_AFTER} s", later)

    async def _watch(self) -> None:
        while True:
            await anyio.sleep(self._every)
            try:
                await self.look()
            except CommonplaceError as error:
                logger.warning("whether streams may go on could not be looked up: %s", error)
            except Exception:  # what ends the watch would end the server
                logger.exception("looking whether streams may go on failed")


def _stands(scope: Scope) -> bool:
    return scope["method"] == "GET" or Headers(scope=scope).get(MCP_METHOD_HEADER) == _LISTENING
