"""`/ws`: changes and presence are pushed as they happen, and again by number after a broken connection."""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from commonplace.dialects._dialect import Call
from commonplace.dialects.creo import creo
from commonplace.domain.access import Actor, Permission, require, require_whole
from commonplace.domain.errors import CommonplaceError, Forbidden, Invalid, StoreFailed
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.limits import Limits, share
from commonplace.transports.mcp import ACTOR
from commonplace.transports.refusals import Refusal
from commonplace.transports.switchboard import BATCH, MOST_LINES, PAUSE, TRY_AGAIN_LATER, Line, Switchboard, change

logger = logging.getLogger(__name__)

PATHS = ("/ws", "/creo/ws")
PROTOCOL = "commonplace"
_TO_CLOSE = 5.0
"""Seconds for a client to hear why."""
_LATER = {"Retry-After": "30"}
_LARGEST_NUMBER = 2**63 - 1

Message = Mapping[str, Any]


class Sockets:
    """Behind the check of host, origin and credential: who is let in, and what is said on the lines."""

    def __init__(self, engine: Engine, settings: Settings, limits: Limits, board: Switchboard | None = None) -> None:
        self._engine = engine
        self._settings = settings
        self._limits = limits
        self._board = board if board is not None else Switchboard(engine)
        self._shows_presence = engine.store.writable and not settings.read_only
        self._answers: dict[str, Callable[[Line, Message], Awaitable[Message | None]]] = {
            "hello": self._resume,
            "resume": self._resume,
            "heartbeat": self._heartbeat,
            "presence": self._presence,
            "ack": self._acknowledged,
        }

    def __len__(self) -> int:
        return len(self._board)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._board.run)
            yield
            tasks.cancel_scope.cancel()

    async def close(self) -> None:
        """Before the server stops."""
        await self._board.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        actor: Actor = scope[ACTOR]
        refusal = self._refusal(actor)
        if refusal:
            await refusal(scope, receive, send)
            return
        line = Line(actor.through("websocket", f"{actor.credential}/ws-{secrets.token_hex(8)}"))
        self._board.add(line)
        websocket = WebSocket(scope, receive, send)
        try:
            with line.scope:
                await self._serve(line, websocket)
        except StoreFailed as failure:
            self._fail(line, failure)
        finally:
            self._board.remove(line)
            with anyio.CancelScope(shield=True), anyio.move_on_after(_TO_CLOSE):
                await self._leave(line, websocket)

    def _refusal(self, actor: Actor) -> Response | None:
        try:
            require(actor, Permission.READ)
            require_whole(actor)
        except Forbidden as error:
            return Refusal(403, error.message, error.remedy)
        if self._board.closed or len(self._board) >= MOST_LINES:
            return Refusal(503, "too many connections", "try again later", _LATER)
        if self._board.held(actor) >= share(MOST_LINES):
            return Refusal(429, "this credential has too many connections", "close one, or try again later", _LATER)
        return None

    async def _serve(self, line: Line, websocket: WebSocket) -> None:
        offered = websocket.scope.get("subprotocols", ())
        await websocket.accept(PROTOCOL if PROTOCOL in offered else None)
        line.position = await self._engine.events.last()
        line.waiting.put_nowait(json.dumps(self._hello(line)))
        if self._shows_presence:
            await self._engine.attendance.update(line.actor)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._send, line, websocket)
            await self._listen(line, websocket)
            tasks.cancel_scope.cancel()

    def _fail(self, line: Line, failure: StoreFailed) -> None:
        """The client comes back, and loses nothing."""
        logger.warning("%s", failure)
        line.end(TRY_AGAIN_LATER, "the store cannot be read or written")

    async def _leave(self, line: Line, websocket: WebSocket) -> None:
        if line.ending:
            with suppress(WebSocketDisconnect, RuntimeError):  # it has gone by itself
                await websocket.close(*line.ending)
        if self._shows_presence:
            try:
                await self._engine.attendance.leave(line.actor)
            except CommonplaceError as error:
                logger.warning("a connection that was closed is still shown: %s", error)

    async def _send(self, line: Line, websocket: WebSocket) -> None:
        while True:
            text = await line.waiting.get()
            if not await self._board.is_sure(line, time.monotonic() - PAUSE):
                return
            try:
                await websocket.send_text(text)
            except (WebSocketDisconnect, RuntimeError):
                line.scope.cancel()  # the client has gone, or was let go by the server below
                return
            line.moved = time.monotonic()

    # What clients say

    async def _listen(self, line: Line, websocket: WebSocket) -> None:
        while (message := await websocket.receive())["type"] == "websocket.receive":
            wait = self._limits.users.take(line.actor.user)
            answer = _error(f"too many messages; repeat in {wait:.0f} s") if wait else await self._answer(line, message)
            if answer:
                await line.waiting.put(json.dumps(answer))

    async def _answer(self, line: Line, message: Message) -> Message | None:
        try:
            said = _parsed(message.get("text"))
            return await self._answers[said["type"]](line, said)
        except StoreFailed as failure:
            self._fail(line, failure)
            return None
        except CommonplaceError as error:
            return _error(error.in_full)

    def _hello(self, line: Line) -> Message:
        return {
            "type": "hello",
            "connection": line.connection,
            "session": line.actor.session,
            "user": f"users:{line.actor.user}",
            "lastEvent": line.position,
        }

    async def _resume(self, line: Line, said: Message) -> Message | None:
        """Everything after an event, in order, then what comes; without a number, after what the hello named."""
        after = _number("after", said.get("after", line.position))
        line.listening = False
        complete = None
        while True:
            told = await self._engine.watches.told([(line.actor, after)], BATCH)
            stretch = told[line.actor.user, after]
            complete = stretch.complete if complete is None else complete
            if stretch.news and not await self._board.is_sure(line, time.monotonic()):
                return None
            for news in stretch.news:
                await line.waiting.put(change(news))
            after = stretch.through
            if not stretch.more:
                break
        await line.waiting.put(json.dumps({"type": "replayed", "through": after, "complete": complete}))
        line.position = after
        while not line.has_room:  # for who is here; the client is still taking what it had missed
            await anyio.sleep(PAUSE)
        await self._board.introduce(line)
        return None

    async def _heartbeat(self, line: Line, said: Message) -> Message:
        if self._shows_presence:
            self._engine.attendance.alive(line.actor)
        return {"type": "pong"}

    async def _presence(self, line: Line, said: Message) -> None:
        """By the same rules as the tool of that name."""
        if not self._shows_presence:
            raise Invalid("presence", "this server only reads")
        actor = line.actor.through("creo.update_presence")
        tool = creo.offered(self._settings).get("update_presence")
        if tool is None:
            raise Invalid("presence", "this server does not offer update_presence")
        tool.act.require(actor)
        given = {name: value for name, value in said.items() if name != "type"}
        await tool(Call(self._engine, actor, self._settings), given)

    async def _acknowledged(self, line: Line, said: Message) -> None:
        """Nothing depends on it: what was told is kept for a while in any case."""
        _number("eventNumber", said.get("eventNumber"))


def _parsed(text: str | None) -> Message:
    try:
        said = json.loads(text or "")
    except (ValueError, RecursionError) as error:
        raise Invalid("message", "is not JSON in a text frame") from error
    kind = said.get("type") if isinstance(said, dict) else None
    if kind not in ("hello", "resume", "heartbeat", "presence", "ack"):
        raise Invalid("type", "must be one of hello, resume, heartbeat, presence, ack")
    found: Message = said
    return found


def _number(name: str, value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _LARGEST_NUMBER:
        raise Invalid(name, "must be the number of an event")
    return value


def _error(message: str) -> Message:
    return {"type": "error", "message": message}
