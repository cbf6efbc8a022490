"""The verbs on backups of a space: copies of its files, beside it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from commonplace.domain import limits
from commonplace.domain import space as rule
from commonplace.domain.access import Actor, Permission, Right, reach, require
from commonplace.domain.errors import AlreadyExists, BackupBroken, FilesFailed, Invalid, NotFound
from commonplace.engine.adoption import Adopted, Adoption, Found
from commonplace.engine.mirror import as_json, shown
from commonplace.engine.spaces import Contents, check_opens, contents, entered, opens
from commonplace.ports import Clock, Reading, Store
from commonplace.ports.files import NOTHING, Files, Held

MANIFEST = "_backup.json"
"""Written first: it says how many files there are to be, so that half a backup is known for what it is."""
_STAMP = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\Z", re.ASCII)
_AT_ONCE = 8
_TRIES = 60


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of a space."""

    space: str
    stamp: str
    files: int
    size: int
    description: str = ""
    complete: bool = True

    @property
    def id(self) -> str:
        return f"{self.space}/{self.stamp}"

    @property
    def folder(self) -> str:
        return f"{rule.BACKUPS}/{self.id}"


class Snapshots:
    """Copies of single spaces. Copies of the whole store are made by `Backups`."""

    def __init__(
        self, store: Store, files: Files | None, adoption: Adoption, clock: Clock, bell: asyncio.Event
    ) -> None:
        self._store = store
        self._files = files
        self._adoption = adoption
        self._clock = clock
        self._bell = bell

    async def create(self, actor: Actor, space: str, description: str) -> Snapshot:
        """A space as it is at one moment, whatever is written meanwhile."""
        require(actor, Permission.WRITE)
        text = rule.description(limits.text("description", description))
        files = self._reachable()
        copied = laid_out(await self._store.read(lambda tx: contents(tx, entered(tx, actor, space, Right.WRITE))))
        size = sum(map(len, copied.values()))
        stamp = await self._reserved(files, space, {"description": text, "files": len(copied), "size": size})
        folder = f"{rule.BACKUPS}/{space}/{stamp}"
        await _each([files.write(f"{folder}/{path}", data) for path, data in copied.items()])
        return Snapshot(space, stamp, len(copied), size, text)

    async def _reserved(self, files: Files, space: str, told: Mapping[str, Any]) -> str:
        """A name of its own: two backups within a second are a second apart."""
        now = self._clock.now()
        for later in range(_TRIES):
            at = now + timedelta(seconds=later)
            stamp = f"{at:%Y-%m-%dT%H-%M-%S}"
            manifest = {"backup_id": f"{space}/{stamp}", "space_id": space, "created_at": rule.stamp(at), **told}
            try:
                await files.write(f"{rule.BACKUPS}/{space}/{stamp}/{MANIFEST}", as_json(manifest), over=NOTHING)
            except AlreadyExists:
                continue
            return stamp
        raise AlreadyExists("backup", f"{space}/{now:%Y-%m-%dT%H-%M-%S}")

    async def all(self, actor: Actor, space: str = "") -> list[Snapshot]:
        """Of one space, or of all that the actor may see; the newest first."""
        require(actor, Permission.READ)
        files = self._reachable()
        if space:
            await self._store.read(lambda tx: _admit(tx, actor, space))
        names = [space] if space else [name for name in await files.folders(rule.BACKUPS) if rule.is_space_id(name)]
        allowed = await self._store.read(lambda tx: [name for name in names if _may_see(tx, actor, name)])
        found = [await self._found(files, name, stamp) for name in allowed for stamp in await _stamps(files, name)]
        if space and not found:
            await self._store.read(lambda tx: entered(tx, actor, space))  # there may be neither
        return sorted(found, key=lambda one: (one.stamp, one.space), reverse=True)

    async def files_of(self, actor: Actor, identifier: str) -> tuple[Snapshot, dict[str, bytes]]:
        """Everything in a backup, by its path in the space."""
        require(actor, Permission.READ)
        found = await self._whole(actor, identifier)
        return found, {path: held.data for path, held in (await self._read(self._reachable(), found)).items()}

    async def restore(self, actor: Actor, identifier: str) -> tuple[Snapshot, Adopted]:
        """Make the space again what it was; there must be none of its name."""
        require(actor, Permission.ADMIN)
        found = await self._whole(actor, identifier)
        if await self._store.read(lambda tx: tx.spaces.named(found.space)):
            raise AlreadyExists("space", found.space)
        copied = await self._read(self._reachable(), found)
        if rule.META not in copied:
            raise BackupBroken(found.id, f"it has no {rule.META}")
        held = [Found(f"{found.space}/{path}", one) for path, one in copied.items()]
        # A credential for some spaces does not open this one before it is there.
        adopted = await self._adoption.take(replace(actor, limited_to=None), held, only_new=True)
        self._bell.set()
        return found, adopted

    async def delete(self, actor: Actor, identifier: str) -> Snapshot:
        require(actor, Permission.ADMIN)
        files, found = self._reachable(), await self._get(actor, identifier)
        copied = [entry.path for entry in await files.listed(found.folder) if not _is_manifest(entry.path)]
        await _each([files.remove(path) for path in copied])
        await files.remove_all(found.folder)  # the manifest last: until then it says that something is missing
        return found

    # Within

    def _reachable(self) -> Files:
        if self._files is None:
            raise FilesFailed("(none)", "spaces have no files here: set --spaces to a folder or s3://BUCKET")
        return self._files

    async def _get(self, actor: Actor, identifier: str) -> Snapshot:
        space, _, stamp = identifier.partition("/")
        if not rule.is_space_id(space) or not _STAMP.match(stamp):
            raise Invalid("backup_id", "is written like space-id/2026-02-20T18-00-00")
        await self._store.read(lambda tx: _admit(tx, actor, space))
        found = await self._found(self._reachable(), space, stamp)
        if not found.files:
            raise NotFound("backup", identifier)
        return found

    async def _whole(self, actor: Actor, identifier: str) -> Snapshot:
        found = await self._get(actor, identifier)
        if not found.complete:
            raise BackupBroken(found.id, "some of its files are missing: it was never finished, or is being deleted")
        return found

    async def _found(self, files: Files, space: str, stamp: str) -> Snapshot:
        folder = f"{rule.BACKUPS}/{space}/{stamp}"
        entries = await files.listed(folder)
        copied = [entry for entry in entries if not _is_manifest(entry.path)]
        told = await _manifest(files, f"{folder}/{MANIFEST}") if len(copied) < len(entries) else {}
        size = sum(entry.size for entry in copied)
        complete = (told.get("files", len(copied)), told.get("size", size)) == (len(copied), size)
        return Snapshot(space, stamp, len(copied), size, rule.sound(str(told.get("description", ""))), complete)

    async def _read(self, files: Files, found: Snapshot) -> dict[str, Held]:
        paths = [entry.path for entry in await files.listed(found.folder) if not _is_manifest(entry.path)]
        held = await _each([files.read(path) for path in paths])
        return {path.removeprefix(f"{found.folder}/"): one for path, one in zip(paths, held, strict=True) if one}


