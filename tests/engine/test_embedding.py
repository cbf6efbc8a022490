import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
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

if TYPE_CHECKING:
    from commonplace.ports import Vectors

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


async def test_of_two_processes_with_different_embedders_the_later_decides_and_none_undoes_the_others_work(
    folder: Path, clock: Clock
) -> None:
    one, other = Embedder("one", 64), Embedder("other", 32)
    settings = Settings(data_dir=str(folder), timezone="UTC")
    first = build(settings, model=one, clock=clock, zone=ZoneInfo("UTC"))
    owner = await first.access.local_owner()
    await first.upkeep.begin()
    for number in range(20):
        await first.memories.remember(owner, Draft(f"memory about subject{number}"))
    second = build(settings, model=other, clock=clock, zone=ZoneInfo("UTC"))
    await second.upkeep.begin()
    assert (await second.upkeep.statistics()).unembedded == 20
    assert not (await second.recall.recall(owner, Question("subject7"))).reach.whole
    for _ in range(3):
        await first.upkeep.once()
        await second.upkeep.once()
    asked = len(one.batches), sum(other.batches)
    await first.memories.remember(owner, Draft("stored by who gave way"))
    told = await first.recall.recall(owner, Question("subject7"))
    assert told.hits[0].memory.content == "memory about subject7"
    assert "another process has chosen other/32" in told.reach.lexical_only
    assert "another process" in first.embedding.failure
    for _ in range(3):
        await first.upkeep.once()
        await second.upkeep.once()
    assert (len(one.batches), sum(other.batches)) == (asked[0], asked[1] + 1)
    found = await second.recall.recall(owner, Question("stored by who gave way"))
    assert (found.reach.whole, found.reach.lexical_only, found.hits[0].reasons["vector"] > 0) == (True, "", True)
    await first.close()
    await second.close()


async def test_figures_wait_until_the_embedder_is_chosen(folder: Path, engine: Engine, owner: Actor) -> None:
    await engine.upkeep.begin()
    await engine.memories.remember(owner, Draft("the okapi is shy"))
    late = build(Settings(data_dir=str(folder), timezone="UTC"), model=Embedder("late", 32))
    late.embedding.chosen.clear()
    figures, _ = await asyncio.gather(late.upkeep.statistics(), late.upkeep.begin())
    assert (figures.unembedded, figures.unembedded_reason) == (1, "the embedder is now late")
    await late.close()


