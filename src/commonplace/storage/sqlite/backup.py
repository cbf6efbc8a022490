"""Copies of the whole store in a folder of their own: the Vault port."""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import hashlib
import json
import os
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from commonplace.domain.backup import SUFFIX, Backup, Contents, Part, backup_name
from commonplace.domain.doing import Doing
from commonplace.domain.errors import (
    AlreadyExists,
    BackupBroken,
    Invalid,
    NotFound,
    RekeyUnfinished,
    StoreCorrupt,
    StoreFailed,
    StoreFull,
)
from commonplace.storage.sqlite.carryover import carry_over, is_in_use
from commonplace.storage.sqlite.changeover import interrupted
from commonplace.storage.sqlite.connection import connect, damaged, make_folder, speaking_plainly, translated
from commonplace.storage.sqlite.copying import contents, copy, duplicate, inspected, made, opened, sync_names
from commonplace.storage.sqlite.doings import SqliteDoingWriting
from commonplace.storage.sqlite.encryption import Form, form
from commonplace.storage.sqlite.presence import present
from commonplace.storage.sqlite.queries import queries
from commonplace.storage.sqlite.restoring import pour, replace
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore
from commonplace.storage.sqlite.workshops import Workshop, clear_away, workshop


@dataclass(frozen=True, slots=True)
class Replaced:
    """What a backup was put in the place of, where the store could not be opened."""

    aside: Path
    """Where the damaged files are kept."""
    before: int | None
    """How many memories they held; None where they cannot be counted."""
    backup: Backup


