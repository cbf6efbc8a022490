"""A message by itself, as curl or a script posts it: no handshake before it, no envelope around it.

Assoc's reference promises stateless JSON-RPC over POST. The revision of 2026-07-28 is stateless as well, so that such a
request is served as one of these: what it lacks is filled in, and the answer is plain JSON.
"""

from __future__ import annotations

import json
from typing import Any

from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp_types import CLIENT_CAPABILITIES_META_KEY, INVALID_PARAMS, PROTOCOL_VERSION_META_KEY
from starlette.types import ASGIApp, Receive, Scope, Send

from commonplace.transports.messages import Unreadable, again
from commonplace.transports.refusals import Refusal

_REVISION = "2026-07-28"
_NEGOTIATED = {b"mcp-session-id", MCP_PROTOCOL_VERSION_HEADER.encode()}
"""Whoever sends one of these headers has agreed on something, and is kept to it."""
_FILLED_IN = {b"accept", b"content-length", MCP_METHOD_HEADER.encode(), MCP_NAME_HEADER.encode()}
_OPENING = "initialize"
_NO_JSON = Refusal(400, "the Content-Type header says that this is no JSON", "send Content-Type: application/json")


class Bare:
    """Hands what stands by itself to `stateless`, all else to `app`. It stands where a body is a whole message."""

    def __init__(self, app: ASGIApp, stateless: ASGIApp) -> None:
        self._app = app
        self._stateless = stateless

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST" or _NEGOTIATED & {name for name, _ in scope["headers"]}:
            await self._app(scope, receive, send)
            return
        came = await receive()
        request = _bare(came.get("body", b""))
        if request is None:
            await self._app(scope, again(came, receive), send)
        elif not _is_json(scope):
            await _NO_JSON(scope, receive, send)
        elif flaw := _flaw(request):
            problem = Unreadable(INVALID_PARAMS, f"Invalid params: {flaw}", request)
            await problem.response(scope, receive, send)
        else:
            body = json.dumps(_enveloped(request)).encode()
            headed = {**scope, "headers": _headers(scope, request, body)}
            await self._stateless(headed, again({**came, "body": body}, receive), send)


def _is_json(scope: Scope) -> bool:
    kind: bytes = dict(scope["headers"]).get(b"content-type", b"")
    return kind.lower().startswith(b"application/json")


def _bare(body: bytes) -> dict[str, Any] | None:
    """The request or notification that this is, unless it opens a session or says itself which revision it is of."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        return None
    match sent:
        case {"method": str(method)} if method != _OPENING:
            params = sent["params"] = sent.get("params") or {}
            meta = params.setdefault("_meta", {})
            return None if isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta else sent
    return None


def _flaw(request: dict[str, Any]) -> str | None:
    """What keeps it from being put into an envelope: of that the envelope would be said to be wrong."""
    params, named = request["params"], NAME_BEARING_METHODS.get(request["method"])
    if not isinstance(params["_meta"], dict):
        return "params._meta must be an object"
    if named and not isinstance(params.get(named), str):
        return f"params.{named} must be a string"
    return None


def _enveloped(request: dict[str, Any]) -> dict[str, Any]:
    params = request["params"]
    meta = {CLIENT_CAPABILITIES_META_KEY: {}, **params["_meta"], PROTOCOL_VERSION_META_KEY: _REVISION}
    return {**request, "params": {**params, "_meta": meta}}


def _headers(scope: Scope, request: dict[str, Any], body: bytes) -> list[tuple[bytes, bytes]]:
    method = request["method"]
    named = NAME_BEARING_METHODS.get(method)
    filled = {
        "accept": "application/json",
        "content-length": str(len(body)),
        MCP_PROTOCOL_VERSION_HEADER: _REVISION,
        MCP_METHOD_HEADER: encode_header_value(method),
    }
    if named:
        filled[MCP_NAME_HEADER] = encode_header_value(request["params"][named])
    kept = [(name, value) for name, value in scope["headers"] if name not in _FILLED_IN]
    return [*kept, *((name.encode(), value.encode("latin-1")) for name, value in filled.items())]
