"""Tokens as spaces know them: one credential each, for one agent, opening all spaces or some."""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from commonplace.domain import limits
from commonplace.domain import space as rule
from commonplace.domain.access import Actor, Permission, Right, require
from commonplace.domain.credential import KEY_BYTES, TOKEN_PREFIX, Credential, User, key_hash, new_key
from commonplace.domain.errors import Invalid, NotFound, SpaceForbidden
from commonplace.domain.identifiers import RANDOM_BYTES, CollectionId, CredentialId, UserId, uuid7
from commonplace.engine.access import SPACE, Access, NewKey, lasting_until
from commonplace.engine.revocation import TOKEN, Revoked, along_with, revoke_in
from commonplace.engine.spaces import Spaces
from commonplace.ports import Clock, Reading, Store, Transaction

KIND = TOKEN
SCHEME = "sha256:"
SHORTEST_PREFIX = 16
LONGEST_DAYS = 36_500
ALL = "*"
"""Instead of the names of spaces: every one."""
_HEX = re.compile(r"[0-9a-f]+\Z")
_ORDER = (Permission.READ, Permission.WRITE, Permission.ADMIN)


class Tokens:
    """The keys of agents. Each has a user of its own, so that what one keeps for itself the others do not see.

    An administrator whose own token opens only some spaces governs only tokens that open no others.
    """

    def __init__(self, store: Store, access: Access, spaces: Spaces, clock: Clock, bell: asyncio.Event) -> None:
        self._store = store
        self._access = access
        self._spaces = spaces
        self._clock = clock
        self._bell = bell

    async def create(
        self, actor: Actor, name: str, permissions: frozenset[Permission], spaces: Sequence[str], days: int
    ) -> NewKey:
        """A token, to be shown this once; without spaces it opens all of them."""
        require(actor, Permission.ADMIN)
        name = limits.name("name", name)
        limits.within("expires_in_days", days, 0, LONGEST_DAYS)
        opened = _opened(spaces)
        key = new_key(secrets.token_bytes(KEY_BYTES), TOKEN_PREFIX)

        def work(tx: Transaction) -> Credential:
            now = self._clock.now()
            _check_within(tx, actor, opened)
            user = self._enrolled(tx, name, now)
            ends = lasting_until(tx, actor, now, timedelta(days=days) if days else None)
            identifier = CredentialId(uuid7(now, secrets.token_bytes(RANDOM_BYTES)))
            hashed, maker = key_hash(key), actor.credential_id
            made = Credential(identifier, user, name, hashed, permissions, now, ends, None, KIND, opened, maker)
            tx.add_credential(made)
            _trace(tx, actor, now, "token created", made)
            return made

        made = await self._store.write(work)
        self._bell.set()
        return NewKey(key, made)

    def _enrolled(self, tx: Transaction, name: str, now: datetime) -> UserId:
        """A user for the token, who may go into every space as far as the token opens it."""
        free = name if tx.user_named(name) is None else f"{name} {secrets.token_hex(4)}"
        user = self._access.enrol_in(tx, free, now)
        tx.grant(user.id, self._spaces.root_in(tx), Right.ADMIN, user.id, now)
        return user.id

    async def all(self, actor: Actor) -> Sequence[tuple[Credential, User]]:
        """Every credential of the house that the actor governs, the oldest first."""
        require(actor, Permission.ADMIN)
        governed = {one.id for one in await self._store.read(lambda tx: _governed(tx, actor))}
        return [(credential, user) for credential, user in await self._access.keys() if credential.id in governed]

    async def revoke(self, actor: Actor, token: str) -> Revoked:
        """From now on it opens nothing, nor does what was made with it."""
        require(actor, Permission.ADMIN)

        def work(tx: Transaction) -> Revoked:
            now = self._clock.now()
            found = _found(tx, actor, token)
            gone = revoke_in(tx, actor, found, now)
            _trace(tx, actor, now, "token revoked", found)
            return gone

        gone = await self._store.write(work)
        self._bell.set()
        return gone

    async def update(
        self, actor: Actor, token: str, permissions: frozenset[Permission] | None, spaces: Sequence[str] | None
    ) -> Credential:
        """Other permissions, other spaces; None leaves them as they are, no space at all opens all of them."""
        require(actor, Permission.ADMIN)
        if permissions is None and spaces is None:
            raise Invalid("permissions", "there is nothing to change: give space_ids, permissions or both")

        def work(tx: Transaction) -> Credential:
            found = _found(tx, actor, token)
            if found.kind != KIND:  # it has a user who may have other keys, and he would come into the spaces with all
                raise Invalid("token_hash", f"is the hash of a {found.kind}, not of a token; it can only be revoked")
            opened = found.collections if spaces is None else _opened(spaces)
            _check_within(tx, actor, opened)
            changed = replace(found, permissions=permissions or found.permissions, collections=opened)
            tx.change_credential(changed)
            _trace(tx, actor, self._clock.now(), "token changed", changed)
            return changed

        changed = await self._store.write(work)
        self._bell.set()
        return changed

    def adopt_in(self, tx: Transaction, entries: Iterable[Mapping[str, Any]]) -> int:
        """Tokens of a registry that someone else wrote; one that is known stays as it is, unless it was revoked."""
        adopted = 0
        for made in filter(None, map(self._read, entries)):
            known = tx.credential_by_hash(made.hash)
            if known is None:
                tx.add_credential(replace(made, user=self._enrolled(tx, made.name, made.created_at)))
                adopted += 1
            elif made.revoked_at and known.kind == KIND:
                for one in (known, *along_with(tx, known.id, made.revoked_at)):
                    tx.revoke_credential(one.id, made.revoked_at)
        return adopted

    def _read(self, entry: Mapping[str, Any]) -> Credential | None:
        """An entry of a registry; None where it does not say clearly what it allows, where and until when."""
        hashed = str(entry.get("hash", "")).removeprefix(SCHEME).lower()
        allowed = frozenset(map(Permission, set(Permission).intersection(_texts(entry.get("permissions")) or ())))
        spaces, ends = _texts(entry.get("space_ids")), _moment(entry.get("expires_at"))
        named = spaces is not None and len(spaces) <= rule.MOST_OPENED and all(map(rule.is_space_id, spaces))
        unclear = not named or (not ends and entry.get("expires_at"))
        if len(hashed) != len(key_hash("")) or not _HEX.match(hashed) or not allowed or unclear:
            return None
        now = self._clock.now()
        name = " ".join(str(entry.get("name") or "").split())
        name = name[:100] if name.isprintable() and name else KIND
        identifier = CredentialId(uuid7(now, secrets.token_bytes(RANDOM_BYTES)))
        gone = now if entry.get("revoked") else None
        return Credential(identifier, UserId(""), name, hashed, allowed, now, ends, gone, KIND, _opened(spaces or ()))


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
    if len(spaces) > rule.MOST_OPENED:
        raise Invalid("space_ids", f"names {len(spaces)} spaces; at most {rule.MOST_OPENED} are allowed")
    return tuple(CollectionId(SPACE + rule.space_id(one)) for one in dict.fromkeys(spaces)) or None


