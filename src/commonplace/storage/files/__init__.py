"""Whole files in a folder or in a bucket: the Files port."""

from __future__ import annotations

from pathlib import Path

from commonplace.domain.errors import Invalid
from commonplace.ports.files import Files
from commonplace.storage.files.bucket import SCHEME, Connection, bucket_at

__all__ = ["Connection", "files_at"]


def files_at(location: str, folder: Path, connection: Connection | None = None) -> Files:
    """What a setting names: `s3://BUCKET/PREFIX`, the path of a folder, or nothing for the usual folder."""
    if location.startswith(SCHEME):
        return _in_bucket(location, connection or Connection())
    if "://" in location:
        raise Invalid("files location", "a folder or s3://BUCKET/PREFIX is needed")
    return _in_folder(Path(location).expanduser() if location else folder)


def _in_folder(folder: Path) -> Files:
    from commonplace.storage.files.local import LocalFiles  # locks as POSIX has them: not everywhere

    return LocalFiles(folder.absolute())


def _in_bucket(location: str, connection: Connection) -> Files:
    bucket = bucket_at(location)
    try:
        from commonplace.storage.files.s3 import S3Files
    except ModuleNotFoundError as missing:
        if missing.name != "obstore":
            raise
        raise Invalid("files location", "buckets need one more package: pip install commonplace[s3]") from missing
    return S3Files(bucket, connection)
