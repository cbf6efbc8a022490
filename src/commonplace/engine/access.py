"""Users and their keys: who a caller is, and what it may reach."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from commonplace.domain import limits
from commonplace.domain.access import ALL_PERMISSIONS, Actor, Holding, Permission, Right, reach, require
from commonplace.domain.collection import Scope
from commonplace.domain.credential import KEY_BYTES, Credential, User, key_hash, new_key, same_key
from commonplace.domain.errors import AlreadyExists, Forbidden, Invalid, NotFound, Unauthenticated
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import RANDOM_BYTES, CollectionId, CredentialId, UserId, uuid7
from commonplace.engine.revocation import Revoked, along_with, revoke_in
from commonplace.ports import Clock, Reading, Store, Transaction

OWNER = "owner"
SPACE = "space:"
"""Before the name of a space in what a credential opens: one may be opened before it is there, and after it is back."""
LOCAL = "local"
"""The credential of whoever can start a process on this machine: stdio and the command line."""


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key, to be shown this once."""

    key: str
    credential: Credential


class Access:
    """The one place that knows who is who."""

    def __init__(self, store: Store, clock: Clock, zone: ZoneInfo, owner_key: str = "") -> None:
        self._store = store
        self._clock = clock
        self._zone = zone
        self._owner_key = owner_key

    async def local_owner(self) -> Actor:
        """The person at this machine."""
        owner = await self._owner()
        return Actor(owner.id, LOCAL, ALL_PERMISSIONS, self._zone_of(owner))

    async def local_user(self, name: str) -> Actor:
        """Another user, as the person at this machine, who can read and change the files anyway."""
        await self._owner()
        user = await self._store.read(lambda tx: _named(tx, name))
        return Actor(user.id, LOCAL, ALL_PERMISSIONS, self._zone_of(user))

    async def authenticate(self, key: str) -> Actor:
        """Who shows this key; Unauthenticated tells nothing about why it is refused."""
        if self._owner_key and same_key(key, self._owner_key):
            owner = await self._owner()
            return Actor(owner.id, OWNER, ALL_PERMISSIONS, self._zone_of(owner))
        return await self._store.read(lambda tx: self._shown(tx, tx.credential_by_hash(key_hash(key))))

    async def renewed(self, actor: Actor) -> Actor:
        """The same caller as its credential is now; Unauthenticated where it opens nothing any more."""
        if actor.credential_id is None:
            if not await self.is_current(actor):
                raise Unauthenticated
            return actor
        identifier = actor.credential_id
        fresh = await self._store.read(lambda tx: self._shown(tx, tx.credential(identifier)))
        return fresh.through(actor.tool, actor.session)

    def _shown(self, tx: Reading, credential: Credential | None) -> Actor:
        user = tx.user(credential.user) if credential else None
        if credential is None or user is None or not credential.is_valid(self._clock.now()):
            raise Unauthenticated
        return Actor(
            user.id,
            credential.name,
            credential.permissions,
            self._zone_of(user),
            credential_id=credential.id,
            limited_to=_opened(tx, credential),
        )

    async def user(self, actor: Actor) -> User:
        """Who the actor is."""
        found = await self._store.read(lambda tx: tx.user(actor.user))
        if found is None:
            raise NotFound("user", actor.user)
        return found

    async def names(self, users: Iterable[UserId]) -> Mapping[UserId, str]:
        """Of those who are there, whose memories the caller has seen."""
        wanted = set(users)
        found = await self._store.read(lambda tx: [tx.user(user) for user in wanted])
        return {user.id: user.name for user in found if user}

    async def vouched(self, name: str, permissions: frozenset[Permission], credential: str, until: datetime) -> Actor:
        """The user of this name, as someone whom the settings trust vouches for him until then."""
        user = await self._store.read(lambda tx: tx.user_named(name))
        if user is None or until <= self._clock.now():
            raise Unauthenticated
        return Actor(user.id, credential, permissions, self._zone_of(user), until=until)

    async def is_current(self, actor: Actor) -> bool:
        """Whether the credential an actor came with, perhaps long ago, still opens anything."""
        if actor.until is not None:
            return self._clock.now() < actor.until
        if actor.credential_id is None:  # the owner at this machine, or with the key of the environment
            return True
        now = self._clock.now()
        identifier = actor.credential_id
        found = await self._store.read(lambda tx: tx.credential(identifier))
        return found is not None and found.is_valid(now)

    async def check(self) -> None:
        """That callers can be told apart; StoreFailed where the file is too damaged for that."""
        await self._store.read(lambda tx: (tx.user_named(OWNER), tx.credentials()))

    async def first_owner_key(self) -> str | None:
        """A key for the owner where there is none yet: made once, shown once."""
        await self._owner()
        if self._owner_key:
            return None
        now = self._clock.now()

        def work(tx: Transaction) -> str | None:
            if _has_key_for_all(tx.credentials(), now):
                return None
            return self._issue(tx, OWNER, _named(tx, OWNER).id, ALL_PERMISSIONS, now, None).key

        # Looked up first, so that a folder that can only be read starts too.
        if _has_key_for_all(await self._store.read(_credentials), now):
            return None
        return await self._store.write(work)

    async def create_key(
        self,
        name: str,
        permissions: frozenset[Permission],
        *,
        user: str = OWNER,
        zone: str = "",
        expires_at: datetime | None = None,
    ) -> NewKey:
        """A key for a user, who is made along with it where new."""
        name, user = limits.name("name", name), limits.name("user", user)
        if not permissions:
            raise Invalid("permissions", "name at least one of read, write, admin")
        _checked_zone(zone)
        hand, now = await self._house_hand(), self._clock.now()

        def work(tx: Transaction) -> NewKey:
            if any(c.name == name and c.is_valid(now) for c in tx.credentials()):
                raise AlreadyExists("key", name, "choose another name, or revoke that one first")
            who = tx.user_named(user) or self._enrol(tx, user, zone, now)
            made = self._issue(tx, name, who.id, permissions, now, expires_at)
            tx.doings.note(hand, now, "key created", made.credential.id)
            return made

        return await self._store.write(work)

    async def keys(self) -> list[tuple[Credential, User]]:
        def work(tx: Reading) -> list[tuple[Credential, User]]:
            pairs = ((credential, tx.user(credential.user)) for credential in tx.credentials())
            return [(credential, user) for credential, user in pairs if user]

        return await self._store.read(work)

    async def revoke_key(self, name: str, *, alone: bool = False) -> Revoked:
        """From now on the key opens nothing, nor does what was made with it, unless it goes alone."""
        hand, now = await self._house_hand(), self._clock.now()

        def work(tx: Transaction) -> Revoked:
            found = _revocable(tx, name, now)
            tx.doings.note(hand, now, "key revoked", found.id)
            return revoke_in(tx, hand, found, now, alone=alone)

        return await self._store.write(work)

    async def revocable(self, name: str, *, alone: bool = False) -> Revoked:
        """What `revoke_key` would take away."""
        now = self._clock.now()

        def work(tx: Reading) -> Revoked:
            found = _revocable(tx, name, now)
            return Revoked(found, () if alone else tuple(along_with(tx, found.id, now)))

        return await self._store.read(work)

    async def _house_hand(self) -> Actor:
        """Who sits at the machine, in the audit trail."""
        return (await self.local_owner()).through("commonplace.keys")

    async def _owner(self) -> User:
        found = await self._store.read(lambda tx: tx.user_named(OWNER))
        return found if found is not None else await self._store.write(self._found)

    def _found(self, tx: Transaction) -> User:
        """Found the house: its id, the common collection, its owner. Another process may have been faster."""
        owner = tx.user_named(OWNER)
        if owner:
            return owner
        now = self._clock.now()
        tx.set_meta("store", secrets.token_hex(16))
        tx.set_meta("created_at", now.isoformat())
        tx.add_collection(CollectionId(self._new_id(now)), "global", "global", "global", None, now)
        return self._enrol(tx, OWNER, "", now)

    def enrol_in(self, tx: Transaction, name: str, now: datetime) -> User:
        """A new user, as part of a larger change."""
        return self._enrol(tx, name, "", now)

    def _enrol(self, tx: Transaction, name: str, zone: str, now: datetime) -> User:
        user = User(UserId(self._new_id(now)), name, zone, now)
        tx.add_user(user)
        tx.add_collection(CollectionId(self._new_id(now)), "user", "user", name, user.id, now)
        return user

    def _issue(
        self,
        tx: Transaction,
        name: str,
        user: UserId,
        permissions: frozenset[Permission],
        now: datetime,
        expires_at: datetime | None,
    ) -> NewKey:
        key = new_key(secrets.token_bytes(KEY_BYTES))
        identifier = CredentialId(self._new_id(now))
        credential = Credential(identifier, user, name, key_hash(key), permissions, now, expires_at)
        tx.add_credential(credential)
        return NewKey(key, credential)

    def _new_id(self, now: datetime) -> str:
        return uuid7(now, secrets.token_bytes(RANDOM_BYTES))

    def _zone_of(self, user: User) -> ZoneInfo:
        return ZoneInfo(user.time_zone) if user.time_zone else self._zone


