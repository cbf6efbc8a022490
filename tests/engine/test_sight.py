"""Nobody changes a text without having seen it as it is."""

from dataclasses import replace

import pytest

from commonplace.domain.access import Actor
from commonplace.domain.errors import Unseen
from commonplace.domain.identifiers import CredentialId, UserId
from commonplace.domain.memory import Change, Draft
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.sight import MOST_MEMORIES, MOST_SESSIONS, Sight

pytestmark = pytest.mark.anyio


async def test_what_was_not_read_or_has_changed_since_is_told_apart(engine: Engine, owner: Actor) -> None:
    sight = Sight()
    memory = await engine.memories.remember(owner, Draft("one"))
    with pytest.raises(Unseen) as refusal:
        sight.require(owner, memory, "core://a")
    assert (refusal.value.name, refusal.value.changed) == ("core://a", False)
    sight.saw(owner, memory)
    sight.require(owner, memory, "core://a")
    changed = await engine.memories.revise(owner, Reference(memory.id), Change(content="two"))
    with pytest.raises(Unseen) as refusal:
        sight.require(owner, changed, "core://a")
    assert refusal.value.changed
    sight.saw(owner, changed)
    sight.require(owner, changed, "core://a")


async def test_each_session_credential_and_user_sees_for_itself(engine: Engine, owner: Actor) -> None:
    sight = Sight()
    memory = await engine.memories.remember(owner, Draft("one"))
    seeing = owner.through("read", "s1")
    sight.saw(seeing, memory)
    sight.require(seeing.through("update"), memory, "x")
    others = (
        replace(seeing, session="s2"),
        replace(seeing, credential="other"),
        replace(seeing, credential_id=CredentialId("c")),
        replace(seeing, user=UserId("u")),
    )
    for other in others:
        with pytest.raises(Unseen):
            sight.require(other, memory, "x")


async def test_what_was_seen_longest_ago_is_forgotten_first(engine: Engine, owner: Actor) -> None:
    sight = Sight()
    memory = await engine.memories.remember(owner, Draft("one"))
    sight.saw(owner, memory)
    for number in range(1, MOST_MEMORIES):
        sight.saw(owner, replace(memory, number=memory.number + number))
    sight.saw(owner, memory)  # again: now it is the latest
    sight.saw(owner, replace(memory, number=memory.number + MOST_MEMORIES))
    sight.require(owner, memory, "x")
    with pytest.raises(Unseen):
        sight.require(owner, replace(memory, number=memory.number + 1), "x")


async def test_the_session_that_looked_longest_ago_is_forgotten_first(engine: Engine, owner: Actor) -> None:
    sight = Sight()
    memory = await engine.memories.remember(owner, Draft("one"))
    for number in range(MOST_SESSIONS):
        sight.saw(owner.through("read", f"s{number}"), memory)
    sight.saw(owner.through("read", "s0"), memory)
    sight.saw(owner.through("read", "one more"), memory)
    sight.require(owner.through("read", "s0"), memory, "x")
    with pytest.raises(Unseen):
        sight.require(owner.through("read", "s1"), memory, "x")
