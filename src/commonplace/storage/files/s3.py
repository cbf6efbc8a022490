"""Files in a bucket that speaks S3, through obstore.

Its calls wait in threads of our own: a process that ends right after one of its awaited calls is aborted now and
then. Retries are ours too, because only who knows that an answer was lost can tell a refusal from his own success.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

import obstore
from obstore import exceptions
from obstore.store import S3Store

from commonplace.domain.errors import AlreadyExists, Conflict, FilesFailed, Invalid
from commonplace.ports.files import NOTHING, Entry, Held, file_path, folder_path, is_file_path
from commonplace.storage.files.bucket import Bucket, Connection

if TYPE_CHECKING:
    from obstore import ObjectMeta, PutMode
    from obstore.store import ClientConfig, S3Config

_MARK = "commonplace-write"
"""The metadata that tells which write an object is from."""
_AT_ONCE = 16
_LAST = "\U0010ffff"
"""Sorts after every name."""
_PASSING = {"408", "409", "429"}
"""Statuses that are worth another try, as all from 500 are."""
_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([A-Za-z]{1,64})</Code>")

T = TypeVar("T")


class _Refused(Exception):
    """A condition of a write did not hold, or another write was under way."""


class _Unsure(Exception):
    """It was not done, or it was and the answer did not arrive."""


@dataclass(frozen=True, slots=True)
class _Found:
    held: Held
    mark: str


class S3Files:
    """The Files port over a bucket."""

    def __init__(self, bucket: Bucket, connection: Connection) -> None:
        self._bucket = bucket
        self._pauses = connection.pauses
        self._store = _opened(bucket, connection)
        self._threads = ThreadPoolExecutor(_AT_ONCE, "commonplace-bucket")

    @property
    def location(self) -> str:
        return str(self._bucket)

    async def read(self, path: str) -> Held | None:
        found = await self._found(self._bucket.key(file_path(path)))
        return found.held if found else None

    async def listed(self, prefix: str = "") -> list[Entry]:
        below = self._below(folder_path(prefix))
        metas = await self._asked(lambda: obstore.list(self._store, below).collect())
        entries = [self._entry(meta) for meta in metas if meta["path"] != below]
        markers = await self._markers([entry.path for entry in entries if not entry.size])
        files = (entry for entry in entries if is_file_path(entry.path) and entry.path not in markers)
        return sorted(files, key=lambda entry: entry.path)

    async def folders(self, prefix: str = "") -> list[str]:
        below = self._below(folder_path(prefix))
        found = await self._asked(lambda: obstore.list_with_delimiter(self._store, below)["common_prefixes"])
        return sorted(path.rpartition("/")[2] for path in found if is_file_path(self._bucket.path(path)))

    async def write(self, path: str, data: bytes, *, over: str | None = None) -> str:
        key, mark = self._bucket.key(file_path(path)), secrets.token_hex(16)
        doubt = ""
        for pause in (0.0, *self._pauses):
            await asyncio.sleep(pause)
            try:
                return await self._run(lambda: _put(self._store, key, data, mark, over))
            except _Unsure as unsure:
                doubt = str(unsure)
            except _Refused:
                if tag := await self._settled(path, mark, over, doubt):
                    return tag
        raise FilesFailed(self.location, f"{doubt or 'others write it without end'}; it may be written or not")

    async def remove(self, path: str) -> None:
        key = self._bucket.key(file_path(path))
        await self._asked(lambda: obstore.delete(self._store, key))

    async def remove_all(self, prefix: str) -> None:
        if not prefix:
            raise Invalid("path", "this would remove everything", prefix)
        if keys := [self._bucket.key(entry.path) for entry in await self.listed(prefix)]:
            await self._asked(lambda: obstore.delete(self._store, keys))

    async def check(self) -> float:
        started = time.perf_counter()
        below = self._below("")
        after = f"{below}/{_LAST}" if below else _LAST
        await self._asked(lambda: obstore.list(self._store, below, offset=after).collect())
        return time.perf_counter() - started

    # Asking

    async def _asked(self, ask: Callable[[], T]) -> T:
        """What may be asked twice."""
        doubt = ""
        for pause in (0.0, *self._pauses):
            await asyncio.sleep(pause)
            try:
                return await self._run(ask)
            except _Unsure as unsure:
                doubt = str(unsure)
        raise FilesFailed(self.location, doubt)

    async def _run(self, ask: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._plainly, ask)

    def _plainly(self, ask: Callable[[], T]) -> T:
        """Never with the words of the bucket, which repeat keys and signatures."""
        try:
            return ask()
        except (exceptions.BaseError, OSError, ValueError) as error:
            reason, passing = _reason(error)
            raise _Unsure(reason) if passing else FilesFailed(self.location, reason) from None

    # Looking

    async def _found(self, key: str) -> _Found | None:
        return await self._asked(lambda: _get(self._store, key))

    def _below(self, prefix: str) -> str | None:
        return self._bucket.key(prefix) or None

    def _entry(self, meta: ObjectMeta) -> Entry:
        path = self._bucket.path(meta["path"])
        return Entry(path, meta["size"], meta["last_modified"], meta["e_tag"] or "")

    async def _markers(self, empty: list[str]) -> set[str]:
        """Consoles keep folders as empty objects whose names end with `/`, and obstore cuts that off."""
        found = await asyncio.gather(*(self._found(self._bucket.key(path)) for path in empty))
        return {path for path, file in zip(empty, found, strict=True) if file is None}

    # Writing

    async def _settled(self, path: str, mark: str, over: str | None, doubt: str) -> str:
        """After a refusal: the tag, if what is there is this very write; empty, if it is worth another try."""
        found = await self._found(self._bucket.key(path))
        if found and found.mark == mark:
            return found.held.tag
        if found and over == NOTHING:
            raise AlreadyExists("file", path)
        if over in (None, found.held.tag if found else NOTHING):
            return ""  # another write or removal was under way: S3 then refuses, and asks to try again
        if doubt:  # ours may have been the one before
            raise FilesFailed(self.location, f"{doubt}; others changed it since: whether it was written is open")
        raise Conflict("file", path)


def _opened(bucket: Bucket, connection: Connection) -> S3Store:
    options: ClientConfig = {
        "allow_http": connection.endpoint.startswith("http://"),
        "connect_timeout": connection.connect_timeout,
        "timeout": connection.request_timeout,
    }
    try:
        return S3Store(
            bucket.name,
            config=_config(bucket, connection),
            client_options=options,
            retry_config={"max_retries": 0, "retry_timeout": timedelta(0)},
        )
    except (exceptions.BaseError, ValueError):
        raise Invalid("s3 endpoint", "a bucket cannot be reached like this") from None


def _config(bucket: Bucket, connection: Connection) -> S3Config:
    """What is left out, obstore looks for in the environment, and some of it goes before what is said here."""
    config: S3Config = {
        "region": connection.region,
        "virtual_hosted_style_request": connection.virtual_hosted,
        "conditional_put": "etag",
        "skip_signature": False,
    }
    if connection.endpoint:
        endpoint = connection.endpoint_of(bucket.name)
        config |= {"endpoint": endpoint, "aws_endpoint_url_s3": endpoint}
    if connection.access_key:
        config |= {"access_key_id": connection.access_key, "secret_access_key": connection.secret_key}
    return config


def _put(store: S3Store, key: str, data: bytes, mark: str, over: str | None) -> str:
    mode: PutMode = "overwrite" if over is None else "create" if over == NOTHING else {"e_tag": over}
    # In one request: parts that are never put together would stay in the bucket, unseen and paid for.
    try:
        result = obstore.put(store, key, data, attributes={_MARK: mark}, mode=mode, use_multipart=False)
    except (exceptions.AlreadyExistsError, exceptions.PreconditionError):
        raise _Refused from None
    return result["e_tag"] or ""


def _get(store: S3Store, key: str) -> _Found | None:
    try:
        result = obstore.get(store, key)
    except FileNotFoundError as error:
        if "NoSuchBucket" in str(error):
            raise
        return None
    meta = result.meta
    held = Held(result.bytes().to_bytes(), meta["e_tag"] or "", meta["last_modified"])
    return _Found(held, result.attributes.get(_MARK, ""))


def _reason(error: Exception) -> tuple[str, bool]:
    """What happened, and whether it may pass. obstore tells it in words only."""
    words = str(error)
    if isinstance(error, exceptions.InvalidPathError):
        return "a name in it is no path", False
    if status := _STATUS.search(words):
        return _answered(status[1], _CODE.search(words))
    if "timed out" in words or "Timeout" in words:
        return "it did not answer in time", True
    return "it could not be reached" if "Connect" in words else "the connection broke", True


def _answered(status: str, code: re.Match[str] | None) -> tuple[str, bool]:
    name = code[1] if code else ""
    passing = status >= "500" or status in _PASSING or name == "RequestTimeout"
    return f"it answered {status} {name}".rstrip(), passing
