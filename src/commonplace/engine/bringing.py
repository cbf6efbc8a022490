"""Bringing the spaces that another server has kept, from wherever its files are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.domain import space as rule
from commonplace.domain.access import Actor
from commonplace.domain.errors import Invalid
from commonplace.engine.adoption import Adopted, Adoption, Brought, Found
from commonplace.engine.finds import LARGEST, TOO_LARGE, json_object
from commonplace.ports.files import Entry, FilesReading

_BATCH = 100
_AT_ONCE = 8
_PASSED_OVER = (*rule.KEPT, "_backup.json")


@dataclass(frozen=True, slots=True)
class Finding:
    """What is to be brought: files, and how their paths are to be read."""

    root: str
    """What stands before the spaces in every path."""
    space: str
    """The space, where the files are those of a single one."""
    entries: Sequence[Entry]
    left: Sequence[str]

    def path(self, entry: Entry) -> str:
        within = entry.path.removeprefix(self.root)
        return f"{self.space}/{within}" if self.space else within


async def found_in(source: FilesReading) -> Finding:
    """The spaces of a folder, a bucket or an archive, however deep in it they lie; Invalid where there are none."""
    entries = await source.listed()
    metas = [entry.path for entry in entries if _is_meta(entry.path)]
    if not metas:
        raise Invalid("source", f"there is no space in {source.location}: none of its folders has a {rule.META}")
    if rule.META in metas:
        return Finding("", await _named(source), entries, ())
    root = min((_root(path) for path in metas), key=lambda one: (one.count("/"), one))
    elsewhere = [f"{path}: it lies outside of {root or source.location}" for path in metas if _root(path) != root]
    return Finding(root, "", [entry for entry in entries if entry.path.startswith(root)], elsewhere)


async def bring(adoption: Adoption, actor: Actor, source: FilesReading, found: Finding) -> Adopted:
    """All that can be brought; a second time only what is new there."""
    adopted = Adopted(left=list(found.left))
    files = [(found.path(entry), entry) for entry in found.entries]
    ours = [(path, entry) for path, entry in files if _is_ours(path)]
    ours.sort(key=lambda one: (not one[0].endswith(f"/{rule.META}"), one[0]))  # first the spaces, then what is in them
    for begin in range(0, len(ours), _BATCH):
        read = await _read(source, ours[begin : begin + _BATCH], adopted)
        adopted.include(await adoption.take(actor, read, Brought()))
    adopted.left += _others([path for path, _ in files if not _is_ours(path)])
    return adopted


async def _read(source: FilesReading, some: Sequence[tuple[str, Entry]], adopted: Adopted) -> list[Found]:
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(path: str, entry: Entry) -> Found | None:
        if entry.size > LARGEST:
            adopted.left.append(f"{path}: {TOO_LARGE}")
            return None
        async with room:
            held = await source.read(entry.path)
        return Found(path, held) if held else None

    return [found for found in await asyncio.gather(*(one(*each) for each in some)) if found]


def _others(paths: Sequence[str]) -> list[str]:
    """Backups are many, and stay where they are; anything else is named."""
    strange = [path for path in paths if not path.startswith(f"{rule.BACKUPS}/") and not path.endswith(_PASSED_OVER)]
    lines = [f"{path}: it is no file of a space" for path in strange]
    backups = sum(path.startswith(f"{rule.BACKUPS}/") for path in paths)
    return lines + ([f"{rule.BACKUPS}: {backups} files of backups stay where they are"] if backups else [])


def _is_meta(path: str) -> bool:
    parts = path.split("/")
    return parts[-1] == rule.META and rule.BACKUPS not in parts


def _root(path: str) -> str:
    above = path.split("/")[:-2]
    return "".join(f"{part}/" for part in above)


def _is_ours(path: str) -> bool:
    name, _, rest = path.partition("/")
    return path == rule.TOKENS or rule.file_place(path) is not None or (rule.is_space_id(name) and rest == rule.META)


async def _named(source: FilesReading) -> str:
    held = await source.read(rule.META)
    name = str((json_object(held.data) or {}).get("space_id", "")) if held else ""
    if not rule.is_space_id(name):
        raise Invalid("source", f"{rule.META} does not say which space this is")
    return name
