"""Planting and reading, as the tests of nocturne do it again and again."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.client.client import Client

from commonplace.dialects.nocturne import nocturne
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.mcp import DialectServer
from tests.dialects.conversation import ProseConversation, unique

RULE = "=" * 60
_CREATED = re.compile(r"Success: Memory created at '(?P<uri>[^']+)'")
_BY_ID = re.compile(r"memory://[0-9a-f-]{36}")
_NUMBER = re.compile(r"^Memory ID: (\d+)$", re.MULTILINE)


@asynccontextmanager
async def spoken_to(engine: Engine, settings: Settings) -> AsyncIterator[ProseConversation]:
    async with Client(DialectServer(nocturne, engine, settings).server, mode="legacy") as client:
        yield ProseConversation(client)


async def plant(talk: ProseConversation, parent: str = "core://", content: str = "", **more: Any) -> str:
    """The address of a new memory, under a name of its own where none is given."""
    arguments = {"priority": 1, "title": unique(), **more}
    said = await talk.call("create_memory", parent_uri=parent, content=content or unique(), **arguments)
    created = _CREATED.fullmatch(said)
    assert created, said
    return created["uri"]


async def content(talk: ProseConversation, uri: str) -> str:
    """The text on a memory's page."""
    page = await talk.call("read_memory", uri=uri)
    _, _, rest = page.partition(f"\n{RULE}\n\nMEMORY: ") if not page.startswith(RULE) else ("", "", page)
    text = rest.split(f"{RULE}\n", 2)[2].removeprefix("\n")
    return text.partition(f"\n\n{RULE}\nCHILD MEMORIES")[0]


async def children(talk: ProseConversation, uri: str) -> list[str]:
    """The addresses listed on a page."""
    return re.findall(r"^- URI: (\S+)$", await talk.call("read_memory", uri=uri), re.MULTILINE)


async def number(talk: ProseConversation, uri: str) -> int:
    """The memory's number, the same at all its addresses."""
    found = _NUMBER.search(await talk.call("read_memory", uri=uri))
    assert found
    return int(found[1])


async def pruned(talk: ProseConversation, uri: str) -> str:
    """Delete a last path; the address that is left."""
    found = _BY_ID.search(await talk.call("delete_memory", uri=uri))
    assert found
    return found[0]
