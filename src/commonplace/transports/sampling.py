"""The client's own model, where it lends it: asked through the connection the call came on."""

from __future__ import annotations

import time
import warnings
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from commonplace.domain.errors import ModelFailed
from commonplace.ports.completions import Completer, Completion

_MOST_TOKENS = 100_000


class ClientModel:
    """The Completer port over `sampling/createMessage`."""

    def __init__(self, context: ServerRequestContext[Any, Any]) -> None:
        self._context = context
        self.name = "sampling"

    async def complete(self, system: str, user: str) -> Completion:
        question = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=user))
        try:
            with warnings.catch_warnings(action="ignore"):  # deprecated from 2026-07-28 on, and alive before it
                answer = await self._context.session.create_message(
                    [question],
                    max_tokens=_MOST_TOKENS,
                    system_prompt=system,
                    related_request_id=self._context.request_id,
                )
        except MCPError as error:
            raise ModelFailed("of the client", str(error)[:300]) from error
        if not isinstance(answer.content, types.TextContent):
            raise ModelFailed("of the client", "it answered with something else than text")
        # What it cost is the client's own affair: the protocol does not say.
        return Completion(answer.content.text, 0)

    async def check(self) -> float:
        began = time.perf_counter()
        await self._context.session.send_ping()
        return time.perf_counter() - began


def client_model(context: ServerRequestContext[Any, Any]) -> Completer | None:
    """None where the client does not offer it, or speaks a protocol in which a server cannot ask."""
    client = context.session.client_params
    if client is None or client.capabilities.sampling is None:
        return None
    return ClientModel(context) if context.session.check_client_capability(_SAMPLING) else None


_SAMPLING = types.ClientCapabilities(sampling=types.SamplingCapability())
