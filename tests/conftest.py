"""An engine over a real store, with a clock that stands still and a model that is quick."""

from collections.abc import AsyncIterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from commonplace.bootstrap import build
from commonplace.domain.access import Actor
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.fakes import Clock, Embedder


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def embedder() -> Embedder:
    return Embedder()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
async def engine(folder: Path, clock: Clock, embedder: Embedder) -> AsyncIterator[Engine]:
    settings = Settings(data_dir=str(folder), timezone="Asia/Seoul")
    engine = build(settings, model=embedder, clock=clock, zone=ZoneInfo("Asia/Seoul"))
    yield engine
    await engine.close()


@pytest.fixture
async def owner(engine: Engine) -> Actor:
    return (await engine.access.local_owner()).through("test")
