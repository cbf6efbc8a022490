import asyncio
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from commonplace.bootstrap import build
from commonplace.domain.access import Actor
from commonplace.domain.errors import EmbeddingFailed
from commonplace.domain.memory import Change, Draft
from commonplace.domain.ranking import Scale
from commonplace.engine import Engine
from commonplace.engine.embedding import Embedding, measured
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from commonplace.settings import Settings
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio


async def test_callers_that_wait_together_are_served_in_batches(embedder: Embedder) -> None:
    embedding = Embedding(embedder)
    texts = [f"text {n}" for n in range(50)]
    answers = await asyncio.gather(*(embedding.embed([text]) for text in texts))
    embedding.close()
    alone = embedder.embed(texts)
    assert all((answer[0] == alone[n]).all() for n, answer in enumerate(answers))
    assert len(embedder.batches) < 50


async def test_one_caller_giving_up_does_not_hurt_the_others(embedder: Embedder) -> None:
    embedding = Embedding(embedder)
    tasks = [asyncio.ensure_future(embedding.embed([f"text {n}"])) for n in range(20)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(not isinstance(one, Exception) for one in done[1::2])
    assert (await embedding.embed(["still here"])).shape == (1, embedder.dimensions)
    embedding.close()


async def test_a_memory_is_kept_when_the_embedder_fails_and_embedded_later(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    embedder.broken = "no route to host"
    memory = await engine.memories.remember(owner, Draft("the lighthouse keeper"))
    statistics = await engine.upkeep.statistics()
    assert statistics.unembedded == 1
    assert "no route to host" in statistics.unembedded_reason
    assert "no route to host" in engine.embedding.failure
    assert await engine.upkeep.embed_missing() == 0
    embedder.broken = ""
    engine.embedding.forgive()
    assert await engine.upkeep.embed_missing() == 1
    assert engine.embedding.failure == ""
    assert (await engine.upkeep.statistics()).unembedded == 0
    hit = (await engine.recall.recall(owner, Question("keeper of the lighthouse"))).hits[0]
    assert hit.memory.id == memory.id
    assert hit.reasons["vector"] > 0


async def test_a_failed_embedder_is_left_alone_for_a_while(embedder: Embedder) -> None:
    embedding = Embedding(embedder)
    embedder.broken = "down"
    with pytest.raises(EmbeddingFailed):
        await embedding.embed(["one"])
    embedder.broken = ""
    with pytest.raises(EmbeddingFailed):
        await embedding.embed(["two"])
    embedding.forgive()
    assert (await embedding.embed(["three"])).shape == (1, embedder.dimensions)
    embedding.close()


async def test_another_embedder_embeds_everything_again_and_search_stays_right_meanwhile(
    folder: Path, clock: Clock
) -> None:
    async def opened(model: Embedder) -> tuple[Engine, Actor]:
        settings = Settings(data_dir=str(folder), timezone="UTC")
        engine = build(settings, model=model, clock=clock, zone=ZoneInfo("UTC"))
        return engine, await engine.access.local_owner()

    first, owner = await opened(Embedder("first", 64))
    await first.upkeep.once()
    for n in range(30):
        await first.memories.remember(owner, Draft(f"memory about subject{n}"))
    await first.close()

    second, owner = await opened(Embedder("second", 32))
    found = await second.recall.recall(owner, Question("subject7"))
    assert found.hits[0].memory.content == "memory about subject7"
    assert found.hits[0].reasons["vector"] == 0
    assert await second.upkeep.embed_missing() == 30
    found = await second.recall.recall(owner, Question("subject7"))
    assert found.hits[0].reasons["vector"] > 0
    assert (await second.upkeep.statistics()).unembedded == 0
    await second.close()


async def test_what_changed_while_it_was_being_embedded_is_embedded_as_it_is_now(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    embedder.broken = "down"
    memory = await engine.memories.remember(owner, Draft("old words"))
    embedder.broken = ""
    engine.embedding.forgive()
    await engine.memories.revise(owner, Reference(id=memory.id), Change(content="new words"))
    await engine.upkeep.embed_missing()
    vector = await engine.memories.embedding_of(owner, Reference(id=memory.id))
    assert vector == pytest.approx(embedder.embed(["new words"])[0].tolist(), abs=1e-3)


def test_an_unknown_embedder_is_measured() -> None:
    scale = measured(Embedder())
    assert isinstance(scale, Scale)
    assert -1 <= scale.unrelated < scale.same <= 1
