"""A client of a dialect, as tests speak with it: call, be refused, read; in objects or in prose."""

import itertools
import json
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent, TextResourceContents

PATIENCE = 60
"""Seconds after which an answer is counted as none."""
ERROR_BODY = {"error", "code", "details"}
_LETTERS = "bdfgklmnprstvz"
_numbers = itertools.count(1)


def unique() -> str:
    """A word that no other memory holds: many tests share a store."""
    number, letters = next(_numbers) + 1000, ""
    while number:
        number, rest = divmod(number, len(_LETTERS))
        letters += _LETTERS[rest] + "aeiou"[rest % 5]
    return f"{letters}quix"


class Connection:
    """A client of one server over one wire."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def answer(self, tool: str, /, **arguments: Any) -> CallToolResult:
        """The whole result, good or bad. The client has checked it against the tool's output schema."""
        with anyio.fail_after(PATIENCE):
            return await self.client.call_tool(tool, arguments)

    async def content(self, uri: str) -> TextResourceContents:
        """What stands under an address."""
        with anyio.fail_after(PATIENCE):
            (content,) = (await self.client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        return content

    async def unreadable(self, uri: str) -> MCPError:
        """How reading an address fails."""
        with anyio.fail_after(PATIENCE), pytest.raises(MCPError) as caught:
            await self.client.read_resource(uri)
        return caught.value


class Conversation(Connection):
    """With a dialect that answers in objects."""

    async def call(self, tool: str, /, **arguments: Any) -> Any:
        """What the tool answers."""
        result = await self.answer(tool, **arguments)
        assert not result.is_error, result.structured_content
        structured = result.structured_content
        assert structured is not None
        return structured["result"] if set(structured) == {"result"} else structured

    async def refused(self, tool: str, /, **arguments: Any) -> dict[str, str]:
        """The error body the tool answers with."""
        return error_body(await self.answer(tool, **arguments))

    async def invalid(self, tool: str, /, **arguments: Any) -> str:
        """The details of an INVALID_PARAMETER."""
        body = await self.refused(tool, **arguments)
        assert body["code"] == "INVALID_PARAMETER"
        return body["details"]

    async def read(self, uri: str) -> Any:
        """What a resource holds."""
        content = await self.content(uri)
        assert content.mime_type == "application/json"
        return json.loads(content.text)


class ProseConversation(Connection):
    """With a dialect that answers in sentences: nothing but text, and errors that begin with `Error: `."""

    async def call(self, tool: str, /, **arguments: Any) -> str:
        """What the tool answers."""
        result = await self.answer(tool, **arguments)
        assert not result.is_error, text_of(result)
        return prose_of(result)

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """The sentence the tool refuses with, without the word before it."""
        return error_sentence(await self.answer(tool, **arguments))

    async def read(self, uri: str) -> str:
        """What a resource holds."""
        content = await self.content(uri)
        assert content.mime_type == "text/plain"
        return content.text


def text_of(result: CallToolResult) -> str:
    """The first text of a result."""
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


def error_body(result: CallToolResult) -> dict[str, str]:
    """Greeum's error body, which every failure has, twice."""
    assert result.is_error, result.structured_content
    body: dict[str, str] = result.structured_content or {}
    assert set(body) == ERROR_BODY
    assert all(isinstance(value, str) for value in body.values())
    assert json.loads(text_of(result)) == body
    assert "Traceback" not in body["details"]
    return body


def prose_of(result: CallToolResult) -> str:
    """The one text of a result that has nothing else."""
    assert result.structured_content is None
    assert len(result.content) == 1
    return text_of(result)


def error_sentence(result: CallToolResult) -> str:
    """A refusal in prose: one line, no more than a caller should have to read."""
    words = prose_of(result)
    assert result.is_error, words
    assert words.startswith("Error: "), words
    assert words.endswith("."), words
    assert "\n" not in words, words
    assert "Traceback" not in words
    assert len(words) < 1000
    return words.removeprefix("Error: ")
