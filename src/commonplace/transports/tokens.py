"""JWTs: signed by someone the settings trust, for a user we know, for a limited time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from commonplace.domain.access import Actor, Permission
from commonplace.domain.errors import Forbidden, Invalid, Unauthenticated
from commonplace.engine.access import Access
from commonplace.settings import Settings

CREDENTIAL = "jwt"
"""What authors are noted with, behind their name: the same for all tokens of a user, which are renewed often."""
_REQUIRED = ("exp", "aud", "sub")


class Tokens:
    """Checks one kind of JWT: the algorithm and the key come from the settings, never from the token."""

    def __init__(self, access: Access, settings: Settings, audience: Sequence[str]) -> None:
        self._access = access
        self._key = _key(settings)
        self._algorithm = settings.jwt_algorithm
        self._audience = list(settings.jwt_audience or audience)
        self._issuer = settings.jwt_issuer or None
        self._most = frozenset(map(Permission, settings.jwt_permissions))

    async def actor(self, token: str) -> Actor:
        """Who it speaks for. Unauthenticated tells nothing about why; Forbidden says that it allows nothing here."""
        claims = self._claims(token)
        name, until = claims["sub"], _moment(claims["exp"])
        if not isinstance(name, str):
            raise Unauthenticated
        allowed = _asked(claims) & self._most
        actor = await self._access.vouched(name, allowed, f"{name}/{CREDENTIAL}", until)
        if not allowed:
            raise Forbidden("read", "a token without a permission")
        return actor

    def _claims(self, token: str) -> dict[str, Any]:
        import jwt

        required = [*_REQUIRED, *(["iss"] if self._issuer else [])]
        try:
            return jwt.decode(
                token,
                self._key,
                algorithms=[self._algorithm],
                audience=self._audience,
                issuer=self._issuer,
                options={"require": required},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise Unauthenticated from error


def tokens(access: Access, settings: Settings, audience: Sequence[str]) -> Tokens | None:
    """None where the settings name no key for them."""
    if settings.jwt_secret or settings.jwt_public_key:
        return Tokens(access, settings, audience)
    if settings.auth == "jwt":
        raise Invalid("auth", "jwt needs a key to check tokens with: COMMONPLACE_JWT_SECRET or --jwt-public-key")
    return None


def _key(settings: Settings) -> Any:
    """The key of the algorithm. A public key taken for a secret would let everyone sign who knows it."""
    if settings.jwt_secret and settings.jwt_public_key:
        raise Invalid("jwt-public-key", "the secret is set as well; choose one of the two")
    if settings.jwt_secret:
        if settings.jwt_algorithm != "HS256":
            raise Invalid("jwt-algorithm", f"{settings.jwt_algorithm} is checked with --jwt-public-key, not a secret")
        return settings.jwt_secret
    if settings.jwt_algorithm == "HS256":
        raise Invalid("jwt-algorithm", "a public key belongs to RS256 or ES256; name which")
    return _public_key(Path(settings.jwt_public_key).expanduser(), settings.jwt_algorithm)


def _public_key(path: Path, algorithm: str) -> Any:
    import jwt

    try:
        written = path.read_bytes()
    except OSError as error:
        raise Invalid("jwt-public-key", f"{path} cannot be read: {error}") from error
    if b"PRIVATE KEY" in written:  # it would check as well as the public one, and be where it must not be
        raise Invalid(
            "jwt-public-key",
            f"{path} is a private key, which only who signs should have: make its public one with "
            f"`openssl pkey -in {path.name} -pubout` and give that",
        )
    try:
        return jwt.get_algorithm_by_name(algorithm).prepare_key(written)
    except (ValueError, TypeError, jwt.PyJWTError) as error:
        raise Invalid("jwt-public-key", f"{path} is no public key (PEM) for {algorithm}") from error


def _asked(claims: Mapping[str, Any]) -> frozenset[Permission]:
    """What the token allows, in words of ours; other words of its issuer mean nothing here."""
    words: set[str] = set()
    for name in ("scope", "permissions"):
        value = claims.get(name, ())
        entries = value.split() if isinstance(value, str) else value
        words |= {entry for entry in entries if isinstance(entry, str)} if isinstance(entries, list | tuple) else set()
    return frozenset(permission for permission in Permission if permission.value in words)


def _moment(seconds: Any) -> datetime:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise Unauthenticated from error
