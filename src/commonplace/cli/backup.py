"""Backups: make, list, verify, put back."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from commonplace.cli.house import add_backup_dir, add_data_dir, counted, folder_settings, with_engine
from commonplace.domain.errors import Invalid, NotFound, StoreCorrupt
from commonplace.settings import Settings

if TYPE_CHECKING:
    from commonplace.domain.access import Actor
    from commonplace.domain.backup import Backup, Part
    from commonplace.domain.recovery import Recovered
    from commonplace.engine import Engine


def add_backup(commands: Any) -> None:
    backup = _command(commands, "backup", _backup, "copy the whole store, while servers may go on writing")
    backup.add_argument("name", metavar="NAME", nargs="?", default="", help="what to call it (default: the time)")
    backups = _command(commands, "backups", _backups, "list the backups, the newest last, or remove one")
    backups.add_argument("--remove", metavar="NAME", help="remove this one, with the words that only it still holds")
    restore = _command(commands, "restore", _restore, "make the store what a backup is; servers may go on running")
    restore.add_argument("name", metavar="NAME", help="the backup; `commonplace backups` lists them")
    restore.add_argument(
        "--include",
        metavar="KINDS",
        help="only a part, like memories,projects (of memories, projects, sessions, associations): "
        "what is missing or was changed since comes back, what is newer stays (default: what the backup is for)",
    )
    restore.add_argument(
        "--yes", action="store_true", help="do it; without --include, what was kept since that backup leaves the store"
    )
    verify = _command(commands, "verify", _verify, "check the file and the tamper-evident chain, or a backup")
    verify.add_argument("name", metavar="BACKUP", nargs="?", default="", help="a backup instead of the store")


def _command(commands: Any, name: str, run: Any, text: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text.capitalize() + ".")
    add_data_dir(command)
    add_backup_dir(command)
    command.set_defaults(run=run)
    return command


def _backup(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        made = await engine.backups.create(await _person(engine, "backup"), options.name)
        print(made.name)
        print(f"{_figures(made)}, in {engine.backups.location}", file=sys.stderr)
        return 0

    return with_engine(options, work)


async def _person(engine: Engine, command: str) -> Actor:
    """Who is at this machine, in a session of its own: what was put back can be seen and taken back."""
    session = f"{command}/{secrets.token_hex(4)}"
    return (await engine.access.local_owner()).through(f"commonplace.{command}", session)


def _figures(backup: Backup) -> str:
    holds = f"{backup.contents.memories} memories, " if backup.contents else ""
    made_for = "" if backup.is_whole else f", for {', '.join(backup.parts)}"
    return f"{holds}{backup.bytes} bytes, {'encrypted' if backup.encrypted else 'not encrypted'}{made_for}"


def _backups(options: argparse.Namespace) -> int:
    from commonplace.bootstrap import vault

    if options.remove:
        asyncio.run(vault(folder_settings(options)).remove(_named(options, options.remove).name))
        print(f"removed {options.remove}", file=sys.stderr)
        return 0
    settings = folder_settings(options)
    found = asyncio.run(vault(settings).backups())
    if not found:
        return _none(settings)
    print("NAME\tMADE\tMEMORIES\tBYTES\tENCRYPTED")
    for one in found:
        memories = "?" if one.memories is None else one.memories
        encrypted = "yes" if one.encrypted else "no"
        print(one.name, f"{one.made_at:%Y-%m-%dT%H:%M:%SZ}", memories, one.bytes, encrypted, sep="\t")
    return 0


def _none(settings: Settings) -> int:
    """Of a store that is there, that is how things are; else the folder may be a slip."""
    from commonplace.bootstrap import has_store

    place = settings.backup_folder
    if not place.is_dir() and (settings.backup_dir or not has_store(settings)):
        raise NotFound("folder of backups", str(place), "name it with --backup-dir, or the store's with --data-dir")
    print(f"no backups in {place} yet; `commonplace backup` makes one", file=sys.stderr)
    return 0


def _verify(options: argparse.Namespace) -> int:
    if options.name:
        return _verify_backup(options)

    async def work(engine: Engine) -> int:
        if damage := await engine.store.check():
            print(f"the file is damaged: {damage}")
            return 1
        verdict = await engine.chain.verify(await engine.access.local_owner())
        print(f"{verdict.total} blocks: {'the chain is valid' if verdict.valid else verdict.broken}")
        return 0 if verdict.valid else 1

    return with_engine(options, work)


def _verify_backup(options: argparse.Namespace) -> int:
    from commonplace.bootstrap import vault
    from commonplace.domain.errors import BackupBroken

    try:
        found = asyncio.run(vault(folder_settings(options)).verify(_named(options, options.name).name))
    except BackupBroken as broken:
        print(broken.message)
        return 1
    blocks = found.contents.blocks if found.contents else 0
    print(f"{found.name}: {_figures(found)}; {blocks} blocks: the chain is valid")
    if not found.sha256:
        print("its manifest is missing: whether its bytes are those that were written cannot be told")
    return 0


def _restore(options: argparse.Namespace) -> int:
    kinds, backup = _kinds(options.include), _named(options, options.name)
    if not options.yes:
        raise Invalid("restore", f"this {_effect(options, backup, kinds)}; repeat it with --yes to do it")
    try:
        return with_engine(options, lambda engine: _restored(engine, options.name, kinds), founding=kinds is None)
    except StoreCorrupt as damage:
        if kinds is not None:  # there is nothing that a part could be put back into
            raise
        print(f"commonplace: {damage.message}", file=sys.stderr)
        return _replace(options)


def _named(options: argparse.Namespace, given: str) -> Backup:
    from commonplace.bootstrap import vault
    from commonplace.domain.backup import backup_name

    name = backup_name(given)
    for one in asyncio.run(vault(folder_settings(options)).backups()):
        if one.name == name:
            return one
    raise Invalid("NAME", f"there is no backup {given!r}; `commonplace backups` lists them")


def _effect(options: argparse.Namespace, backup: Backup, kinds: list[str] | None) -> str:
    """What it would do, with both figures where the one takes the place of the other."""
    from commonplace.bootstrap import vault

    if kinds is not None or not backup.is_whole:
        return f"gives what was changed since back what it was in {backup.name!r}"
    now = asyncio.run(vault(folder_settings(options)).size())
    return f"replaces what is kept now ({counted(now)}) by {backup.name!r} ({counted(backup.memories)})"


def _kinds(include: str | None) -> list[str] | None:
    return None if include is None else [kind.strip() for kind in include.split(",") if kind.strip()]


async def _restored(engine: Engine, name: str, kinds: list[str] | None) -> int:
    done = await engine.backups.restore(await _person(engine, "restore"), name, kinds)
    if done.recovered is None:
        print(f"restored {done.backup.name}: {counted(done.contents.memories)} in place of {counted(done.before)}")
    else:
        print(f"restored {done.backup.name} in part:")
        for part in done.includes:
            print(f"  {part}: {_fates(done.recovered, part)}")
    if done.safety:
        print(f"what was there before is the backup {done.safety.name}")
    return 0


def _fates(recovered: Recovered, part: Part) -> str:
    """What became of all that the backup holds of a part."""
    return ", ".join(f"{count} {fate.replace('_', ' ')}" for fate, count in recovered.of(part)) or "none"


def _replace(options: argparse.Namespace) -> int:
    """The store cannot be opened: no server can be running on it, and nothing can be read from it."""
    from commonplace.bootstrap import vault

    done = asyncio.run(vault(folder_settings(options)).replace(options.name, datetime.now(UTC)))
    print(f"restored {options.name}: {counted(done.backup.memories)} in place of {counted(done.before)}")
    print(f"the damaged files are in {done.aside}")
    return 0
