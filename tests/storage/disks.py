"""Disks that are soon full."""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def small_disk() -> Iterator[Path]:
    """A file system of its own with room for 3 MB."""
    place = tempfile.mkdtemp()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", place], capture_output=True)
    if made.returncode:
        pytest.skip("mounting is not allowed here; the other kinds of full disk are tested all the same")
    try:
        yield Path(place)
    finally:
        subprocess.run(["umount", place], check=True)


def leave_free(disk: Path, room: int) -> None:
    """Until the filler is removed, there are only so many bytes."""
    filler = disk / "filler"
    filler.unlink(missing_ok=True)
    figures = os.statvfs(disk)
    filler.write_bytes(b"x" * (figures.f_bavail * figures.f_frsize - room))
