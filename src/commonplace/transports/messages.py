"""What a client sends, read as a message, or told why it is none."""

from __future__ import annotations

import codecs
import json
from typing import Any

import mcp_types as types
from pydantic import ValidationError


class Unreadable(Exception):
    """What was sent is no message: how its sender is answered, under its id where that can be found."""

    def __init__(self, code: int, message: str, sent: Any) -> None:
        super().__init__(message)
        error = types.ErrorData(code=code, message=message)
        self.answer = types.JSONRPCError(jsonrpc="2.0", id=_identifier(sent), error=error)


def read(text: bytes) -> types.JSONRPCMessage | None:
    """The message that a text is; None for a blank one."""
    text = text.removeprefix(codecs.BOM_UTF8)
    if not text.strip():
        return None
    try:
        message = types.jsonrpc_message_adapter.validate_json(text.decode(), by_name=False)
    except UnicodeDecodeError as error:
        raise Unreadable(types.PARSE_ERROR, "Parse error: this is no UTF-8", _leniently(text)) from error
    except ValidationError as error:
        raise _unreadable(text, error) from error
    if isinstance(message, types.JSONRPCNotification) and "id" in (_leniently(text) if b'"id"' in text else ()):
        # With an id that is none it passes for a notification, and its sender would wait for ever.
        raise Unreadable(types.INVALID_REQUEST, "Invalid request: an id is a string or a whole number", None)
    return message


def _unreadable(text: bytes, error: ValidationError) -> Unreadable:
    if any(one["type"] == "json_invalid" for one in error.errors(include_url=False, include_input=False)):
        return Unreadable(types.PARSE_ERROR, "Parse error: this is no JSON that can be read", _leniently(text))
    return Unreadable(types.INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message", _leniently(text))


def _leniently(text: bytes) -> Any:
    """The standard library reads lone surrogates, which the SDK's parser does not: enough to find the id."""
    try:
        return json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _identifier(sent: Any) -> int | str | None:
    identifier = sent.get("id") if isinstance(sent, dict) else None
    sendable = type(identifier) in (int, str) and str(identifier).isprintable()
    return identifier if sendable else None
