"""The endpoint embedder against a real HTTP server that answers well, slowly, badly or not at all."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from commonplace.bootstrap import embedder as chosen
from commonplace.domain.errors import EmbeddingFailed, TextRefused
from commonplace.models.endpoint import EndpointEmbedder
from commonplace.settings import Settings


class Endpoint(ThreadingHTTPServer):
    """Answers as told, and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.statuses: list[int] = []
        self.answer: Any = None
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.stuck = threading.Event()
        self.hang = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((dict(self.headers.items()), body))
        if self.server.hang:
            self.server.stuck.wait(10)
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        rows = [{"index": n, "embedding": [float(len(text)), 1.0]} for n, text in enumerate(body["input"])]
        answer = {"data": rows[::-1]} if self.server.answer is None else self.server.answer
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        return None


@contextmanager
def running() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    thread = threading.Thread(target=endpoint.serve_forever, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.stuck.set()
        endpoint.shutdown()
        endpoint.server_close()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with running() as endpoint:
        yield endpoint


def embedder(endpoint: Endpoint, **more: Any) -> EndpointEmbedder:
    return EndpointEmbedder(label="openai", url=endpoint.url, model="m", key="sk-test", **more)


@pytest.mark.parametrize("name", ["openai", "ollama"])
def test_what_is_set_reaches_the_endpoint(endpoint: Endpoint, name: str) -> None:
    told = {"embedder_key": "sk-test", "embedder_dimensions": 2, "embedder_model": "m"}
    chosen(Settings(embedder=name, embedder_url=endpoint.url, **told)).embed(["a"])  # type: ignore[arg-type]
    ((headers, body),) = endpoint.requests
    assert headers["Authorization"] == "Bearer sk-test"
    assert (body["model"], body["dimensions"]) == ("m", 2)


def test_vectors_come_back_in_order_and_of_unit_length(endpoint: Endpoint) -> None:
    vectors = embedder(endpoint, batch=2, dimensions=2).embed(["a", "bbb", "cc"])
    assert vectors.shape == (3, 2)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1])
    assert vectors[1, 0] > vectors[2, 0] > vectors[0, 0]
    assert [len(body["input"]) for _, body in endpoint.requests] == [2, 1]
    headers, body = endpoint.requests[0]
    assert headers["Authorization"] == "Bearer sk-test"
    assert (body["model"], body["dimensions"]) == ("m", 2)


def test_a_passing_failure_is_tried_again(endpoint: Endpoint) -> None:
    endpoint.statuses = [503, 429]
    assert embedder(endpoint).embed(["a"]).shape == (1, 2)
    assert len(endpoint.requests) == 3


def test_a_lasting_failure_is_told_with_its_status_and_without_the_key(endpoint: Endpoint) -> None:
    endpoint.statuses = [500] * 3
    with pytest.raises(EmbeddingFailed) as failure:
        embedder(endpoint).embed(["a"])
    assert "500" in str(failure.value)
    assert "sk-test" not in str(failure.value)


def test_a_refusal_is_not_tried_again(endpoint: Endpoint) -> None:
    endpoint.statuses = [401]
    with pytest.raises(EmbeddingFailed):
        embedder(endpoint).embed(["a"])
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("status", "is_of_the_text"), [(400, True), (413, True), (422, True), (401, False), (404, False)]
)
def test_a_refusal_of_a_text_is_told_from_one_of_everything(
    endpoint: Endpoint, status: int, is_of_the_text: bool
) -> None:
    endpoint.statuses = [status]
    with pytest.raises(EmbeddingFailed, match=str(status)) as failure:
        embedder(endpoint).embed(["a"])
    assert isinstance(failure.value, TextRefused) == is_of_the_text


def test_a_slow_endpoint_is_given_up(endpoint: Endpoint) -> None:
    endpoint.hang = True
    with pytest.raises(EmbeddingFailed, match="Timeout"):
        embedder(endpoint, timeout=0.05).embed(["a"])


def test_all_tries_together_take_no_longer_than_the_limit(endpoint: Endpoint) -> None:
    endpoint.hang = True
    with pytest.raises(EmbeddingFailed, match="Timeout"):
        embedder(endpoint, timeout=0.6).embed(["a"])
    assert len(endpoint.requests) == 1  # a second try would have begun half a second after the limit
    endpoint.hang = False
    endpoint.statuses = [503] * 3
    with pytest.raises(EmbeddingFailed, match="503"):
        embedder(endpoint, timeout=1.0).embed(["a"])
    assert len(endpoint.requests) == 3  # there was time for one more, and not for its successor


def test_an_absent_endpoint_is_told() -> None:
    nowhere = EndpointEmbedder(label="ollama", url="http://127.0.0.1:9/v1", model="m", timeout=1)
    with pytest.raises(EmbeddingFailed, match=r"127\.0\.0\.1:9"):
        nowhere.embed(["a"])


@pytest.mark.parametrize(
    "answer",
    [{}, [], "x", {"data": []}, {"data": [{"index": 0}]}, {"data": [{"index": 0, "embedding": [float("nan")]}]}],
)
def test_an_answer_that_is_no_list_of_embeddings_is_a_failure(endpoint: Endpoint, answer: Any) -> None:
    endpoint.answer = answer
    with pytest.raises(EmbeddingFailed):
        embedder(endpoint).embed(["a"])


@pytest.mark.parametrize(("vector", "reason"), [([float("nan"), 1.0], "NaN"), ([1.0] * 2049, "at most 2048")])
def test_vectors_that_cannot_be_used_are_told_as_such(endpoint: Endpoint, vector: list[float], reason: str) -> None:
    endpoint.answer = {"data": [{"index": 0, "embedding": vector}]}
    with pytest.raises(EmbeddingFailed, match=reason):
        embedder(endpoint).embed(["a"])


def test_two_settings_that_give_other_vectors_have_other_fingerprints(endpoint: Endpoint) -> None:
    one, other = embedder(endpoint), embedder(endpoint, dimensions=256)
    assert one.fingerprint != other.fingerprint
    assert "sk-test" not in one.fingerprint + one.name