def readable(tx: Reading, actor: Actor, now: datetime) -> Filter:
    """What the actor may see, as the filter every read starts from."""
    require(actor, Permission.READ)
    return Filter(reach(actor, Right.READ, tx.holdings(actor.user), now), now)


def narrowed(tx: Reading, actor: Actor, scope: Scope) -> Actor:
    """The same caller, looking only where the scope says, as far as it may look there."""
    named = set(scope.collections)
    chosen = {c.domain for c in map(tx.collections.get, named) if c}

    def is_meant(holding: Holding) -> bool:
        if scope.plain and not holding.is_plain:
            return False
        domains = holding.domains & set(scope.domains) if scope.domains else holding.domains
        # Of a domain from which some are named only these; what is found under another one too stays.
        return bool(domains if holding.id in named else domains - chosen)

    return actor.within(frozenset(holding.id for holding in tx.holdings(actor.user) if is_meant(holding)))


def changeable(tx: Reading, actor: Actor, now: datetime) -> Filter:
    """What the actor may change."""
    require(actor, Permission.WRITE)
    return Filter(reach(actor, Right.WRITE, tx.holdings(actor.user), now), now)


def require_writable(tx: Reading, actor: Actor, collection: int, now: datetime) -> None:
    """Refuse to write where the actor may at most read."""
    require(actor, Permission.WRITE)
    held = (holding for holding in tx.holdings(actor.user) if holding.number == collection)
    if not reach(actor, Right.WRITE, held, now):
        found = tx.collections.numbered(collection)
        raise Forbidden(f"{found.domain}:write" if found else "write", actor.tool)


