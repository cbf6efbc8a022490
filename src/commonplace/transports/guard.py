"""Host and Origin: a page in a browser must not reach a local server, under whatever name it calls it."""

from __future__ import annotations

import logging
import re

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from commonplace.settings import Settings
from commonplace.transports.refusals import Refusal
from commonplace.transports.sparing import Sparing

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_REMEDIES = {
    "Host": "use an address of this machine, or start the server with --allowed-hosts and what the header says",
    "Origin": "if pages from there may call this server, start it with --cors-origins and what the header says",
}
_MOST_TOLD = 200
_MOST_LOGGED = 80
_NAMED = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?", re.ASCII | re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}
_ANY = ":*"

logger = logging.getLogger(__name__)
logger.addFilter(Sparing())


class Guard:
    """Refuses requests whose Host or Origin is not ours, compared as a whole."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        own = [f"{scheme}://{host}{_ANY}" for scheme in _PORTS for host in LOOPBACK]
        self._hosts = {_host(entry.removesuffix(_ANY)) or entry for entry in (*LOOPBACK, *settings.allowed_hosts)}
        self._origins = {_pages(entry) or entry for entry in (*own, *settings.allowed_origins, *settings.cors_origins)}
        self._any_origin = "*" in settings.cors_origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal: Refusal | None = None
        if scope["type"] in ("http", "websocket"):
            # httptools leaves the blanks behind a value, which are no part of it (RFC 9110, 5.5).
            scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
            refusal = self._refusal(Headers(scope=scope))
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> Refusal | None:
        # Two of a kind are none of ours: one of them might be, and the other be believed behind this door.
        host, origin = (", ".join(headers.getlist(name)) for name in ("host", "origin"))
        if not self._is_host(host):
            return _refused(421, "Host", host)
        if origin and not self._any_origin and not self._is_origin(origin):
            return _refused(403, "Origin", origin)
        return None

    def _is_host(self, value: str) -> bool:
        found = _host(value)
        return not {value, found, found and (found[0], None)}.isdisjoint(self._hosts)

    def _is_origin(self, value: str) -> bool:
        found = _origin(value)
        return not {value, found, found and (*found[:2], None)}.isdisjoint(self._origins)


def _host(text: str) -> tuple[str, int | None] | None:
    """A name and a port; in a setting a name without one stands for all its ports."""
    found = _NAMED.fullmatch(text)
    return (found[1].lower(), int(found[2]) if found[2] else None) if found else None


def _origin(text: str) -> tuple[str, str, int | None] | None:
    scheme, _, rest = text.partition("://")
    named, usual = _host(rest), _PORTS.get(scheme.lower())
    return (scheme.lower(), named[0], named[1] or usual) if named and usual else None


def _pages(entry: str) -> tuple[str, str, int | None] | None:
    """What a setting means: its port, the scheme's own, or `:*` for any."""
    found = _origin(entry.removesuffix(_ANY))
    return (*found[:2], None) if found and entry.endswith(_ANY) else found


def _refused(status: int, header: str, value: str) -> Refusal:
    fault = f"{value[:_MOST_TOLD]} is not one that this server answers to" if value else "is missing"
    logger.warning("a request was refused: the %s header %r is not ours", header, value[:_MOST_LOGGED])
    return Refusal(status, f"the {header} header {fault}", _REMEDIES[header])
