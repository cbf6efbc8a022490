"""Reading what clients send: what is a message, and what goes past the parser."""

import json

import mcp_types as types
import pytest

from commonplace.transports.messages import Unreadable, apart, read

CALL = r'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "x", "arguments": {"a": HERE}, "b": 1}}'


def _call(value: str) -> bytes:
    return CALL.replace("HERE", value).encode()


@pytest.mark.parametrize("value", [r'"\ud800"', r'"\uDFFF"', r'"\ud83d \ude00"', r'"\ude00\ud83d"', r'["\\\ud800"]'])
def test_arguments_with_half_a_character_come_as_they_were_sent(value: str) -> None:
    message = read(_call(value))
    assert isinstance(message, types.JSONRPCRequest)
    assert message.params == {"name": "x", "arguments": {"a": json.loads(value)}, "b": 1}
    rest, arguments = apart(_call(value))
    assert json.loads(rest)["params"] == {"name": "x", "arguments": {}, "b": 1}
    assert arguments == {"a": json.loads(value)}


@pytest.mark.parametrize("value", [r'"\ud83d\ude00"', r'"\\ud800"', '"\U0001f600"', r'"\ud7a3\uE000"', "5"])
def test_whole_characters_go_the_usual_way(value: str) -> None:
    assert apart(_call(value)) == (_call(value), {})


@pytest.mark.parametrize(
    "sent",
    [
        CALL.replace("HERE", '"a"').encode("utf-16"),
        CALL.replace("HERE", '"a"').encode("utf-16-le"),
        CALL.replace("HERE", '"\ud800"').encode("utf-8", "surrogatepass"),
        _call(r'"\ud800?"').replace(b"?", b"\xff"),
        _call(r'["\ud800", ' + "[" * 30_000 + "]" * 29_999 + "]"),
        _call(r'["\ud800", ' + "9" * 5_000 + "]"),
        _call(r'"\ud800"')[:-1],
        _call('"a"').replace(b'"b"', rb'"\ud800"'),
        rb'[{"a": "\ud800"}]',
    ],
    ids=["utf-16", "without mark", "encoded", "no utf-8", "unclosed", "digits", "cut off", "beside", "list"],
)
def test_what_cannot_be_read_is_told_so(sent: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        read(sent)
    assert caught.value.answer.error.code == types.PARSE_ERROR


@pytest.mark.parametrize(
    ("sent", "flaw"),
    [
        (b"[]", "one request per POST"),
        (b"[%s, %s]" % (_call("1"), _call("2")), "one request per POST"),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "x", "params": [1]}', "params must be an object"),
        (b'{"jsonrpc": "2.0", "method": "x", "params": "y"}', "params must be an object"),
        (b'{"id": 7, "method": "x", "params": {}}', "not a JSON-RPC 2.0 message"),
        (b'"text"', "not a JSON-RPC 2.0 message"),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "x"}', "an id is a string or a whole number"),
    ],
)
def test_what_is_no_request_is_told_what_it_lacks(sent: bytes, flaw: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(sent)
    assert caught.value.answer.error.code == types.INVALID_REQUEST
    assert flaw in caught.value.answer.error.message


def test_what_is_no_json_is_told_where_it_ceases_to_be() -> None:
    with pytest.raises(Unreadable, match="line 1 column 2"):
        read(b"{bad")


DEEP = [
    "[" * 5_000 + "]" * 5_000,
    '{"a":' * 300 + "1" + "}" * 300,
    r'["\ud800", "]\"[", ' + "[" * 900 + "]" * 900 + "]",
]


@pytest.mark.parametrize("value", DEEP, ids=["lists", "objects", "with texts"])
@pytest.mark.parametrize("identifier", ["7", '"]}"'])
def test_what_is_nested_too_deeply_is_answered_under_its_id(value: str, identifier: str) -> None:
    behind = f'{{"jsonrpc": "2.0", "method": "x", "params": {{"a": {value}}}, "id": {identifier}}}'
    for sent in (_call(value).replace(b"7", identifier.encode(), 1), behind.encode()):
        with pytest.raises(Unreadable) as caught:
            read(sent)
        assert caught.value.answer.id == json.loads(identifier)
        assert caught.value.answer.error.code == types.INVALID_REQUEST
        assert "200 levels at most" in caught.value.answer.error.message


@pytest.mark.parametrize("depth", [20_000, 50_000, 100_000])
def test_however_deep_it_is_what_was_sent_is_told_to_be_too_deep(depth: int) -> None:
    with pytest.raises(Unreadable, match="200 levels at most") as caught:
        read(_call("[" * depth + "]" * depth))
    assert caught.value.answer.id == 7


def test_what_is_wide_or_as_deep_as_can_be_read_is_a_message() -> None:
    for value in ("[" * 197 + "]" * 197, "[" + "[]," * 5_000 + "[]]"):
        assert isinstance(read(_call(value)), types.JSONRPCRequest)


@pytest.mark.parametrize(
    "sent", ['{"id": 7, "a": ' + '"' + '\\"' * 200_000 + "[" * 300, '{"id": 7, "a": ' + "[]," * 200_000]
)
def test_what_is_long_and_no_json_is_soon_refused(sent: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(sent.encode())
    assert caught.value.answer.error.code == types.PARSE_ERROR
