"""ユーザー管理: get_user, generate_api_key."""

from datetime import timedelta

import pytest

from commonplace.domain.access import Permission
from commonplace.domain.errors import AlreadyExists, Forbidden, Unauthenticated
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.creo.speech import CREO, CreoConversation, Speaker, enrolled
from tests.dialects.servers import Servers
from tests.fakes import Clock
from tests.serving import over_http

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour


@behaviour("creo.user.get")
async def test_a_caller_learns_who_it_is(talk: CreoConversation) -> None:
    user = await talk.call("get_user")
    assert user["id"].startswith("users:")
    assert (user["name"], user["timeZone"], user["limitedTo"]) == ("owner", "Asia/Seoul", None)
    assert user["permissions"] == ["admin", "read", "write"]
    assert user["createdAt"].endswith("Z")
    assert "権限: admin, read, write" in await talk.says("get_user")


@behaviour("creo.user.teams")
async def test_a_caller_s_teams_are_its_own(ann: Speaker, ben: Speaker) -> None:
    team = (await ann.engine.teams.create(ann.actor, "creo-dev")).membership.team
    assert (await ann.call("get_user"))["teams"] == [{"id": f"teams:{team.id}", "name": "creo-dev", "role": "owner"}]
    assert (await ben.call("get_user"))["teams"] == []
    assert (await ben.call("get_user"))["permissions"] == ["read", "write"]


@behaviour("creo.user.generate")
async def test_a_key_is_made_shown_once_and_opens_the_same(talk: CreoConversation) -> None:
    name = unique()
    answer = await talk.answer("generate_api_key", name=name, expiresInDays=7)
    body = answer.structured_content or {}
    words = answer.content[0].text  # type: ignore[union-attr]
    assert words.count(body["key"]) == 1
    assert "このキーは一度だけ表示されます" in words
    assert body["key"].startswith("cp_")
    assert (body["name"], body["permissions"]) == (name, ["admin", "read", "write"])
    assert body["expiresAt"] > body["createdAt"]
    for tool, more in (("get_user", {}), ("get_logs", {}), ("search_logs", {"query": name}), ("get_status", {})):
        assert body["key"] not in str(await talk.answer(tool, **more))
    for days in (0, -1, 3651, 10**30):
        assert "expiresInDays" in await talk.invalid("generate_api_key", expiresInDays=days)


@behaviour("creo.user.generate_over_http")
async def test_a_generated_key_lets_its_holder_in_as_the_same_user(servers: Servers) -> None:
    server = servers.chosen("greeum")
    async with over_http(server, path=CREO) as client:
        made = await CreoConversation(client).call("generate_api_key")
    assert made["expiresAt"] is None
    async with over_http(server, path=CREO, key=made["key"]) as client:
        me = await CreoConversation(client).call("get_user")
        assert (me["name"], me["credential"]) == ("owner", f"owner/{made['name']}")


@behaviour("creo.user.generate_no_more")
async def test_a_key_has_no_more_than_its_maker(engine: Engine, settings: Settings, ann: Speaker) -> None:
    made = await ann.call("generate_api_key")
    assert made["permissions"] == ["read", "write"]
    shown = await engine.access.authenticate(made["key"])
    assert (shown.user, shown.permissions) == (ann.actor.user, ann.actor.permissions)
    reader = await enrolled(engine, settings, "ann", Permission.READ)
    assert isinstance(await reader.refused("generate_api_key"), Forbidden)


@behaviour("creo.user.generate_names")
async def test_names_of_keys_are_one_s_own(ann: Speaker, ben: Speaker) -> None:
    await ann.call("generate_api_key", name="laptop")
    assert (await ben.call("generate_api_key", name="laptop"))["name"] == "laptop"
    assert isinstance(await ann.refused("generate_api_key", name="laptop"), AlreadyExists)


@behaviour("creo.user.generate_expires")
async def test_a_key_ends_when_it_says(ann: Speaker, engine: Engine, clock: Clock) -> None:
    made = await ann.call("generate_api_key", expiresInDays=1)
    await engine.access.authenticate(made["key"])
    clock.advance(timedelta(days=1))
    with pytest.raises(Unauthenticated):
        await engine.access.authenticate(made["key"])
