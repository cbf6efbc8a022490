"""OAuth 2.1, the part of a protected resource: where clients learn which authorization server gives them tokens."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from commonplace.settings import Settings

WELL_KNOWN = "/.well-known/oauth-protected-resource"


def metadata_routes(settings: Settings, base: str, paths: Sequence[str]) -> list[Route]:
    """RFC 9728, for the server as a whole and for each address; none where no authorization server is named."""
    if not settings.authorization_servers:
        return []
    return [_route(settings, base, path) for path in ("", *paths)]


def challenge(settings: Settings, base: str, path: str, error: str = "") -> str:
    """What a refusal tells a client that knows OAuth."""
    parts = ['realm="commonplace"']
    if error:
        parts.append(f'error="{error}"')
    if settings.authorization_servers:
        parts.append(f'resource_metadata="{base}{WELL_KNOWN}{path}"')
    return f"Bearer {', '.join(parts)}"


def audiences(settings: Settings, bases: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Whom a token must be meant for, where the settings do not say."""
    if not settings.authorization_servers:
        return ["commonplace"]
    return [form for base in bases for path in ("", *paths) for form in (f"{base}{path}", f"{base}{path}/")]


def _route(settings: Settings, base: str, path: str) -> Route:
    document = {
        "resource": f"{base}{path}",
        "authorization_servers": list(settings.authorization_servers),
        "scopes_supported": list(settings.jwt_permissions),
        "bearer_methods_supported": ["header"],
        "resource_name": "Commonplace",
    }

    async def metadata(request: Request) -> Response:
        return JSONResponse(document, headers={"Cache-Control": "max-age=3600"})

    return Route(f"{WELL_KNOWN}{path}", metadata)
