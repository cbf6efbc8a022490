"""What every command needs: the folder it works on, and the engine over it."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from commonplace.domain.errors import NotFound
from commonplace.settings import Settings, settings_from, variable

if TYPE_CHECKING:
    from commonplace.engine import Engine

Work = Callable[["Engine"], Coroutine[Any, Any, int]]


def add_data_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-dir", metavar="DIR", help=f"the folder of the memories [{variable('data_dir')}]")
    parser.add_argument("--config", metavar="FILE", help="a settings file [COMMONPLACE_CONFIG]")
    parser.add_argument(
        "--encryption-key-file",
        metavar="FILE",
        help=f"the file of the encryption key [{variable('encryption_key_file')}; the key: COMMONPLACE_ENCRYPTION_KEY]",
    )


def add_backup_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backup-dir", metavar="DIR", help=f"the folder of the backups [{variable('backup_dir')}]")


def folder_settings(options: argparse.Namespace) -> Settings:
    given = {name: getattr(options, name, None) for name in ("data_dir", "encryption_key_file", "backup_dir")}
    return settings_from(given, file=options.config)


def plain(text: str) -> str:
    """Without what would steer a terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


def counted(memories: int | None) -> str:
    if memories is None:
        return "memories that cannot be counted"
    return "1 memory" if memories == 1 else f"{memories} memories"


def _lost(settings: Settings) -> str:
    """What to do where a store should be."""
    from commonplace.bootstrap import latest_backup

    if latest := latest_backup(settings):
        return f"there are backups of one: `commonplace restore {latest} --yes` puts the latest back"
    return "name that of a server with --data-dir"


def with_engine(options: argparse.Namespace, work: Work, *, founding: bool = False) -> int:
    """Run a command over the engine; without `founding` only where there is a store already."""
    from commonplace.bootstrap import build, has_store

    settings = folder_settings(options)
    if not founding and not has_store(settings):
        raise NotFound("store in the folder", settings.data_dir, _lost(settings))

    async def run() -> int:
        engine = build(settings)
        try:
            return await work(engine)
        finally:
            await engine.close()

    return asyncio.run(run())
