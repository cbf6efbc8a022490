"""What lies beside an encrypted store and can be read without its key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from commonplace.storage.sqlite.encryption import Form, form
from commonplace.storage.sqlite.store import FILE_NAME

SPACES = "spaces"
_SET_ASIDE = "damaged-"


@dataclass(frozen=True, slots=True)
class Exposed:
    """A file or a folder in the clear: what it is, and what to do about it."""

    path: Path
    what: str
    remedy: str


def exposed(folder: Path, place: Path) -> list[Exposed]:
    """In the folder of the store and in that of its backups; empty where all is encrypted."""
    found = [*_mirrored(folder / SPACES)]
    for one in dict.fromkeys((folder, place)):
        found += [*_set_aside(one), *_databases(one)]
    return found


def _mirrored(spaces: Path) -> Iterator[Exposed]:
    if spaces.is_dir() and any(file.is_file() for file in spaces.rglob("*")):
        kept = "the store has what they say, but only they have the copies in _backups"
        remedy = f"{kept}: move those to an encrypted disk, then remove {spaces}"
        yield Exposed(spaces, "files of spaces", remedy)


def _set_aside(place: Path) -> Iterator[Exposed]:
    for one in sorted(place.glob(f"{_SET_ASIDE}*")):
        if one.is_dir() and any(map(_is_plain, one.rglob("*.db"))):
            yield Exposed(
                one,
                "a damaged store that a restore has set aside",
                f"when nothing is to be saved from it, remove {one}",
            )


def _databases(place: Path) -> Iterator[Exposed]:
    for file in sorted(place.glob("*")):
        if file.name != FILE_NAME and _is_plain(file):
            remedy = f"the next `commonplace rekey` encrypts it where it is a whole backup; else remove {file}"
            yield Exposed(file, "a database", remedy)


def _is_plain(file: Path) -> bool:
    return file.is_file() and not file.is_symlink() and form(file) is Form.PLAIN
