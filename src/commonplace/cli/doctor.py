"""`commonplace doctor`: is everything as it should be, and if not, what to do."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from commonplace.cli.house import add_backup_dir, add_data_dir, counted, folder_settings
from commonplace.domain.errors import CommonplaceError, EmbeddingFailed, RekeyUnfinished, StoreCorrupt
from commonplace.settings import SHORTEST_KEY, Settings

if TYPE_CHECKING:
    from commonplace.engine import Engine

OK, WARN, FAIL = "ok", "warn", "fail"
_OLD = timedelta(days=2)
_NAMED = 5
_LITTLE = 1 << 30
_TOO_LITTLE = 100 << 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: how it stands, with what, and what to do about it."""

    mark: str
    what: str
    words: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.mark:<5}{self.what}: {self.words}" + (f"\n     -> {self.remedy}" if self.remedy else "")


def add_doctor(commands: Any) -> None:
    text = "look whether everything is as it should be, and say what to do where it is not"
    doctor = commands.add_parser("doctor", help=text, description=text.capitalize() + ". 1 when something failed.")
    add_data_dir(doctor)
    add_backup_dir(doctor)
    doctor.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    settings = folder_settings(options)
    worst = 0
    for finding in findings(settings):
        print(finding, flush=True)
        worst = max(worst, int(finding.mark == FAIL))
    return worst


def findings(settings: Settings) -> Iterator[Finding]:
    """First what can be seen from outside, then what the engine says."""
    from commonplace.bootstrap import has_store, latest_backup

    if not has_store(settings):
        latest = latest_backup(settings)
        lost = f"no store in {settings.folder}" + (", though there are backups of one" if latest else "")
        restore = f"`commonplace restore {latest} --yes` puts the latest back"
        back = restore if latest else "`commonplace serve` makes one"
        yield Finding(FAIL, "folder", lost, f"{back}, or --data-dir")
        return
    yield from _folder(settings)
    yield _space(settings)
    yield _servers(settings)
    yield from _key(settings)
    yield from _beside(settings)
    try:
        yield from asyncio.run(_inside(settings))
    except RekeyUnfinished:  # told already, by the note beside the store
        return
    except CommonplaceError as error:
        yield Finding(FAIL, "store", error.message, error.remedy)


def _folder(settings: Settings) -> Iterator[Finding]:
    files = [settings.folder, *settings.folder.glob("commonplace.db*"), settings.backup_folder]
    files += [] if settings.backup_folder == settings.folder else settings.backup_folder.glob("*.db")
    open_to_others = [str(file) for file in files if file.exists() and _is_open_to_others(file)]
    if open_to_others and os.name == "posix":
        command = f"chmod go= {' '.join(open_to_others)}"
        yield Finding(WARN, "permissions", f"other users may enter or read {', '.join(open_to_others)}", command)
    else:
        yield Finding(OK, "permissions", f"{settings.folder} is its owner's only")
    yield from _leftovers(settings)


def _leftovers(settings: Settings) -> Iterator[Finding]:
    from commonplace.bootstrap import unfinished

    left = [str(one) for one in unfinished(settings)]
    if left:
        words = f"unfinished copies, which may hold everything: {', '.join(left)}"
        remedy = "unless a rekey is running: the next start of a server, backup or restore removes them"
        yield Finding(WARN, "leftovers", words, remedy)


def _is_open_to_others(file: Path) -> bool:
    return bool(stat.S_IMODE(file.stat().st_mode) & 0o077)


def _space(settings: Settings) -> Finding:
    free = shutil.disk_usage(settings.folder).free
    needed = sum(file.stat().st_size for file in settings.folder.glob("commonplace.db*"))
    words = f"{free >> 20} MB free, the store takes {needed >> 20} MB"
    if free < _TOO_LITTLE:
        return Finding(FAIL, "disk", words, "free some space: writes will soon be refused")
    if free < max(_LITTLE, 3 * needed):
        return Finding(WARN, "disk", words, "a backup or a restore needs room for further copies: free some space")
    return Finding(OK, "disk", words)


