"""An engine over a real store, with a clock that stands still and a model that is quick; and what `--quick` runs."""

from collections.abc import AsyncIterator
from pathlib import Path
from zlib import crc32
from zoneinfo import ZoneInfo

import hypothesis
import pytest

from commonplace.bootstrap import build
from commonplace.domain.access import Actor
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.fakes import Clock, Embedder
from tests.serving import WIRES

# How long an example takes says how busy the machine is; too slow a generator of examples shows itself the same way.
hypothesis.settings.register_profile("house", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="without thorough tests, and each behaviour over one wire")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "thorough: takes long; `--quick` leaves it out")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--quick"):
        left_out = [item for item in items if not _is_quick(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if _is_quick(item)]


def _is_quick(item: pytest.Item) -> bool:
    """Which wire a test gets is chance, but always the same: together the tests go over all of them."""
    if item.get_closest_marker("thorough"):
        return False
    wire = getattr(item, "callspec", None) and item.callspec.params.get("wire")  # type: ignore[attr-defined]
    name = f"{item.path.name}::{getattr(item, 'originalname', item.name)}"
    return not wire or wire == WIRES[crc32(name.encode()) % len(WIRES)]


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
