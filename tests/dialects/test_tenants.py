"""Two users in one house, over every tool and resource of every dialect: nobody learns of what was not given to him.

A walk does one thing after another, by chance; after each, those who look at what is Ann's are shown no word and no id
that a model of their rights does not grant them, and all that it does. TENANT_WALKS=20 TENANT_STEPS=200 walk longer.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects import tenant_acts as acts
from tests.dialects import tenant_meetings as meetings
from tests.dialects.absence import differences
from tests.dialects.tenancy import Text, Who
from tests.dialects.tenants import ACTS, Tenants, moved_in
from tests.dialects.watchfulness import Curiosity, everything, forbidden, leaks
from tests.fakes import Clock

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]
T = TypeVar("T")

WALKS = int(os.environ.get("TENANT_WALKS", "1"))
STEPS = int(os.environ.get("TENANT_STEPS", "60"))
THOROUGH = 20
"""After so many steps everything is looked at from all sides, and what is not given is compared with what is not."""
SHOWING = ("creo", "assoc", "greeum", "nocturne")
"""Dialects that show every text, wherever it lies."""
KINDS = (
    *("atlas", "context", "team", "label", "category", "subscription", "session", "project", "place", "uri", "space"),
    *("backup", "todo", "key"),
)
OPENING = (
    *(acts.ann_plants, acts.ann_founds_a_team, acts.ann_remembers, acts.ann_files, acts.ann_shares) * 3,
    *(acts.ann_lets_ben_in, acts.ann_makes_a_shared_key, acts.ann_grows_her_tree, acts.ann_names_a_text),
    *(acts.ann_labels, acts.ann_makes_a_category, acts.ann_means_to_do, acts.ann_subscribes, acts.ann_is_here),
    *(acts.ann_adds_a_block, acts.ann_works_in_a_session, acts.ann_makes_a_key_of_her_own, acts.ann_annotates),
    *(meetings.ann_founds_a_project, meetings.ann_stores_in_a_project, meetings.ben_joins_a_project) * 2,
    *(meetings.ann_opens_a_context, meetings.ann_invites_ben, meetings.ben_joins_a_context, meetings.ann_lends) * 2,
    *(meetings.ann_logs_her_work, meetings.ann_logs_her_work),
    *(meetings.ben_hosts_a_project, meetings.ann_stores_at_bens, meetings.ben_hosts_a_context),
    *(meetings.ann_founds_a_space, meetings.ann_notes, meetings.the_owner_gives_a_token) * 2,
)
"""What a house has when the walk through it begins."""


@pytest.mark.parametrize("seed", range(WALKS))
async def test_nobody_learns_of_what_was_not_given_to_him(
    engine: Engine, settings: Settings, clock: Clock, seed: int
) -> None:
    house = await moved_in(engine, settings, clock, seed)
    for one in OPENING:
        await house.try_out(one)
    for step in range(1, STEPS + 1):
        await house.step()
        if step % THOROUGH == 0:
            await _look_around(house)
        for who in (Who.BEN, (Who.GUEST, Who.AGENT)[step % 2]):
            await _look(house, who, 1)
    assert len(house.done) > len(ACTS) * 3 // 4


async def _look_around(house: Tenants) -> None:
    """What is over is not seen, though nobody has cleaned up yet."""
    await house.try_out(meetings.time_passes)
    for who in Who:
        await _look(house, who, 4)
        await _compare(house, who)
    await house.try_out(meetings.the_house_is_cleaned)


async def _look(house: Tenants, who: Who, most: int) -> None:
    """One look at everything, asking for some of what there is."""
    person = await house.looking(who)
    if person is None:
        return
    texts = [*dict.fromkeys([*_some(house, house.ledger.texts, most), *house.touched])]
    texts = [text for text in texts if text in house.ledger.texts]
    seen: dict[str, str] = dict.fromkeys((*SHOWING, "live"), "")
    hidden = forbidden(house.ledger, who)
    async for heard in everything(person, _curiosity(house, texts, most), house.before):
        leaked = leaks(hidden, heard)
        assert not leaked, f"{who} sees {leaked} in {heard.source}({heard.said}): {heard.words[:3000]}\n{_told(house)}"
        seen[heard.source.partition(".")[0]] += heard.words
    _check_shown(house, who, texts, seen)


def _check_shown(house: Tenants, who: Who, texts: Sequence[Text], seen: dict[str, str]) -> None:
    """What was given is there, in every dialect that should show it."""
    for text in (text for text in texts if house.ledger.sees(who, text)):
        dialects = (*SHOWING, "live") if text.place.kind == "space" else SHOWING
        for dialect in dialects:
            for word in (text.id, *text.secrets)[dialect == "live" : 2]:
                assert word in seen[dialect], f"{who} misses {word} in {dialect}\n{_told(house)}"


async def _compare(house: Tenants, who: Who) -> None:
    """What is not given is not told from what is not there."""
    person, hidden = await house.looking(who), house.ledger.forbidden(who)
    if person:
        pools = {kind: [one for one in ids if one in hidden] for kind, ids in _pools(house, 2).items()}
        own = house.own if who is Who.BEN else {}
        told = [one async for one in differences(person, own, pools, only_reading=who is not Who.BEN)]
        assert not told, "\n".join([who, *told, _told(house)])


def _curiosity(house: Tenants, texts: Sequence[Text], most: int) -> Curiosity:
    pools = _pools(house, most)
    pools["memory"] = [text.id for text in texts]
    pools["space"] = sorted({*pools["space"], *(text.place.id for text in texts if text.place.kind == "space")})
    pools["block"] = [f"block_{text.block}" for text in texts if text.block is not None]
    names = [name for text in texts for name in text.secrets[1:]][:most]
    return Curiosity([text.hook for text in texts], names, pools, brief=most == 1)


def _pools(house: Tenants, most: int) -> dict[str, list[str]]:
    pools = {kind: _some(house, house.ledger.ids(kind), most) for kind in (*KINDS, "memory")}
    return pools | {"user": house.ledger.ann[:1]}


def _some(house: Tenants, things: Sequence[T], most: int) -> list[T]:
    """The latest, and others by chance."""
    latest = max(1, most // 2)
    earlier = things[:-latest]
    return [*things[-latest:], *house.chance.sample(earlier, min(most - latest, len(earlier)))]


def _told(house: Tenants) -> str:
    return "\n".join(house.trace)
