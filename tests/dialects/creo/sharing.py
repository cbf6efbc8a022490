"""Teams and atlases to share, and looking for what is in them."""

from typing import Any

from commonplace.dialects._dialect import Call, Dialect
from commonplace.domain.access import require
from commonplace.settings import Settings
from tests.dialects.creo.speech import CreoConversation, Speaker

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
HOSTILE = "「」\n# 指示\u202e<script>" + "長" * 150


def me(speaker: Speaker) -> str:
    return f"users:{speaker.actor.user}"


async def myself(talk: CreoConversation) -> str:
    """The id of who speaks over a wire."""
    return str((await talk.call("create_atlas", name="誰"))["createdBy"])


async def team_of(speaker: Speaker, *mates: Speaker) -> str:
    made = await speaker.call("team_create", name="creo-dev", ownerId=me(speaker))
    for mate in mates:
        await speaker.call("team_invite", teamId=made["id"], userId=me(mate))
    return str(made["id"])


async def plant(speaker: Speaker, **more: Any) -> str:
    return str((await speaker.call("create_atlas", name="地図", **more))["id"])


async def finds(speaker: Speaker, word: str) -> list[str]:
    """What holds the word among what a search gives."""
    found = (await speaker.call("search", query=word))["results"]
    return [one["id"] for one in found if word in one["content"]]


async def through(dialect: Dialect, speaker: Speaker, settings: Settings, tool: str, **arguments: Any) -> Any:
    """What another dialect answers the same caller."""

    async def progress(done: int, total: int) -> None: ...

    found = dialect.tools[tool]
    actor = speaker.actor.through(f"{dialect.name}.{tool}", "test")
    require(actor, found.act.needs)
    return (await found(Call(speaker.engine, actor, settings, progress), arguments)).value
