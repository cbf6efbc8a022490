"""Clients of the WebSocket: of the application in this process, without a server or bytes in between, and real ones."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message
from websockets.asyncio.client import ClientConnection, connect

from commonplace.dialects.creo import creo
from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.collection import Collection, Kind
from commonplace.domain.watch import Channel, Wish
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.http import Front
from commonplace.transports.mcp import DialectServer
from tests.serving import OWNER_KEY, Served

PATIENCE = 30


@dataclass(frozen=True)
class Person:
    """A user with a key."""

    actor: Actor
    key: str


async def person(engine: Engine, name: str, *permissions: Permission) -> Person:
    allowed = frozenset(permissions or (Permission.READ, Permission.WRITE))
    made = await engine.access.create_key(f"{name} {len(await engine.access.keys())}", allowed, user=name)
    return Person((await engine.access.authenticate(made.key)).through("test", f"session of {name}"), made.key)


async def watch(engine: Engine, *people: Person) -> None:
    for one in people:
        await engine.watches.add(one.actor, Wish(channel=Channel.WEBSOCKET))


async def shared(engine: Engine, owner: Person, *names: str) -> Collection:
    made = (await engine.collections.found(owner.actor, Kind.PROJECT, "together")).collection
    for name in names:
        await engine.collections.add_member(owner.actor, Kind.PROJECT, made.id, name, Right.READ)
    return made


class Caller:
    """A client that may come and go, and may be slow."""

    def __init__(self, app: ASGIApp, key: str, path: str = "/ws") -> None:
        self._app = app
        self._key = key
        self._path = path
        self._said: asyncio.Queue[Message] = asyncio.Queue()
        self._heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self.takes = asyncio.Event()
        """Cleared, the client takes nothing."""
        self.takes.set()
        self.closed: int | None = None
        self.status: int | None = None
        self.hello: dict[str, Any] = {}

    async def open(self, *headers: tuple[str, str], protocols: tuple[str, ...] = ()) -> "Caller":
        """As far as the server lets it in."""
        given = {
            "host": "127.0.0.1:8000",
            **({"authorization": f"Bearer {self._key}"} if self._key else {}),
            **dict(headers),
        }
        scope = {
            "type": "websocket",
            "path": self._path,
            "raw_path": self._path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "subprotocols": list(protocols),
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8000),
            "scheme": "ws",
            "extensions": {"websocket.http.response": {}},
            "state": {},
        }
        self._said.put_nowait({"type": "websocket.connect"})

        async def run() -> None:
            await self._app(scope, self._said.get, self._take)

        self._task = asyncio.create_task(run())
        if await self._answered():
            self.hello = await self.next("hello")
        return self

    async def _answered(self) -> bool:
        """Whether it was let in."""
        first = await asyncio.wait_for(self._heard.get(), PATIENCE)
        self.status = first.get("status")
        return bool(first["type"] == "accepted")

    async def _take(self, message: Message) -> None:
        if message["type"] == "websocket.accept":
            self._heard.put_nowait({"type": "accepted", "protocol": message.get("subprotocol")})
        elif message["type"] == "websocket.http.response.start":
            self._heard.put_nowait({"type": "refused", "status": message["status"]})
        elif message["type"] == "websocket.close":
            self.closed = message["code"]
            self._said.put_nowait({"type": "websocket.disconnect", "code": message["code"]})
            self._heard.put_nowait({"type": "closed", "code": message["code"]})
        elif message["type"] == "websocket.send":
            if not self.takes.is_set():
                await self.takes.wait()
            self._heard.put_nowait(json.loads(message["text"]))

    def say(self, message: Any) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        self._said.put_nowait({"type": "websocket.receive", "text": text})

    def say_bytes(self, data: bytes) -> None:
        self._said.put_nowait({"type": "websocket.receive", "bytes": data})

    async def listen(self, after: int | None = None) -> list[dict[str, Any]]:
        """Say from where on; what was missed."""
        self.say({"type": "hello"} if after is None else {"type": "resume", "after": after})
        missed = []
        while (message := await self.message())["type"] != "replayed":
            missed.append(message)
        self.hello |= {"through": message["through"], "complete": message["complete"]}
        return missed

    async def message(self) -> dict[str, Any]:
        if self._heard.empty():
            return await asyncio.wait_for(self._heard.get(), PATIENCE)
        return self._heard.get_nowait()

    async def next(self, kind: str = "memory") -> dict[str, Any]:
        """The next message of a kind; others are passed over."""
        while not (message := await self.message())["type"].startswith(kind):
            assert message["type"] != "closed", message
        return message

    def pending(self) -> list[dict[str, Any]]:
        """What has arrived and was not looked at."""
        return [self._heard.get_nowait() for _ in range(self._heard.qsize())]

    async def hang_up(self) -> None:
        self._said.put_nowait({"type": "websocket.disconnect", "code": 1000})
        self.takes.set()
        await self.over()

    async def over(self) -> None:
        """Until the server is done with it."""
        if self._task:
            await asyncio.wait_for(self._task, PATIENCE)


@asynccontextmanager
async def application(engine: Engine, **settings: Any) -> AsyncIterator[ASGIApp]:
    """The whole HTTP application, running."""
    chosen = Settings(data_dir=engine.store.location, timezone="Asia/Seoul", dialect="creo", **settings)
    front = Front({"creo": DialectServer(creo, engine, chosen)}, engine, chosen)
    app = front.http_app()
    said: asyncio.Queue[Message] = asyncio.Queue()
    heard: asyncio.Queue[Message] = asyncio.Queue()
    life = asyncio.create_task(_lived(app, said, heard))
    said.put_nowait({"type": "lifespan.startup"})
    assert (await heard.get())["type"] == "lifespan.startup.complete"
    try:
        yield app
    finally:
        await front.farewell()
        said.put_nowait({"type": "lifespan.shutdown"})
        await asyncio.wait_for(life, PATIENCE)


async def _lived(app: ASGIApp, said: "asyncio.Queue[Message]", heard: "asyncio.Queue[Message]") -> None:
    await app({"type": "lifespan", "state": {}, "asgi": {"version": "3.0"}}, said.get, heard.put)


class Socket:
    """A real client of a real server."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def say(self, **message: Any) -> None:
        await self.connection.send(json.dumps(message))

    async def message(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(await asyncio.wait_for(self.connection.recv(), PATIENCE))
        return found

    async def next(self, kind: str = "memory") -> dict[str, Any]:
        while not (message := await self.message())["type"].startswith(kind):
            pass
        return message

    async def until(self, kind: str) -> list[dict[str, Any]]:
        """The changes before a message of this kind."""
        found = []
        while (message := await self.message())["type"] != kind:
            found.append(message)
        return [one for one in found if one["type"].startswith("memory:")]


@asynccontextmanager
async def socket(server: Served, *, key: str = OWNER_KEY, path: str = "/ws", **options: Any) -> AsyncIterator[Socket]:
    headers = options.pop("headers", {"Authorization": f"Bearer {key}"})
    url = f"ws://127.0.0.1:{server.http_port}{path}"
    async with connect(url, additional_headers=headers, **options) as connection:
        with contextlib.suppress(TimeoutError):
            yield Socket(connection)
