"""Why a request is not served, said so that whoever sent it can read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.types import INTERNAL_ERROR, INVALID_REQUEST
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

_OURS = 500
"""From this status on it is the server's fault."""


class Refusal(JSONResponse):
    """An error and what to do about it.

    Who posts a message of the protocol is answered with one: of any other body a client tells its user nothing but
    that the server returned an error.
    """

    def __init__(self, status: int, error: str, remedy: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__({"error": error, "remedy": remedy}, status, headers)
        self._message = JSONResponse(_message(status, error, remedy), status, headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") == "POST" and "mcp" in scope["path"].split("/"):
            await self._message(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def _message(status: int, error: str, remedy: str) -> dict[str, Any]:
    """Without the id of what it answers: the body has not been read."""
    code = INTERNAL_ERROR if status >= _OURS else INVALID_REQUEST
    problem = {"code": code, "message": f"{error}: {remedy}", "data": {"error": error, "remedy": remedy}}
    return {"jsonrpc": "2.0", "id": None, "error": problem}
