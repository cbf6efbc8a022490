"""How far a long call is, told over the wire."""

import asyncio
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from commonplace.bootstrap import build
from commonplace.domain.memory import Draft
from commonplace.engine.chain import STRETCH
from commonplace.settings import Settings
from tests.fakes import Embedder
from tests.serving import Era, over_http, over_sse, served, stdio

pytestmark = pytest.mark.anyio
BLOCKS = STRETCH + 200


@pytest.fixture(scope="module")
async def long_chain(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose chain takes more than one stretch to check."""
    folder = tmp_path_factory.mktemp("chain")
    engine = build(Settings(data_dir=str(folder)), model=Embedder(dimensions=8), zone=ZoneInfo("Asia/Seoul"))
    owner = await engine.access.local_owner()
    await asyncio.gather(*(engine.memories.remember(owner, Draft(f"m{number}")) for number in range(BLOCKS)))
    await engine.close()
    return folder


class Told:
    """What a client was told of the progress of its call."""

    def __init__(self) -> None:
        self.steps: list[tuple[float, float | None]] = []

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.steps.append((progress, total))


STEPS = [(STRETCH, BLOCKS), (BLOCKS, BLOCKS)]


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_long_check_tells_how_far_it_is_on_stdio(long_chain: Path, era: Era) -> None:
    told = Told()
    async with stdio(long_chain, era=era) as client:
        verdict = await client.call_tool("verify_chain", {}, progress_callback=told)
    assert (verdict.structured_content or {})["total_blocks"] == BLOCKS
    assert told.steps == STEPS


async def test_a_long_check_tells_how_far_it_is_on_http_and_sse(long_chain: Path) -> None:
    with served(long_chain) as server:
        for wire in (over_http(server), over_http(server, era="2026-07-28"), over_sse(server)):
            told = Told()
            async with wire as client:
                await client.call_tool("verify_chain", {}, progress_callback=told)
            assert told.steps == STEPS
