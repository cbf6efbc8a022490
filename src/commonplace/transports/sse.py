"""The older SSE transport: a stream out, messages in, and a session that outlives a broken connection."""

from __future__ import annotations

import json
import logging
import re
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server.runner import serve_dual_era_loop
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.domain.access import Actor
from commonplace.settings import Settings
from commonplace.transports.backlog import STANDING, Backlog, Room
from commonplace.transports.limits import beside_others
from commonplace.transports.mcp import ACTOR, SESSION, DialectServer
from commonplace.transports.messages import Unreadable, read
from commonplace.transports.refusals import Refusal

logger = logging.getLogger(__name__)

PATH = "/sse"
AWAITED = 60.0
"""Seconds that a session waits for a client whose connection broke."""
_RETRY_AFTER = 5
_ACCEPTED = PlainTextResponse("Accepted", 202)
_NO_MESSAGE = PlainTextResponse("Could not parse message", 400)
_TOO_MUCH = (413, 429)
_REFUSED = (401, 403, 503, *_TOO_MUCH)
_HEAD = 4096
_BRIEFLY = 2.0
"""Seconds in which a message that is refused must have come far enough to be named."""
# A client's library writes the id before what it belongs to, and of what is too large only the beginning is looked at.
_ID = re.compile(rb'^\s*\{[^{}]*?"id"\s*:\s*([0-9]{1,18}|"[^"\\]{0,200}")')


class Session:
    """One client: what it says goes in, what it is told is numbered and kept."""

    def __init__(self, owner: tuple[str, str], room: Room, timeout: float, awaited: float = AWAITED) -> None:
        self.id = secrets.token_hex(16)
        self.owner = owner
        self.streams = 0
        self.backlog = Backlog(room)
        self.heard, self._incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self._timeout = timeout
        self._awaited = awaited
        self._life = anyio.CancelScope()

    async def run(self, dialect: DialectServer) -> None:
        """Until the client has been idle, or away, for too long."""
        outgoing, told = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            with self._life:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._keep, told)
                    await serve_dual_era_loop(
                        dialect.server, self._incoming, outgoing, lifespan_state={}, init_options=dialect.options
                    )
                    tasks.cancel_scope.cancel()
        finally:
            self.backlog.close()
            self.heard.close()
            self._incoming.close()

    def used(self) -> None:
        self._life.deadline = anyio.current_time() + self._timeout

    def left(self) -> None:
        """The last stream has gone: the client may come back, but is not waited for as long."""
        if not self.streams:
            self._life.deadline = min(self._life.deadline, anyio.current_time() + self._awaited)

    def end(self) -> None:
        self._life.cancel()

    async def refuse(self, head: bytes, refusal: str) -> bool:
        """Answer a message that was refused: where nobody can tell which, all that the client waits for ends."""
        try:
            asked = _asked(head)
        except (ValueError, RecursionError):
            self.end()
            return False
        error = types.ErrorData(code=types.INVALID_REQUEST, message=refusal)
        await self.tell(types.JSONRPCError(jsonrpc="2.0", id=asked, error=error))
        return True

    async def tell(self, error: types.JSONRPCError) -> bool:
        """That a message came to nothing; False where it is not known which, and so nobody would know it for his."""
        if error.id is not None:
            await self.backlog.store_event(STANDING, error)
        return error.id is not None

    async def _keep(self, told: Any) -> None:
        async with told:
            async for message in told:
                if self.streams:
                    self.used()
                await self.backlog.store_event(STANDING, message.message)