def laid_out(contents: Contents) -> dict[str, bytes]:
    """A space as files, by their paths in it."""
    files = {file.kind.folder + file.name: shown(contents.space, file) for file in contents.files}
    return {rule.META: as_json(rule.meta(contents.space)), **dict.fromkeys(rule.KEPT, b""), **files}


async def _stamps(files: Files, space: str) -> Sequence[str]:
    return [name for name in await files.folders(f"{rule.BACKUPS}/{space}") if _STAMP.match(name)]


async def _manifest(files: Files, path: str) -> dict[str, Any]:
    held = await files.read(path)
    try:
        told = json.loads(held.data) if held else {}
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _is_manifest(path: str) -> bool:
    return path.endswith(f"/{MANIFEST}")


def _admit(tx: Reading, actor: Actor, name: str) -> None:
    """Refuse whoever may not see the backups of a space, in the words in which the space itself would be refused."""
    if not rule.is_space_id(name) or not _may_see(tx, actor, name):
        check_opens(tx, actor, name)
        entered(tx, actor, name)


def _may_see(tx: Reading, actor: Actor, name: str) -> bool:
    """Of a space he may enter; of one that is gone, whoever may enter all or has it named in his credential."""
    within, space = reach(actor, Right.READ, tx.holdings(actor.user)), tx.spaces.named(name)
    if space:
        return space.number in within
    root = tx.spaces.root()
    return opens(tx, actor, name) if actor.limited_to is not None else root is not None and root.number in within


async def _each(work: Sequence[Any]) -> list[Any]:
    """Several at a time."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(waiting: Any) -> Any:
        async with room:
            return await waiting

    results = await asyncio.gather(*map(one, work), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results
