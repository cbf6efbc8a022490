"""Keys: made from randomness, kept as a hash, shown once."""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from commonplace.domain.access import Permission
from commonplace.domain.identifiers import CollectionId, CredentialId, UserId

KEY_PREFIX = "cp_"
TOKEN_PREFIX = "lm_"  # noqa: S105  (how it begins is no secret)
KEY_BYTES = 32
KEY_DELETED = "shared key deleted"
"""In the audit trail: no backup opens it again."""


@dataclass(frozen=True, slots=True)
class User:
    """Someone memories belong to."""

    id: UserId
    name: str
    time_zone: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Credential:
    """What a caller proves its identity with; the key itself is not kept."""

    id: CredentialId
    user: UserId
    name: str
    hash: str
    permissions: frozenset[Permission]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    kind: str = "key"
    """What its maker calls it: key, shared key or token."""
    collections: tuple[CollectionId, ...] | None = None
    """It opens these and what is below them, and nothing else; None for all that its user may reach."""

    made_with: CredentialId | None = None
    """The credential its maker came with; None where that was none of those that can be revoked."""

    def is_valid(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def made_with(credentials: Iterable[Credential], root: CredentialId) -> list[Credential]:
    """All that was made with a credential, and with what was made with it."""
    rest, reached, found = list(credentials), {root}, list[Credential]()
    while more := [one for one in rest if one.made_with in reached and one.id not in reached]:
        found += more
        reached |= {one.id for one in more}
    return found


def new_key(randomness: bytes, prefix: str = KEY_PREFIX) -> str:
    """A key to hand out."""
    return prefix + urlsafe_b64encode(randomness).decode().rstrip("=")


def key_hash(key: str) -> str:
    """What is kept of a key. Keys are long and random, so a plain hash is enough."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def same_key(key: str, expected: str) -> bool:
    """Compare two keys in constant time."""
    return hmac.compare_digest(key_hash(key), key_hash(expected))
