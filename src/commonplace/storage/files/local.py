"""Files in a folder of this machine, which several processes may share.

A file gets its name only when it is whole and on the disk. Folders are entered one by one, by descriptor, so that
no link on the way leads out of the root. What changes names is done under one lock; filling a draft is not.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import ParamSpec, TypeVar

from commonplace.domain.errors import FilesFailed, Invalid
from commonplace.ports.files import RESERVED, Entry, Held, file_path, folder_path
from commonplace.storage.files.descriptors import (
    FOLDER,
    AbsentIsFine,
    Draft,
    abandon,
    begun,
    clear,
    fill,
    folder_names,
    held,
    is_folder,
    make_and_enter,
    named,
    prune,
    sync,
    unlink,
    walked,
)

LOCK_NAME = f"{RESERVED}lock"

P = ParamSpec("P")
T = TypeVar("T")


class LocalFiles:
    """The Files port over a folder."""

    def __init__(self, folder: Path) -> None:
        self._root = folder

    @property
    def location(self) -> str:
        return str(self._root)

    async def read(self, path: str) -> Held | None:
        return await self._doing(self._read, file_path(path).split("/"))

    async def listed(self, prefix: str = "") -> list[Entry]:
        return await self._doing(self._listed, folder_path(prefix))

    async def folders(self, prefix: str = "") -> list[str]:
        return await self._doing(self._folders, folder_path(prefix))

    async def write(self, path: str, data: bytes, *, over: str | None = None) -> str:
        return await self._doing(self._write, file_path(path), data, over)

    async def remove(self, path: str) -> None:
        await self._doing(self._remove, file_path(path).split("/"))

    async def remove_all(self, prefix: str) -> None:
        if not prefix:
            raise Invalid("path", "this would remove everything", prefix)
        await self._doing(self._remove_all, folder_path(prefix).split("/"))

    async def check(self) -> float:
        return await self._doing(self._check)

    async def _doing(self, act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await asyncio.to_thread(act, *args, **kwargs)
        except OSError as error:
            raise FilesFailed(self.location, error.strerror or type(error).__name__) from error

    # Looking

    def _read(self, parts: list[str]) -> Held | None:
        with AbsentIsFine(), self._entered(parts[:-1]) as way:
            return held(parts[-1], way[-1])
        return None

    def _listed(self, prefix: str) -> list[Entry]:
        drafts: list[str] = []
        entries: list[Entry] = []
        with AbsentIsFine(), self._entered(_parts(prefix)) as way:
            entries = sorted(walked(way[-1], prefix, drafts), key=lambda entry: entry.path)
        if drafts:
            with suppress(OSError):  # who may only read can still list
                self._sweep(drafts)
        return entries

    def _folders(self, prefix: str) -> list[str]:
        with AbsentIsFine(), self._entered(_parts(prefix)) as way:
            return sorted(folder_names(way[-1], prefix))
        return []

    def _check(self) -> float:
        started = time.perf_counter()
        self._make_root()
        if not os.access(self._root, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return time.perf_counter() - started

    # Writing

    def _write(self, path: str, data: bytes, over: str | None) -> str:
        *parents, name = path.split("/")
        self._make_root()
        with self._drafted(parents) as draft:
            fill(draft.handle, data)
            with self._alone():
                tag = named(draft, name, path, over)
            os.fsync(draft.folder)
            return tag

    @contextmanager
    def _drafted(self, parents: Sequence[str]) -> Iterator[Draft]:
        with ExitStack() as ends:
            with self._alone():  # or the folder could be removed as empty before the draft is in it
                draft = begun(ends.enter_context(self._entered(parents, make=True))[-1])
            ends.callback(os.close, draft.handle)
            ends.callback(unlink, draft.name, draft.folder)
            yield draft

    def _make_root(self) -> None:
        if not self._root.is_dir():
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            sync(self._root.parent)

    # Removing

    def _remove(self, parts: list[str]) -> None:
        with AbsentIsFine(), self._alone(), self._entered(parts[:-1]) as way:
            if not is_folder(parts[-1], way[-1]):
                os.unlink(parts[-1], dir_fd=way[-1])
                prune(way, parts[:-1])

    def _remove_all(self, parts: list[str]) -> None:
        with AbsentIsFine(), self._alone(), self._entered(parts) as way:
            clear(way[-1])
            prune(way, parts)

    def _sweep(self, drafts: list[str]) -> None:
        """Remove what processes that were killed have left."""
        with self._alone():
            for path in drafts:
                *parents, name = path.split("/")
                with AbsentIsFine(), self._entered(parents) as way:
                    abandon(name, way[-1])

    # The way there

    @contextmanager
    def _entered(self, parts: Sequence[str], *, make: bool = False) -> Iterator[list[int]]:
        """Descriptors of the root and of each folder on the way."""
        with ExitStack() as ends:
            way = [os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)]  # the root itself may be a link: its owner's wish
            ends.callback(os.close, way[0])
            for part in parts:
                way.append(make_and_enter(part, way[-1]) if make else os.open(part, FOLDER, dir_fd=way[-1]))
                ends.callback(os.close, way[-1])
            yield way

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other thread or process changes a name meanwhile; the system lets go what a killed one held."""
        handle = os.open(self._root / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _parts(prefix: str) -> list[str]:
    return prefix.split("/") if prefix else []
