"""The verbs on keys that users make themselves: API keys, and shared keys that open only a part.

A key made here is never more than what it was made with: not more permissions, not for longer, not for more places.
Its name is kept behind the name of its user, so that what is done with it is never taken for someone else's doing.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, Right, reach, require, require_whole
from commonplace.domain.atlas import allows, rights
from commonplace.domain.collection import Kind
from commonplace.domain.credential import KEY_BYTES, KEY_DELETED, Credential, User, key_hash, new_key
from commonplace.domain.errors import AlreadyExists, Forbidden, Invalid, NotFound
from commonplace.domain.identifiers import RANDOM_BYTES, CollectionId, CredentialId, uuid7
from commonplace.engine.access import NewKey, lasting_until
from commonplace.engine.revocation import revoke_in
from commonplace.ports import Clock, Reading, Store, Transaction

KEY = "key"
SHARED = "shared"
MOST_KEYS = 100
"""How many of a kind that open something one user may have made."""


class Keys:
    """Keys are shown once; what is kept is their hash."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def generate(self, actor: Actor, name: str = "", lasting: timedelta | None = None) -> NewKey:
        """A key of the actor's own, with the permissions it has now."""
        self._check(actor)
        name = limits.name("name", name) if name else ""

        def work(tx: Transaction) -> NewKey:
            return self._issue(tx, actor, KEY, name, actor.permissions, lasting, None)

        return await self._store.write(work)

    async def share(self, actor: Actor, name: str, atlas: CollectionId | None, right: Right) -> NewKey:
        """A key that opens an atlas and what is below it, and nothing else; without one, all the actor's own."""
        self._check(actor)
        name = limits.name("name", name)
        permissions = frozenset({Permission.READ, Permission(right.value)}) & actor.permissions

        def work(tx: Transaction) -> NewKey:
            now = self._clock.now()
            opens = _own_roots(tx, actor) if atlas is None else (_governed(tx, actor, atlas, now),)
            return self._issue(tx, actor, SHARED, name, permissions, None, opens)

        return await self._store.write(work)

    async def shared(self, actor: Actor) -> Sequence[Credential]:
        """The shared keys that the actor has made, the newest first; their names without the user's."""
        require(actor, Permission.READ)
        require_whole(actor)

        def work(tx: Reading) -> list[Credential]:
            me = _me(tx, actor)
            mine = [c for c in tx.credentials() if c.user == actor.user and c.kind == SHARED]
            return [_short(me, c) for c in reversed(mine)]

        return await self._store.read(work)

    async def revoke(self, actor: Actor, key: CredentialId) -> Credential:
        """From now on it opens nothing, in no connection. Once more changes nothing."""
        self._check(actor)

        def work(tx: Transaction) -> Credential:
            now = self._clock.now()
            found = _own(tx, actor, key)
            if found.revoked_at is None:
                revoke_in(tx, actor, found, now)
                tx.doings.note(actor, now, "shared key revoked", found.id)
            return _short(_me(tx, actor), replace(found, revoked_at=found.revoked_at or now))

        return await self._store.write(work)

    async def delete(self, actor: Actor, key: CredentialId) -> Credential:
        """It is gone, and with it what it opened."""
        self._check(actor)

        def work(tx: Transaction) -> Credential:
            found, now = _own(tx, actor, key), self._clock.now()
            revoke_in(tx, actor, found, now)
            tx.remove_credential(found.id)
            tx.doings.note(actor, now, KEY_DELETED, found.id)
            return _short(_me(tx, actor), found)

        return await self._store.write(work)

    def _check(self, actor: Actor) -> None:
        require(actor, Permission.WRITE)
        require_whole(actor)

    def _issue(
        self,
        tx: Transaction,
        actor: Actor,
        kind: str,
        name: str,
        permissions: frozenset[Permission],
        lasting: timedelta | None,
        opens: tuple[CollectionId, ...] | None,
    ) -> NewKey:
        now, me = self._clock.now(), _me(tx, actor)
        identifier = CredentialId(uuid7(now, secrets.token_bytes(RANDOM_BYTES)))
        full = _full(me, name or identifier)
        _check_room(tx, me, kind, full, now)
        key = new_key(secrets.token_bytes(KEY_BYTES))
        until = lasting_until(tx, actor, now, lasting)
        made = Credential(
            identifier, actor.user, full, key_hash(key), permissions, now, until, None, kind, opens, actor.credential_id
        )
        tx.add_credential(made)
        what = "shared key created" if kind == SHARED else "key created"
        tx.doings.note(actor, now, what, identifier)
        return NewKey(key, _short(me, made))


def _me(tx: Reading, actor: Actor) -> User:
    found = tx.user(actor.user)
    if found is None:
        raise NotFound("user", actor.user)
    return found


def _full(me: User, name: str) -> str:
    return f"{me.name}/{name}"


def _short(me: User, credential: Credential) -> Credential:
    return replace(credential, name=credential.name.removeprefix(_full(me, "")))


def _check_room(tx: Reading, me: User, kind: str, name: str, now: datetime) -> None:
    valid = [one for one in tx.credentials() if one.is_valid(now)]
    if any(one.name == name for one in valid):
        raise AlreadyExists("key", name.removeprefix(_full(me, "")))
    if sum(one.user == me.id and one.kind == kind for one in valid) >= MOST_KEYS:
        raise Invalid("name", f"you have {MOST_KEYS} keys already; revoke or delete one first")


def _own(tx: Reading, actor: Actor, key: CredentialId) -> Credential:
    found = tx.credential(key)
    if found is None or found.user != actor.user or found.kind != SHARED:
        raise NotFound("key", key)
    return found


def _own_roots(tx: Reading, actor: Actor) -> tuple[CollectionId, ...]:
    roots = tuple(c.id for c in tx.collections.owned(actor.user, Kind.ATLAS.value) if c.parent is None)
    if not roots:
        raise Invalid("atlas_id", "you own no atlas that the key could open; name one, or create one first")
    return roots


def _governed(tx: Reading, actor: Actor, atlas: CollectionId, now: datetime) -> CollectionId:
    """One that the actor owns, or on which it was given every right."""
    holdings = tx.holdings(actor.user)
    found = tx.collections.get(atlas)
    if found is None or found.kind != Kind.ATLAS or found.number not in reach(actor, Right.READ, holdings, now):
        raise NotFound("atlas", atlas)
    if not allows(rights(actor, holdings).get(found.number), Right.ADMIN):
        raise Forbidden("atlas:admin", actor.tool or "sharing an atlas")
    return found.id
