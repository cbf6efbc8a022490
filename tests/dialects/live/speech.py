"""Speaking live: an object with a status, whatever happens; what is refused has a message in it."""

import json
from base64 import b64decode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from tarfile import open as open_tar
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from commonplace.dialects.live import live
from commonplace.domain.access import Actor
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.mcp import DialectServer
from tests.dialects.conversation import Connection, text_of, unique
from tests.serving import Era, Served

LIVE = "/live/mcp"
DONE = {"ok", "created", "deleted", "degraded"}
REFUSED = {"error", "not_found", "forbidden", "conflict", "already_exists"}
RULES = """# Memory Bank Rules

## Structure

- `projectbrief.md`: what the project is for
- `activeContext.md`: decisions, questions
- `progress.md`: progress, todos, issues, observations, insights
"""


class LiveConversation(Connection):
    """With live: what is done comes back with a good status, what is refused with a bad one."""

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The whole answer, which must be a good one."""
        return good(await self.answer(tool, **arguments))

    async def refused(self, tool: str, /, **arguments: Any) -> tuple[str, str]:
        """The status and the message of a refusal."""
        return refusal(await self.answer(tool, **arguments))

    async def invalid(self, tool: str, /, **arguments: Any) -> str:
        """What is wrong with the arguments."""
        status, message = await self.refused(tool, **arguments)
        assert status == "error", (status, message)
        assert message.startswith("Valeur invalide : "), message
        return message.removeprefix("Valeur invalide : ")

    async def outcome(self, tool: str, /, **arguments: Any) -> tuple[str, str]:
        """The status, good or bad, and the message of a refusal."""
        result = await self.answer(tool, **arguments)
        return refusal(result) if result.is_error else (str(good(result)["status"]), "")

    async def space(self, name: str = "", **more: Any) -> str:
        """The id of a new space."""
        given = {"space_id": name or unique(), "description": "", "rules": RULES, **more}
        return str((await self.call("space_create", **given))["space_id"])

    async def note(self, space: str, content: str = "", category: str = "observation", **more: Any) -> dict[str, Any]:
        return await self.call("live_note", space_id=space, category=category, content=content or unique(), **more)

    async def notes(self, space: str, **more: Any) -> list[str]:
        """The texts of its notes, the newest first."""
        found = await self.call("live_read", space_id=space, **more)
        return [note["content"] for note in found["notes"]]

    async def finds(self, space: str, query: str) -> list[str]:
        found = await self.call("live_search", space_id=space, query=query)
        return [note["content"] for note in found["notes"]]

    async def clear(self, space: str) -> None:
        """Take away what would be in the way of others: the store is shared, and some of their answers are whole."""
        await self.call("space_delete", space_id=space, confirm=True)

    async def token(self, permissions: str = "read,write", *spaces: str, name: str = "") -> str:
        """A new token."""
        given = {"name": name or unique(), "permissions": permissions, "space_ids": ",".join(spaces)}
        return str((await self.call("admin_create_token", **given))["token"])


def good(result: CallToolResult) -> dict[str, Any]:
    """The body of a success: given twice, and nothing but success."""
    body = _body(result)
    assert not result.is_error, body
    assert body["status"] in DONE
    return body


def refusal(result: CallToolResult) -> tuple[str, str]:
    """Status and message of a refusal: given twice, a real error, no more than a caller should have to read."""
    body = _body(result)
    assert result.is_error, body
    assert set(body) == {"status", "message"}
    assert body["status"] in REFUSED
    assert body["message"]
    assert "Traceback" not in body["message"]
    assert len(body["message"]) < 2000
    return body["status"], body["message"]


def _body(result: CallToolResult) -> dict[str, Any]:
    body: dict[str, Any] = result.structured_content or {}
    assert json.loads(text_of(result)) == body
    return body


def unpacked(answer: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of an archive, as anyone would unpack it."""
    data = b64decode(answer["archive_base64"], validate=True)
    assert len(data) == answer["archive_size"]
    with open_tar(fileobj=BytesIO(data), mode="r:gz") as archive:
        members = archive.getmembers()
        assert all(member.isfile() for member in members)
        files = {member.name: archive.extractfile(member) for member in members}
        return {name: file.read() for name, file in files.items() if file}


def on_disk(folder: Path) -> dict[str, bytes]:
    """What lies in a folder, by path, but for what the program keeps there for itself."""
    found = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".commonplace")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@asynccontextmanager
async def over_the_net(
    server: Served, key: str = "", era: Era = "legacy", **client: Any
) -> AsyncIterator[LiveConversation]:
    """A conversation over HTTP with whatever key, or without any."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=60) as web,
        Client(streamable_http_client(server.url(LIVE), http_client=web), mode=era, **client) as connected,
    ):
        yield LiveConversation(connected)


@asynccontextmanager
async def spoken_to(engine: Engine, settings: Settings, **client: Any) -> AsyncIterator[LiveConversation]:
    """A conversation with a server in this process, as the owner of the machine."""
    async with Client(DialectServer(live, engine, settings).server, mode="legacy", **client) as connected:
        yield LiveConversation(connected)


class _AsSomeone(DialectServer):
    """A server in this process whose caller is whoever shows a key."""

    def __init__(self, engine: Engine, settings: Settings, key: str) -> None:
        super().__init__(live, engine, settings)
        self._key = key

    async def _caller(self, context: Any) -> Actor:
        return (await self._engine.access.authenticate(self._key)).through("", "test")


@asynccontextmanager
async def spoken_to_as(engine: Engine, settings: Settings, key: str) -> AsyncIterator[LiveConversation]:
    """The same, with a key that is looked at in every call, as it is over HTTP."""
    async with Client(_AsSomeone(engine, settings, key).server, mode="legacy") as client:
        yield LiveConversation(client)
