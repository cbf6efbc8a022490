from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.collection import Kind
from commonplace.domain.errors import Forbidden, Invalid, NotFound
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.link import LinkKind
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.domain.work_log import Address, WorkLogType
from commonplace.engine import Engine
from commonplace.engine.recall import Question
from tests.engine.test_collections import ABSENT, at, keep, project, user
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio

QUESTION, ANSWER = WorkLogType.QUESTION, WorkLogType.ANSWER


async def tell(
    engine: Engine,
    actor: Actor,
    text: str = "x",
    kind: WorkLogType = WorkLogType.MESSAGE,
    sender: str = "w1",
    **more: str | None,
) -> Memory:
    context = more.pop("context", None)
    address = Address(kind, sender, **more)
    return await engine.work_logs.record(actor, text, address, context=CollectionId(context) if context else None)


async def found(engine: Engine, actor: Actor, query: str | None = None, limit: int = 20, **names: str) -> list[str]:
    kind = WorkLogType(names.pop("kind")) if "kind" in names else None
    return [m.content for m in (await engine.work_logs.search(actor, Address(kind, **names), query, limit)).memories]


async def context(engine: Engine, founder: Actor, **members: Right) -> CollectionId:
    made = await engine.collections.found(founder, Kind.CONTEXT, "a context", length=timedelta(hours=1))
    for name, right in members.items():
        await engine.collections.add_member(founder, Kind.CONTEXT, made.collection.id, name, right)
    return made.collection.id


async def test_a_work_log_is_a_memory_that_says_who_told_whom(engine: Engine, owner: Actor) -> None:
    address = Address(QUESTION, " w1 ", "lead", "thread-123", "creo", "#129")
    made = await engine.work_logs.record(owner, "which **base**?", address, content_type="markdown")
    memory = await engine.memories.get(owner, at(made))
    assert (memory.content, memory.category, memory.content_type) == ("which **base**?", "work_log", "markdown")
    assert memory.metadata == {
        "workLogType": "question",
        "sender": "w1",
        "receiver": "lead",
        "threadId": "thread-123",
        "project": "creo",
        "issueRef": "#129",
    }
    assert memory.author == owner.author
    assert memory.home == await engine.store.read(lambda tx: tx.home(owner.user))


async def test_what_was_not_said_is_not_kept(engine: Engine, owner: Actor) -> None:
    assert (await tell(engine, owner)).metadata == {"workLogType": "message", "sender": "w1"}


async def test_whoever_is_named_as_sender_the_author_is_who_wrote_it(engine: Engine) -> None:
    anna = await user(engine, "anna")
    made = await engine.memories.get(anna, at(await tell(engine, anna, sender="somebody else")))
    assert (made.author.user, made.author.credential) == (anna.user, "key of anna")


async def test_each_name_chooses_and_all_must_hold(engine: Engine, owner: Actor) -> None:
    await tell(engine, owner, "1", QUESTION, "w1", receiver="lead", project="p", thread="t")
    await tell(engine, owner, "2", ANSWER, "lead", receiver="w1", project="p", thread="t")
    await tell(engine, owner, "3", QUESTION, "w1", receiver="w2", project="q")
    assert await found(engine, owner) == ["3", "2", "1"]
    assert await found(engine, owner, sender="w1") == ["3", "1"]
    assert await found(engine, owner, receiver="w1") == ["2"]
    assert await found(engine, owner, project="p") == ["2", "1"]
    assert await found(engine, owner, kind="question") == ["3", "1"]
    assert await found(engine, owner, kind="question", project="p") == ["1"]
    assert await found(engine, owner, sender="lead", project="q") == []
    assert await found(engine, owner, sender="W1") == []


async def test_a_thread_is_read_from_its_beginning(engine: Engine, owner: Actor, clock: Clock) -> None:
    for number in range(5):
        await tell(engine, owner, str(number), thread="t")
        clock.advance(timedelta(minutes=1))
    assert await found(engine, owner, thread="t") == ["0", "1", "2", "3", "4"]
    assert await found(engine, owner, thread="t", limit=2) == ["0", "1"]
    assert await found(engine, owner, limit=2) == ["4", "3"]
    assert await found(engine, owner, thread="u") == []


async def test_names_are_one_however_they_are_written(engine: Engine, owner: Actor) -> None:
    await tell(engine, owner, "x", sender="e\u0301tienne", project="プロジェクト")
    assert await found(engine, owner, sender=" étienne ", project="フ\u309aロシ\u3099ェクト") == ["x"]


async def test_a_query_finds_by_meaning_among_what_bears_the_names(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "schema of the database")
    await tell(engine, owner, "schema of the database")
    await tell(engine, owner, "schema of the database", sender="w2")
    await tell(engine, owner, "lunch is ready", sender="w2")
    done = await engine.work_logs.search(owner, Address(sender="w2"), "database schema", 20)
    assert [memory.content for memory in done.memories] == ["schema of the database", "lunch is ready"]
    assert done.similarities[0] > done.similarities[1]
    assert done.total == 2
    assert (await engine.work_logs.search(owner, Address(sender="w2"), "database schema", 1)).total == 2


