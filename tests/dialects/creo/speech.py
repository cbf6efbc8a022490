"""Speaking creo: an object and words in Japanese beside it; what is refused is a message."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.client.client import Client

from commonplace.dialects._dialect import Answer, Call
from commonplace.dialects.creo import creo
from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.errors import CommonplaceError
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.mcp import DialectServer
from tests.dialects.conversation import Connection, text_of, unique

CREO = "/creo/mcp"


class CreoConversation(Connection):
    """With creo, over a wire."""

    async def call(self, tool: str, /, **arguments: Any) -> Any:
        """The object of an answer."""
        result = await self.answer(tool, **arguments)
        assert not result.is_error, text_of(result)
        assert result.structured_content is not None
        return result.structured_content

    async def says(self, tool: str, /, **arguments: Any) -> str:
        """The words of an answer."""
        result = await self.answer(tool, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """The message of a refusal: a real error, one line, nothing but text."""
        result = await self.answer(tool, **arguments)
        words = text_of(result)
        assert result.is_error, words
        assert result.structured_content is None
        assert words.startswith("❌ "), words
        assert "Traceback" not in words
        assert "\n" not in words, words
        assert len(words) < 2000
        return words.removeprefix("❌ ")

    async def invalid(self, tool: str, /, **arguments: Any) -> str:
        """What is wrong with the arguments."""
        words = await self.refused(tool, **arguments)
        assert words.startswith("入力が正しくありません: "), words
        return words.removeprefix("入力が正しくありません: ")

    async def remember(self, content: str = "", **more: Any) -> str:
        """The id of a new memory."""
        return str((await self.call("remember", content=content or unique(), **more))["id"])


class Speaker:
    """A caller of creo's tools in this process: any actor, without a wire in between."""

    def __init__(self, engine: Engine, settings: Settings, actor: Actor) -> None:
        self.engine = engine
        self.actor = actor
        self._settings = settings

    async def answer(self, tool: str, /, **arguments: Any) -> Answer[Any]:
        async def progress(done: int, total: int) -> None: ...

        found = creo.tools[tool]
        actor = self.actor.through(f"creo.{tool}", self.actor.session or f"test/{self.actor.credential}")
        require(actor, found.act.needs)
        return await found(Call(self.engine, actor, self._settings, progress), arguments)

    async def call(self, tool: str, /, **arguments: Any) -> Any:
        return (await self.answer(tool, **arguments)).value

    async def says(self, tool: str, /, **arguments: Any) -> str:
        return (await self.answer(tool, **arguments)).text

    async def refused(self, tool: str, /, **arguments: Any) -> CommonplaceError:
        with pytest.raises(CommonplaceError) as caught:
            await self.answer(tool, **arguments)
        return caught.value

    async def remember(self, content: str = "", **more: Any) -> str:
        return str((await self.call("remember", content=content or unique(), **more))["id"])


async def enrolled(engine: Engine, settings: Settings, name: str, *permissions: Permission, key: str = "") -> Speaker:
    """A user of this name with a key of his own, as he speaks."""
    allowed = frozenset(permissions or (Permission.READ, Permission.WRITE))
    made = await engine.access.create_key(key or f"{name}-{unique()}", allowed, user=name)
    return Speaker(engine, settings, await engine.access.authenticate(made.key))


@asynccontextmanager
async def spoken_to(engine: Engine, settings: Settings) -> AsyncIterator[CreoConversation]:
    async with Client(DialectServer(creo, engine, settings).server, mode="legacy") as client:
        yield CreoConversation(client)
