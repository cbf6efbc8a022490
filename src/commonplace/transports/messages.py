"""What a client sends, read as a message, or told why it is none.

JSON can spell half a character (`\\ud800`, a lone surrogate), and for one of them the SDK's parser refuses a whole
message. In an argument it is for the tool to refuse: the arguments are carried past the parser as they were sent.
"""

from __future__ import annotations

import codecs
import json
import re
from itertools import islice
from typing import Any

import mcp_types as types
from pydantic import ValidationError
from pydantic_core import from_json
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ARGUMENTS = "commonplace.arguments"
"""Under this key an HTTP request carries arguments that went past the parser."""
DEEPEST = 200
"""So deep the SDK's parser goes; what is nested deeper than that it gives up, and the id with it."""
_HALVES = re.compile(rb"\\u[dD][89a-fA-F]")
_MARKS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
"""A text in quotes, in which brackets mean nothing, or a bracket."""
_MOST_MARKS = 100_000


class Unreadable(Exception):
    """What was sent is no message: how its sender is answered, under its id where that can be found."""

    def __init__(self, code: int, message: str, sent: Any) -> None:
        super().__init__(message)
        error = types.ErrorData(code=code, message=message)
        self.answer = types.JSONRPCError(jsonrpc="2.0", id=_identifier(sent), error=error)

    @property
    def response(self) -> Response:
        """For who posted it."""
        text = self.answer.model_dump_json(by_alias=True, exclude_unset=True)
        return Response(text, 400, media_type="application/json")


def read(text: bytes) -> types.JSONRPCMessage | None:
    """The message that a text is; None for a blank one."""
    text = text.removeprefix(codecs.BOM_UTF8)
    if not text.strip():
        return None
    text, arguments = apart(text)
    message = _parsed(text)
    if arguments and isinstance(message, types.JSONRPCRequest) and message.params:
        message.params["arguments"] = arguments
    return message


def _parsed(text: bytes) -> types.JSONRPCMessage:
    try:
        message = types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError as error:
        raise _unreadable(text, error) from error
    if isinstance(message, types.JSONRPCNotification) and "id" in (_leniently(text) if b'"id"' in text else ()):
        # With an id that is none it passes for a notification, and its sender would wait for ever.
        raise Unreadable(types.INVALID_REQUEST, "Invalid request: an id is a string or a whole number", None)
    return message


def apart(text: bytes) -> tuple[bytes, dict[str, Any]]:
    """A text as the SDK can read it, and the arguments it had to be parted from; mostly there are none."""
    if not _is_utf8(text):
        raise Unreadable(types.PARSE_ERROR, "Parse error: this is no UTF-8", _leniently(text))
    if text.count(b"[") + text.count(b"{") > DEEPEST and not _is_readable(text):
        _refuse_deep(text)
    if not _HALVES.search(text) or _is_readable(text):
        return text, {}
    sent = _leniently(text)
    if _is_whole(sent):
        return text, {}  # it is unreadable for another reason
    match sent:
        case {"method": "tools/call", "params": {"arguments": dict(arguments), **others}}:
            rest = {**sent, "params": {**others, "arguments": {}}}
            if _is_whole(rest):
                return json.dumps(rest).encode(), arguments
    raise Unreadable(types.PARSE_ERROR, "Parse error: it holds a lone surrogate, which is no character", sent)


class Parted:
    """The same for streamable HTTP, where the SDK itself reads what was sent. It stands where a body comes whole."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        came = await receive()
        try:
            body, arguments = apart(came.get("body", b""))
            _parsed(body)  # else the SDK would answer with all that it tried to read it as
        except Unreadable as problem:
            await problem.response(scope, receive, send)
            return
        taken = again({**came, "body": body} if arguments else came, receive)
        await self._app({**scope, ARGUMENTS: arguments} if arguments else scope, taken, send)


def again(came: Message, receive: Receive) -> Receive:
    """For who comes next: first what was taken already, then the rest."""
    waiting = [came]

    async def next_one() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_one


def _unreadable(text: bytes, error: ValidationError) -> Unreadable:
    for one in error.errors(include_url=False, include_input=False):
        if one["type"] == "json_invalid":
            message = f"Parse error: this is no JSON that can be read: {one['ctx']['error']}"
            return Unreadable(types.PARSE_ERROR, message, _leniently(text))
    sent = _leniently(text)
    return Unreadable(types.INVALID_REQUEST, f"Invalid request: {_flaw(sent)}", sent)


def _flaw(sent: Any) -> str:
    match sent:
        case list():
            return "send one request per POST or line; a list of them, a batch, is no part of MCP since 2025-06-18"
        case {"jsonrpc": "2.0", "method": str(), "params": params} if not isinstance(params, dict):
            return "params must be an object"
    return "not a JSON-RPC 2.0 message"


def _refuse_deep(text: bytes) -> None:
    surface, depth = _surface(text)
    sent = _leniently(surface)
    if depth > DEEPEST and isinstance(sent, dict):
        message = f"Invalid request: it is nested too deeply, {DEEPEST} levels at most can be read"
        raise Unreadable(types.INVALID_REQUEST, message, sent)


def _surface(text: bytes) -> tuple[bytes, int]:
    """A text with nothing in what is nested in it, and how deep that goes; of a long one, its beginning."""
    kept, begun, depth, deepest = [], 0, 0, 0
    for mark in islice(_MARKS.finditer(text), _MOST_MARKS):
        if mark[0] in (b"[", b"{"):
            if depth == 1:
                kept.append(text[begun : mark.start()] + b"null")
            depth += 1
            deepest = max(deepest, depth)
        elif mark[0] in (b"]", b"}"):
            depth -= 1
            if depth == 1:
                begun = mark.end()
    return b"".join([*kept, b"}" if depth > 1 else text[begun:]]), deepest


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in text  # which no JSON may hold; the standard library would take it for UTF-16


def _is_whole(sent: Any) -> bool:
    """Whether all texts in it are of whole characters."""
    try:
        json.dumps(sent, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _is_readable(text: bytes) -> bool:
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def _leniently(text: bytes) -> Any:
    """The standard library reads lone surrogates, which the SDK's parser does not."""
    try:
        return json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _identifier(sent: Any) -> int | str | None:
    identifier = sent.get("id") if isinstance(sent, dict) else None
    sendable = type(identifier) in (int, str) and str(identifier).isprintable()
    return identifier if sendable else None
