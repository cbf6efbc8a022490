"""Whole files under a root, in a folder or in a bucket, and what their paths may look like."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from commonplace.domain.errors import Invalid

NOTHING: Final = ""
"""The tag of what is not there: whoever writes over nothing creates."""

RESERVED: Final = ".commonplace-"
"""How the names begin that the keeper of the files gives to its own: drafts and locks."""

_LONGEST_PART = 255
_LONGEST_PATH = 800
"""Bytes. A key in a bucket has at most 1024, and what the bucket's prefix takes is among them."""
_NO_TEXT = frozenset("\ufffe\uffff")
"""Not allowed in XML, in which buckets answer."""


@dataclass(frozen=True, slots=True)
class Held:
    """A file as it was at one moment. While the tag is the same, so are the bytes."""

    data: bytes
    tag: str
    modified: datetime


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a listing."""

    path: str
    size: int
    modified: datetime
    tag: str


class FilesReading(Protocol):
    """Whole files by their path, to be read.

    A folder is there as long as a file is in it. `prefix` is a folder, `""` the root; a path that breaks
    the rules of `file_path` raises Invalid.
    """

    @property
    def location(self) -> str:
        """What status answers call it: no secret is in it."""
        ...

    async def read(self, path: str) -> Held | None: ...

    async def listed(self, prefix: str = "") -> list[Entry]:
        """Every file below, sorted by path."""
        ...


class Files(FilesReading, Protocol):
    """The same, for several processes at once. What fails raises FilesFailed and leaves no half file."""

    async def folders(self, prefix: str = "") -> list[str]:
        """The names of the folders directly in it, sorted."""
        ...

    async def write(self, path: str, data: bytes, *, over: str | None = None) -> str:
        """Durable when it returns, with the new tag.

        `over` is the tag that must still be there, or Conflict; with NOTHING no file may be there, or AlreadyExists;
        without it, whatever is there gives way.
        """
        ...

    async def remove(self, path: str) -> None:
        """It may be gone already."""
        ...

    async def remove_all(self, prefix: str) -> None:
        """Every file below; the root itself is refused."""
        ...

    async def check(self) -> float:
        """How many seconds an answer took, or FilesFailed."""
        ...


def file_path(path: str) -> str:
    """The path, if it may name a file: relative, `/` between its parts, and nothing in it that could lead elsewhere."""
    if not path:
        raise Invalid("path", "it is empty", path)
    if fault := next(filter(None, map(_fault, path.split("/"))), ""):
        raise Invalid("path", fault, path)
    if len(path.encode()) > _LONGEST_PATH:
        raise Invalid("path", f"it is longer than {_LONGEST_PATH} bytes", path)
    return path


def folder_path(prefix: str) -> str:
    """The same for a folder, which may end with `/`; the root is the empty path."""
    return file_path(prefix.removesuffix("/")) if prefix else ""


def is_file_path(path: str) -> bool:
    """Whether what was found could also be asked for."""
    try:
        return bool(file_path(path))
    except Invalid:
        return False


def _fault(part: str) -> str:
    if part in ("", ".", ".."):
        return "no part of it may be empty, '.' or '..'"
    if "\\" in part or any(unicodedata.category(char) in ("Cc", "Cs") or char in _NO_TEXT for char in part):
        return "backslashes, control characters and what is no text are not allowed"
    if part.startswith(RESERVED):
        return f"names that begin with {RESERVED} are taken"
    return f"a part of it is longer than {_LONGEST_PART} bytes" if len(part.encode()) > _LONGEST_PART else ""
