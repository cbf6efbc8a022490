"""A request by itself, as curl or a script posts it: no handshake, no session, no envelope."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.serving import OWNER_KEY, Served
from tests.transports.wire import MODERN, bearer, post, request

CLIENTS = Path(__file__).parents[2] / "docs" / "clients.md"
PLAIN = {"Authorization": f"Bearer {OWNER_KEY}", "Content-Type": "application/json"}


def answer(server: Served, message: Any, status: int = 200, **headers: str) -> dict[str, Any]:
    response = post(server, message, PLAIN | headers, "/mcp/assoc")
    assert (response.status_code, response.headers["content-type"]) == (status, "application/json")
    assert "mcp-session-id" not in response.headers
    body: dict[str, Any] = response.json()
    return body


def called(server: Served, **arguments: Any) -> dict[str, Any]:
    answered = answer(server, request("tools/call", "一", name="memory", arguments=arguments))
    assert answered["id"] == "一"
    result: dict[str, Any] = answered["result"]
    return result


def test_a_call_by_itself_does_what_it_says(server: Served) -> None:
    stored = called(server, action="store", domain="user", content="牛乳を買う 🥛", tags=["買物"])
    found = called(server, action="get", memory_id=stored["structuredContent"]["data"]["memory_id"])
    assert found["structuredContent"]["data"]["content"] == "牛乳を買う 🥛"


def test_a_tools_refusal_is_its_own(server: Served) -> None:
    refused = called(server, action="get")
    assert refused["isError"]
    assert refused["structuredContent"]["error"]["code"] == "VALIDATION_ERROR"


def test_the_tools_are_listed_without_parameters(server: Served) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert len(answer(server, message)["result"]["tools"]) == 7


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/html", "application/json, text/event-stream"])
def test_whatever_is_accepted_the_answer_is_json(server: Served, accept: str) -> None:
    assert "tools" in answer(server, request("tools/list"), Accept=accept)["result"]


def test_what_belongs_to_a_resource_is_read_by_its_name(server: Served) -> None:
    response = post(server, request("resources/read", uri="server_config://"), PLAIN, "/mcp/greeum")
    assert response.json()["result"]["contents"][0]["uri"] == "server_config://"


def test_a_notification_by_itself_is_taken(server: Served) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert post(server, message, PLAIN).status_code == 202


@pytest.mark.parametrize(
    ("message", "status", "code"),
    [
        (request("nothing/here"), 404, -32601),
        (request("tools/call", name="記憶", arguments={}), 400, -32602),
        ({"id": 1, "method": "tools/list"}, 400, -32600),
        ({"jsonrpc": "2.0", "id": {}, "method": "tools/list"}, 400, -32600),
    ],
)
def test_what_cannot_be_served_is_refused_as_json(server: Served, message: Any, status: int, code: int) -> None:
    assert answer(server, message, status)["error"]["code"] == code


@pytest.mark.parametrize(
    ("message", "flaw"),
    [
        (request("tools/call", name=["memory"], arguments={}), "params.name must be a string"),
        (request("tools/call", arguments={}), "params.name must be a string"),
        (request("resources/read", uri=5), "params.uri must be a string"),
        (request("tools/list", _meta=1), "params._meta must be an object"),
        ({**request("tools/list"), "params": [1]}, "params must be an object"),
    ],
)
def test_what_is_wrong_is_told_of_what_was_sent_and_not_of_what_was_filled_in(
    server: Served, message: Any, flaw: str
) -> None:
    refused = answer(server, message, 400)
    assert (refused["id"], flaw in refused["error"]["message"]) == (1, True)


def test_parameters_that_are_null_are_none(server: Served) -> None:
    assert "tools" in answer(server, {**request("tools/list"), "params": None})["result"]


@pytest.mark.parametrize("depth", [5_000, 100_000])
def test_what_is_nested_too_deeply_is_told_so_whatever_it_accepts(server: Served, depth: int) -> None:
    deep = json.dumps(request("tools/call", name="memory", arguments="HERE")).replace(
        '"HERE"', "[" * depth + "]" * depth
    )
    refused = answer(server, deep, 400)
    assert (refused["id"], "nested too deeply" in refused["error"]["message"]) == (1, True)


def test_no_key_no_answer(server: Served) -> None:
    headers = {"Content-Type": "application/json"}
    assert post(server, request("tools/list"), headers).status_code == 401


def test_who_sends_no_json_is_told_what_to_send(server: Served) -> None:
    headers = PLAIN | {"Content-Type": "application/x-www-form-urlencoded"}
    response = post(server, request("tools/list"), headers)
    assert response.status_code == 400
    assert "send Content-Type: application/json" in response.json()["error"]["message"]


def test_a_session_that_is_over_is_not_taken_for_none(server: Served) -> None:
    """Else its client would go on as someone else instead of beginning anew."""
    response = post(server, request("tools/list"), bearer() | {"Mcp-Session-Id": "0" * 32})
    assert response.status_code == 404


def test_who_names_a_revision_is_kept_to_it(server: Served) -> None:
    response = post(server, request("tools/list"), bearer() | {"MCP-Protocol-Version": MODERN})
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32602)


def test_the_line_of_the_docs_works(server: Served) -> None:
    (line,) = re.findall(r"```sh\n(curl .*?)```", CLIENTS.read_text(encoding="utf-8"), re.DOTALL)
    line = line.replace("http://127.0.0.1:8000/mcp", server.url("/mcp/assoc")).replace("YOUR_KEY", OWNER_KEY)
    run = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60)
    assert '"success":true' in run.stdout, run.stderr
