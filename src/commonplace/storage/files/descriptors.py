"""What is done inside an open folder: by name and descriptor, never by a path that could lead elsewhere."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from commonplace.domain.errors import AlreadyExists, Conflict, Invalid
from commonplace.ports.files import NOTHING, RESERVED, Entry, Held, is_file_path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe that somebody put there must not keep us waiting
_DRAFT = f"{RESERVED}draft-"
_NO_FILE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO}
"""Nothing, a file where a folder was expected, a link, a socket: none of them is a file of ours."""
_NOT_ENTERED = {errno.ENOTDIR, errno.ELOOP}
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS}


@dataclass(frozen=True, slots=True)
class Draft:
    """A file without its name yet. Its lock says that whoever writes it is alive."""

    folder: int
    name: str
    handle: int


# Facts


def _tag(facts: os.stat_result) -> str:
    """From its facts, as listing must not read every file. No file has the time of the one that it replaced."""
    return f"{facts.st_mtime_ns:x}-{facts.st_size:x}-{facts.st_ino:x}"


def _modified(facts: os.stat_result) -> datetime:
    return datetime.fromtimestamp(facts.st_mtime, UTC)


def _facts(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def held(name: str, folder: int) -> Held | None:
    handle = os.open(name, _READING, dir_fd=folder)
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            return Held(file.read(), _tag(facts), _modified(facts))
    finally:
        os.close(handle)


def is_folder(name: str, folder: int) -> bool:
    facts = _facts(name, folder)
    return facts is not None and stat.S_ISDIR(facts.st_mode)


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}/{name}" if prefix else name


class AbsentIsFine:
    """A block that ends early where there is no file, or none of ours."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        return isinstance(error, OSError) and error.errno in _NO_FILE


# Walking


def walked(folder: int, prefix: str, drafts: list[str]) -> Iterator[Entry]:
    """Every file below that could be asked for; the drafts on the way are told apart."""
    with os.scandir(folder) as entries:
        for entry in entries:
            path = _joined(prefix, entry.name)
            if entry.name.startswith(_DRAFT):
                drafts.append(path)
            elif is_file_path(path):
                with AbsentIsFine():
                    yield from _seen(folder, entry, path, drafts)


def _seen(folder: int, entry: os.DirEntry[str], path: str, drafts: list[str]) -> Iterator[Entry]:
    if entry.is_dir(follow_symlinks=False):
        with _opened(entry.name, folder) as deeper:
            yield from walked(deeper, path, drafts)
    elif entry.is_file(follow_symlinks=False):
        facts = entry.stat(follow_symlinks=False)
        yield Entry(path, facts.st_size, _modified(facts), _tag(facts))


def folder_names(folder: int, prefix: str) -> Iterator[str]:
    """Of those that hold a file somewhere: in a bucket there are no others."""
    with os.scandir(folder) as entries:
        for entry in entries:
            path = _joined(prefix, entry.name)
            if entry.is_dir(follow_symlinks=False) and is_file_path(path):
                with AbsentIsFine():
                    if any(True for _ in _seen(folder, entry, path, [])):
                        yield entry.name


@contextmanager
def _opened(name: str, folder: int) -> Iterator[int]:
    handle = os.open(name, FOLDER, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)


# Making


def make_and_enter(name: str, folder: int) -> int:
    try:
        os.mkdir(name, 0o700, dir_fd=folder)
        os.fsync(folder)
    except FileExistsError:
        pass
    try:
        return os.open(name, FOLDER, dir_fd=folder)
    except OSError as error:
        if error.errno in _NOT_ENTERED:
            raise Invalid("path", f"{name!r} is no folder", name) from error
        raise


def begun(folder: int) -> Draft:
    name = f"{_DRAFT}{secrets.token_hex(8)}"
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return Draft(folder, name, handle)


def fill(handle: int, data: bytes) -> None:
    with os.fdopen(handle, "wb", closefd=False) as file:
        file.write(data)
    _stamp(handle, time.time_ns())
    os.fsync(handle)


def _stamp(handle: int, moment: int) -> None:
    """The system's own stamps are milliseconds apart: two writes could share one."""
    os.utime(handle, ns=(moment, moment))


def named(draft: Draft, name: str, path: str, over: str | None) -> str:
    """Give the draft its name, if what is there may be replaced."""
    there = _facts(name, draft.folder)
    if over and (there is None or _tag(there) != over):
        raise Conflict("file", path)
    if there and there.st_mtime_ns >= os.fstat(draft.handle).st_mtime_ns:
        _stamp(draft.handle, there.st_mtime_ns + 1)
    if over == NOTHING:
        _link(draft, name, path)
    else:
        _rename(draft, name, path)
    return _tag(os.fstat(draft.handle))


def _link(draft: Draft, name: str, path: str) -> None:
    """Unlike a rename this never replaces: not even what a program that knows no lock put there just now."""
    try:
        os.link(draft.name, name, src_dir_fd=draft.folder, dst_dir_fd=draft.folder)
    except FileExistsError as taken:
        raise AlreadyExists("file", path) from taken
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if _facts(name, draft.folder):
            raise AlreadyExists("file", path) from error
        _rename(draft, name, path)


def _rename(draft: Draft, name: str, path: str) -> None:
    try:
        os.rename(draft.name, name, src_dir_fd=draft.folder, dst_dir_fd=draft.folder)
    except IsADirectoryError as error:
        raise Invalid("path", "it is a folder", path) from error


def sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# Clearing away


def unlink(name: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def clear(folder: int) -> None:
    for name in os.listdir(folder):
        if name.startswith(_DRAFT):
            abandon(name, folder)
        elif is_folder(name, folder):
            with _opened(name, folder) as deeper:
                clear(deeper)
            _removed(name, folder)
        else:
            unlink(name, folder)


def abandon(name: str, folder: int) -> None:
    """Remove a draft, unless somebody still writes it."""
    with AbsentIsFine():
        handle = os.open(name, _READING, dir_fd=folder)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            unlink(name, folder)
        except BlockingIOError:
            pass
        finally:
            os.close(handle)


def prune(way: list[int], parts: Sequence[str]) -> None:
    """Remove the folders on the way that are empty now, and make the change last."""
    depth = len(parts)
    while depth and _removed(parts[depth - 1], way[depth - 1]):
        depth -= 1
    os.fsync(way[depth])


def _removed(name: str, folder: int) -> bool:
    """Whether the folder was empty, and so is gone."""
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return False
    return True
