"""Health and identity, for those who show who they are and for strangers."""

from datetime import timedelta
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from commonplace import __version__
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.live.speech import LIVE, LiveConversation, over_the_net, spoken_to
from tests.dialects.live.test_bank import Model, with_model
from tests.fakes import Clock
from tests.serving import OWNER_KEY, PROGRAM, Era, Served, free_port
from tests.transports.wire import INITIALIZE, bearer, post
from tests.transports.wire import listening as program

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ERAS: tuple[Era, ...] = ("legacy", "2026-07-28")


@behaviour("live.system_health.answer")
async def test_health_is_told_as_the_reference_shows_it(local: LiveConversation) -> None:
    await local.space()
    told = await local.call("system_health")
    assert (told["status"], told["version"], told["spaces_count"]) == ("ok", __version__, 1)
    assert told["services"]["s3"]["status"] == "ok"
    assert isinstance(told["services"]["s3"]["latency_ms"], int)
    assert told["services"]["llmaas"] == {"status": "ok", "model": "built-in", "latency_ms": 0}
    assert told["uptime_seconds"] >= 0


@behaviour("live.system_health.model")
async def test_health_says_which_model_is_in_use(folder: Path) -> None:
    settings = Settings(data_dir=str(folder), timezone="UTC")
    async with with_model(folder, Model()) as engine, spoken_to(engine, settings) as talk:
        model = (await talk.call("system_health"))["services"]["llmaas"]
        assert model == {"status": "ok", "model": "stand-in", "latency_ms": 120}


@behaviour("live.system_health.degraded")
async def test_health_is_degraded_and_names_the_service_that_fails(
    engine: Engine, local: LiveConversation, outside: Path, clock: Clock
) -> None:
    assert (await local.call("system_health"))["status"] == "ok"
    outside.rmdir()
    outside.write_text("a file where a folder should be")
    await local.space()
    clock.advance(timedelta(seconds=5))
    told = await local.call("system_health")
    assert (told["status"], told["services"]["llmaas"]["status"]) == ("degraded", "ok")
    assert told["services"]["s3"]["status"] == "error"
    assert "spaces" in told["services"]["s3"]["message"]
    assert told["services"]["s3"]["files_waiting"] == 4
    outside.unlink()
    clock.advance(timedelta(seconds=5))
    assert (await local.call("system_health"))["status"] == "ok"


@behaviour("live.system_about.answer")
async def test_the_server_tells_what_it_is(talk: LiveConversation) -> None:
    told = await talk.call("system_about")
    assert (told["status"], told["name"], told["version"]) == ("ok", "Live Memory MCP Server", __version__)
    assert told["description"] == "Mémoire de travail partagée pour agents IA collaboratifs"
    assert told["tools_count"] == 25


@behaviour("live.strangers.told")
@pytest.mark.parametrize("era", ERAS)
async def test_strangers_are_told_status_and_version_and_nothing_else(listening: Served, era: Era) -> None:
    async with over_the_net(listening, era=era) as stranger:
        assert await stranger.call("system_health") == {"status": "ok", "version": __version__}
        assert await stranger.call("system_about") == {
            "status": "ok",
            "name": "Live Memory MCP Server",
            "version": __version__,
        }
        assert [tool.name for tool in (await stranger.client.list_tools()).tools] == ["system_health", "system_about"]


@behaviour("live.strangers.resources")
@pytest.mark.parametrize("era", ERAS)
async def test_strangers_see_no_resources(listening: Served, era: Era) -> None:
    async with over_the_net(listening, era=era) as stranger:
        assert (await stranger.client.list_resources()).resources == []
        assert (await stranger.client.list_resource_templates()).resource_templates == []
        assert (await stranger.client.list_prompts()).prompts == []
        for uri in ("live://spaces", "memory://context/session", "system://boot", "greeum://memory/stats"):
            with pytest.raises(MCPError):
                await stranger.client.read_resource(uri)


@behaviour("live.strangers.bootstrap")
@pytest.mark.parametrize("variable", ["ADMIN_BOOTSTRAP_KEY", "COMMONPLACE_OWNER_KEY"])
async def test_the_first_administrator_comes_from_a_setting(tmp_path: Path, variable: str) -> None:
    port, key = free_port(), "a bootstrap key of the tests, 32 characters and more"
    command = [PROGRAM, "serve", "--transport", "http", "--http-port", str(port), "--data-dir", str(tmp_path)]
    with program(command, port, **{variable: key}) as process:
        server = Served(tmp_path, port, 0, process)  # type: ignore[arg-type]
        async with over_the_net(server, key) as admin:
            token = await admin.token("read,write,admin")
        async with over_the_net(server, token) as second:
            assert (await second.call("admin_list_tokens"))["total"] == 1
        for wrong in ("admin", "changeme", key[:-1], OWNER_KEY):
            assert post(server, INITIALIZE, bearer(wrong), LIVE).status_code == 401
