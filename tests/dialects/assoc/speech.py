"""Speaking assoc: an object with success, data, message and error, whatever happens."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.client.client import Client
from mcp_types import CallToolResult

from commonplace.dialects.assoc import assoc
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.mcp import DialectServer
from tests.dialects.conversation import Connection, text_of, unique

DONE = ("imported_count", "deleted_count")
"""What a report tells of what was done, which is nothing where it comes with a refusal."""
BODY = {"success", "data", "message", "error"}
ASSOC = "/assoc/mcp"


class AssocConversation(Connection):
    """With assoc: what is done comes back as data, what is refused as a code and words."""

    async def call(self, tool: str, /, **arguments: Any) -> Any:
        """The data of an answer."""
        return (await self.told(tool, **arguments))["data"]

    async def says(self, tool: str, /, **arguments: Any) -> str:
        """The message of an answer."""
        return str((await self.told(tool, **arguments))["message"])

    async def told(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The whole answer, which must be a good one."""
        return good(await self.answer(tool, **arguments))

    async def refused(self, tool: str, /, **arguments: Any) -> tuple[str, str]:
        """The code and the words of a refusal."""
        problem = refusal(await self.answer(tool, **arguments))["error"]
        return problem["code"], problem["message"]

    async def invalid(self, tool: str, /, **arguments: Any) -> str:
        """What is wrong with the arguments."""
        code, words = await self.refused(tool, **arguments)
        assert code == "VALIDATION_ERROR", (code, words)
        assert words.startswith("入力が正しくありません: ")
        return words.removeprefix("入力が正しくありません: ")

    async def store(self, content: str = "", **more: Any) -> str:
        """The id of a new memory, in the user's own domain unless another is named."""
        kept = await self.call("memory", action="store", content=content or unique(), **{"domain": "user", **more})
        return str(kept["memory_id"])

    async def get(self, memory_id: str) -> Any:
        return await self.call("memory", action="get", memory_id=memory_id)

    async def finds(self, word: str, **more: Any) -> list[str]:
        """The ids of all memories that hold a word, by a search without a threshold."""
        data = await self.call("memory", action="search", query=word, threshold=0.0, **more)
        return [one["memory_id"] for one in data["results"] if word in one["content"]]

    async def project(self, **members: str) -> str:
        """The id of a new project with these users, each with a role."""
        made = await self.call("project", action="create", name=unique())
        for user, role in members.items():
            await self.call("project", action="add_member", project_id=made["project_id"], user_id=user, role=role)
        return str(made["project_id"])


def good(result: CallToolResult) -> dict[str, Any]:
    """The body of a success: given twice, and nothing but success."""
    body = _body(result)
    assert not result.is_error, body
    assert body["success"] is True
    assert body["error"] is None
    assert body["message"]
    return body


def refusal(result: CallToolResult) -> dict[str, Any]:
    """The body of a refusal: given twice, a real error, no more than a caller should have to read."""
    body = _body(result)
    assert result.is_error, body
    assert body["success"] is False
    assert not any((body["data"] or {}).get(count) for count in DONE)
    assert set(body["error"]) == {"code", "message"}
    assert body["message"]
    assert body["error"]["message"].startswith(body["message"])
    assert "Traceback" not in body["error"]["message"]
    assert len(body["error"]["message"]) < 4000
    for told in (body["error"]["message"], *(one["reason"] for one in (body["data"] or {}).get("errors", ()))):
        assert not english(told), told
    return body


_AS_IT_IS = re.compile(r"`[^`]*`|\(詳細: .*\)|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
"""Commands, what another program says, and what the caller wrote."""


def english(message: str) -> list[str]:
    """What is said in English: names and values stand alone between Japanese words, a sentence has two in a row."""
    return re.findall(r"[A-Za-z]+ [A-Za-z]+", _AS_IT_IS.sub("…", message))


def _body(result: CallToolResult) -> dict[str, Any]:
    body: dict[str, Any] = result.structured_content or {}
    assert set(body) == BODY
    assert json.loads(text_of(result)) == body
    return body


@asynccontextmanager
async def spoken_to(engine: Engine, settings: Settings) -> AsyncIterator[AssocConversation]:
    async with Client(DialectServer(assoc, engine, settings).server, mode="legacy") as client:
        yield AssocConversation(client)