def _servers(settings: Settings) -> Finding:
    from commonplace.bootstrap import is_in_use

    words = "at least one server or command has the folder open" if is_in_use(settings) else "none on this folder now"
    return Finding(OK, "servers", words)


def _key(settings: Settings) -> Iterator[Finding]:
    from commonplace.bootstrap import encryption_key

    try:
        key = encryption_key(settings)
    except CommonplaceError as error:
        yield Finding(FAIL, "encryption", error.message, "name a file that holds the key in its first line")
        return
    file = Path(settings.encryption_key_file).expanduser() if settings.encryption_key_file else None
    if file and os.name == "posix" and _is_open_to_others(file):
        yield Finding(WARN, "encryption", f"other users may read the key in {file}", f"chmod 600 {file}")
    elif 0 < len(key.encode("utf-8", "surrogateescape")) < SHORTEST_KEY:
        yield Finding(WARN, "encryption", "the key is short: it may be guessed", "`commonplace rekey` to a longer one")
    elif _is_as_said(settings, key):
        yield Finding(OK, "encryption", _covered(settings) if key else "off")


def _is_as_said(settings: Settings, key: str) -> bool:
    """Where the store is otherwise than the key says, or half changed, that is a finding of its own."""
    from commonplace.bootstrap import is_encrypted, rekeying

    return not rekeying(settings) and is_encrypted(settings) is bool(key)


def _covered(settings: Settings) -> str:
    from commonplace.bootstrap import exposures

    return "on: the store" if exposures(settings) else "on: the store and its backups"


def _beside(settings: Settings) -> Iterator[Finding]:
    """What does not have the key that the store has."""
    from commonplace.bootstrap import exposures, rekeying

    if found := rekeying(settings):
        yield Finding(FAIL, "rekey", found.message, found.remedy)
    if not (settings.encryption_key or settings.encryption_key_file):
        return
    for one in exposures(settings):
        yield Finding(WARN, "exposed", f"{one.path} is in the clear: {one.what}", one.remedy)
    if settings.spaces not in ("", "none"):
        words = f"the files of spaces, in {settings.spaces}, are written in the clear"
        yield Finding(WARN, "spaces", words, "--spaces none, or an encrypted disk or bucket of your own for them")


async def _inside(settings: Settings) -> list[Finding]:
    from commonplace.bootstrap import build

    engine = build(settings)
    try:
        found = [await _file(engine)]
        for check in (_chain, _embedding):
            try:
                found += await check(engine)
            except CommonplaceError as error:  # it says nothing of the rest, least of all of the backups
                found += _more(found, error)
        return [*found, _copies(settings), await _backups(engine, settings)]
    finally:
        await engine.close()


def _more(found: list[Finding], error: CommonplaceError) -> list[Finding]:
    """What goes wrong inside, unless it was told: one damage stops many checks."""
    told = any(one.mark == FAIL and one.what in ("file", "store") for one in found)
    return [] if told and isinstance(error, StoreCorrupt) else [Finding(FAIL, "store", error.message, error.remedy)]


async def _file(engine: Engine) -> Finding:
    if damage := await engine.store.check():
        return Finding(FAIL, "file", f"damaged: {damage}", "stop all servers and `commonplace restore` a backup")
    if not engine.store.writable and engine.store.trouble:
        return Finding(WARN, "file", f"sound, but can only be read: {engine.store.trouble}", "free some space there")
    if not engine.store.writable:
        return Finding(WARN, "file", "sound, but can only be read", "make the folder writable for this user")
    return Finding(OK, "file", "sound, and of the newest schema")


async def _chain(engine: Engine) -> list[Finding]:
    verdict = await engine.chain.verify(await engine.access.local_owner())
    if verdict.broken:
        return [Finding(FAIL, "chain", verdict.broken.message, "something changed the file from outside: see a backup")]
    return [Finding(OK, "chain", f"{verdict.total} blocks, all valid")]