def own_labels(tx: Reading, actor: Actor, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Labels that are the actor's own; those of others are as unknown as those that never were."""
    for label in labels:
        if tx.labels.get(actor.user, label) is None:
            raise NotFound("label", label)
    return labels


def _opened(tx: Reading, credential: Credential) -> frozenset[CollectionId] | None:
    """What a limited credential opens at this moment: a collection that is put below one of its own comes along."""
    if credential.collections is None:
        return None
    named = [tx.spaces.named(one.removeprefix(SPACE)) for one in credential.collections if one.startswith(SPACE)]
    opened = (*credential.collections, *(space.id for space in named if space))
    return frozenset(c.id for c in tx.collections.below(opened))


def _has_key_for_all(credentials: Iterable[Credential], now: datetime) -> bool:
    """Whether someone holds a key to everything. Tokens may come from elsewhere, with spaces, and open only these."""
    return any(c.kind == "key" and Permission.ADMIN in c.permissions and c.is_valid(now) for c in credentials)


def lasting_until(tx: Reading, actor: Actor, now: datetime, lasting: timedelta | None) -> datetime | None:
    """Not for longer than what the actor came with: it would outlive its own end."""
    own = tx.credential(actor.credential_id) if actor.credential_id else None
    ends = (own.expires_at if own else None, actor.until, None if lasting is None else now + lasting)
    return min((end for end in ends if end is not None), default=None)


def _revocable(tx: Reading, name: str, now: datetime) -> Credential:
    """By its name or id. Of one that opens nothing any more, what was made with it may still be open."""
    named = [one for one in tx.credentials() if name in (one.name, one.id)]
    valid = [one for one in named if one.is_valid(now)]
    if len(valid) > 1:
        ids = ", ".join(one.id for one in valid)
        raise Invalid("name", f"{name!r} is the name of {len(valid)}; give the id of one: {ids}")
    for one in valid or named:
        if one.revoked_at is None or along_with(tx, one.id, now):
            return one
    raise NotFound("key", name, "`commonplace keys list` shows those that can be revoked, as valid")


def _credentials(tx: Reading) -> list[Credential]:
    return list(tx.credentials())


def _named(tx: Reading, name: str) -> User:
    user = tx.user_named(name)
    if user is None:
        raise NotFound("user", name)
    return user


def _checked_zone(zone: str) -> None:
    try:
        if zone:
            ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Invalid("timezone", f"{zone!r} is not a time zone; write it like Asia/Seoul") from error
