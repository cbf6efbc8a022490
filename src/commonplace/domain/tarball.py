"""Files in one archive, and out of one that a stranger may have made."""

import gzip
import io
import tarfile
import unicodedata
import zlib
from collections.abc import Mapping
from datetime import datetime

from commonplace.domain.errors import Invalid

MAX_BYTES = 512 * 1024 * 1024
MAX_FILES = 200_000


def packed(files: Mapping[str, bytes], at: datetime) -> bytes:
    """A tar.gz of these files, the same bytes for the same files."""
    whole = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=whole, mode="wb", mtime=int(at.timestamp())) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mtime, entry.mode = len(data), int(at.timestamp()), 0o600
            archive.addfile(entry, io.BytesIO(data))
    return whole.getvalue()


def unpacked(data: bytes, most_bytes: int = MAX_BYTES, most_files: int = MAX_FILES) -> dict[str, bytes]:
    """The files of a tar.gz. One that could reach outside its folder, or never end, is refused as a whole."""
    try:
        with tarfile.open(fileobj=_Bounded(data, most_bytes), mode="r|") as archive:
            return _files(archive, most_files)
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, OverflowError, RecursionError) as error:
        raise Invalid("archive", f"is no tar.gz that can be read: {error}") from error


def _files(archive: tarfile.TarFile, most_files: int) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for entry in archive:
        path = entry.name.removeprefix("./").rstrip("/")
        if entry.isdir() and path in ("", "."):
            continue
        if not _is_plain(entry) or _leads_away(path):
            raise Invalid("archive", f"holds {entry.name[:80]!r}, which is no plain file below its folder")
        if entry.isdir():
            continue
        if len(files) >= most_files or path in files:
            raise Invalid("archive", f"holds more than {most_files} files, or one of them twice")
        held = archive.extractfile(entry)
        files[path] = held.read() if held else b""
    return files


def _is_plain(entry: tarfile.TarInfo) -> bool:
    """Of a sparse file most is not there: a few bytes would unpack to any size."""
    return entry.isdir() or (entry.isreg() and entry.sparse is None)


def _leads_away(path: str) -> bool:
    parts = path.split("/")
    odd = "\\" in path or ":" in parts[0] or any(unicodedata.category(char) in ("Cc", "Cs") for char in path)
    return odd or any(part in ("", ".", "..") for part in parts)


class _Bounded(io.RawIOBase):
    """What is in the compressed bytes, as long as it is not more than allowed: a small file may hold a huge one."""

    def __init__(self, data: bytes, most: int) -> None:
        self._inside = gzip.GzipFile(fileobj=io.BytesIO(data))
        self._left = most

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        some = self._inside.read(self._left + 1 if size < 0 else size)
        self._left -= len(some)
        if self._left < 0:
            raise Invalid("archive", "is larger than allowed when unpacked")
        return some
