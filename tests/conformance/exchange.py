"""What a fixture tool may do beyond the frame: content of any kind, questions to the client, errors of the protocol."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.subscriptions import ServerEvent
from pydantic import BaseModel

from commonplace.dialects._dialect import Call, Dialect
from commonplace.transports.mcp import DialectServer

Context = ServerRequestContext[Any, Any]
Shown = list[types.ContentBlock] | types.InputRequiredResult
Showing = Callable[..., Awaitable[Shown]]
ResultT = TypeVar("ResultT", bound=BaseModel)


@dataclass
class Exchange:
    """One call of a tool as the protocol sees it, which tools of real dialects never need to."""

    server: DialectServer
    context: Context
    params: types.CallToolRequestParams
    shown: Shown | MCPError | None = None

    async def ask(self, request: types.ServerRequest, answer: type[ResultT]) -> ResultT:
        """A request to the client on the stream of its own call, as was the way before 2026-07-28."""
        metadata = ServerMessageMetadata(related_request_id=self.context.request_id)
        return await self.context.session.send_request(request, answer, metadata=metadata)

    async def log(self, text: str) -> None:
        await self.context.session.send_log_message("info", text, related_request_id=self.context.request_id)

    async def announce(self, event: ServerEvent) -> None:
        """To every listener. The listings of real dialects never change, so the product has no door for this."""
        for audience in self.server._subscriptions._audiences.values():
            await audience.bus.publish(event)

    def answer_to(self, question: str, answer: type[ResultT]) -> ResultT | None:
        """What the client sent for a question, where it is of the kind asked for."""
        given = (self.params.input_responses or {}).get(question)
        return given if isinstance(given, answer) else None

    def result(self, framed: Any) -> Any:
        """What was shown in place of the frame's answer, unless the frame refused the call."""
        if isinstance(self.shown, MCPError):
            raise self.shown
        if self.shown is None or framed.is_error:
            return framed
        return types.CallToolResult(content=self.shown) if isinstance(self.shown, list) else self.shown


_current: ContextVar[Exchange] = ContextVar("exchange")


def here() -> Exchange:
    return _current.get()


@contextmanager
def within(exchange: Exchange) -> Iterator[None]:
    token = _current.set(exchange)
    try:
        yield
    finally:
        _current.reset(token)


def shown_by(dialect: Dialect) -> Callable[[Showing], Showing]:
    """Registers a tool whose answer is more than a value: it takes the frame's road and shows its own result."""

    def register(function: Showing) -> Showing:
        @functools.wraps(function)
        async def run(call: Call, **values: Any) -> None:
            try:
                here().shown = await function(call, **values)
            except MCPError as error:
                here().shown = error

        dialect.reads(run)
        dialect.tools[function.__name__] = replace(dialect.tools[function.__name__], answers=None)
        return function

    return register
