import asyncio
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from commonplace.domain.access import Actor
from commonplace.domain.errors import FilesFailed
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.recall import Question
from commonplace.engine.upkeep import Upkeep
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio


async def test_a_round_removes_what_ended_embeds_what_is_missing_and_counts_uses(
    engine: Engine, owner: Actor, clock: Clock, embedder: Embedder
) -> None:
    await engine.memories.remember(owner, Draft("passing", ttl=timedelta(minutes=1)))
    embedder.broken = "down"
    await engine.memories.remember(owner, Draft("the lighthouse keeper"))
    embedder.broken = ""
    engine.embedding.forgive()
    await engine.recall.recall(owner, Question("lighthouse"))
    clock.advance(timedelta(minutes=2))
    await engine.upkeep.once()
    statistics = await engine.upkeep.statistics()
    assert (statistics.memories, statistics.unembedded) == (1, 0)
    assert (await engine.recall.recall(owner, Question("lighthouse"))).hits[0].memory.uses == 1


@pytest.mark.parametrize("failure", [KeyError("odd"), FilesFailed("there", "odd")])
async def test_what_fails_in_a_round_keeps_nothing_else_from_its_turn(
    engine: Engine, owner: Actor, clock: Clock, failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def failing() -> None:
        raise failure

    parts = (engine.store, engine.embedding, engine.memories, engine.recall, clock, engine.backups)
    await engine.memories.remember(owner, Draft("kept"))
    assert await engine.backups.latest() is None
    await Upkeep(*parts, (failing, failing)).tidy()
    assert await engine.backups.latest()
    assert [record.name for record in caplog.records].count("commonplace.engine.upkeep") == (
        1 if isinstance(failure, FilesFailed) else 2
    )


async def test_a_round_with_nothing_to_do_writes_nothing(engine: Engine, owner: Actor) -> None:
    await engine.memories.remember(owner, Draft("kept"))
    await engine.upkeep.once()
    before = await engine.store.read(lambda tx: tx.meta("embedder"))
    events = await engine.events.last()
    await engine.upkeep.once()
    assert await engine.events.last() == events
    assert before == engine.embedding.fingerprint


async def test_the_size_of_a_store_is_that_of_its_file_and_its_log(engine: Engine, owner: Actor, folder: Path) -> None:
    await engine.memories.remember(owner, Draft("kept"))
    files = [folder / name for name in ("commonplace.db", "commonplace.db-wal")]
    sizes = [file.stat().st_size for file in files]
    assert sizes[1] > 0
    assert (await engine.upkeep.statistics()).bytes == sum(sizes)


async def test_warming_loads_what_a_search_needs_and_leaves_no_trace(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    await engine.memories.remember(owner, Draft("The meeting was moved to Thursday afternoon."))
    events = await engine.events.last()
    await engine.upkeep.warm()
    embedder.broken = "down"
    await engine.upkeep.warm()  # nor does it need an embedder
    await engine.upkeep.tidy()
    assert await engine.events.last() == events
    assert (await engine.recall.recall(owner, Question("meeting"))).hits[0].memory.uses == 0


async def test_it_goes_on_while_the_embedder_is_broken(engine: Engine, owner: Actor, embedder: Embedder) -> None:
    embedder.broken = "down"
    await engine.memories.remember(owner, Draft("kept"))
    running = asyncio.ensure_future(engine.upkeep.run())
    await engine.memories.remember(owner, Draft("kept too"))
    assert not running.done()
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


async def test_who_has_embedded_everything_lets_others_at_it(
    engine: Engine, owner: Actor, clock: Clock, embedder: Embedder
) -> None:
    embedder.broken = "down"
    await engine.memories.remember(owner, Draft("kept"))
    await engine.upkeep.embed_missing()
    now = clock.now()
    later = now + timedelta(minutes=1)
    assert await engine.store.write(lambda tx: tx.lease("embedding", "somebody else", now, later))


async def test_only_one_process_at_a_time_embeds(
    engine: Engine, owner: Actor, clock: Clock, embedder: Embedder
) -> None:
    now = clock.now()
    later = now + timedelta(minutes=1)
    assert await engine.store.write(lambda tx: tx.lease("embedding", "somebody else", now, later))
    embedder.broken = "down"
    await engine.memories.remember(owner, Draft("kept"))
    embedder.broken = ""
    engine.embedding.forgive()
    assert await engine.upkeep.embed_missing() == 0
    clock.advance(timedelta(minutes=2))
    assert await engine.upkeep.embed_missing() == 1


async def test_a_process_that_was_killed_while_it_embedded_is_followed_by_another_within_seconds(
    engine: Engine, owner: Actor, clock: Clock, embedder: Embedder
) -> None:
    embedder.broken = "down"
    await engine.memories.remember(owner, Draft("kept"))
    embedder.broken = ""
    engine.embedding.forgive()
    embedder.asked.clear()
    embedder.answers.clear()
    async with anyio.create_task_group() as group:
        group.start_soon(engine.upkeep.embed_missing)
        await anyio.to_thread.run_sync(embedder.asked.wait)
        now = clock.now() + timedelta(seconds=11)
        is_free = await engine.store.write(lambda tx: tx.lease("embedding", "the next", now, now))
        embedder.answers.set()
    assert is_free
