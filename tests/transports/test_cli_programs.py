"""The two programs: the same options, each with its own dialect."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.serving import OWNER_KEY, PROGRAM, environment, free_port
from tests.transports.wire import bearer, listening

ASSOC = str(Path(sys.executable).with_name("mcp-assoc-memory"))


def run(*command: str, check: bool = True, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        env=environment(**more),
        capture_output=True,
        text=True,
        check=check,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


def test_both_programs_have_the_same_options() -> None:
    ours = run(PROGRAM, "serve", "--help").stdout.split("options:")[1]
    theirs = run(ASSOC, "--help").stdout.split("options:")[1]
    assert theirs.replace("  --version", "").count("--") >= ours.count("--")
    for option in ("--transport", "--port", "--http-port", "--sse-port", "--config", "--dialect"):
        assert option in ours
        assert option in theirs


@pytest.mark.anyio
async def test_it_speaks_on_stdio_in_its_own_dialect(folder: Path) -> None:
    bare = {name: value for name, value in environment().items() if name != "COMMONPLACE_DIALECT"}
    parameters = StdioServerParameters(command=ASSOC, args=["--data-dir", str(folder)], env=bare)
    async with Client(stdio_client(parameters), mode="legacy") as client:
        assert {tool.name for tool in (await client.list_tools()).tools} >= {"memory", "search", "admin"}


@pytest.mark.parametrize(("transport", "path"), [("http", "/mcp"), ("sse", "/sse")])
def test_a_port_is_that_of_the_chosen_transport(folder: Path, transport: str, path: str) -> None:
    port = free_port()
    command = [ASSOC, "--transport", transport, "--port", str(port), "--data-dir", str(folder)]
    with listening(command, port, COMMONPLACE_OWNER_KEY=OWNER_KEY, COMMONPLACE_DIALECT="greeum"):
        assert httpx2.get(f"http://127.0.0.1:{port}{path}").status_code == 401


def test_all_transports_run_together_from_a_file_with_chapters(folder: Path, tmp_path: Path) -> None:
    http, sse = free_port(), free_port()
    file = tmp_path / "settings.json"
    file.write_text(
        f"""{{"transports": {{"http": {{"enabled": true, "port": {http}, "host": "localhost",
               "cors": {{"allowed_origins": ["http://app.example:3000"], "allowed_methods": ["POST"]}}}},
            "sse": {{"port": {sse}, "max_connections": 1, "heartbeat_interval": 1}}}},
            "authentication": {{"stdio": {{"type": "none"}}, "sse": {{"type": "session", "timeout": 60}},
            "http": {{"type": "api_key", "header": "X-Secret", "jwt_secret": "${{JWT_SECRET}}"}}}},
            "dialect": "greeum"}}"""
    )
    secrets = {"COMMONPLACE_OWNER_KEY": OWNER_KEY, "JWT_SECRET": "s" * 40}
    command = [ASSOC, "--config", str(file), "--data-dir", str(folder)]
    with listening(command, http, **secrets), httpx2.Client(verify=False) as web:
        detailed: dict[str, Any] = web.get(f"http://127.0.0.1:{http}/health", headers={"X-Secret": OWNER_KEY}).json()
        assert set(detailed["sessions"]) == {"http", "sse", "websocket"}
        assert web.get(f"http://127.0.0.1:{http}/health", headers={"X-API-Key": OWNER_KEY}).json().keys() == {
            "status",
            "version",
        }
        asked = {"Origin": "http://app.example:3000", "Access-Control-Request-Method": "POST"}
        assert web.options(f"http://127.0.0.1:{http}/mcp", headers=asked).status_code == 200
        url = f"http://127.0.0.1:{sse}/sse"
        with web.stream("GET", url, headers=bearer()) as first:
            assert first.status_code == 200
            assert web.get(url, headers=bearer()).status_code == 503


def test_a_missing_variable_of_the_file_is_told(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"authentication": {"http": {"jwt_secret": "${NO_SUCH_THING}"}}}')
    answer = run(ASSOC, "--config", str(file), "--data-dir", str(folder), check=False)
    assert (answer.returncode, "NO_SUCH_THING" in answer.stderr) == (2, True)
    assert "NO_SUCH_THING" not in os.environ
