"""Figures for Prometheus, and how the house is: for those who show who they are."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open_metrics
from prometheus_client.parser import text_string_to_metric_families

from commonplace import __version__
from commonplace.domain.access import Permission
from tests.serving import OWNER_KEY, Served, over_http, over_sse, served
from tests.transports.wire import bearer, key_for

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("metrics")) as server:
        yield server


def scraped(server: Served) -> Samples:
    answer = httpx2.get(server.url("/metrics"), headers={"Authorization": f"Bearer {OWNER_KEY}"})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(answer.text)
    return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[f"commonplace_{name}", frozenset(labels.items())]


@pytest.mark.anyio
async def test_calls_are_counted_and_timed_by_tool_dialect_and_outcome(counted: Served) -> None:
    async with over_http(counted, path="/mcp/greeum") as http, over_http(counted, era="2026-07-28") as modern:
        for client in (http, modern):
            await client.call_tool("add_memory", {"content": "zaqsecret text of a memory"})
        await http.call_tool("add_memory", {"content": ""})
        with pytest.raises(Exception, match="Unknown tool"):
            await http.call_tool("zaqtool", {})
    found = scraped(counted)
    assert value(found, "calls_total", dialect="greeum", tool="add_memory", outcome="ok") == 2
    assert value(found, "calls_total", dialect="greeum", tool="add_memory", outcome="refused") == 1
    assert value(found, "calls_total", dialect="greeum", tool="(unknown)", outcome="refused") == 1
    assert value(found, "call_seconds_count", dialect="greeum", tool="add_memory") == 3
    assert 0 < value(found, "call_seconds_sum", dialect="greeum", tool="add_memory") < 60
    assert value(found, "call_seconds_bucket", dialect="greeum", tool="add_memory", le="+Inf") == 3
    assert value(found, "memories") == 2
    assert value(found, "events") >= 2


@pytest.mark.anyio
async def test_the_house_is_described_without_names_of_users_or_words_of_memories(counted: Served) -> None:
    key = await key_for(counted.folder, "zaquser")
    async with over_sse(counted, key=key) as sse:
        await sse.call_tool("add_memory", {"content": "zaqsecret of a user"})
        found = scraped(counted)
        assert value(found, "sessions", transport="sse") == 1
        assert value(found, "connections", transport="sse") >= 1
        text = httpx2.get(counted.url("/metrics"), headers=bearer(key)).text
    for name in ("store_bytes", "index_memories", "write_queue", "embeddings_pending", "embedding_queue", "store_up"):
        assert value(found, name) >= 0
    assert any(name == "commonplace_embedder_info" for name, _ in found)
    assert found["process_resident_memory_bytes", frozenset()] > 0
    assert "zaq" not in text


def test_figures_need_a_credential_that_may_read(counted: Served) -> None:
    assert httpx2.get(counted.url("/metrics")).status_code == 401
    assert httpx2.get(counted.url("/metrics"), headers=bearer("wrong")).status_code == 401
    sse = f"http://127.0.0.1:{counted.sse_port}/metrics"
    assert httpx2.get(sse).status_code == 401
    assert httpx2.get(sse, headers=bearer()).status_code == 200


@pytest.mark.anyio
async def test_a_key_that_may_only_write_reads_no_figures(counted: Served) -> None:
    writer = await key_for(counted.folder, "writer", Permission.WRITE)
    assert httpx2.get(counted.url("/metrics"), headers=bearer(writer)).status_code == 403


def test_the_newer_format_is_spoken_to_those_who_prefer_it(counted: Served) -> None:
    wanted = {"Accept": "application/openmetrics-text;version=1.0.0", "Authorization": f"Bearer {OWNER_KEY}"}
    answer = httpx2.get(counted.url("/metrics"), headers=wanted)
    assert "openmetrics" in answer.headers["content-type"]
    assert list(read_open_metrics(answer.text))  # type: ignore[no-untyped-call]


def test_figures_are_public_where_the_settings_say_so(folder: Path) -> None:
    with served(folder, "--metrics-public") as server:
        assert httpx2.get(server.url("/metrics")).status_code == 200
        assert httpx2.get(server.url("/mcp")).status_code == 401


def test_health_tells_strangers_that_it_lives_and_others_how(counted: Served) -> None:
    for shown in ({}, bearer("wrong")):
        assert httpx2.get(counted.url("/health"), headers=shown).json() == {"status": "ok", "version": __version__}
    told = httpx2.get(counted.url("/health"), headers=bearer()).json()
    assert told["status"] == "ok"
    assert told["store"]["writable"] is True
    assert told["embedder"]["failure"] == ""
    assert told["sessions"].keys() == {"http", "sse", "websocket"}
