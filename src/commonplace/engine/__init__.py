"""The verbs, a module per noun, gathered in one value that dialects and transports are given."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import timedelta
from zoneinfo import ZoneInfo

from commonplace.domain.errors import StoreFailed
from commonplace.engine.access import Access
from commonplace.engine.adoption import Adoption
from commonplace.engine.annotations import Annotations
from commonplace.engine.archive import Archive
from commonplace.engine.arrivals import Arrivals
from commonplace.engine.atlases import Atlases
from commonplace.engine.attendance import Attendance
from commonplace.engine.backups import Backups, Rhythm
from commonplace.engine.bank import Bank
from commonplace.engine.categories import Categories
from commonplace.engine.chain import Chain
from commonplace.engine.cleaning import Cleaning
from commonplace.engine.collections import Collections
from commonplace.engine.consolidation import Consolidation
from commonplace.engine.contexts import Contexts
from commonplace.engine.derivations import Derivations
from commonplace.engine.doings import Doings
from commonplace.engine.embedding import Embedding
from commonplace.engine.events import Events
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
from commonplace.ports import Clock, Embedder, Store, Summariser, Vault
from commonplace.ports.completions import Completer
from commonplace.ports.files import Files

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outside:
    """What spaces use beside the store: a place for their files, a model that consolidates them."""

    files: Files | None = None
    completer: Completer | None = None
    longest: timedelta = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Engine:
    """One memory for everyone who may ask it."""

    store: Store
    clock: Clock
    embedding: Embedding
    access: Access
    memories: Memories
    recall: Recall
    derivations: Derivations
    literal: Literal
    paths: Paths
    sight: Sight
    history: History
    undo: Undo
    arrivals: Arrivals
    collections: Collections
    links: Links
    archive: Archive
    summaries: Summaries
    views: Views
    cleaning: Cleaning
    chain: Chain
    events: Events
    backups: Backups
    teams: Teams
    atlases: Atlases
    contexts: Contexts
    keys: Keys
    doings: Doings
    labels: Labels
    categories: Categories
    todos: Todos
    watches: Watches
    attendance: Attendance
    annotations: Annotations
    relations: Relations
    work_logs: WorkLogs
    spaces: Spaces
    notes: Notes
    bank: Bank
    consolidation: Consolidation
    tokens: Tokens
    adoption: Adoption
    mirror: Mirror
    snapshots: Snapshots
    upkeep: Upkeep

    async def close(self) -> None:
        try:
            await self.recall.flush_uses()
            await self.doings.flush()
        except StoreFailed as failure:  # a hint is lost, not a memory
            logger.warning("%s", failure)
        finally:
            self.embedding.close()
            await self.store.close()


def assemble(
    store: Store,
    embedder: Embedder,
    clock: Clock,
    zone: ZoneInfo,
    summariser: Summariser,
    owner_key: str = "",
    vault: Vault | None = None,
    rhythm: Rhythm | None = None,
    outside: Outside | None = None,
) -> Engine:
    """An engine from its parts."""
    outside, bell = outside or Outside(), asyncio.Event()
    embedding = Embedding(embedder)
    memories = Memories(store, embedding, clock)
    recall = Recall(store, embedding, clock)
    paths = Paths(store, memories, embedding, clock)
    collections = Collections(store, memories, clock)
    return Engine(
        store=store,
        clock=clock,
        embedding=embedding,
        access=(access := Access(store, clock, zone, owner_key)),
        memories=memories,
        recall=recall,
        derivations=Derivations(store, memories, recall, embedding, clock),
        literal=Literal(store, clock),
        paths=paths,
        sight=Sight(),
        history=History(store, memories, clock),
        arrivals=Arrivals(store, memories, paths, embedding, clock),
        undo=Undo(store, memories, paths, collections, embedding, clock),
        collections=collections,
        links=(links := Links(store, memories, embedding, clock)),
        views=Views(store, memories, links, embedding, clock),
        cleaning=Cleaning(store, memories, collections, links, clock),
        archive=Archive(store, memories, embedding, clock),
        teams=Teams(store, clock),
        atlases=Atlases(store, memories, collections, clock),
        contexts=(contexts := Contexts(store, memories, collections, clock)),
        keys=Keys(store, clock),
        doings=(doings := Doings(store, clock)),
        labels=Labels(store, memories, clock),
        categories=Categories(store, memories, clock),
        todos=Todos(store, clock),
        watches=(watches := Watches(store, clock)),
        attendance=(attendance := Attendance(store, clock)),
        annotations=Annotations(store, memories, embedding, clock),
        relations=Relations(store, memories, clock),
        work_logs=WorkLogs(store, memories, recall, embedding, clock),
        spaces=(spaces := Spaces(store, memories, clock)),
        notes=Notes(store, memories, embedding, clock, bell),
        bank=(bank := Bank(store, memories, embedding, clock)),
        consolidation=Consolidation(store, memories, bank, embedding, clock, bell, outside.completer, outside.longest),
        tokens=(tokens := Tokens(store, access, spaces, clock)),
        adoption=(adoption := Adoption(store, memories, spaces, tokens, embedding, clock)),
        mirror=(mirror := Mirror(store, outside.files, access, adoption, clock, bell)),
        snapshots=Snapshots(store, outside.files, adoption, clock, bell),
        summaries=Summaries(summariser),
        chain=Chain(store),
        events=Events(store, clock),
        backups=(backups := Backups(store, vault, clock, zone, rhythm or Rhythm())),
        upkeep=Upkeep(
            store,
            embedding,
            memories,
            recall,
            clock,
            backups,
            (
                contexts.sweep,
                collections.sweep,
                links.discover,
                doings.flush,
                doings.prune,
                watches.prune,
                attendance.keep,
                mirror.keep_up,
            ),
        ),
    )
