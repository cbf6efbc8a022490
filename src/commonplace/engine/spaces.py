"""The verbs on spaces: found, describe and dissolve them; who may go in."""

from __future__ import annotations

import asyncio
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
class Overview:
    """What an agent needs to know of a space, as it was at one moment."""

    space: Space
    rules: str
    bank: Sequence[SpaceFile]


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything in a space at one moment."""

    space: Collection
    files: Sequence[SpaceFile]

    def __len__(self) -> int:
        """So many files show it outside."""
        return len(self.files) + len((rule.META, *rule.KEPT))


class Spaces:
    """Shared places for notes and what is made of them."""

    def __init__(self, store: Store, memories: Memories, clock: Clock, bell: asyncio.Event) -> None:
        self._store = store
        self._memories = memories
        self._clock = clock
        self._bell = bell

    async def found(self, actor: Actor, name: str, description: str, rules: str, owner: str) -> Space:
        """A new space; a credential that opens only some spaces opens this one from now on."""
        require(actor, Permission.WRITE)
        name = rule.space_id(name)
        described = {
            "description": rule.description(limits.text("description", description)),
            "owner": rule.owner(limits.text("owner", owner)),
        }
        text = rule.rules(limits.text("rules", rules))

        def work(tx: Transaction) -> Space:
            now = self._clock.now()
            if tx.spaces.named(name):
                check_opens(tx, actor, name, Right.WRITE)
                raise AlreadyExists("space", name)
            _check_may_found(tx, actor, name)
            space = self.found_in(tx, actor.user, name, described, now)
            self.put_rules_in(tx, space, text, now)
            _open(tx, actor, name)
            return Space(space, _figures(tx, space))

        founded = await self._store.write(work)
        self._bell.set()
        return founded

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

    async def overview(self, actor: Actor, name: str) -> Overview:
        """The space with its rules and its whole bank."""

        def work(tx: Reading) -> Overview:
            space = entered(tx, actor, name)
            bank = tx.spaces.files(space.number, FileKind.BANK)
            return Overview(Space(space, _figures(tx, space)), _rules(tx, space), bank)

        return await self._store.read(work)

    async def rules(self, actor: Actor, name: str) -> str:
        return await self._store.read(lambda tx: _rules(tx, entered(tx, actor, name)))

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

        gone = await self._store.write(work)
        self._bell.set()
        return gone


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
        check_opens(tx, actor, name, right)
        raise NotFound("space", name)
    if found.number not in reach(actor, right, holdings):
        raise Forbidden(right.value, actor.tool)
    return found


def check_opens(tx: Reading, actor: Actor, name: str, right: Right = Right.READ) -> None:
    """Refuse a credential for some spaces any other, whether it is there or not."""
    if actor.limited_to is not None and not opens(tx, actor, name):
        raise SpaceForbidden(right.value, actor.tool, name)


def opens(tx: Reading, actor: Actor, name: str) -> bool:
    """Whether a limited credential names the space, which need not be there."""
    return SPACE + name in _named(tx, actor)


def contents(tx: Reading, space: Collection) -> Contents:
    files = [file for kind in FileKind for file in tx.spaces.files(space.number, kind)]
    return Contents(space, files)


def _named(tx: Reading, actor: Actor) -> tuple[str, ...]:
    """What a limited credential says that it opens."""
    credential = tx.credential(actor.credential_id) if actor.credential_id else None
    return (credential.collections if credential else None) or ()


def _check_may_found(tx: Reading, actor: Actor, name: str) -> None:
    """A key that opens something else, such as an atlas, founds nothing."""
    opened = _named(tx, actor)
    if actor.limited_to is not None and not (opened and all(one.startswith(SPACE) for one in opened)):
        raise SpaceForbidden("write", actor.tool, name)


def _open(tx: Transaction, actor: Actor, name: str) -> None:
    credential = tx.credential(actor.credential_id) if actor.credential_id else None
    if credential is None or credential.collections is None or SPACE + name in credential.collections:
        return
    if len(credential.collections) >= rule.MOST_OPENED:
        raise Invalid("space_id", f"this token opens {rule.MOST_OPENED} spaces already, as many as one may")
    tx.change_credential(replace(credential, collections=(*credential.collections, CollectionId(SPACE + name))))
    tx.spaces.mark(rule.TOKENS)


def _figures(tx: Reading, space: Collection) -> Figures:
    return tx.spaces.figures([space.number]).get(space.number, Figures())


def _rules(tx: Reading, space: Collection) -> str:
    found = tx.spaces.file(space.number, FileKind.RULES, rule.RULES)
    return found.content if found else ""
