"""The verbs, a module per noun, gathered in one value that dialects and transports are given."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from commonplace.domain.backup import Rhythm
from commonplace.domain.errors import StoreFailed
from commonplace.engine.access import Access
from commonplace.engine.embedding import Embedding
from commonplace.ports import Clock, Embedder, Store, Summariser, Vault
from commonplace.ports.completions import Completer
from commonplace.ports.files import Files

if TYPE_CHECKING:
    from commonplace.engine.adoption import Adoption
    from commonplace.engine.annotations import Annotations
    from commonplace.engine.archive import Archive
    from commonplace.engine.arrivals import Arrivals
    from commonplace.engine.atlases import Atlases
    from commonplace.engine.attendance import Attendance
    from commonplace.engine.backups import Backups
    from commonplace.engine.bank import Bank
    from commonplace.engine.categories import Categories
    from commonplace.engine.chain import Chain
    from commonplace.engine.cleaning import Cleaning
    from commonplace.engine.collections import Collections
    from commonplace.engine.consolidation import Consolidation
    from commonplace.engine.contexts import Contexts
    from commonplace.engine.derivations import Derivations
    from commonplace.engine.doings import Doings
    from commonplace.engine.events import Events
    from commonplace.engine.health import Health
    from commonplace.engine.history import History
    from commonplace.engine.keys import Keys
    from commonplace.engine.labels import Labels
    from commonplace.engine.links import Links
    from commonplace.engine.literal import Literal
    from commonplace.engine.memories import Memories
    from commonplace.engine.mirror import Mirror
    from commonplace.engine.notes import Notes
    from commonplace.engine.paths import Paths
    from commonplace.engine.recall import Recall
    from commonplace.engine.recovery import Recovery
    from commonplace.engine.relations import Relations
    from commonplace.engine.sight import Sight
    from commonplace.engine.snapshots import Snapshots
    from commonplace.engine.spaces import Spaces
    from commonplace.engine.summaries import Summaries
    from commonplace.engine.teams import Teams
    from commonplace.engine.todos import Todos
    from commonplace.engine.tokens import Tokens
    from commonplace.engine.undo import Undo
    from commonplace.engine.upkeep import Upkeep
    from commonplace.engine.views import Views
    from commonplace.engine.watches import Watches
    from commonplace.engine.work_logs import WorkLogs

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outside:
    """What spaces use beside the store: a place for their files, a model that consolidates them."""

    files: Files | None = None
    completer: Completer | None = None
    longest: timedelta = timedelta(minutes=10)


class Engine:
    """One memory for everyone who may ask it.

    Each part is loaded and made when it is first asked for, so that a start pays only for what it uses.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        clock: Clock,
        zone: ZoneInfo,
        summariser: Summariser,
        owner_key: str = "",
        vault: Vault | None = None,
        rhythm: Rhythm | None = None,
        outside: Outside | None = None,
    ) -> None:
        self.store = store
        self.clock = clock
        self.embedding = Embedding(embedder)
        self.access = Access(store, clock, zone, owner_key)
        self._zone = zone
        self._summariser = summariser
        self._vault = vault
        self._rhythm = rhythm or Rhythm()
        self._outside = outside or Outside()
        self._bell = asyncio.Event()
        """Rings when files of spaces have changed."""

    async def close(self) -> None:
        try:
            await self.recall.flush_uses()
            await self.doings.flush()
        except StoreFailed as failure:  # a hint is lost, not a memory
            logger.warning("%s", failure)
        finally:
            self.embedding.close()
            await self.store.close()

    # Memories

    @cached_property
    def memories(self) -> Memories:
        from commonplace.engine.memories import Memories

        return Memories(self.store, self.embedding, self.clock)

    @cached_property
    def recall(self) -> Recall:
        from commonplace.engine.recall import Recall

        return Recall(self.store, self.embedding, self.clock)

    @cached_property
    def derivations(self) -> Derivations:
        from commonplace.engine.derivations import Derivations

        return Derivations(self.store, self.memories, self.recall, self.embedding, self.clock)

    @cached_property
    def literal(self) -> Literal:
        from commonplace.engine.literal import Literal

        return Literal(self.store, self.clock)

    @cached_property
    def paths(self) -> Paths:
        from commonplace.engine.paths import Paths

        return Paths(self.store, self.memories, self.embedding, self.clock)

    @cached_property
    def sight(self) -> Sight:
        from commonplace.engine.sight import Sight

        return Sight()

    @cached_property
    def history(self) -> History:
        from commonplace.engine.history import History

        return History(self.store, self.memories, self.clock)

    @cached_property
    def undo(self) -> Undo:
        from commonplace.engine.undo import Undo

        return Undo(self.store, self.memories, self.paths, self.collections, self.embedding, self.clock)

    @cached_property
    def arrivals(self) -> Arrivals:
        from commonplace.engine.arrivals import Arrivals

        return Arrivals(self.store, self.memories, self.paths, self.embedding, self.clock)

    @cached_property
    def links(self) -> Links:
        from commonplace.engine.links import Links

        return Links(self.store, self.memories, self.embedding, self.clock)

    @cached_property
    def archive(self) -> Archive:
        from commonplace.engine.archive import Archive

        return Archive(self.store, self.memories, self.embedding, self.clock)

    @cached_property
    def summaries(self) -> Summaries:
        from commonplace.engine.summaries import Summaries

        return Summaries(self._summariser)

    @cached_property
    def views(self) -> Views:
        from commonplace.engine.views import Views

        return Views(self.store, self.memories, self.links, self.embedding, self.clock)

    @cached_property
    def chain(self) -> Chain:
        from commonplace.engine.chain import Chain

        return Chain(self.store)

    # Who shares what

    @cached_property
    def collections(self) -> Collections:
        from commonplace.engine.collections import Collections

        return Collections(self.store, self.memories, self.clock)

    @cached_property
    def cleaning(self) -> Cleaning:
        from commonplace.engine.cleaning import Cleaning

        return Cleaning(self.store, self.memories, self.collections, self.links, self.clock)

    @cached_property
    def teams(self) -> Teams:
        from commonplace.engine.teams import Teams

        return Teams(self.store, self.clock)

    @cached_property
    def atlases(self) -> Atlases:
        from commonplace.engine.atlases import Atlases

        return Atlases(self.store, self.memories, self.collections, self.clock)

    @cached_property
    def contexts(self) -> Contexts:
        from commonplace.engine.contexts import Contexts

        return Contexts(self.store, self.memories, self.collections, self.clock)

    @cached_property
    def keys(self) -> Keys:
        from commonplace.engine.keys import Keys

        return Keys(self.store, self.clock)

    # Words about memories

    @cached_property
    def labels(self) -> Labels:
        from commonplace.engine.labels import Labels

        return Labels(self.store, self.memories, self.clock)

    @cached_property
    def categories(self) -> Categories:
        from commonplace.engine.categories import Categories

        return Categories(self.store, self.memories, self.clock)

    @cached_property
    def todos(self) -> Todos:
        from commonplace.engine.todos import Todos

        return Todos(self.store, self.clock)

    @cached_property
    def annotations(self) -> Annotations:
        from commonplace.engine.annotations import Annotations

        return Annotations(self.store, self.memories, self.embedding, self.clock)

    @cached_property
    def relations(self) -> Relations:
        from commonplace.engine.relations import Relations

        return Relations(self.store, self.memories, self.clock)

    @cached_property
    def work_logs(self) -> WorkLogs:
        from commonplace.engine.work_logs import WorkLogs

        return WorkLogs(self.store, self.memories, self.recall, self.embedding, self.clock)

    # What happens

    @cached_property
    def events(self) -> Events:
        from commonplace.engine.events import Events

        return Events(self.store, self.clock)

    @cached_property
    def watches(self) -> Watches:
        from commonplace.engine.watches import Watches

        return Watches(self.store, self.clock)

    @cached_property
    def attendance(self) -> Attendance:
        from commonplace.engine.attendance import Attendance

        return Attendance(self.store, self.clock)

    @cached_property
    def doings(self) -> Doings:
        from commonplace.engine.doings import Doings

        return Doings(self.store, self.clock)

    # Spaces

    @cached_property
    def spaces(self) -> Spaces:
        from commonplace.engine.spaces import Spaces

        return Spaces(self.store, self.memories, self.clock, self._bell)

    @cached_property
    def notes(self) -> Notes:
        from commonplace.engine.notes import Notes

        return Notes(self.store, self.memories, self.embedding, self.clock, self._bell)

    @cached_property
    def bank(self) -> Bank:
        from commonplace.engine.bank import Bank

        return Bank(self.store, self.memories, self.embedding, self.clock)

    @cached_property
    def consolidation(self) -> Consolidation:
        from commonplace.engine.consolidation import Consolidation

        return Consolidation(
            self.store,
            self.memories,
            self.bank,
            self.embedding,
            self.clock,
            self._bell,
            self._outside.completer,
            self._outside.longest,
        )

    @cached_property
    def tokens(self) -> Tokens:
        from commonplace.engine.tokens import Tokens

        return Tokens(self.store, self.access, self.spaces, self.clock, self._bell)

    @cached_property
    def adoption(self) -> Adoption:
        from commonplace.engine.adoption import Adoption

        return Adoption(self.store, self.memories, self.spaces, self.tokens, self.embedding, self.clock)

    @cached_property
    def mirror(self) -> Mirror:
        from commonplace.engine.mirror import Mirror

        return Mirror(self.store, self._outside.files, self.access, self.adoption, self.clock, self._bell)

    @cached_property
    def snapshots(self) -> Snapshots:
        from commonplace.engine.snapshots import Snapshots

        return Snapshots(self.store, self._outside.files, self.adoption, self.clock, self._bell)

    @cached_property
    def health(self) -> Health:
        from commonplace.engine.health import Health

        return Health(self.mirror, self._outside.completer, self.clock)

    # Keeping house

    @cached_property
    def backups(self) -> Backups:
        from commonplace.engine.backups import Backups

        return Backups(self.store, self._vault, self.recovery, self.clock, self._zone, self._rhythm)

    @cached_property
    def recovery(self) -> Recovery:
        from commonplace.engine.recovery import Recovery

        return Recovery(self.store, self.memories, self.embedding, self.clock)

    @cached_property
    def upkeep(self) -> Upkeep:
        from commonplace.engine.upkeep import Upkeep

        chores = (
            self.contexts.sweep,
            self.collections.sweep,
            self.links.discover,
            self.doings.flush,
            self.doings.prune,
            self.watches.prune,
            self.attendance.keep,
            self.mirror.keep_up,
        )
        return Upkeep(self.store, self.embedding, self.memories, self.recall, self.clock, self.backups, chores)
