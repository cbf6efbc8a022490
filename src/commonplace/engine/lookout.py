"""Looking at what others have written, changed or removed outside, and taking it in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial

from commonplace.domain import space as rule
from commonplace.domain.collection import Kind
from commonplace.domain.space import FileKind, Mirrored
from commonplace.engine.access import Access
from commonplace.engine.adoption import Adoption, Ledger
from commonplace.engine.finds import LARGEST, TOO_LARGE, Found
from commonplace.ports import Clock, Reading, Store, Transaction
from commonplace.ports.files import Entry, Files

logger = logging.getLogger(__name__)

_BATCH = 100
_AT_ONCE = 8
_REMOVING = timedelta(minutes=10)
"""So long another server may take to remove the notes that it has worked in."""

Known = Mapping[str, Mirrored]


class _Seen(Ledger):
    """Of files that stand where ours stand: one that has changed here too waits for ours to be written over it."""

    def __init__(self, known: Known) -> None:
        self._known = known

    def is_due(self, tx: Reading, found: Found) -> bool:
        return tx.spaces.mark_of(found.path) is None and tx.spaces.mirrored(found.path) == self._known.get(found.path)

    def settle(self, tx: Transaction, found: Found) -> None:
        tx.spaces.know(Mirrored(found.path, found.held.tag, found.digest))
        tx.spaces.unmark(found.path)


class Lookout:
    """The other half of the mirror. What is as we last saw it is not read."""

    def __init__(self, store: Store, files: Files, access: Access, adoption: Adoption, clock: Clock) -> None:
        self._store = store
        self._files = files
        self._access = access
        self._adoption = adoption
        self._clock = clock
        self._tried: dict[str, str] = {}
        """The tags of files that could not be taken in: they are not read again as long as they stay the same."""

    async def look(self) -> int:
        """How many files were taken in, let go or put back."""
        known = await self._store.read(_known)  # before the listing: what comes to be known later is not missing in it
        listed = await self._listed()
        news = [entry for entry in listed.values() if self._is_new(entry, known.get(entry.path))]
        before = await self._store.read(_consolidations)
        taken = await self._take(await self._store.read(lambda tx: _worth(tx, news, listed)), known)
        missing = [one for path, one in known.items() if path not in listed]
        if not taken and not missing:
            return 0
        worked = await self._store.write(partial(self._worked, before, {_space(one.path) for one in missing}))
        return taken + (await self._miss(missing, worked) if missing else 0)

    async def _listed(self) -> dict[str, Entry]:
        """Space by space: the backups beside them may be many times as many."""
        names = [name for name in await self._files.folders() if rule.is_space_id(name)]
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(name: str) -> list[Entry]:
            async with room:
                return await self._files.listed(name)

        folders = await asyncio.gather(*map(one, [*names, rule.TOKENS.partition("/")[0]]))
        return {entry.path: entry for entries in folders for entry in entries if _is_ours(entry.path)}

    # What is there

    def _is_new(self, entry: Entry, known: Mirrored | None) -> bool:
        if entry.tag in (known.tag if known else None, self._tried.get(entry.path)):
            return False
        if entry.size > LARGEST:
            logger.warning("spaces: %s: %s", entry.path, TOO_LARGE)
            self._tried[entry.path] = entry.tag
        return entry.size <= LARGEST

    async def _take(self, news: Sequence[Entry], known: Known) -> int:
        actor, taken = (await self._access.local_owner()).through("live.files", "files"), 0
        for begin in range(0, len(news), _BATCH):
            found = await self._read(news[begin : begin + _BATCH])
            same = [one for one in found if one.digest == getattr(known.get(one.path), "digest", "")]
            new = [one for one in found if one not in same]
            adopted = await self._adoption.take(actor, new, _Seen(known))
            for line in adopted.left:
                logger.warning("spaces: %s", line)
            self._tried |= {one.path: one.held.tag for one in new}
            if same:
                await self._store.write(partial(_touch, known, same))
            taken += len(new)
        return taken

    async def _read(self, entries: Sequence[Entry]) -> list[Found]:
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(entry: Entry) -> Found | None:
            async with room:
                held = await self._files.read(entry.path)
            return Found(entry.path, held) if held else None

        return [found for found in await asyncio.gather(*map(one, entries)) if found]

    # What is not

    def _worked(self, before: Mapping[str, int], asked: Iterable[str], tx: Transaction) -> set[str]:
        """Which of the spaces another server has consolidated lately: it says so first, and then removes the notes."""
        now, after = self._clock.now(), _consolidations(tx)
        for name in after:
            if after[name] > before.get(name, 0):
                tx.lease(f"worked in:{name}", "another", now, now + _REMOVING)
        return {name for name in asked if not tx.lease(f"worked in:{name}", "nobody", now, now)}

    async def _miss(self, missing: Sequence[Mirrored], worked: Container[str]) -> int:
        """Whatever is missing is put back: losing a file, a folder or a disk must not lose memories.

        But notes that another server has worked into the bank, and says so, are done with here too. Looked at twice:
        an editor that saves may take a file away for a moment.
        """
        listed = await self._listed()
        gone = [one for one in missing if one.path not in listed]
        done = [one for one in gone if _is_note_of(one.path, worked)]
        await self._store.write(lambda tx: _put_back(tx, [one for one in gone if one not in done]))
        actor = (await self._access.local_owner()).through("live.files", "files")
        await self._adoption.let_go(actor, done)
        return len(gone)


def _known(tx: Reading) -> dict[str, Mirrored]:
    """What we expect to find. What is to be written is another's affair."""
    marked = {one.path for one in tx.spaces.unmirrored(-1)}
    return {one.path: one for one in tx.spaces.all_mirrored() if one.path not in marked}


def _consolidations(tx: Reading) -> dict[str, int]:
    """How often each space was consolidated, by whichever server."""
    root = tx.spaces.root()
    spaces = tx.collections.below([root.id]) if root else ()
    return {one.name: int(one.metadata.get("consolidation_count", 0)) for one in spaces if one.kind == Kind.SPACE}


def _space(path: str) -> str:
    return path.partition("/")[0]


def _is_note_of(path: str, spaces: Container[str]) -> bool:
    place = rule.file_place(path)
    return place is not None and place.kind is FileKind.NOTE and place.space in spaces


def _worth(tx: Reading, news: Iterable[Entry], listed: Container[str]) -> list[Entry]:
    """Those that belong to a space: without its `_meta.json` a folder is none, or not yet."""
    names = {_space(entry.path) for entry in news}
    homes = {name for name in names if f"{name}/{rule.META}" in listed or tx.spaces.named(name)}
    return [
        entry
        for entry in news
        if (entry.path == rule.TOKENS or _space(entry.path) in homes) and not tx.spaces.mark_of(entry.path)
    ]


def _is_ours(path: str) -> bool:
    name, _, rest = path.partition("/")
    of_space = rule.is_space_id(name) and (rest in (rule.META, *rule.KEPT) or rule.file_place(path) is not None)
    return of_space or path == rule.TOKENS


def _touch(known: Known, same: Iterable[Found], tx: Transaction) -> None:
    """What was only written again, as it was, has another tag now."""
    for one in same:
        if tx.spaces.mirrored(one.path) == known.get(one.path):
            tx.spaces.know(Mirrored(one.path, one.held.tag, one.digest))


def _put_back(tx: Transaction, lost: Iterable[Mirrored]) -> None:
    for one in lost:
        if tx.spaces.mirrored(one.path) == one:
            tx.spaces.unknow(one.path)
            tx.spaces.mark(one.path)