class SqliteVault:
    """The Vault port, over a folder. A backup is `NAME.db`, and `NAME.json` beside it says what it should be."""

    def __init__(self, folder: Path, place: Path, key: str = "") -> None:
        self._folder = folder
        self._path = folder / FILE_NAME
        self._place = place
        self._key = key

    @property
    def location(self) -> str:
        return str(self._place)

    async def size(self) -> int | None:
        return await asyncio.to_thread(self._size)

    async def create(self, name: str, at: datetime, parts: tuple[Part, ...] = tuple(Part)) -> Backup:
        return await asyncio.to_thread(self._create, backup_name(name), at, parts)

    async def backups(self) -> list[Backup]:
        return await asyncio.to_thread(self.listed)

    async def has(self, name: str) -> bool:
        return self._file(name).exists()

    async def verify(self, name: str) -> Backup:
        return await asyncio.to_thread(self.verified, backup_name(name), chain=True)

    async def restore(self, name: str, doing: Doing | None = None, safety: str = "") -> Contents:
        return await asyncio.to_thread(self._restored, backup_name(name), doing, safety and backup_name(safety))

    async def replace(self, name: str, at: datetime) -> Replaced:
        return await asyncio.to_thread(self._replaced, backup_name(name), at)

    @asynccontextmanager
    async def opened(self, name: str) -> AsyncIterator[SqliteStore]:
        opening = asyncio.ensure_future(asyncio.to_thread(self._opened, backup_name(name)))
        try:
            _, store = await asyncio.shield(opening)
            yield store
        finally:  # whoever gives up waiting, the copy goes
            await asyncio.shield(asyncio.ensure_future(_ended(opening)))

    async def remove(self, name: str) -> None:
        await asyncio.to_thread(self._remove, backup_name(name))

    async def tidy(self) -> None:
        await asyncio.to_thread(self._tidied)

    # Making

    def _create(self, name: str, at: datetime, parts: tuple[Part, ...]) -> Backup:
        with speaking_plainly(self._place), present(self._folder):
            self._make_place()
            clear_away(self._folder, self._place)
            return self._copied(name, at, parts)

    def _copied(self, name: str, at: datetime, parts: tuple[Part, ...] = tuple(Part)) -> Backup:
        file = self._file(name)
        if os.path.lexists(file):
            raise AlreadyExists("backup", name)
        with workshop(self._place, f".{name}.") as shop:
            unfinished = made(shop / file.name)
            found = self._taken(unfinished)
            backup = Backup(name, at, unfinished.stat().st_size, bool(self._key), _digest(unfinished), found, parts)
            _put(unfinished, file)
            self._describe(backup, shop)
        sync_names(self._place)
        return backup

    def _taken(self, unfinished: Path) -> Contents:
        """Copy what is there at this moment, whatever others write meanwhile, and read it back."""
        with speaking_plainly(self._path), closing(connect(self._path, writable=False, key=self._key)) as live:
            live.execute("BEGIN")
            expected = contents(live)
            try:
                copy(live, unfinished, self._key)
            except apsw.FullError as full:  # it is not the store that lacks room
                raise translated(full, self._place) from full
            try:
                found = inspected(unfinished, self._key)
            except BackupBroken:
                if damage := damaged(live):  # then it is not the copy that cannot be relied on
                    raise StoreCorrupt(str(self._path), damage) from None
                raise
        if found != expected:
            raise BackupBroken(str(unfinished), "what was read back is not what was written")
        return expected

    def _describe(self, backup: Backup, shop: Path) -> None:
        manifest = dataclasses.asdict(backup) | {"made_at": backup.made_at.isoformat()}
        unfinished = made(shop / self._manifest(backup.name).name)
        unfinished.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        unfinished.replace(self._manifest(backup.name))

    def check_place(self) -> None:
        """That there can be backups here, as far as it can be told without one."""
        try:
            with speaking_plainly(self._place):
                self._make_place()
                if not os.access(self._place, os.W_OK | os.X_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self._place))
        except StoreFull:  # that passes
            return
        except StoreFailed as failure:
            words = f"no backup can be written to {self._place}: {failure.reason}; choose another folder"
            raise Invalid("backup-dir", words) from failure

    def _make_place(self) -> None:
        if self._place.exists() and not self._place.is_dir():
            raise Invalid("backup-dir", f"{self._place} is a file; choose a folder")
        make_folder(self._place)

    def _tidied(self) -> None:
        with speaking_plainly(self._folder), present(self._folder):
            clear_away(self._folder, self._place)

    def describe_again(self, name: str) -> None:
        """After a backup got another key: its bytes are others, what it holds is the same."""
        file = self._found(name)
        known = self._known(file)
        digest = _digest(file)
        if known.contents and digest != known.sha256 and inspected(file, self._key) == known.contents:
            encrypted = form(file) is Form.ENCRYPTED
            described = dataclasses.replace(known, bytes=file.stat().st_size, encrypted=encrypted, sha256=digest)
            with workshop(self._place, f".{name}.") as shop:
                self._describe(described, shop)

    # Looking

    def _size(self) -> int | None:
        if not self._path.exists():
            return 0
        try:
            with speaking_plainly(self._path), closing(connect(self._path, writable=False, key=self._key)) as live:
                return int(live.execute(queries()["document_count"]).get)
        except StoreFailed:  # whoever goes on to work with it is told why
            return None

    def _file(self, name: str) -> Path:
        return self._place / f"{backup_name(name)}{SUFFIX}"

    def _manifest(self, name: str) -> Path:
        return self._place / f"{name}.json"

    def _found(self, name: str) -> Path:
        """The file, if it lies in the folder itself and does not lead out of it."""
        file = self._file(name)
        if file.is_symlink() or not file.is_file() or self.is_store(file):
            raise NotFound("backup", name)
        return file

    def is_store(self, file: Path) -> bool:
        """Whether it is the store itself, which lies here too where one folder is chosen for both.

        It is not only no backup: reading it beside SQLite, and closing it, lets go of the locks this process has on it.
        """
        try:
            return file.samefile(self._path)
        except OSError:  # there is none
            return False

    def listed(self) -> list[Backup]:
        """The latest last."""
        files = [file for file in self._place.glob(f"*{SUFFIX}") if _is_backup(file) and not self.is_store(file)]
        return sorted((self._known(file) for file in files), key=lambda backup: (backup.made_at, backup.name))

    def opening(self, *, sealed: bool = False) -> str:
        """The latest that can be opened, with `sealed` only by the key; empty without one."""
        for one in reversed(self.listed()):
            file = self._file(one.name)
            if sealed and form(file) is not Form.ENCRYPTED:
                continue
            with suppress(StoreFailed, apsw.Error, OSError), opened(file, self._key):
                return one.name
        return ""

    def _known(self, file: Path) -> Backup:
        """What the manifest says, or what can be seen from outside."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            return _read_manifest(file.stem, json.loads(self._manifest(file.stem).read_text(encoding="utf-8")))
        facts = file.stat()
        made_at = datetime.fromtimestamp(facts.st_mtime, UTC)
        return Backup(file.stem, made_at, facts.st_size, form(file) is Form.ENCRYPTED)

    def verified(self, name: str, *, chain: bool = False) -> Backup:
        """Its bytes, its pages and its figures are what they should be; with `chain` also every block."""
        file = self._found(name)
        known = self._known(file)
        if known.sha256 and _digest(file) != known.sha256:
            reason = "its bytes are not those that were written: the checksum differs"
            if way := interrupted(self._place):  # perhaps between the file and its manifest
                raise RekeyUnfinished(str(file), reason, way)
            raise BackupBroken(str(file), reason)
        found = inspected(file, self._key, chain=chain)
        if known.contents and found != known.contents:
            raise BackupBroken(str(file), "it does not hold what its manifest says")
        return dataclasses.replace(known, name=name, bytes=file.stat().st_size, contents=found)

    # Putting back

    def _restored(self, name: str, doing: Doing | None, safety: str) -> Contents:
        made_at = self.verified(name).made_at

        def handover(before: apsw.Connection, file: apsw.Connection) -> None:
            at = doing.at if doing else made_at
            if safety and is_in_use(before):
                self._keep_safe(safety, at)
            carry_over(before, file, at)
            if doing:
                SqliteDoingWriting(file).add(doing)

        with speaking_plainly(self._path), present(self._folder):
            clear_away(self._folder, self._place)
            return pour(self._found(name), self._path, self._key, handover)

    def _keep_safe(self, name: str, at: datetime) -> None:
        with speaking_plainly(self._place):
            self._copied(name, at)

    def _opened(self, name: str) -> tuple[Workshop, SqliteStore]:
        """Of a copy, because it is migrated, and because SQLite puts its logs beside what it opens."""
        with speaking_plainly(self._place), present(self._folder), ExitStack() as failing:
            clear_away(self._folder, self._place)
            file = self._found(name)
            shop = Workshop(self._place, f".{name}.")
            failing.callback(shop.end)
            duplicate(file, self._key, made(shop.folder / FILE_NAME))
            store = SqliteStore(shop.folder, "", self._key)
            failing.pop_all()
            return shop, store

    def _replaced(self, name: str, at: datetime) -> Replaced:
        """For a store that cannot be opened any more: its files are set aside, not removed."""
        found, before = self.verified(name), self._size()
        with speaking_plainly(self._path):
            self._make_place()
            with present(self._folder):
                clear_away(self._folder, self._place)
            aside = self._place / f"damaged-{at:%Y%m%d-%H%M%S}"
            replace(self._found(name), self._path, self._key, aside)
            return Replaced(aside, before, found)

    def _remove(self, name: str) -> None:
        file = self._found(name)
        file.unlink(missing_ok=True)
        self._manifest(name).unlink(missing_ok=True)


async def _ended(opening: asyncio.Future[tuple[Workshop, SqliteStore]]) -> None:
    await asyncio.wait({opening})
    if opening.cancelled() or opening.exception() is not None:
        return
    shop, store = opening.result()
    try:
        await store.close()
    finally:
        shop.end()


def _is_backup(file: Path) -> bool:
    try:
        return backup_name(file.name) == file.stem and file.is_file() and not file.is_symlink()
    except Invalid:
        return False


def _put(unfinished: Path, file: Path) -> None:
    """Give it its name, unless another process was faster: then that one stays."""
    try:
        file.hardlink_to(unfinished)
    except FileExistsError as taken:
        raise AlreadyExists("backup", file.stem) from taken
    except OSError:  # a file system that has no second names
        unfinished.rename(file)


def _digest(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def _read_manifest(name: str, manifest: dict[str, Any]) -> Backup:
    return Backup(
        name=name,
        made_at=datetime.fromisoformat(manifest["made_at"]),
        bytes=int(manifest["bytes"]),
        encrypted=bool(manifest["encrypted"]),
        sha256=str(manifest["sha256"]),
        contents=Contents(**manifest["contents"]),
        parts=tuple(map(Part, manifest.get("parts", Part))),
    )
