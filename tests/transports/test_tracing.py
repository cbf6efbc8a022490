"""OpenTelemetry: one span a call, to a collector that really listens."""

import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from commonplace.transports.tracing import Tracing
from commonplace.transports.watching import Report
from tests.serving import PROGRAM, over_http, served, stdio
from tests.transports.test_cli_programs import run

TRACE = "0af7651916cd43dd8448eb211c80319c"


class Collector:
    """Takes what is sent and keeps it."""

    def __init__(self) -> None:
        bodies: list[bytes] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                bodies.append(self.rfile.read(int(self.headers["content-length"])))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                return

        self.bodies = bodies
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def spans(self) -> list[tuple[str, dict[str, str], Any]]:
        sent = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        found = [s for request in sent for r in request.resource_spans for scope in r.scope_spans for s in scope.spans]
        return [(span.name, {a.key: a.value.string_value for a in span.attributes}, span) for span in found]


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    Thread(target=collector.server.serve_forever, daemon=True).start()
    yield collector
    collector.server.shutdown()
    collector.server.server_close()


@pytest.mark.anyio
async def test_every_call_is_a_span_without_what_was_said(folder: Path, collector: Collector) -> None:
    with served(folder, "--otel-endpoint", collector.url) as server:
        async with over_http(server, path="/mcp/greeum") as client:
            parent: Any = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
            await client.call_tool("add_memory", {"content": "zaqsecret memory"}, meta=parent)
            await client.call_tool("retrieve_memory", {"block_index": 12345})
            with pytest.raises(Exception, match="Unknown tool"):
                await client.call_tool("zaqtool", {})
    (added, kept, span), (read, missed, _), (unknown, _, _) = collector.spans()
    assert (added, read, unknown) == ("tools/call add_memory", "tools/call retrieve_memory", "tools/call (unknown)")
    assert (kept["commonplace.dialect"], kept["commonplace.outcome"]) == ("greeum", "ok")
    assert missed["commonplace.outcome"] == "refused"
    assert span.trace_id.hex() == TRACE
    assert 0 < span.end_time_unix_nano - span.start_time_unix_nano < 60 * 10**9
    assert not any(b"zaq" in body for body in collector.bodies)


@pytest.mark.anyio
async def test_calls_on_stdio_are_traced_too(folder: Path, collector: Collector) -> None:
    async with stdio(folder, "--dialect", "greeum", "--otel-endpoint", collector.url) as client:
        await client.call_tool("verify_chain", {})
    assert [name for name, _, _ in collector.spans()] == ["tools/call verify_chain"]


@pytest.mark.anyio
async def test_a_collector_that_is_not_there_holds_up_nobody(folder: Path) -> None:
    with served(folder, "--otel-endpoint", "http://127.0.0.1:9") as server:
        async with over_http(server, path="/mcp/greeum") as client:
            assert not (await client.call_tool("verify_chain", {})).is_error


def test_the_end_of_the_process_does_not_wait_for_a_collector_that_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        before = set(threading.enumerate())
        tracing = Tracing(f"http://127.0.0.1:{silent.getsockname()[1]}")
        tracing.note(Report("greeum", "verify_chain", "ok", ended_at=1, seconds=0.0, trace={}))
        tracing.close()
        sending = set(threading.enumerate()) - before
        assert sending
        assert all(thread.daemon for thread in sending)


def test_without_the_extra_the_setting_is_refused_with_what_to_install(folder: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "sitecustomize.py"
    hidden.write_text("import sys\nsys.modules['opentelemetry.sdk'] = None\n")
    options = ("serve", "--data-dir", str(folder), "--otel-endpoint", "http://127.0.0.1:9")
    answer = run(sys.executable, PROGRAM, *options, check=False, PYTHONPATH=str(tmp_path))
    assert answer.returncode == 2
    assert "commonplace[otel]" in answer.stderr
    assert "Traceback" not in answer.stderr
