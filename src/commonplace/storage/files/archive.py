"""Files packed into one: only to be read."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from commonplace.domain.errors import Invalid
from commonplace.domain.tarball import MAX_BYTES, unpacked
from commonplace.ports.files import Entry, Held, file_path, folder_path, is_file_path


class ArchivedFiles:
    """The FilesReading port over a tar.gz. What could not be asked for is not listed."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def location(self) -> str:
        return str(self._file)

    async def read(self, path: str) -> Held | None:
        data = (await self._unpacked()).get(file_path(path))
        return None if data is None else Held(data, "", self._modified)

    async def listed(self, prefix: str = "") -> list[Entry]:
        below, files = folder_path(prefix), await self._unpacked()
        return [
            Entry(path, len(data), self._modified, "")
            for path, data in sorted(files.items())
            if is_file_path(path) and (not below or path.startswith(f"{below}/"))
        ]

    async def _unpacked(self) -> dict[str, bytes]:
        return await asyncio.to_thread(lambda: self._files)

    @cached_property
    def _files(self) -> dict[str, bytes]:
        try:
            if self._file.stat().st_size > MAX_BYTES:
                raise Invalid("archive", "is larger than allowed")
            return unpacked(self._file.read_bytes())
        except OSError as error:
            raise Invalid("archive", f"{self._file} cannot be read: {error.strerror}") from error

    @cached_property
    def _modified(self) -> datetime:
        return datetime.fromtimestamp(self._file.stat().st_mtime, UTC)