def _found(tx: Reading, actor: Actor, token: str) -> Credential:
    """By its hash or a long enough beginning of it; two that begin alike are none."""
    begin = token.strip().removeprefix(SCHEME).rstrip(".…").lower()
    if len(begin) < SHORTEST_PREFIX or not _HEX.match(begin):
        raise Invalid("token_hash", f"needs at least {SHORTEST_PREFIX} characters of the hash, as the list shows it")
    found = [one for one in _governed(tx, actor) if hmac.compare_digest(one.hash[: len(begin)], begin)]
    if len(found) > 1:
        raise Invalid("token_hash", f"{len(found)} tokens begin so: give more of the hash")
    if not found:
        raise NotFound("token", begin[:80])
    return found[0]


def _governed(tx: Reading, actor: Actor) -> Sequence[Credential]:
    """The credentials that the actor may look at and change."""
    everyone = tx.credentials()
    if actor.limited_to is None:
        return everyone
    own = _own(tx, actor)
    return [one for one in everyone if one.collections is not None and own.issuperset(one.collections)]


def _check_within(tx: Reading, actor: Actor, opened: Sequence[CollectionId] | None) -> None:
    """Nobody gives a token more spaces than his own opens."""
    if actor.limited_to is None:
        return
    beyond = [one for one in opened or (SPACE + ALL,) if one not in _own(tx, actor)]
    if beyond:
        raise SpaceForbidden("admin", actor.tool, beyond[0].removeprefix(SPACE))


def _own(tx: Reading, actor: Actor) -> frozenset[CollectionId]:
    credential = tx.credential(actor.credential_id) if actor.credential_id else None
    return frozenset((credential.collections if credential else None) or ())


def _trace(tx: Transaction, actor: Actor, now: datetime, what: str, credential: Credential) -> None:
    tx.doings.note(actor, now, what, credential.id)
    tx.spaces.mark(rule.TOKENS)


def _texts(value: object) -> list[str] | None:
    """None for what is no list of texts."""
    found = [] if value is None else value
    return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else None


def _moment(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
