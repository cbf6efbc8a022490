"""A text that the embedder refuses is kept without vectors, and is nobody else's trouble."""

import asyncio
from pathlib import Path

import pytest

from commonplace.bootstrap import build
from commonplace.domain.access import Actor
from commonplace.domain.errors import EmbeddingFailed, TextRefused
from commonplace.domain.memory import Change, Draft
from commonplace.engine import Engine
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from commonplace.settings import Settings
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio

TEXTS = ("an odd one", "the lighthouse keeper", "a storm comes up")


async def waiting(engine: Engine, owner: Actor, embedder: Embedder) -> None:
    """Memories that wait for their vectors, the first of which will be refused."""
    embedder.broken = "down"
    for text in TEXTS:
        await engine.memories.remember(owner, Draft(text))
    embedder.broken, embedder.unwanted = "", "odd"
    engine.embedding.forgive()


async def test_memories_after_one_that_is_refused_get_their_vectors(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    await waiting(engine, owner, embedder)
    assert await engine.upkeep.embed_missing() == 2
    figures = await engine.upkeep.statistics()
    assert (figures.unembedded, figures.refused, "refuses the text: unwanted" in figures.unembedded_reason) == (
        0,
        1,
        True,
    )
    assert [memory.content for memory in await engine.upkeep.refused(9)] == ["an odd one"]
    assert engine.embedding.failure == ""
    found = await engine.recall.recall(owner, Question("keeper of the lighthouse"))
    assert (found.reach.whole, found.hits[0].reasons["vector"] > 0) == (True, True)


async def test_a_refused_text_is_asked_for_again_when_a_process_starts_and_not_before(
    engine: Engine, owner: Actor, embedder: Embedder, folder: Path, clock: Clock
) -> None:
    await waiting(engine, owner, embedder)
    await engine.upkeep.embed_missing()
    asked = len(embedder.batches)
    for _ in range(3):
        assert await engine.upkeep.embed_missing() == 0
    assert len(embedder.batches) == asked
    embedder.unwanted = None
    later = build(Settings(data_dir=str(folder), timezone="UTC"), model=embedder, clock=clock)
    await later.upkeep.begin()
    assert await later.upkeep.embed_missing() == 1
    assert (await later.upkeep.statistics()).refused == 0
    await later.close()


async def test_a_refused_text_is_asked_for_again_when_it_is_changed(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    embedder.unwanted = "odd"
    kept = await engine.memories.remember(owner, Draft("an odd one"))
    assert (await engine.upkeep.statistics()).refused == 1
    await engine.memories.revise(owner, Reference(id=kept.id), Change(content="a plain one"))
    figures = await engine.upkeep.statistics()
    assert (figures.unembedded, figures.refused) == (0, 0)


async def test_who_has_mended_the_embedder_can_have_refused_texts_asked_for_again(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    await waiting(engine, owner, embedder)
    await engine.upkeep.embed_missing()
    embedder.unwanted = None
    await engine.upkeep.forgive()
    assert await engine.upkeep.embed_missing() == 1


async def test_what_is_embedded_together_with_a_refused_text_is_embedded_without_it(embedder: Embedder) -> None:
    embedder.unwanted = "odd"
    embedding = Embedding(embedder)
    answers = await asyncio.gather(*(embedding.embed([text]) for text in TEXTS), return_exceptions=True)
    embedding.close()
    assert [isinstance(answer, TextRefused) for answer in answers] == [True, False, False]
    assert not any(isinstance(answer, BaseException) for answer in answers[1:])


async def test_an_embedder_that_refuses_the_plainest_text_is_one_that_fails(embedder: Embedder) -> None:
    embedder.unwanted = ""
    embedding = Embedding(embedder)
    for _ in range(2):  # the second time it is not even asked
        with pytest.raises(EmbeddingFailed) as failure:
            await embedding.embed(["the lighthouse keeper"])
        assert not isinstance(failure.value, TextRefused)
    embedding.close()
    assert "unwanted" in embedding.failure
    assert len(embedder.batches) == 2