async def test_a_rare_name_is_found_behind_hundreds_of_closer_texts(engine: Engine, owner: Actor) -> None:
    await tell(engine, owner, "the database, seen from afar", sender="rare")
    for number in range(150):
        await tell(engine, owner, f"database database {number}", sender="busy")
    assert await found(engine, owner, "database", sender="rare") == ["the database, seen from afar"]


async def test_work_logs_of_others_are_theirs(engine: Engine, owner: Actor) -> None:
    anna = await user(engine, "anna")
    await tell(engine, anna, "hers")
    done = await engine.work_logs.search(owner, Address(), None, 20)
    assert (done.memories, done.total) == ((), 0)
    assert await found(engine, owner, "hers") == []


async def test_in_a_shared_context_all_who_are_in_it_read_it(engine: Engine, owner: Actor) -> None:
    anna, bert, carla = [await user(engine, name) for name in ("anna", "bert", "carla")]
    home = await context(engine, anna, bert=Right.WRITE, carla=Right.READ)
    await tell(engine, bert, "from bert", context=home)
    for reader in (anna, bert, carla):
        assert await found(engine, reader) == ["from bert"]
    assert await found(engine, owner) == []
    with pytest.raises(Forbidden, match="write"):
        await tell(engine, carla, "no", context=home)


async def test_a_context_that_is_not_ones_own_is_as_absent_as_one_that_never_was(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    anna = await user(engine, "anna")
    over = await context(engine, owner)
    clock.advance(timedelta(hours=2))
    hers = await context(engine, anna)
    other = await project(engine, owner)
    for wanted in (hers, ABSENT, other, over):
        with pytest.raises(NotFound) as caught:
            await tell(engine, owner, context=wanted)
        assert (caught.value.what, caught.value.name) == ("context", wanted)
    assert await found(engine, owner) == []


async def test_it_has_work_logs_only_but_also_those_that_became_one_later(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "no work log")
    await engine.memories.remember(owner, Draft("by hand", category="work_log", metadata={"sender": "w9"}))
    assert await found(engine, owner) == ["by hand"]
    assert await found(engine, owner, sender="w9") == ["by hand"]


async def test_a_changed_name_is_looked_for_as_it_is_now(engine: Engine, owner: Actor) -> None:
    made = await tell(engine, owner, "x", sender="w1")
    await engine.memories.revise(owner, at(made), Change(metadata={"sender": "w2", "n": 5}))
    assert await found(engine, owner, sender="w1") == []
    assert await found(engine, owner, sender="w2") == ["x"]
    await engine.memories.revise(owner, at(made), Change(metadata={"sender": 5}))
    assert await found(engine, owner, sender="5") == []


async def test_what_has_ended_is_not_found(engine: Engine, owner: Actor, clock: Clock) -> None:
    made = await tell(engine, owner, "x")
    await engine.memories.set_end(owner, at(made), timedelta(minutes=1))
    clock.advance(timedelta(minutes=1))
    done = await engine.work_logs.search(owner, Address(sender="w1"), None, 20)
    assert (done.memories, done.total) == ((), 0)


async def test_work_logs_are_found_by_an_ordinary_search_too(engine: Engine, owner: Actor) -> None:
    made = await tell(engine, owner, "marmalade trombones")
    assert (await engine.recall.recall(owner, Question("marmalade"))).hits[0].memory.id == made.id


async def test_a_work_log_that_names_a_memory_refers_to_it(engine: Engine, owner: Actor) -> None:
    target = await keep(engine, owner, "the plan")
    made = await tell(engine, owner, f"see memories:{target.id}")
    (link,) = await engine.store.read(lambda tx: tx.links.of(made.id))
    assert (link.kind, link.target) == (LinkKind.REFERENCES, target.id)


async def test_without_a_model_words_still_find(engine: Engine, owner: Actor, embedder: Embedder) -> None:
    await tell(engine, owner, "schema of the database")
    embedder.broken = "gone"
    done = await engine.work_logs.search(owner, Address(), "database", 20)
    assert [memory.content for memory in done.memories] == ["schema of the database"]
    assert "gone" in done.reach.lexical_only


@pytest.mark.parametrize("name", ["", " ", "a\x00b", "\ud800", "x" * 201])
async def test_names_are_checked(engine: Engine, owner: Actor, name: str) -> None:
    with pytest.raises(Invalid):
        await tell(engine, owner, sender=name)
    for field in ("receiver", "thread", "project", "issue"):
        with pytest.raises(Invalid):
            await engine.work_logs.record(owner, "x", replace(Address(QUESTION, "w1"), **{field: name}))  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        await engine.work_logs.search(owner, Address(project=name), None, 20)
    assert await found(engine, owner) == []


async def test_texts_and_limits_are_checked(engine: Engine, owner: Actor) -> None:
    for text in ("", " ", "\ud800"):
        with pytest.raises(Invalid):
            await tell(engine, owner, text)
    for limit in (0, 101):
        with pytest.raises(Invalid):
            await engine.work_logs.search(owner, Address(), None, limit)


async def test_keys_do_what_they_permit(engine: Engine) -> None:
    reader = await user(engine, "rita", frozenset({Permission.READ}))
    writer = await user(engine, "wim", frozenset({Permission.WRITE}))
    with pytest.raises(Forbidden):
        await tell(engine, reader)
    await tell(engine, writer)
    with pytest.raises(Forbidden):
        await engine.work_logs.search(writer, Address(), None, 20)