class SseEndpoint:
    """`GET /sse` opens a stream, or with Last-Event-ID goes on with one; `POST /sse` sends to it."""

    def __init__(self, dialect: DialectServer, settings: Settings) -> None:
        self._dialect = dialect
        self._settings = settings
        self._room = Room()
        self._sessions: dict[str, Session] = {}
        self._tasks: TaskGroup | None = None
        self._messages = RequestBodyLimitMiddleware(self._message, settings.max_body_bytes)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    def __len__(self) -> int:
        return len(self._sessions)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            await self._messages(scope, receive, send)
        elif scope["method"] == "GET":
            await self._stream(scope, receive, send)
        else:
            await Response(status_code=405, headers={"Allow": "GET, POST"})(scope, receive, send)

    def session(self, scope: Scope) -> Session | None:
        """The one that a message is for, unless it is known to be someone else's."""
        session = self._sessions.get(Request(scope).query_params.get("session_id", ""))
        return None if session and ACTOR in scope and session.owner != _owner(scope) else session

    # Out

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        session, number = self._resumed(Request(scope)) or (None, 0)
        # Who comes back may be noticed before the connection that broke.
        others = Counter[tuple[str, str]]()
        for one in self._sessions.values():
            others[one.owner] += one.streams if one is not session else 0
        refusal = self._crowded(others, _owner(scope))
        if refusal:
            await refusal(scope, receive, send)
            return
        session = session or self._begun(_owner(scope))
        session.streams += 1
        session.used()
        events = self._events(session, number, scope.get("root_path", ""))
        try:
            await EventSourceResponse(events, ping=self._settings.sse_heartbeat)(scope, receive, send)
        finally:
            session.streams -= 1
            session.left()

    def _crowded(self, streams: Counter[tuple[str, str]], owner: tuple[str, str]) -> Response | None:
        """For whom there is no room beside these streams."""
        most, later = self._settings.sse_max_connections, {"Retry-After": str(_RETRY_AFTER)}
        remedy = f"repeat in {_RETRY_AFTER} s, or use streamable HTTP"
        if streams.total() >= beside_others(most):
            return Refusal(503, "too many SSE connections", remedy, later)
        if streams[owner] >= most:
            return Refusal(429, "this credential has too many SSE connections", remedy, later)
        return None

    async def _events(self, session: Session, number: int, root: str) -> AsyncIterator[Mapping[str, str]]:
        # With an id from the first event on: a connection that breaks before the first message is gone on with too.
        address = f"{root.rstrip('/')}{PATH}?session_id={session.id}"
        yield {"event": "endpoint", "data": address, "id": f"{session.id}.{number}"}
        async with aclosing(session.backlog.after(STANDING, number)) as following:
            async for kept in following:
                assert kept.message is not None
                text = kept.message.model_dump_json(by_alias=True, exclude_unset=True)
                yield {"event": "message", "data": text, "id": f"{session.id}.{kept.number}"}

    def _resumed(self, request: Request) -> tuple[Session, int] | None:
        """The session that a client comes back to, unless it is over or something of it was lost: then a new one."""
        identifier, _, digits = request.headers.get("last-event-id", "").partition(".")
        session = self._sessions.get(identifier)
        if session is None or session.owner != _owner(request.scope) or not digits.isdecimal() or len(digits) > 18:
            return None
        return (session, int(digits)) if session.backlog.holds_all_behind(int(digits)) else None

    def _begun(self, owner: tuple[str, str]) -> Session:
        assert self._tasks is not None
        away = [one for one in self._sessions.values() if not one.streams]
        away.sort(key=lambda one: one.owner != owner)  # of his own, before anyone's
        if len(self._sessions) >= beside_others(self._settings.sse_max_connections) and away:
            away[0].end()
        session = Session(owner, self._room, self._settings.session_timeout)
        self._sessions[session.id] = session
        self._tasks.start_soon(self._live, session)
        return session

    async def _live(self, session: Session) -> None:
        try:
            await session.run(self._dialect)
        except Exception:
            logger.exception("an SSE session failed")
        finally:
            del self._sessions[session.id]

    # In

    async def _message(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        session = self._sessions.get(request.query_params.get("session_id", ""))
        if not request.headers.get("content-type", "").lower().startswith("application/json"):
            await PlainTextResponse("Content-Type must be application/json", 400)(scope, receive, send)
        elif session is None or session.owner != _owner(scope):
            # Whoever has not opened it learns nothing about it.
            await PlainTextResponse("Could not find session", 404)(scope, receive, send)
        else:
            scope[SESSION] = session.id
            await _take(session, request, send)


class Told:
    """Says on the stream that a message was refused: a client awaits its answer there, and would for ever.

    Told there, too much at once is no error of the exchange itself: after one a client of the SDK sends nothing more.
    """

    def __init__(self, app: ASGIApp, endpoint: SseEndpoint) -> None:
        self._app = app
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        head, more, refusal = b"", True, list[Message]()

        async def heard() -> Message:
            nonlocal head, more
            message = await receive()
            head = (head + message.get("body", b""))[:_HEAD]
            more = message.get("more_body", False)
            return message

        async def passed(message: Message) -> None:
            if refusal or message.get("status") in _REFUSED:
                refusal.append(message)
            else:
                await send(message)

        await self._app(scope, heard, passed)
        if not refusal:
            return
        session = self._endpoint.session(scope)
        with anyio.move_on_after(_BRIEFLY):
            while session and more and len(head) < _HEAD:
                await heard()
        words = _words(b"".join(message.get("body", b"") for message in refusal))
        arrived = session is not None and (not more or len(head) == _HEAD)
        if session and arrived and await session.refuse(head, words) and refusal[0]["status"] in _TOO_MUCH:
            await _ACCEPTED(scope, receive, send)
            return
        for message in refusal:
            await send(message)


def _asked(head: bytes) -> int | str | None:
    """The id of a message, or of one that is too large by its beginning; None for one that awaits no answer."""
    named = _ID.match(head)
    message = json.loads(b'{"id":' + named[1] + b"}" if named else head)
    asked = message.get("id") if isinstance(message, dict) else None
    return asked if type(asked) in (int, str) else None


def _words(body: bytes) -> str:
    """What a refusal says."""
    try:
        return ": ".join(json.loads(body).values())
    except ValueError:
        return body.decode(errors="replace")


def _owner(scope: Scope) -> tuple[str, str]:
    actor: Actor = scope[ACTOR]
    return actor.user, actor.credential


async def _take(session: Session, request: Request, send: Send) -> None:
    message = None
    answer: Response
    try:
        message = read(await request.body())
        answer = _ACCEPTED if message else _NO_MESSAGE
    except Unreadable as problem:
        answer = _ACCEPTED if await session.tell(problem.answer) else problem.response
    await answer(request.scope, request.receive, send)
    if message:
        session.used()
        await _hand_over(session, SessionMessage(message, ServerMessageMetadata(request_context=request)))


async def _hand_over(session: Session, message: SessionMessage) -> None:
    try:
        await session.heard.send(message)
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        logger.info("a session ended while a message for it came in")
