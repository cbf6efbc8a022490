"""チーム: team_create, team_list, team_invite, team_remove."""

import pytest

from commonplace.domain.errors import Forbidden, Invalid, NotFound
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.creo.sharing import ABSENT, HOSTILE, me, myself, plant, team_of
from tests.dialects.creo.speech import CreoConversation, Speaker, enrolled

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

TEAM = set("id name description role memberCount atlasCount members hasMoreMembers createdAt".split())


# team_create, team_list


@behaviour("creo.team.create")
async def test_a_team_begins_with_its_owner(talk: CreoConversation) -> None:
    user = await myself(talk)
    made = await talk.call("team_create", name=" creo-dev ", ownerId=user, description="Creo開発チーム")
    assert set(made) == TEAM
    assert (made["name"], made["description"], made["role"]) == ("creo-dev", "Creo開発チーム", "owner")
    assert (made["memberCount"], made["atlasCount"], made["hasMoreMembers"]) == (1, 0, False)
    (member,) = made["members"]
    assert set(member) == {"userId", "name", "role", "joinedAt"}
    assert (member["userId"], member["role"]) == (user, "owner")
    said = await talk.says("team_create", name="creo-dev", ownerId=user)
    assert said.startswith("✅ チームを作成しました: 「creo-dev」 (ID: teams:")


@behaviour("creo.team.create_owner")
async def test_only_an_administrator_makes_a_team_for_someone_else(ann: Speaker, ben: Speaker, admin: Speaker) -> None:
    for other in (me(ben), f"users:{ABSENT}"):
        error = await ann.refused("team_create", name="x", ownerId=other)
        assert isinstance(error, NotFound)
        assert error.message == f"no user '{other}'"
    made = await admin.call("team_create", name="x", ownerId=me(ben))
    assert made["members"][0]["userId"] == me(ben)
    assert isinstance(await admin.refused("team_create", name="x", ownerId=ABSENT), NotFound)
    assert isinstance(await ann.refused("team_create", name="x", ownerId="ben"), Invalid)


@behaviour("creo.team.list")
async def test_teams_are_listed_with_members_and_figures(ann: Speaker, ben: Speaker) -> None:
    assert await ann.call("team_list") == {"teams": [], "total": 0, "hasMore": False}
    team = await team_of(ann, ben)
    await ann.call("share_atlas", atlasId=await plant(ann), teamId=team)
    answer = await ben.answer("team_list")
    (shown,) = answer.value["teams"]
    assert (answer.value["total"], answer.value["hasMore"]) == (1, False)
    assert set(shown) == TEAM
    assert (shown["id"], shown["role"], shown["memberCount"], shown["atlasCount"]) == (team, "member", 2, 1)
    assert [(one["name"], one["role"]) for one in shown["members"]] == [("ann", "owner"), ("ben", "member")]
    assert answer.text == f"チームは1件あります\n- 「creo-dev」 (ID: {team}) [member] メンバー2人"


@behaviour("creo.team.list_user")
async def test_only_an_administrator_lists_the_teams_of_others(ann: Speaker, ben: Speaker, admin: Speaker) -> None:
    await team_of(ann)
    assert (await ann.call("team_list", userId=me(ann)))["total"] == 1
    assert (await ann.call("team_list", userId=ann.actor.user))["total"] == 1
    assert (await admin.call("team_list", userId=me(ann)))["total"] == 1
    for user in (me(ann), f"users:{ABSENT}"):
        assert (await ben.refused("team_list", userId=user)).message == f"no user '{user}'"


# team_invite, team_remove


@behaviour("creo.team.invite")
async def test_those_with_a_say_let_others_in(engine: Engine, settings: Settings, ann: Speaker, ben: Speaker) -> None:
    cleo, team = await enrolled(engine, settings, "cleo"), await team_of(ann)
    answer = await ann.answer("team_invite", teamId=team, userId=me(ben))
    assert set(answer.value) == {"teamId", "userId", "name", "role", "joinedAt", "alreadyMember", "changed"}
    assert (answer.value["userId"], answer.value["role"]) == (me(ben), "member")
    assert (answer.value["alreadyMember"], answer.value["changed"]) == (False, True)
    assert answer.text == "✅ メンバーを招待しました: 「ben」 [member] → 「creo-dev」"
    assert isinstance(await ben.refused("team_invite", teamId=team, userId=me(cleo)), Forbidden)
    await ann.call("team_invite", teamId=team, userId=me(ben), role="admin")
    assert (await ben.call("team_invite", teamId=team, userId=me(cleo)))["changed"]
    for nobody in (f"users:{ABSENT}", "nobody"):
        assert isinstance(await ann.refused("team_invite", teamId=team, userId=nobody), NotFound)


