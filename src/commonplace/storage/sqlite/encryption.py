"""The key of a file: SQLite3 Multiple Ciphers' ChaCha20-Poly1305, every page sealed, log and journals too.

The passphrase becomes the key of a file exactly as the library itself would do it (PBKDF2 with the salt in the file's
first bytes), so that its other tools open the file as well. It is done here because once is enough for all connections.
"""

from __future__ import annotations

import hashlib
import secrets
from enum import Enum
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

import apsw

from commonplace.domain.errors import KeyNeeded, KeyUnneeded, StoreCorrupt, StoreFailed
from commonplace.storage.sqlite.changeover import explained
from commonplace.storage.sqlite.ownership import APPLICATION_ID

_MAGIC = b"SQLite format 3\x00"
_SALT = 16
_ROUNDS = 64_007
"""The library's own number for this cipher: another one would make another key."""
_PAYLOAD_FRACTIONS = b"\x40\x20\x20"
"""What every SQLite file has in bytes 21 to 23, and an encrypted one in the clear."""


_HEADER = 100
_MARK = slice(68, 72)
_OURS = APPLICATION_ID.to_bytes(4, "big")
_EXPANSION = slice(72, 92)
"""Zeros in every SQLite file, and in an encrypted one as random as the rest: a damaged beginning does not hide it."""


class Form(Enum):
    """What a file is, by its first bytes."""

    EMPTY = "empty"
    PLAIN = "plain"
    ENCRYPTED = "encrypted"
    FOREIGN = "foreign"


def form(path: Path) -> Form:
    head = _head(path)
    if not head:
        return Form.EMPTY
    is_open = not any(head[_EXPANSION])
    if head.startswith(_MAGIC) and is_open:
        return Form.PLAIN
    if head.startswith(_MAGIC) or is_open or head[21:24] != _PAYLOAD_FRACTIONS:
        return Form.FOREIGN
    return Form.ENCRYPTED


def is_marked(path: Path) -> bool:
    """Whether its first bytes say that it is a store, or nothing yet; another may still be one, marked in its log."""
    return _head(path)[_MARK] in (b"", _OURS)


def _head(path: Path) -> bytes:
    """Through SQLite: opening and closing a file ourselves would drop the locks this process has on it."""
    if not path.exists():
        return b""
    flags = [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0]
    file = apsw.VFSFile(_plain_vfs(), str(path.absolute()), flags)
    try:
        size = file.xFileSize()
        return file.xRead(min(size, _HEADER), 0) if size >= 24 else b""
    finally:
        file.xClose()


def _plain_vfs() -> str:
    """The system's own, below the one that deciphers."""
    return next(name for name in apsw.vfs_names() if name in ("unix", "win32"))


def unlock(connection: apsw.Connection, path: Path, key: str) -> None:
    """Give a connection the key, before anything is read through it."""
    if key:
        connection.pragma("cipher", "chacha20")
        connection.pragma("key", _material(key, _head(path)[:_SALT] or secrets.token_bytes(_SALT)))


def address(path: Path, key: str) -> str:
    """The file for VACUUM INTO: encrypted with a key of its own, or plain."""
    return f"{path.absolute().as_uri()}?cipher=chacha20&key={quote(_material(key, secrets.token_bytes(_SALT)))}"


def _material(key: str, salt: bytes) -> str:
    return f"raw:{_derived(key, salt)}{salt.hex()}" if key else ""


@lru_cache(maxsize=8)
def _derived(key: str, salt: bytes) -> str:
    return hashlib.pbkdf2_hmac("sha256", key.encode("utf-8", "surrogateescape"), salt, _ROUNDS, 32).hex()


def misfit(path: Path, key: str) -> StoreFailed | None:
    """Why this key cannot open this file, as far as its first bytes tell."""
    found = form(path)
    if found is Form.PLAIN and key:
        return explained(path, KeyUnneeded(str(path), "it is not encrypted, but an encryption key is set"))
    if found is Form.ENCRYPTED and not key:
        return key_missing(path)
    if found is Form.FOREIGN:
        return StoreCorrupt(str(path), "its first bytes are neither those of a store nor of an encrypted one")
    return None


def wrong_key(path: Path) -> StoreFailed:
    return explained(path, KeyNeeded(str(path), "the encryption key does not open it (or its first page is damaged)"))


def key_missing(path: Path) -> StoreFailed:
    return explained(path, KeyNeeded(str(path), "it is encrypted, and no encryption key is set"))
