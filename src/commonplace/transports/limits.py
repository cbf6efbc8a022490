"""How often someone may knock: a bucket of tokens for each user and each address, filled again as time passes."""

from __future__ import annotations

import math
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.settings import Settings
from commonplace.transports.refusals import Refusal

_MOST_NAMES = 20_000
"""Those that have not come for longest are forgotten first: a flood of addresses must not fill the memory."""
_TOO_LARGE = 413
_SUBSCRIBER = 64
"""Bits of an IPv6 address that one subscriber is given; the rest he chooses himself, as often as he likes."""
_WITH_PORT = re.compile(r"\[([^\[\]]+)\](?::\d*)?|(\d+\.\d+\.\d+\.\d+):\d*", re.ASCII)


def share(most: int) -> int:
    """How much of a limit a single caller may take: a quarter is left to others, where there are quarters."""
    return most - most // 4


def beside_others(most: int) -> int:
    """The limit for all, of which a single caller may take this many."""
    return most + most // 3


class Buckets:
    """So many a minute for each name, and a minute's worth at once; 0 is no limit."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = per_minute
        self._clock = clock
        self._filled: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, name: str) -> float:
        """Seconds until one more is let through; 0 when it is now."""
        return max(0.0, 1.0 - self._tokens(name)) * 60 / self._size if self._size else 0.0

    def take(self, name: str) -> float:
        """The same, and one less for the next when it is now."""
        seconds = self.wait(name)
        if self._size and not seconds:
            self._filled[name] = (self._tokens(name) - 1, self._clock())
            self._filled.move_to_end(name)
            if len(self._filled) > _MOST_NAMES:
                self._filled.popitem(last=False)
        return seconds

    def _tokens(self, name: str) -> float:
        tokens, at = self._filled.get(name, (float(self._size), 0.0))
        return min(float(self._size), tokens + (self._clock() - at) * self._size / 60)


class Guesses:
    """Wrong credentials, so many a minute from each address.

    The same one once more is no guess: a client with an old key must not lock out all others of its machine.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._buckets = Buckets(per_minute, clock)
        self._salt = secrets.token_bytes(16)
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def wait(self, address: str) -> float:
        """Seconds until a credential from there is looked at."""
        return self._buckets.wait(address)

    def count(self, address: str, credential: str) -> None:
        guess = blake2b(f"{address} {credential}".encode(), key=self._salt, digest_size=16).digest()
        if guess not in self._known:
            self._buckets.take(address)
        self._known[guess] = None
        self._known.move_to_end(guess)
        if len(self._known) > _MOST_NAMES:
            self._known.popitem(last=False)


class Addresses:
    """Where a request comes from: what a trusted proxy says of it, or else the other end of the connection."""

    def __init__(self, trusted: Sequence[str]) -> None:
        self._trusted = [ip_network(name, strict=False) for name in trusted]

    def of(self, scope: Scope) -> str:
        client = scope.get("client")
        peer = str(client[0]) if client else ""
        if not self._trusts(peer):
            return _subscriber(peer)
        # From the right: the last entry was written by the nearest proxy, the first by anyone.
        for hop in reversed(_forwarded(scope)):
            peer = hop
            if not self._trusts(hop):
                break
        return _subscriber(peer)

    def neighbour(self, client: tuple[str, int] | None) -> str:
        """Who is at the other end of a connection; nobody in particular where that is a proxy, behind which all are."""
        peer = str(client[0]) if client else ""
        return "" if self._trusts(peer) else _subscriber(peer)

    def _trusts(self, text: str) -> bool:
        address = _parsed(text)
        return address is not None and any(address in network for network in self._trusted)


@dataclass(frozen=True, slots=True)
class Limits:
    """The buckets that both ports draw from."""

    addresses: Addresses
    users: Buckets
    anyone: Buckets
    guesses: Guesses

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        return cls(
            Addresses(settings.trusted_proxies),
            Buckets(settings.rate_limit),
            Buckets(settings.address_rate_limit),
            Guesses(settings.failure_rate_limit),
        )


class Limited:
    """Refuses an address that sends too much, before anything else is done for it."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wait = 0.0
        if scope["type"] in ("http", "websocket"):
            wait = self._limits.anyone.take(self._limits.addresses.of(scope))
        await (too_many(wait) if wait else self._app)(scope, receive, send)


class Sized:
    """Says how large a body may be where one is refused for its size."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = False

        async def passed(message: Message) -> None:
            nonlocal refused
            refused |= message["type"] == "http.response.start" and message["status"] == _TOO_LARGE
            if not refused:
                await send(message)

        await self._app(scope, receive, passed)
        if refused:
            await too_large(self._most)(scope, receive, send)


def too_large(most: int) -> Refusal:
    remedy = "send less at once, or start the server with a larger --max-body-bytes"
    return Refusal(_TOO_LARGE, f"the request is larger than {most} bytes", remedy)


def too_many(seconds: float, error: str = "too many requests") -> Refusal:
    later = math.ceil(seconds)
    return Refusal(429, error, f"repeat in {later} s", {"Retry-After": str(later)})


def _forwarded(scope: Scope) -> list[str]:
    lines = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return [_portless(hop.strip()) for hop in ",".join(lines).split(",") if hop.strip()]


def _portless(hop: str) -> str:
    """Some proxies write the port too, which is another one for every connection."""
    found = _WITH_PORT.fullmatch(hop)
    return (found[1] or found[2]) if found else hop


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def _subscriber(text: str) -> str:
    address = _parsed(text)
    if isinstance(address, IPv6Address):
        return str(ip_network((address, _SUBSCRIBER), strict=False))
    return str(address or text[:64])
