"""stdio, byte by byte: only protocol comes out, everything is answered, and it ends when asked."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving import OWNER_KEY, free_port, stdio
from tests.transports.wire import INITIALIZE, INITIALIZED, PATIENCE, Lines, lines, request

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602


def _call(identifier: int, arguments: str, tool: str = "add_memory") -> str:
    params = f'{{"name": "{tool}", "arguments": {arguments}}}'
    return f'{{"jsonrpc": "2.0", "id": {identifier}, "method": "tools/call", "params": {params}}}'


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lines]:
    with lines(tmp_path_factory.mktemp("stdio")) as server:
        server.greet()
        yield server


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
def test_nothing_but_protocol_comes_out(folder: Path, modern: bool) -> None:
    with lines(folder, "--log-level", "debug", PYTHONUNBUFFERED="1") as server:
        if not modern:
            server.greet()
        for number in range(3):
            arguments = {"content": f"memory {number}\nof two lines"}
            server.ask(request("tools/call", number, modern=modern, name="add_memory", arguments=arguments))
        server.ask(request("tools/list", 9, modern=modern))
        server.end_of_input()
        assert server.process.wait(30) == 0
        messages = [json.loads(line) for line in server.everything]
        assert [message["jsonrpc"] for message in messages] == ["2.0"] * len(messages)
        assert [message["id"] for message in messages][-4:] == [0, 1, 2, 9]


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"{bad json", PARSE_ERROR),
        (b"\xff\xfe\x00", PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', INVALID_REQUEST),
        (b"x" * 100_000, PARSE_ERROR),
        (b"[" * 50_000, PARSE_ERROR),
        (b"[]", INVALID_REQUEST),
        (b"null", INVALID_REQUEST),
        (b'"text"', INVALID_REQUEST),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', INVALID_REQUEST),
    ],
    ids=[
        "unfinished",
        "no utf-8",
        "null as id",
        "fraction as id",
        "true as id",
        "no json",
        "deep",
        "empty batch",
        "null",
        "string",
        "batch",
    ],
)
def test_what_is_no_message_is_answered_without_an_id(line: Lines, sent: bytes, code: int) -> None:
    answer = line.ask(sent)
    assert (answer["id"], answer["error"]["code"]) == (None, code)
    assert line.ask(request("ping", 2)) == {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ('{"jsonrpc": "2.0", "id": 7}', INVALID_REQUEST),
        ('{"jsonrpc": "1.0", "id": 7, "method": "ping"}', INVALID_REQUEST),
        ('{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": [1]}', INVALID_REQUEST),
        ('{"jsonrpc": "2.0", "id": 7, "method": "nothing"}', METHOD_NOT_FOUND),
        (_call(7, "[1]"), INVALID_PARAMS),
        (_call(7, '"text"'), INVALID_PARAMS),
        (_call(7, "{}", "nothing"), INVALID_PARAMS),
        (_call(7, "{}", r"\ud800"), PARSE_ERROR),
        (_call(7, '{"content": %s}' % ("[" * 5_000 + "]" * 5_000)), INVALID_REQUEST),
    ],
    ids=["no method", "version", "params", "method", "list", "text", "tool", "surrogate", "deep"],
)
def test_a_request_that_cannot_be_served_is_answered_under_its_id(line: Lines, sent: str, code: int) -> None:
    answer = line.ask(sent)
    assert (answer["id"], answer["error"]["code"]) == (7, code)
    assert line.ask(request("ping", 2)) == {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.mark.parametrize(
    "arguments",
    [
        '{"content": "x", "importance": NaN}',
        '{"content": "x", "importance": -Infinity}',
        '{"content": "x", "importance": 1e999}',
        '{"content": "x", "importance": %s}' % 10**400,
        '{"content": "a\\u0000b"}',
        '{"content": %s}' % ("[" * 150 + "]" * 150),
        '{"content": "x", "content": 5}',
        "null",
    ],
)
def test_values_json_should_not_hold_are_refused_by_the_tool(line: Lines, arguments: str) -> None:
    answer = line.ask(_call(8, arguments))
    assert answer["result"]["isError"] is True
    assert answer["result"]["structuredContent"]["code"] == "INVALID_PARAMETER"


def test_an_id_that_cannot_be_sent_back_does_not_end_the_server(line: Lines) -> None:
    for identifier in (r'"\ud800"', "true", "[1]", "1.5", "{}"):
        line.send(f'{{"jsonrpc": "1.0", "id": {identifier}, "method": "ping"}}')
        assert line.receive()["error"]["code"] in (PARSE_ERROR, INVALID_REQUEST)
    assert line.ask(request("ping", 2)) == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_a_text_that_is_no_utf_8_is_refused_rather_than_kept_as_another(line: Lines) -> None:
    answer = line.ask(_call(7, '{"content": "a?b"}').encode().replace(b"?", b"\xff"))
    assert (answer["id"], answer["error"]["code"]) == (7, PARSE_ERROR)


def _consolidating(server: Lines) -> dict[str, Any]:
    """What the server asks of a client that has a model, while the request 3 waits for it."""
    params = INITIALIZE["params"] | {"capabilities": {"sampling": {}}}
    server.ask(INITIALIZE | {"params": params})
    server.send(INITIALIZED)
    for tool, arguments in (
        ("space_create", {"space_id": "lent", "description": "x", "rules": "# Rules\n### progress.md"}),
        ("live_note", {"space_id": "lent", "category": "progress", "content": "x"}),
    ):
        assert not server.ask(request("tools/call", 2, name=tool, arguments=arguments))["result"]["isError"]
    asked = server.ask(request("tools/call", 3, name="bank_consolidate", arguments={"space_id": "lent"}))
    assert asked["method"] == "sampling/createMessage"
    return asked


def test_the_end_does_not_wait_for_what_the_client_has_cancelled(folder: Path) -> None:
    with lines(folder, "--dialect", "live") as server:
        _consolidating(server)
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})
        server.end_of_input()
        assert server.process.wait(2 * PATIENCE) == 0
        assert server.process.stderr is not None
        assert b"not answered before the end" not in server.process.stderr.read()


def test_an_error_that_a_client_answers_with_reaches_who_asked(folder: Path) -> None:
    with lines(folder, "--dialect", "live") as server:
        asked = _consolidating(server)
        answer = server.ask({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "The user said no"}})
        assert (answer["id"], answer["result"]["isError"]) == (3, True)
        assert "The user said no" in answer["result"]["structuredContent"]["message"]


def test_a_byte_order_mark_is_no_obstacle(line: Lines) -> None:
    sent = b"\xef\xbb\xbf" + json.dumps(request("ping", 2)).encode()
    assert line.ask(sent) == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_blank_lines_are_no_messages(line: Lines) -> None:
    line.send(b"\n  \r\n")
    assert line.ask(request("ping", 2)) == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_requests_sent_together_are_all_answered(line: Lines) -> None:
    together = "\n".join(json.dumps(request("ping", number)) for number in range(50))
    line.send(together)
    assert sorted(line.receive()["id"] for _ in range(50)) == list(range(50))


def test_the_server_ends_when_its_input_ends(folder: Path) -> None:
    with lines(folder) as server:
        server.greet()
        server.end_of_input()
        assert server.process.wait(20) == 0
        assert server.process.stderr is not None
        assert b"stdin ended" not in server.process.stderr.read()


def test_whoever_gives_the_server_no_input_is_told_how_clients_connect(folder: Path) -> None:
    with lines(folder) as server:
        server.end_of_input()
        assert server.process.wait(20) == 0
        assert server.process.stderr is not None
        said = server.process.stderr.read()
        assert b"stdin ended before a client had said anything" in said
        assert b"start it with --transport http" in said


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT])
def test_the_server_ends_in_order_when_it_is_asked_to(folder: Path, asked: signal.Signals) -> None:
    with lines(folder) as server:
        server.greet()
        server.ask(_call(1, '{"content": "kept"}'))
        server.process.send_signal(asked)
        assert server.process.wait(20) == 0
        assert server.process.stderr is not None
        assert b"Traceback" not in server.process.stderr.read()


@pytest.mark.parametrize("ending", ["signal", "input"])
def test_several_transports_in_one_process_end_together(folder: Path, ending: str) -> None:
    ports = ("--http-port", str(free_port()), "--sse-port", str(free_port()))
    with lines(folder, "--transport", "stdio,http,sse", *ports, COMMONPLACE_OWNER_KEY=OWNER_KEY) as server:
        server.greet()
        assert server.ask(_call(1, '{"content": "kept"}'))["result"]["isError"] is False
        if ending == "signal":
            server.process.terminate()
        else:
            server.end_of_input()
        assert server.process.wait(20) == 0
        assert server.process.stderr is not None
        assert b"Traceback" not in server.process.stderr.read()


@pytest.mark.anyio
async def test_two_servers_on_one_folder_see_each_others_writes_at_once(folder: Path) -> None:
    async with stdio(folder) as one, stdio(folder, era="2026-07-28") as other:
        for number, (writer, reader) in enumerate([(one, other), (other, one), (one, other)]):
            added = await writer.call_tool("add_memory", {"content": f"zaqwert{number} is here"})
            assert added.structured_content is not None
            assert added.structured_content["block_index"] == number
            found = await reader.call_tool("query_memory", {"query": f"zaqwert{number}"})
            assert found.structured_content is not None
            assert found.structured_content["result"][0]["id"] == f"block_{number}"
            await reader.call_tool("add_stm", {"content": f"passing {number}"})
            listed = await writer.call_tool("get_stm_memories", {})
            assert listed.structured_content is not None
            assert listed.structured_content["total"] == number + 1
        verdict = await one.call_tool("verify_chain", {})
        assert verdict.structured_content == {"valid": True, "total_blocks": 3, "message": "체인이 유효합니다"}
