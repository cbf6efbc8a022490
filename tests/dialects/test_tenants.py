"""Two users in one house, over every tool and resource of every dialect: nobody learns of what was not given to him.

A walk does one thing after another, by chance; after each, those who look at what is Ann's are shown no word and no id
that a model of their rights does not grant them, and all that it does. TENANT_WALKS=20 TENANT_STEPS=200 walk longer.
"""

import os
from collections.abc import Sequence

import pytest

from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects import tenant_acts, tenant_meetings
from tests.dialects.tenancy import Text, Who
from tests.dialects.tenants import ACTS, Tenants, moved_in
from tests.dialects.watchfulness import Curiosity, everything, leaks
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

WALKS = int(os.environ.get("TENANT_WALKS", "2"))
STEPS = int(os.environ.get("TENANT_STEPS", "60"))
LOOKED_AT = 4
"""Of each kind of thing, after each step: the latest, and some others by chance."""
SHOWING = ("creo", "assoc", "greeum", "nocturne")
"""Dialects that show every text, wherever it lies."""
KINDS = ("atlas", "context", "team", "label", "category", "subscription", "session", "project", "place", "uri", "space")
KINDS = (*KINDS, "backup", "todo", "key")
assert tenant_acts and tenant_meetings


@pytest.mark.parametrize("seed", range(WALKS))
async def test_nobody_learns_of_what_was_not_given_to_him(
    engine: Engine, settings: Settings, clock: Clock, seed: int
) -> None:
    house = await moved_in(engine, settings, clock, seed)
    for _ in range(STEPS):
        await house.step()
        for who in Who:
            await _look(house, who)
    assert len(house.done) > len(ACTS) * 3 // 4


async def _look(house: Tenants, who: Who) -> None:
    """One look at everything, asking for some of what there is."""
    person = await house.looking(who)
    if person is None:
        return
    texts = _some(house, house.ledger.texts)
    seen: dict[str, str] = dict.fromkeys((*SHOWING, "live"), "")
    async for heard in everything(person, _curiosity(house, texts)):
        leaked = leaks(house.ledger, who, heard)
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


def _curiosity(house: Tenants, texts: Sequence[Text]) -> Curiosity:
    pools = {kind: [*_some(house, house.ledger.ids(kind))] for kind in KINDS}
    pools["memory"], pools["user"] = [text.id for text in texts], house.ledger.ann[:1]
    pools["block"] = [f"block_{text.block}" for text in texts if text.block is not None]
    return Curiosity([text.hook for text in texts], [name for text in texts for name in text.secrets[1:]], pools)


def _some(house: Tenants, things: Sequence[Text]) -> list[Text]:
    earlier = things[:-2]
    return [*things[-2:], *house.chance.sample(earlier, min(LOOKED_AT - 2, len(earlier)))]


def _told(house: Tenants) -> str:
    return "\n".join(house.trace)