async def _embedding(engine: Engine) -> list[Finding]:
    name = engine.embedding.name
    try:
        await engine.embedding.embed(["doctor"])
        found = [Finding(OK, "embedder", f"{name} answers")]
    except EmbeddingFailed as failure:
        remedy = "search goes on by words alone; see --embedder and its settings"
        found = [Finding(FAIL, "embedder", failure.message, remedy)]
    statistics = await engine.upkeep.statistics()
    if statistics.unembedded:
        words = f"{statistics.unembedded} of {statistics.memories} memories have no vectors yet"
        return [*found, Finding(WARN, "vectors", words, f"a running server makes them; {statistics.unembedded_reason}")]
    if statistics.refused:
        names = ", ".join(memory.id for memory in await engine.upkeep.refused(_NAMED))
        words = f"{statistics.refused} of {statistics.memories} memories have none, their text is refused: {names}"
        remedy = f"only words find them; the next start asks once more; {statistics.unembedded_reason}"
        return [*found, Finding(WARN, "vectors", words, remedy)]
    return [*found, Finding(OK, "vectors", f"all {statistics.memories} memories have theirs")]


def _copies(settings: Settings) -> Finding:
    copies = list(settings.folder.glob("index-*.npz"))
    if copies and (settings.encryption_key or settings.encryption_key_file):
        remedy = f"rm {' '.join(map(str, copies))}"
        return Finding(FAIL, "index", "a copy of the index lies unencrypted beside the encrypted store", remedy)
    broken = [str(copy) for copy in copies if not _is_whole(copy)]
    if broken:
        remedy = f"it is derived: `rm -r {' '.join(broken)}`, and the next start builds it anew"
        return Finding(WARN, "index", f"the copy for fast starts cannot be read: {', '.join(broken)}", remedy)
    size = sum(copy.stat().st_size for copy in copies)
    return Finding(OK, "index", f"{len(copies)} copies for fast starts, {size >> 20} MB" if copies else "no copy yet")


def _is_whole(copy: Path) -> bool:
    """Whether all of it can be read, to the last sum."""
    try:
        with ZipFile(copy) as parts:
            return parts.testzip() is None
    except (BadZipFile, OSError):
        return False


async def _backups(engine: Engine, settings: Settings) -> Finding:
    latest = next(reversed(await engine.backups.own()), None)
    once = "`commonplace backup` makes one"
    if latest is None and (other := await engine.backups.latest()):
        words = f"none of this store; those in {engine.backups.location} are of another, perhaps of one that was here"
        back = f"`commonplace restore {other.name} --yes` puts the latest of them in its place"
        return Finding(WARN, "backups", words, f"{back}; {once} of what is here now")
    if latest is None:
        empty = not await engine.events.last()
        return Finding(OK if empty else WARN, "backups", "none", "" if empty else once)
    owner = await engine.access.local_owner()
    age, memories = datetime.now(UTC) - latest.made_at, await engine.backups.size(owner)
    words = f"the newest is {latest.name}, {age.days} days old, in {engine.backups.location}"
    if latest.encrypted != bool(settings.encryption_key or settings.encryption_key_file):
        return Finding(WARN, "backups", f"{words}; its encryption is not the store's", once)
    try:
        await engine.backups.verify(owner, latest.name)
    except CommonplaceError as error:
        return Finding(FAIL, "backups", f"{words}; it does not pass `verify`: {error.message}", once)
    words = f"{words}, and passes `verify`; it holds {counted(latest.memories)}, the store {counted(memories)}"
    if age > _OLD or (memories is not None and engine.backups.is_outgrown(latest, memories)):
        remedy = once if settings.backup_daily else f"{once}; or set backup-daily to yes"
        return Finding(WARN, "backups", words, remedy)
    return Finding(OK, "backups", words)
