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


def folder_settings(options: argparse.Namespace) -> Settings:
    return settings_from({"data_dir": options.data_dir}, file=options.config)


def with_engine(options: argparse.Namespace, work: Work, *, founding: bool = False) -> int:
    """Run a command over the engine; without `founding` only where there is a store already."""
    from commonplace.bootstrap import build, has_store

    settings = folder_settings(options)
    if not founding and not has_store(settings):
        raise NotFound("store in the folder", settings.data_dir)

    async def run() -> int:
        engine = build(settings)
        try:
            return await work(engine)
        finally:
            await engine.close()

    return asyncio.run(run())