async def test_figures_do_not_wait_for_ever(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.engine.embedding._TO_CHOOSE", 0.0)
    engine.embedding.chosen.clear()
    assert (await engine.upkeep.statistics()).unembedded == 0


async def test_before_the_embedder_is_chosen_a_search_says_whose_vectors_there_are(
    folder: Path, clock: Clock, engine: Engine, owner: Actor
) -> None:
    await engine.upkeep.begin()
    await engine.memories.remember(owner, Draft("the okapi is shy"))
    late = build(Settings(data_dir=str(folder), timezone="UTC"), model=Embedder("late", 32), clock=clock)
    assert "vectors of fake/64, not of late" in (await late.recall.recall(owner, Question("okapi"))).reach.lexical_only
    kept = await late.memories.remember(owner, Draft("a shy okapi"))
    await late.close()
    assert await engine.store.read(lambda tx: [m.id for m in tx.unembedded(9)]) == [kept.id]


async def test_vectors_of_another_length_are_a_failure_that_is_told(embedder: Embedder) -> None:
    embedding = Embedding(embedder)
    await embedding.embed(["one"])
    embedder.dimensions = 65
    with pytest.raises(EmbeddingFailed, match="65 numbers now; they had 64"):
        await embedding.embed(["two"])
    assert "65 numbers" in embedding.failure
    embedding.close()


async def test_who_waited_behind_a_failure_does_not_wait_as_long_again() -> None:
    class Hanging(Embedder):
        def embed(self, texts: Sequence[str]) -> "Vectors":
            self.batches.append(len(texts))
            going.wait(10)
            raise EmbeddingFailed(self.name, "no answer")

    going, model = threading.Event(), Hanging()
    embedding = Embedding(model)
    first = asyncio.ensure_future(embedding.embed(["first"]))
    while not model.batches:
        await asyncio.sleep(0.01)
    second = asyncio.ensure_future(embedding.embed(["second"]))
    await asyncio.sleep(0.05)
    going.set()
    done = await asyncio.gather(first, second, return_exceptions=True)
    assert all(isinstance(one, EmbeddingFailed) for one in done)
    assert model.batches == [1]
    embedding.close()


async def test_a_fast_embedder_that_nobody_asks_is_at_hand_and_a_slow_or_busy_one_is_not() -> None:
    class Slow(Embedder):
        def embed(self, texts: Sequence[str]) -> "Vectors":
            under_way.set()
            going.wait(10)
            return super().embed(texts)

    going, under_way = threading.Event(), threading.Event()
    going.set()
    fast, slow = Embedding(Embedder()), Embedding(Slow())
    unasked = fast.is_at_hand
    await fast.embed(["one"])
    assert (unasked, fast.is_at_hand) == (False, True)  # at first it may still have a model to load
    await slow.embed(["one"])
    going.clear()
    under_way.clear()
    second = asyncio.ensure_future(slow.embed(["two"]))
    await asyncio.to_thread(under_way.wait, 10)
    assert not slow.is_at_hand  # busy
    await asyncio.sleep(0.1)
    going.set()
    await second
    assert not slow.is_at_hand  # slow
    fast.close()
    slow.close()


async def test_a_search_asks_an_embedder_at_hand_from_the_thread_that_reads(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    asked_by: list[str] = []
    plain = embedder.embed

    def embed(texts: Sequence[str]) -> "Vectors":
        asked_by.append(threading.current_thread().name)
        return plain(texts)

    embedder.embed = embed  # type: ignore[method-assign]
    await engine.memories.remember(owner, Draft("the lighthouse keeper"))
    found = await engine.recall.recall(owner, Question("lighthouse keeper"))
    again = await engine.recall.recall(owner, Question("lighthouse keeper"))
    assert found.hits[0].memory.content == again.hits[0].memory.content == "the lighthouse keeper"
    assert not found.reach.lexical_only
    assert [name.split("_")[0] for name in asked_by] == ["commonplace-embedder", "commonplace-reader"]


async def test_of_a_crowd_one_search_embeds_by_itself_and_the_others_in_batches(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    await engine.memories.remember(owner, Draft("the lighthouse keeper"))
    embedder.batches.clear()
    asked = [engine.recall.recall(owner, Question(f"lighthouse keeper {n}")) for n in range(30)]
    found = await asyncio.gather(*asked)
    assert all(one.hits[0].memory.content == "the lighthouse keeper" for one in found)
    assert sum(embedder.batches) == 30
    assert len(embedder.batches) < 30
    assert engine.embedding.is_at_hand


async def test_a_search_whose_embedder_fails_at_hand_goes_by_words_and_says_so(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    await engine.memories.remember(owner, Draft("the lighthouse keeper"))
    assert engine.embedding.is_at_hand
    embedder.broken = "no route to host"
    found = await engine.recall.recall(owner, Question("lighthouse"))
    assert [hit.memory.content for hit in found.hits] == ["the lighthouse keeper"]
    assert "no route to host" in found.reach.lexical_only
    assert "no route to host" in engine.embedding.failure


async def test_who_waited_behind_a_failure_on_another_thread_does_not_ask_again() -> None:
    class Hanging(Embedder):
        def embed(self, texts: Sequence[str]) -> "Vectors":
            self.batches.append(len(texts))
            going.wait(10)
            raise EmbeddingFailed(self.name, "no answer")

    going, model = threading.Event(), Hanging()
    embedding = Embedding(model)
    here = asyncio.ensure_future(asyncio.to_thread(embedding.embed_here, "first"))
    while not model.batches:
        await asyncio.sleep(0.01)
    handed = asyncio.ensure_future(embedding.embed(["second"]))
    await asyncio.sleep(0.05)
    going.set()
    done = await asyncio.gather(here, handed, return_exceptions=True)
    assert all(isinstance(one, EmbeddingFailed) for one in done)
    assert model.batches == [1]
    embedding.close()
