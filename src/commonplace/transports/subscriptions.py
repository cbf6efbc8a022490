"""Telling clients that a resource changed, in both protocol eras, and only those who may see the change."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any
from weakref import WeakKeyDictionary

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ResourceUpdated

from commonplace.dialects._dialect import EVERYTHING, Call, Dialect
from commonplace.domain.access import Actor
from commonplace.domain.errors import CommonplaceError
from commonplace.domain.event import Event
from commonplace.domain.identifiers import UserId
from commonplace.engine import Engine
from commonplace.settings import Settings

logger = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]

_PATIENCE = 10.0
"""Seconds that a client may take to read one of the things it asked to be told."""


def audience_key(actor: Actor) -> tuple[UserId, str]:
    """Tokens of one user end at different times and allow different things: each has an audience of its own."""
    token = f"/{actor.until.isoformat()}/{','.join(sorted(actor.permissions))}" if actor.until else ""
    return actor.user, f"{actor.credential_id or actor.credential}{token}"


class _Audience:
    """The subscribers with one credential: streams of the modern era, connections of the earlier one."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self.key = audience_key(actor)
        self.bus = InMemorySubscriptionBus()
        self.handler = ListenHandler(self.bus)
        self.listened: Counter[str] = Counter()
        self.connections: WeakKeyDictionary[Connection, set[str]] = WeakKeyDictionary()
        self._untold: WeakKeyDictionary[Connection, dict[str, None]] = WeakKeyDictionary()
        """What each is still to be told of, every address once."""

    @property
    def watched(self) -> set[str]:
        """Every address that someone wants to hear of, as they wrote it."""
        return set(self.listened).union(*self.connections.values())

    async def tell(self, uri: str, tasks: TaskGroup) -> None:
        await self.bus.publish(ResourceUpdated(uri=uri))
        for connection, uris in list(self.connections.items()):
            if uri not in uris:
                continue
            if connection in self._untold:
                self._untold[connection][uri] = None
            else:
                self._untold[connection] = {uri: None}
                tasks.start_soon(self._send, connection)

    async def _send(self, connection: Connection) -> None:
        """Each subscriber at its own pace: one that does not read keeps nobody else waiting, and is told no more."""
        untold = self._untold[connection]
        try:
            while untold:
                uri = next(iter(untold))
                del untold[uri]
                with anyio.fail_after(_PATIENCE):
                    await connection.send_resource_updated(uri)
        except TimeoutError:
            self.connections.pop(connection, None)
            logger.warning("a subscriber has not read for %g s and is told no more", _PATIENCE)
        finally:
            self._untold.pop(connection, None)


class Subscriptions:
    """Follows the events of the store while anyone listens."""

    def __init__(self, dialect: Dialect, engine: Engine, settings: Settings) -> None:
        self._dialect = dialect
        self._engine = engine
        self._settings = settings
        self._audiences: dict[tuple[UserId, str], _Audience] = {}
        self._wanted = anyio.Event()
        self._position: int | None = None

    async def add(self, actor: Actor, context: Context, uri: str) -> None:
        audience = await self._audience(actor)
        audience.connections.setdefault(_connection(context), set()).add(uri)

    def remove(self, context: Context, uri: str) -> None:
        for audience in self._audiences.values():
            audience.connections.get(_connection(context), set()).discard(uri)

    async def listen(
        self, actor: Actor, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        audience = await self._audience(actor)
        uris = Counter(str(uri) for uri in params.notifications.resource_subscriptions or ())
        audience.listened.update(uris)
        try:
            return await audience.handler(context, params)
        finally:
            audience.listened -= uris

    async def run(self) -> None:
        """Until cancelled: wait for the first subscriber, then follow."""
        await self._wanted.wait()
        assert self._position is not None
        async with anyio.create_task_group() as tasks:
            async for event in self._engine.events.follow(self._position):
                try:
                    await self._tell(event, tasks)
                except CommonplaceError as error:
                    logger.warning("a change could not be told: %s", error)

    async def _audience(self, actor: Actor) -> _Audience:
        if self._position is None:
            self._position = await self._engine.events.last()
            self._wanted.set()
        audience = _Audience(actor)
        return self._audiences.setdefault(audience.key, audience)

    async def _tell(self, event: Event, tasks: TaskGroup) -> None:
        for audience in list(self._audiences.values()):
            if not await self._engine.access.is_current(audience.actor):
                del self._audiences[audience.key]  # the credential was revoked or has expired
            elif audience.watched and await self._engine.events.may_see(audience.actor, event):
                await self._tell_audience(audience, event, tasks)

    async def _tell_audience(self, audience: _Audience, event: Event, tasks: TaskGroup) -> None:
        """A subscriber is told about the address it named, which may be any spelling of it."""
        call = Call(self._engine, audience.actor, self._settings)
        touched = set(await self._dialect.touched(call, event))
        for uri in audience.watched:
            if touched & {EVERYTHING, self._dialect.canonical(uri)}:
                await audience.tell(uri, tasks)


def _connection(context: Context) -> Connection:
    # A session lives for one request only; the connection is what the SDK keeps between them, and hides.
    return context.session._connection
