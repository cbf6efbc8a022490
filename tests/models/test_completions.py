"""A language model behind a real HTTP server that answers well, slowly, badly or not at all."""

from collections.abc import Iterator
from typing import Any

import pytest

from commonplace.domain.errors import ModelFailed
from commonplace.models.completions import ChatCompletions
from commonplace.ports.completions import Completer, Completion
from tests.models.stand_in import KEY, WELL, Endpoint, standing_in

pytestmark = pytest.mark.anyio


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with standing_in() as endpoint:
        yield endpoint


def model(endpoint: Endpoint, **more: Any) -> ChatCompletions:
    settings: dict[str, Any] = {"url": endpoint.url, "model": "qwen", "key": KEY, "timeout": 5.0}
    return ChatCompletions(**settings | more)


async def failure(asked: ChatCompletions) -> str:
    with pytest.raises(ModelFailed) as failed:
        await asked.complete("system", "user")
    assert failed.value.model == "qwen"
    assert KEY not in str(failed.value)
    return failed.value.reason


async def test_an_answer_comes_with_what_it_cost(endpoint: Endpoint) -> None:
    asked: Completer = model(endpoint, max_tokens=900)
    assert await asked.complete("be brief", "漢字 \ud800") == Completion("{}", 42)
    path, headers, body = endpoint.requests[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body == {
        "model": "qwen",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "漢字 ?"}],
        "stream": False,
        "max_tokens": 900,
    }
    assert asked.name == "qwen"


async def test_without_a_key_none_is_sent_and_without_a_limit_none_is_asked(endpoint: Endpoint) -> None:
    await model(endpoint, key="", url=endpoint.url + "/").complete("s", "u")
    path, headers, body = endpoint.requests[0]
    assert path == "/v1/chat/completions"
    assert "Authorization" not in headers
    assert "max_tokens" not in body


@pytest.mark.parametrize("usage", [None, {}, [], {"total_tokens": "many"}, {"total_tokens": -1}])
async def test_an_answer_without_its_cost_costs_nothing(endpoint: Endpoint, usage: Any) -> None:
    endpoint.will_answer(WELL | {"usage": usage})
    assert (await model(endpoint).complete("s", "u")).tokens == 0


async def test_a_model_that_knows_the_limit_by_its_later_name_is_asked_again(endpoint: Endpoint) -> None:
    endpoint.will_answer({"error": "Unsupported parameter: use 'max_completion_tokens' instead"}, 400)
    assert (await model(endpoint, max_tokens=7).complete("s", "u")).tokens == 42
    assert [body.get("max_completion_tokens") for _, _, body in endpoint.requests] == [None, 7]
    assert "max_tokens" not in endpoint.requests[1][2]


@pytest.mark.parametrize("status", [301, 400, 401, 404, 429, 500, 503])
async def test_a_refusal_is_told_briefly_and_without_the_key(endpoint: Endpoint, status: int) -> None:
    endpoint.will_answer(f"Incorrect key {KEY}!\n".encode() + b"\xff<html>" * 100_000, status)
    reason = await failure(model(endpoint))
    assert f"answered {status}: Incorrect key …!" in reason
    assert len(reason) < 400


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b"null",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": {}}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [null]}',
        b'{"choices": ["text"]}',
    ],
)
async def test_an_answer_that_is_no_completion_is_told(endpoint: Endpoint, answer: bytes) -> None:
    endpoint.will_answer(answer)
    assert "no chat completion" in await failure(model(endpoint))


@pytest.mark.parametrize("content", [None, "", " \n", 3, ["text"]])
async def test_an_empty_answer_is_told(endpoint: Endpoint, content: Any) -> None:
    endpoint.will_answer({"choices": [{"message": {"content": content}}]})
    assert "empty" in await failure(model(endpoint))


async def test_an_answer_that_was_cut_off_is_not_taken_for_a_whole_one(endpoint: Endpoint) -> None:
    endpoint.will_answer({"choices": [{"message": {"content": "{"}, "finish_reason": "length"}]})
    assert "cut off" in await failure(model(endpoint))


async def test_a_huge_answer_is_given_up(endpoint: Endpoint) -> None:
    endpoint.will_answer(b'"' + b"x" * (9 * 1024 * 1024) + b'"')
    assert "larger than" in await failure(model(endpoint))


async def test_a_model_that_does_not_answer_is_given_up(endpoint: Endpoint) -> None:
    endpoint.hangs = True
    assert "within 0.1 seconds" in await failure(model(endpoint, timeout=0.1))


async def test_a_model_that_answers_drop_by_drop_is_given_up(endpoint: Endpoint) -> None:
    endpoint.drips = True
    assert "within 0.3 seconds" in await failure(model(endpoint, timeout=0.3))


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "nonsense", "http://", "http://[::1", "ftp://127.0.0.1/x"])
async def test_an_endpoint_that_is_not_there_is_told(endpoint: Endpoint, url: str) -> None:
    assert await failure(model(endpoint, url=url))


async def test_secrets_in_an_address_are_not_told(endpoint: Endpoint) -> None:
    reason = await failure(model(endpoint, url="http://me:hush@127.0.0.1:9/v1?token=hush"))
    assert "127.0.0.1:9/v1" in reason
    assert "hush" not in reason


@pytest.mark.parametrize("key", ["clé", "a\nb", "\ud800"])
async def test_a_key_that_cannot_be_sent_is_not_told_either(endpoint: Endpoint, key: str) -> None:
    with pytest.raises(ModelFailed) as failed:
        await model(endpoint, key=key).complete("s", "u")
    assert key not in str(failed.value)
    assert failed.value.__cause__ is None


async def test_a_check_tells_how_long_the_endpoint_took(endpoint: Endpoint) -> None:
    assert 0 < await model(endpoint).check() < 5
    assert endpoint.requests[0][0] == "/v1/models"


async def test_a_check_of_an_endpoint_in_trouble_fails(endpoint: Endpoint) -> None:
    endpoint.will_answer(b"no", 503)
    with pytest.raises(ModelFailed, match="503"):
        await model(endpoint).check()
