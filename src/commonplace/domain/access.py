"""Who may do what. One function answers it; stores turn its answer into a filter."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from commonplace.domain.errors import Forbidden
from commonplace.domain.identifiers import CollectionId, CredentialId, UserId
from commonplace.domain.memory import Author


class Permission(StrEnum):
    """What a credential allows at all."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


class Right(StrEnum):
    """What a grant allows on one collection; each includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


_INCLUDED = {
    Right.READ: frozenset({Right.READ}),
    Right.WRITE: frozenset({Right.READ, Right.WRITE}),
    Right.ADMIN: frozenset(Right),
}
ALL_PERMISSIONS = frozenset(Permission)


@dataclass(frozen=True, slots=True)
class Actor:
    """Who is calling: a user, through a credential, in a session, by means of a tool."""

    user: UserId
    credential: str
    permissions: frozenset[Permission]
    zone: ZoneInfo
    session: str = ""
    tool: str = ""
    credential_id: CredentialId | None = None
    limited_to: frozenset[CollectionId] | None = None
    until: datetime | None = None
    """When what the caller came with ends by itself; None where the store is asked."""

    def through(self, tool: str, session: str = "") -> "Actor":
        """The same caller, using this tool."""
        return replace(self, tool=tool, session=session or self.session)

    def within(self, collections: frozenset[CollectionId]) -> "Actor":
        """The same caller, looking only here."""
        limits = collections if self.limited_to is None else collections & self.limited_to
        return replace(self, limited_to=limits)

    @property
    def author(self) -> Author:
        return Author(self.user, self.credential, self.session, self.tool)


STRANGER = Actor(UserId(""), "stranger", frozenset(), ZoneInfo("UTC"), limited_to=frozenset())
"""Who has shown nothing, and may do nothing."""


@dataclass(frozen=True, slots=True)
class Holding:
    """A collection as it stands to one user."""

    number: int
    id: CollectionId
    domain: str
    owner: UserId | None
    granted: Right | None
    ends_at: datetime | None = None
    """From then on it is no longer held."""
    kind: str = ""

    @property
    def domains(self) -> frozenset[str]:
        """A tree, a context or a space is no project: who looks among what is his own finds it too."""
        return frozenset({self.domain} if self.is_plain else {self.domain, "user"})

    @property
    def is_plain(self) -> bool:
        """Whether it is a domain or a project or session itself, and nothing that is only found under them."""
        return self.kind in _PLAIN


_PLAIN = frozenset({"global", "user", "project", "session"})


def require(actor: Actor, permission: Permission) -> None:
    """Refuse what the credential does not allow anywhere."""
    if permission not in actor.permissions:
        raise Forbidden(permission.value, actor.tool or "this")


def require_whole(actor: Actor) -> None:
    """Refuse a credential that opens only some collections what concerns its user as a whole."""
    if actor.limited_to is not None:
        raise Forbidden("account", actor.tool or "this")


def reach(actor: Actor, right: Right, holdings: Iterable[Holding], now: datetime | None = None) -> frozenset[int]:
    """The collections on which the actor has the right. What is not allowed here is denied.

    Without the time, what ends some day counts as ended.
    """
    return frozenset(h.number for h in holdings if _lasts(h, now) and _allowed(actor, right, h))


def _lasts(holding: Holding, now: datetime | None) -> bool:
    return holding.ends_at is None or (now is not None and now < holding.ends_at)


def _allowed(actor: Actor, right: Right, holding: Holding) -> bool:
    if actor.limited_to is not None and holding.id not in actor.limited_to:
        return False
    if right.value not in actor.permissions:
        return False
    if holding.owner == actor.user:
        return True
    if holding.domain == "global":
        return right is Right.READ or Permission.ADMIN in actor.permissions
    return holding.granted is not None and right in _INCLUDED[holding.granted]
