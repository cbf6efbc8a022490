"""How many connections there may be, and how long a client may take to say what it wants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from commonplace.settings import Settings
from commonplace.transports.heads import BoundedHead
from commonplace.transports.limits import Addresses, share

RETRY_AFTER = 5
_BRIEFLY = 2.0
"""Seconds in which a client beyond the limit may say something, to be told that it comes at a bad time."""
_MOST_TOLD = 20
"""Clients beyond the limit that are told so at a time; more are let go without a word."""


def _whole(status: HTTPStatus, error: str, remedy: str, *headers: str) -> bytes:
    """An answer that no application has a part in."""
    body = json.dumps({"error": error, "remedy": remedy})
    lines = [f"HTTP/1.1 {status} {status.phrase}", "content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join([*lines, *headers, "connection: close", "", body]).encode()


_FULL = _whole(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "too many connections",
    f"repeat in {RETRY_AFTER} s, or start the server with a larger --max-connections",
    f"retry-after: {RETRY_AFTER}",
)


class Doors:
    """Who may connect to a port."""

    def __init__(self, settings: Settings) -> None:
        self.patience = settings.request_timeout
        self.late = _whole(
            HTTPStatus.REQUEST_TIMEOUT,
            f"the request did not arrive within {settings.request_timeout:g} s",
            "send it at once, or start the server with a larger --request-timeout",
        )
        self._most = settings.max_connections
        self._addresses = Addresses(settings.trusted_proxies)

    def holds(self, one: Any, connections: Iterable[Any]) -> bool:
        """Whether there is room for one of these connections, which leaves others of other addresses theirs."""
        others = [other for other in connections if other is not one and not getattr(other, "is_surplus", False)]
        mine = self._addresses.neighbour(one.client)
        taken = sum(1 for other in others if mine and self._addresses.neighbour(other.client) == mine)
        return len(others) < self._most and taken < share(self._most)

    def tells(self, connections: Iterable[Any]) -> bool:
        """Whether one more that there is no room for is told so."""
        return sum(1 for other in connections if getattr(other, "is_surplus", False)) <= _MOST_TOLD


class Connection(BoundedHead):
    """uvicorn's own, which would wait for a request for as long as it takes."""

    def __init__(self, *args: Any, doors: Doors, **more: Any) -> None:
        super().__init__(*args, **more)
        self.is_surplus = False
        self._doors = doors
        self._has_begun = False
        self._end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.is_surplus = not self._doors.holds(self, self.connections)
        if self.is_surplus and not self._doors.tells(self.connections):
            transport.abort()
            return
        self._await(_BRIEFLY if self.is_surplus else self._doors.patience)

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.is_surplus:
            self.answer(_FULL)
            return
        self._await(self._doors.patience)
        super().data_received(data)

    def handle_websocket_upgrade(self) -> None:
        self._rest()
        super().handle_websocket_upgrade()

    def on_message_begin(self) -> None:
        self._has_begun = True
        self._await(self._doors.patience)
        super().on_message_begin()

    def on_message_complete(self) -> None:
        self._has_begun = False
        self._rest()
        super().on_message_complete()

    def _await(self, seconds: float) -> None:
        if self._end is None:
            self._end = self.loop.call_later(seconds, self._be_late)

    def _rest(self) -> None:
        if self._end:
            self._end.cancel()
        self._end = None

    def _be_late(self) -> None:
        self._end = None
        if self.flow.read_paused:
            self._await(self._doors.patience)  # what is late is our taking of it
        elif self._has_begun:
            self.answer(self._doors.late)
        else:
            self.transport.close()