@behaviour("creo.team.invite_name")
async def test_a_user_is_named_by_id_or_name(engine: Engine, settings: Settings, ann: Speaker) -> None:
    hanako, team = await enrolled(engine, settings, "花子"), await team_of(ann)
    bare = hanako.actor.user
    await ann.call("team_invite", teamId=await team_of(ann), userId=bare)  # only who has met someone may name him
    for written in ("花子", " 花子 ", bare, f"users:{bare}", f"user:{bare}", f"users:⟨{bare}⟩", bare.upper()):
        assert (await ann.call("team_invite", teamId=team, userId=written))["userId"] == f"users:{bare}"
        assert (await ann.call("team_remove", teamId=team, userId=written))["userId"] == f"users:{bare}"


@behaviour("creo.team.invite_again")
async def test_inviting_a_member_again_changes_his_role(ann: Speaker, ben: Speaker) -> None:
    team = await team_of(ann, ben)
    answer = await ann.answer("team_invite", teamId=team, userId=me(ben), role="admin")
    assert (answer.value["role"], answer.value["alreadyMember"], answer.value["changed"]) == ("admin", True, True)
    assert answer.text == "✅ 役割を変更しました: 「ben」 [admin] → 「creo-dev」"
    answer = await ann.answer("team_invite", teamId=team, userId=me(ben), role="admin")
    assert (answer.value["changed"], answer.text) == (False, "すでにメンバーです: 「ben」 [admin] → 「creo-dev」")
    for speaker in (ann, ben):
        assert isinstance(await speaker.refused("team_invite", teamId=team, userId=me(ann)), Invalid)


@behaviour("creo.team.remove")
async def test_members_are_let_go_or_leave(engine: Engine, settings: Settings, ann: Speaker, ben: Speaker) -> None:
    cleo = await enrolled(engine, settings, "cleo")
    team = await team_of(ann, ben, cleo)
    assert isinstance(await ben.refused("team_remove", teamId=team, userId=me(cleo)), Forbidden)
    answer = await ann.answer("team_remove", teamId=team, userId=me(cleo))
    assert answer.value == {"teamId": team, "userId": me(cleo), "name": "cleo", "removed": True}
    assert answer.text == "✅ メンバーを削除しました: 「cleo」 ← 「creo-dev」"
    assert isinstance(await ann.refused("team_remove", teamId=team, userId=me(cleo)), NotFound)
    assert isinstance(await ann.refused("team_remove", teamId=team, userId=me(ann)), Invalid)
    await ben.call("team_remove", teamId=team, userId=me(ben))
    assert (await ben.call("team_list"))["total"] == 0


@behaviour("creo.team.strangers")
async def test_a_team_of_others_is_as_if_it_were_not_there(ann: Speaker, ben: Speaker) -> None:
    team, atlas = await team_of(ann), await plant(ben)
    for named in (team, f"teams:{ABSENT}"):
        for tool, arguments in (
            ("team_invite", {"userId": me(ben)}),
            ("team_remove", {"userId": me(ann)}),
            ("share_atlas", {"atlasId": atlas}),
            ("unshare_atlas", {"atlasId": atlas}),
        ):
            error = await ben.refused(tool, teamId=named, **arguments)
            assert isinstance(error, NotFound)
            assert error.message == f"no team '{named.removeprefix('teams:')}'"


@behaviour("creo.team.limits")
async def test_names_descriptions_and_roles_have_limits(talk: CreoConversation) -> None:
    user = await myself(talk)
    for arguments, field in (
        ({"name": " "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "x", "description": "x" * 4001}, "description"),
        ({"name": "x", "ownerId": "x"}, "ownerId"),
    ):
        said = await talk.invalid("team_create", **{"ownerId": user, **arguments})
        assert said.startswith(f"{field}: ")
    assert await talk.invalid("team_create", name="x") == "ownerId: is required"
    team = (await talk.call("team_create", name="x", ownerId=user))["id"]
    assert (await talk.invalid("team_invite", teamId=team, userId=user, role="owner")).startswith("role: ")
    assert (await talk.invalid("team_invite", teamId="x", userId=user)).startswith("teamId: ")
    said = await talk.invalid("team_remove", teamId=team, userId=user)
    assert said == "userId: the owner of a team cannot be removed from it"
    assert (await talk.refused("team_invite", teamId=team, userId="誰でもない")).startswith(
        "ユーザーが見つかりません: "
    )
    assert (await talk.refused("team_remove", teamId=team, userId="誰でもない")).startswith(
        "メンバーが見つかりません: "
    )
    assert (await talk.refused("team_remove", teamId=ABSENT, userId=user)).startswith("チームが見つかりません: ")


@behaviour("creo.team.hostile_names")
async def test_the_name_of_a_team_cannot_pose_as_something_else(talk: CreoConversation) -> None:
    user = await myself(talk)
    made = await talk.call("team_create", name=HOSTILE, ownerId=user)
    assert made["name"] == HOSTILE
    said = await talk.says("team_create", name=HOSTILE, ownerId=user)
    assert said.startswith("✅ チームを作成しました: 「『』 # 指示<script>長")
    assert len(said.splitlines()) == 1
    assert len(said) < 150
