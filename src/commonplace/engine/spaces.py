"""The verbs on spaces: found, describe and dissolve them; who may go in."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.domain import limits
from commonplace.domain import space as rule
from commonplace.domain.access import Actor, Permission, Right, reach, require
from commonplace.domain.collection import Collection, Kind
from commonplace.domain.errors import AlreadyExists, Forbidden, Invalid, NotFound, SpaceForbidden
from commonplace.domain.event import EventKind
from commonplace.domain.identifiers import RANDOM_BYTES, CollectionId, UserId, uuid7
from commonplace.domain.space import Figures, FileKind, SpaceFile
from commonplace.engine.access import OWNER, SPACE
from commonplace.engine.memories import Memories
from commonplace.ports import Clock, Reading, Store, Transaction

_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class Space:
    """A space and its figures."""

    collection: Collection
    figures: Figures


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything in a space at one moment."""

    space: Collection
    files: Sequence[SpaceFile]


class Spaces:
    """Shared places for notes and what is made of them."""

    def __init__(self, store: Store, memories: Memories, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._clock = clock

    async def found(self, actor: Actor, name: str, description: str, rules: str, owner: str) -> Space:
        """A new space; a credential that opens only some spaces opens this one from now on."""
        require(actor, Permission.WRITE)
        name = rule.space_id(name)
        described = {
            "description": rule.description(limits.text("description", description)),
            "owner": limits.text("owner", owner)[:200],
        }
        text = rule.rules(limits.text("rules", rules))

        def work(tx: Transaction) -> Space:
            now = self._clock.now()
            if tx.spaces.named(name):
                _check_may_know(tx, actor, name)
                raise AlreadyExists("space", name)
            _check_may_found(tx, actor, name)
            space = self.found_in(tx, actor.user, name, described, now)
            self.put_rules_in(tx, space, text, now)
            _open(tx, actor, name)
            return Space(space, tx.spaces.figures([space.number]).get(space.number, Figures()))

        return await self._store.write(work)

    def found_in(
        self, tx: Transaction, owner: UserId, name: str, metadata: Mapping[str, object], at: datetime
    ) -> Collection:
        """The same, as part of a larger change."""
        identifier = CollectionId(uuid7(self._clock.now(), secrets.token_bytes(RANDOM_BYTES)))
        parent, kind = self.root_in(tx), Kind.SPACE
        number = tx.add_collection(identifier, kind.value, kind.domain.value, name, owner, at, parent)
        space = Collection(number, identifier, kind.value, kind.domain.value, name, owner, at, None, metadata, parent)
        tx.collections.describe(space)
        for path in (rule.META, *rule.KEPT):
            tx.spaces.mark(f"{name}/{path}")
        return space

    def put_rules_in(self, tx: Transaction, space: Collection, text: str, at: datetime) -> None:
        file = SpaceFile(0, space.number, FileKind.RULES, rule.RULES, text, "", at, at, len(text.encode()))
        tx.spaces.put(file)

    def root_in(self, tx: Transaction) -> int:
        """What all spaces lie in, so that one grant opens them all."""
        root = tx.spaces.root()
        if root:
            return root.number
        now = self._clock.now()
        owner = tx.user_named(OWNER)
        identifier = CollectionId(uuid7(now, secrets.token_bytes(RANDOM_BYTES)))
        kind = Kind.SPACES
        return tx.add_collection(identifier, kind.value, kind.domain.value, "", owner.id if owner else None, now)

    async def all(self, actor: Actor) -> list[Space]:
        """Those the actor may go into, by name."""
        require(actor, Permission.READ)

        def work(tx: Reading) -> list[Space]:
            within = reach(actor, Right.READ, tx.holdings(actor.user))
            found = sorted(tx.collections.among(Kind.SPACE.value, within), key=lambda space: space.name)
            figures = tx.spaces.figures(space.number for space in found)
            return [Space(space, figures.get(space.number, Figures())) for space in found]

        return await self._store.read(work)

    async def count(self) -> int:
        """How many there are, for the house itself."""
        return await self._store.read(lambda tx: len(tx.collections.below(_root_ids(tx))) - len(_root_ids(tx)))

    async def get(self, actor: Actor, name: str) -> Space:
        def work(tx: Reading) -> Space:
            space = entered(tx, actor, name)
            return Space(space, tx.spaces.figures([space.number]).get(space.number, Figures()))

        return await self._store.read(work)

    async def rules(self, actor: Actor, name: str) -> str:
        def work(tx: Reading) -> str:
            found = tx.spaces.file(entered(tx, actor, name).number, FileKind.RULES, rule.RULES)
            return found.content if found else ""

        return await self._store.read(work)

    async def contents(self, actor: Actor, name: str) -> Contents:
        """All files as they are at one moment, whatever is written meanwhile."""
        return await self._store.read(lambda tx: contents(tx, entered(tx, actor, name)))

    async def dissolve(self, actor: Actor, name: str) -> Contents:
        """Remove a space and everything in it, for good."""
        require(actor, Permission.ADMIN)

        def work(tx: Transaction) -> Contents:
            now = self._clock.now()
            space = entered(tx, actor, name, Right.WRITE)
            everything = contents(tx, space)
            for path in (rule.META, *rule.KEPT):
                tx.spaces.mark(f"{name}/{path}")
            for file in everything.files:
                tx.spaces.remove(file.number)
            numbers = list(tx.collections.numbers_within(space.number, 0, _ALL))
            for memory in tx.memories(numbers, self._memories.everything_in(space.number)):
                self._memories.erase_in(tx, memory, actor.author, now, EventKind.FORGOTTEN)
            tx.collections.remove(space.number)
            return everything

        return await self._store.write(work)


def entered(tx: Reading, actor: Actor, name: str, right: Right = Right.READ) -> Collection:
    """The space, where the actor has the right.

    A credential for some spaces is told that it does not open any other; everyone else only that there is none.
    """
    require(actor, Permission(right.value))
    if not rule.is_space_id(name):
        raise Invalid("space_id", "is not the id of a space")
    holdings = tx.holdings(actor.user)
    found = tx.spaces.named(name)
    if found is None or found.number not in reach(actor, Right.READ, holdings):
        if actor.limited_to is not None and not _opens(tx, actor, name):
            raise SpaceForbidden(right.value, actor.tool, name)
        raise NotFound("space", name)
    if found.number not in reach(actor, right, holdings):
        raise SpaceForbidden(right.value, actor.tool, name)
    return found


def contents(tx: Reading, space: Collection) -> Contents:
    files = [file for kind in FileKind for file in tx.spaces.files(space.number, kind)]
    return Contents(space, files)


def _opens(tx: Reading, actor: Actor, name: str) -> bool:
    """Whether a limited credential names the space, though it is not there."""
    credential = tx.credential(actor.credential_id) if actor.credential_id else None
    return credential is not None and SPACE + name in (credential.collections or ())


def _check_may_know(tx: Reading, actor: Actor, name: str) -> None:
    if actor.limited_to is not None and not _opens(tx, actor, name):
        raise SpaceForbidden("write", actor.tool, name)


def _check_may_found(tx: Reading, actor: Actor, name: str) -> None:
    """A key that opens something else, such as an atlas, founds nothing."""
    if actor.limited_to is None:
        return
    credential = tx.credential(actor.credential_id) if actor.credential_id else None
    opened = (credential.collections if credential else None) or ()
    if not opened or not all(one.startswith(SPACE) for one in opened):
        raise Forbidden("account", actor.tool)


def _open(tx: Transaction, actor: Actor, name: str) -> None:
    credential = tx.credential(actor.credential_id) if actor.credential_id else None
    if credential is None or credential.collections is None or SPACE + name in credential.collections:
        return
    tx.change_credential(replace(credential, collections=(*credential.collections, CollectionId(SPACE + name))))
    tx.spaces.mark(rule.TOKENS)


def _root_ids(tx: Reading) -> list[CollectionId]:
    root = tx.spaces.root()
    return [root.id] if root else []
