"""Tokens as spaces know them: one credential each, for one agent, opening all spaces or some."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from commonplace.domain import limits
from commonplace.domain import space as rule
from commonplace.domain.access import Actor, Permission, Right, require
from commonplace.domain.credential import KEY_BYTES, TOKEN_PREFIX, Credential, User, key_hash, new_key
from commonplace.domain.errors import Invalid, NotFound
from commonplace.domain.identifiers import RANDOM_BYTES, CollectionId, CredentialId, UserId, uuid7
from commonplace.engine.access import SPACE, Access, NewKey
from commonplace.engine.spaces import Spaces
from commonplace.ports import Clock, Reading, Store, Transaction

KIND = "token"
SCHEME = "sha256:"
SHORTEST_PREFIX = 16
LONGEST_DAYS = 36_500
_ORDER = (Permission.READ, Permission.WRITE, Permission.ADMIN)


class Tokens:
    """The keys of agents. Each has a user of its own, so that what one keeps for itself the others do not see."""

    def __init__(self, store: Store, access: Access, spaces: Spaces, clock: Clock) -> None:
        self._store = store
        self._access = access
        self._spaces = spaces
        self._clock = clock

    async def create(
        self, actor: Actor, name: str, permissions: frozenset[Permission], spaces: Sequence[str], days: int
    ) -> NewKey:
        """A token, to be shown this once; without spaces it opens all of them."""
        require(actor, Permission.ADMIN)
        name = limits.label("name", name)
        if not name.isprintable():
            raise Invalid("name", "must be one line of printable characters")
        limits.within("expires_in_days", days, 0, LONGEST_DAYS)
        opened = _opened(spaces)
        key = new_key(secrets.token_bytes(KEY_BYTES), TOKEN_PREFIX)

        def work(tx: Transaction) -> Credential:
            now = self._clock.now()
            user = self._enrolled(tx, name, now)
            ends = now + timedelta(days=days) if days else None
            identifier = CredentialId(uuid7(now, secrets.token_bytes(RANDOM_BYTES)))
            made = Credential(identifier, user, name, key_hash(key), permissions, now, ends, None, KIND, opened)
            tx.add_credential(made)
            _trace(tx, actor, now, "token created", made)
            return made

        return NewKey(key, await self._store.write(work))

    def _enrolled(self, tx: Transaction, name: str, now: datetime) -> UserId:
        """A user for the token, who may go into every space as far as the token opens it."""
        free = name if tx.user_named(name) is None else f"{name} {secrets.token_hex(4)}"
        user = self._access.enrol_in(tx, free, now)
        tx.grant(user.id, self._spaces.root_in(tx), Right.ADMIN, user.id, now)
        return user.id

    async def all(self, actor: Actor) -> Sequence[tuple[Credential, User]]:
        """Every credential of the house, the oldest first."""
        require(actor, Permission.ADMIN)
        return await self._access.keys()

    async def revoke(self, actor: Actor, token: str) -> Credential:
        """From now on it opens nothing."""
        require(actor, Permission.ADMIN)

        def work(tx: Transaction) -> Credential:
            now = self._clock.now()
            found = _found(tx, token)
            tx.revoke_credential(found.id, now)
            _trace(tx, actor, now, "token revoked", found)
            return found

        return await self._store.write(work)

    async def update(
        self, actor: Actor, token: str, permissions: frozenset[Permission] | None, spaces: Sequence[str] | None
    ) -> Credential:
        """Other permissions, other spaces; None leaves them as they are, no space at all opens all of them."""
        require(actor, Permission.ADMIN)
        if permissions is None and spaces is None:
            raise Invalid("permissions", "there is nothing to change: give space_ids, permissions or both")

        def work(tx: Transaction) -> Credential:
            now = self._clock.now()
            found = _found(tx, token)
            opened = found.collections if spaces is None else _opened(spaces)
            changed = replace(found, permissions=permissions or found.permissions, collections=opened)
            tx.change_credential(changed)
            if spaces is not None:
                tx.grant(found.user, self._spaces.root_in(tx), Right.ADMIN, actor.user, now)
            _trace(tx, actor, now, "token changed", changed)
            return changed

        return await self._store.write(work)

    def adopt_in(self, tx: Transaction, entries: Iterable[Mapping[str, Any]]) -> int:
        """Tokens of a registry that someone else wrote; those that are known stay as they are."""
        adopted = 0
        for entry in entries:
            hashed = str(entry.get("hash", "")).removeprefix(SCHEME)
            allowed = frozenset(Permission(one) for one in entry.get("permissions", ()) if one in set(Permission))
            if len(hashed) != len(key_hash("")) or not allowed or tx.credential_by_hash(hashed):
                continue
            tx.add_credential(self._adopted(tx, entry, hashed, allowed))
            adopted += 1
        return adopted

    def _adopted(
        self, tx: Transaction, entry: Mapping[str, Any], hashed: str, allowed: frozenset[Permission]
    ) -> Credential:
        now = self._clock.now()
        name = " ".join(str(entry.get("name") or "token").split())[:100] or "token"
        identifier = CredentialId(uuid7(now, secrets.token_bytes(RANDOM_BYTES)))
        opened = _opened([one for one in entry.get("space_ids") or () if rule.is_space_id(str(one))])
        ends, gone = _moment(entry.get("expires_at")), now if entry.get("revoked") else None
        user = self._enrolled(tx, name, now)
        return Credential(identifier, user, name, hashed, allowed, now, ends, gone, KIND, opened)


def space_names(credential: Credential) -> list[str]:
    """The spaces that a credential opens by name; none where it opens all it may."""
    return [one.removeprefix(SPACE) for one in credential.collections or () if one.startswith(SPACE)]


def registry(tx: Reading) -> dict[str, Any]:
    """`_system/tokens.json`: hashes, never tokens."""
    tokens = [_entry(credential) for credential in tx.credentials() if credential.kind == KIND]
    return {"version": 1, "tokens": tokens}


def _entry(credential: Credential) -> dict[str, Any]:
    return {
        "hash": SCHEME + credential.hash,
        "name": credential.name,
        "permissions": [one.value for one in _ORDER if one in credential.permissions],
        "space_ids": space_names(credential),
        "created_at": rule.stamp(credential.created_at),
        "expires_at": rule.stamp(credential.expires_at) if credential.expires_at else None,
        "last_used_at": None,
        "revoked": credential.revoked_at is not None,
    }


def _opened(spaces: Sequence[str]) -> tuple[CollectionId, ...] | None:
    return tuple(CollectionId(SPACE + rule.space_id(one)) for one in dict.fromkeys(spaces)) or None


def _found(tx: Reading, token: str) -> Credential:
    """By its hash or a long enough beginning of it; two that begin alike are none."""
    begin = token.strip().removeprefix(SCHEME).rstrip(".…").lower()
    if len(begin) < SHORTEST_PREFIX:
        raise Invalid("token_hash", f"needs at least {SHORTEST_PREFIX} characters of the hash")
    found = [one for one in tx.credentials() if one.hash.startswith(begin)]
    if len(found) > 1:
        raise Invalid("token_hash", f"{len(found)} tokens begin so: give more of the hash")
    if not found:
        raise NotFound("token", token[:80])
    return found[0]


def _trace(tx: Transaction, actor: Actor, now: datetime, what: str, credential: Credential) -> None:
    tx.doings.note(actor, now, what, credential.id)
    tx.spaces.mark(rule.TOKENS)


def _moment(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value)) if value else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=None).astimezone()
