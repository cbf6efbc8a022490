"""Several processes on one folder: the normal case, since every stdio client starts its own server."""

from pathlib import Path

import pytest

from commonplace.domain.access import Actor
from commonplace.engine import Engine
from commonplace.engine.recall import Question
from tests.storage.peer import Peer, peers

pytestmark = pytest.mark.anyio


async def contents(engine: Engine, owner: Actor) -> list[str]:
    page = await engine.memories.page(owner, 100_000)
    assert page.total == len(page.memories)
    return [memory.content for memory in page.memories]


async def assert_sound(engine: Engine, owner: Actor) -> None:
    """The chain is valid, events have no gaps, and row, block and event of every memory are there."""
    verdict = await engine.chain.verify(owner)
    assert verdict.valid, verdict.broken
    page = await engine.memories.page(owner, 100_000)
    assert {memory.block for memory in page.memories} == set(range(verdict.total))
    events = await engine.store.read(lambda tx: tx.events(0, 100_000))
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert {event.memory for event in events} == {memory.id for memory in page.memories}
    vectors = await engine.store.read(
        lambda tx: tx.whole_vectors([memory.number for memory in page.memories], engine.embedding.fingerprint)
    )
    assert len(vectors) == len(page.memories)


async def test_four_processes_write_to_one_folder_and_nothing_is_lost(
    folder: Path, engine: Engine, owner: Actor
) -> None:
    names = ["north", "east", "south", "west"]
    with peers(folder, *names) as writers:
        for writer in writers:
            writer.tell("write", 60)
        seen = [len(await contents(engine, owner)) for _ in range(20)]
        assert seen == sorted(seen), "reading goes on meanwhile"
        said = [[writer.answer() for _ in range(61)] for writer in writers]
        expected = sorted(f"{name} wrote {number}" for name in names for number in range(60))
        assert sorted(str(text) for texts in said for text in texts if text != "done") == expected
        assert {writer.ask("count") for writer in writers} == {240}
    assert sorted(await contents(engine, owner)) == expected
    await assert_sound(engine, owner)


async def test_full_text_is_merged_while_others_write_and_no_word_is_lost(
    folder: Path, engine: Engine, owner: Actor
) -> None:
    with peers(folder, "north", "east") as writers:
        for writer in writers:
            writer.tell("write", 60)
        while len(await contents(engine, owner)) < 120:
            await engine.store.settle()
        for writer in writers:
            assert [writer.answer() for _ in range(61)][-1] == "done"
    await engine.store.settle()
    assert await engine.store.check() == ""
    for word in ("north", "east"):
        found = await engine.recall.recall(owner, Question(word, limit=200))
        assert sum(word in hit.memory.content for hit in found.hits) == 60


async def test_each_process_sees_what_another_acknowledged_in_its_next_answer(folder: Path) -> None:
    with peers(folder, "one", "other") as (one, other):
        for turn in range(15):
            writer, reader = (one, other) if turn % 2 else (other, one)
            text = f"turn {turn} speaks of subject{turn * 37}"
            writer.ask("remember", text)
            found = reader.ask("recall", text)
            assert isinstance(found, list)
            assert found[0] == text
            assert reader.ask("count") == turn + 1


async def test_many_processes_may_found_the_folder_at_the_same_moment(folder: Path) -> None:
    with peers(folder, *"abcdef") as founders:
        for founder in founders:
            founder.tell("write", 1)
        for founder in founders:
            assert [founder.answer(), founder.answer()][-1] == "done"
        assert {founder.ask("count") for founder in founders} == {6}


KILLS = 10


async def test_nothing_acknowledged_is_lost_however_often_a_process_is_killed(
    folder: Path, engine: Engine, owner: Actor
) -> None:
    acknowledged: set[str] = set()
    writing = [started(folder, f"life {number}") for number in range(2)]
    for kill in range(KILLS):
        writing.append(started(folder, f"life {kill + 2}"))
        victim = writing.pop(0)
        assert victim.answer() == "ready"
        acknowledged.update(str(victim.answer()) for _ in range(3 + (kill * 17) % 41))
        victim.kill()
        acknowledged.update(victim.acknowledged())
        victim.end()
        assert acknowledged <= set(await contents(engine, owner))
        verdict = await engine.chain.verify(owner)
        assert verdict.valid, verdict.broken
    for survivor in writing:
        survivor.kill()
        acknowledged.update(survivor.acknowledged())
        survivor.end()
    acknowledged.discard("ready")
    assert len(acknowledged) > 100
    assert acknowledged <= set(await contents(engine, owner))
    await assert_sound(engine, owner)


def started(folder: Path, name: str) -> Peer:
    """A process that writes until it is killed."""
    peer = Peer(folder, name)
    peer.tell("write", 1_000_000)
    return peer
