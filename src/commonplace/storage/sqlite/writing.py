"""Writes: what a transaction may do, all of it kept or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from commonplace.domain.access import Right
from commonplace.domain.chain import Block, erasure_seal, revision_seal
from commonplace.domain.credential import Credential, User
from commonplace.domain.errors import Conflict, EmbeddingFailed
from commonplace.domain.event import CHANGES, Happening
from commonplace.domain.identifiers import CollectionId, CredentialId, UserId
from commonplace.domain.memory import Author, Change, Ephemeral, Memory
from commonplace.ports import (
    Prints,
)
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.parts import WritingParts
from commonplace.storage.sqlite.reading import SqliteReading
from commonplace.storage.sqlite.watches import SqliteWatchWriting
from commonplace.storage.sqlite.wording import catch_up, put_words, wording

if TYPE_CHECKING:
    from commonplace.storage.sqlite.following import Vantage


T = TypeVar("T")


class SqliteTransaction(WritingParts, SqliteReading):
    """The Transaction port, on the writer's connection."""

    erased = False
    """Whether something was deleted since the log was last emptied."""
    recorded = 0
    """Events, also of what was not kept in the end."""

    def _vantage(self, fingerprint: str) -> Vantage:
        """What a transaction writes itself it sees at once."""
        return self._looked(fingerprint)

    # Who

    def add_user(self, user: User) -> None:
        created_at = rows.micros(user.created_at)
        self._do("add_user", id=user.id, name=user.name, time_zone=user.time_zone, created_at=created_at)

    def add_credential(self, credential: Credential) -> None:
        self._do(
            "add_credential",
            id=credential.id,
            user=credential.user,
            name=credential.name,
            hash=credential.hash,
            permissions=",".join(sorted(credential.permissions)),
            created_at=rows.micros(credential.created_at),
            expires_at=rows.maybe_micros(credential.expires_at),
            revoked_at=rows.maybe_micros(credential.revoked_at),
            kind=credential.kind,
            collections=None if credential.collections is None else rows.as_json(credential.collections),
            made_with=credential.made_with,
        )

    def change_credential(self, credential: Credential) -> None:
        self._do(
            "change_credential",
            id=credential.id,
            permissions=",".join(sorted(credential.permissions)),
            collections=None if credential.collections is None else rows.as_json(credential.collections),
        )

    def revoke_credential(self, credential: CredentialId, at: datetime) -> None:
        self._do("revoke_credential", id=credential, at=rows.micros(at))

    def remove_credential(self, credential: CredentialId) -> None:
        self._do("remove_credential", id=credential)

    def add_collection(
        self,
        collection: CollectionId,
        kind: str,
        domain: str,
        name: str,
        owner: UserId | None,
        at: datetime,
        parent: int | None = None,
    ) -> int:
        return self._added(
            "add_collection",
            id=collection,
            kind=kind,
            domain=domain,
            name=name,
            owner=owner,
            created_at=rows.micros(at),
            parent=parent,
        )

    def grant(self, user: UserId, collection: int, right: Right, by: UserId, at: datetime) -> None:
        self._do("grant", user=user, collection=collection, access=right.value, granted_by=by, at=rows.micros(at))

    # Memories

    def add(self, memory: Memory, prints: Prints) -> int:
        number = self._added(
            "add_memory",
            id=memory.id,
            collection=memory.home,
            created_at=rows.micros(memory.created_at),
            revised_at=rows.micros(memory.revised_at),
            importance=memory.importance,
            category=memory.category,
            content_type=memory.content_type,
            keywords=rows.as_json(memory.keywords),
            metadata=rows.as_json(memory.metadata),
            content=memory.content,
            **rows.author_bindings(memory.author),
            **{f"reviser_{name}": value for name, value in rows.author_bindings(memory.reviser).items()},
        )
        self._put_tags(number, memory.tags)
        words = wording(" ".join(prints.terms), (*memory.tags, memory.category))
        self._do("add_words", number=number, terms=words)
        self._add_vectors(number, prints, memory.created_at)
        if memory.ephemeral:
            self.set_end(number, memory.ephemeral)
        return number

    def revise(self, memory: Memory, change: Change, by: Author, at: datetime, prints: Prints | None) -> None:
        content = _either(change.content, memory.content)
        self._do("keep_version", number=memory.number)
        self._do(
            "revise",
            number=memory.number,
            version=memory.version,
            content=content,
            content_type=_either(change.content_type, memory.content_type),
            importance=_either(change.importance, memory.importance),
            category=_either(change.category, memory.category),
            keywords=rows.as_json(_either(change.keywords, memory.keywords)),
            metadata=rows.as_json(_either(change.metadata, memory.metadata)),
            at=rows.micros(at),
            **rows.author_bindings(by),
        )
        if self._connection.changes() != 1:
            raise Conflict("memory", memory.id)
        self._do("seal_revision", number=memory.number, hash=revision_seal(memory.id, memory.version + 1, content))
        if change.tags is not None:
            self._do("clear_tags", memory=memory.number)
            self._put_tags(memory.number, change.tags)
        if prints is not None or change.tags is not None or change.category is not None:
            put_words(self._connection, memory.number, None if prints is None else " ".join(prints.terms))
        if prints is not None:
            self._clear_vectors(memory.number)
            self._add_vectors(memory.number, prints, at)

    def _put_tags(self, number: int, tags: Sequence[str]) -> None:
        # Rather than INSERT ... SELECT from json_each, which takes twice as long for a few.
        self._do_each("add_tag", ((number, position, tag) for position, tag in enumerate(tags)))

    def put_missing_words(self) -> bool:
        """Bring some memories of an earlier release to full text with their tags; whether there were any."""
        return catch_up(self._connection)

    def set_end(self, number: int, ephemeral: Ephemeral | None) -> None:
        if ephemeral is None:
            self._do("clear_end", memory=number)
            return
        ttl = int(ephemeral.ttl.total_seconds() * 1_000_000)
        self._do("set_end", memory=number, ttl=ttl, ends_at=rows.micros(ephemeral.ends_at))

    def erase(self, memory: Memory, at: datetime) -> None:
        """Text, versions, vectors and full text go for good; the block keeps its hashes, sealed."""
        self.erased = True
        self._do("clear_words", number=memory.number)
        self._do("erase", number=memory.number)
        row = self._one("block_of", memory=memory.id)
        if row:
            block = rows.block(row)
            seal = erasure_seal(block, rows.moment(rows.micros(at)).isoformat())
            self._do("erase_block", number=block.index, erased_at=rows.micros(at), seal=seal)

    def put_vectors(self, number: int, prints: Prints, at: datetime) -> None:
        self._clear_vectors(number)
        if prints.vectors is not None:
            self._embedder(prints.fingerprint, prints.vectors.shape[1])  # refuses those that do not fit the others
        self._add_vectors(number, prints, at)

    def refuse_vectors(self, number: int, reason: str, at: datetime) -> None:
        self._do("mark_unembedded", memory=number, since=rows.micros(at), reason=reason, refused=True)

    def forgive_refused(self) -> None:
        self._do("forgive_refused")

    def _clear_vectors(self, number: int) -> None:
        self._do("clear_vectors", memory=number)
        self._do("clear_unembedded", memory=number)

    def _add_vectors(self, number: int, prints: Prints, at: datetime) -> None:
        """Without those that do not fit the others, and saying why: a text is kept whatever the embedder does."""
        from commonplace.storage.sqlite.following import packed

        missing, refused, chosen = prints.unembedded, prints.refused, self.embedded().by
        try:
            if chosen not in (None, prints.fingerprint):
                missing, refused = f"the embedder is now {chosen}", False
            elif prints.vectors is not None:
                embedder = self._embedder(prints.fingerprint, prints.vectors.shape[1])
                for part, vector in enumerate(prints.vectors):
                    self._do("add_vector", memory=number, embedder=embedder, part=part, vector=packed(vector))
        except EmbeddingFailed as failure:
            missing = failure.message
        if missing:
            self._do("mark_unembedded", memory=number, since=rows.micros(at), reason=missing, refused=refused)

    def _embedder(self, fingerprint: str, dimensions: int) -> int:
        row = self._one("embedder", fingerprint=fingerprint)
        if row is None:
            return self._added("add_embedder", fingerprint=fingerprint, dimensions=dimensions)
        if row[1] != dimensions:
            raise EmbeddingFailed(fingerprint, f"its vectors have {dimensions} numbers now; they had {row[1]} before")
        return int(row[0])

    def choose_embedder(self, fingerprint: str, reason: str, at: datetime) -> None:
        if self.embedded().by is not None:
            self._do("mark_unseen", fingerprint=fingerprint, since=rows.micros(at), reason=reason)
        self.set_meta("embedder", fingerprint)

    # The chain, links, what happened

    def append(self, block: Block) -> None:
        self._do(
            "add_block",
            number=block.index,
            memory=block.memory,
            version=block.version,
            timestamp=block.timestamp,
            importance=block.importance,
            previous_hash=block.previous_hash,
            hash=block.hash,
            seal=block.seal,
        )

    def record(self, happening: Happening) -> int:
        """With it the watches it concerns: later the memory may be gone, and nobody could tell."""
        number = self._added("record", **rows.happening_bindings(happening))
        self.recorded += 1
        change = CHANGES.get(happening.kind)
        if change:
            SqliteWatchWriting(self._connection).notice(number, change, happening)
        return number

    def count_uses(self, numbers: Mapping[int, int], at: datetime) -> None:
        for number, count in sorted(numbers.items()):
            self._do("count_use", memory=number, count=count, at=rows.micros(at))

    def lease(self, name: str, holder: str, now: datetime, until: datetime) -> bool:
        row = self._one("lease", name=name, holder=holder, now=rows.micros(now), until=rows.micros(until))
        return row is not None

    def put_origin(self, source: str, origin: str, memory: int) -> None:
        self._do("put_origin", source=source, origin=origin, memory=memory)

    def set_meta(self, key: str, value: str) -> None:
        self._do("set_meta", key=key, value=value)


def observed(work: Callable[[SqliteTransaction], T], tx: SqliteTransaction) -> tuple[T, bool]:
    """What comes of it, and whether it was a change that an event tells of."""
    before = tx.recorded
    return work(tx), tx.recorded > before


def _either(new: Any, old: Any) -> Any:
    return old if new is None else new
