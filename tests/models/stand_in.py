"""A language model for tests: a real HTTP server that answers as told, and remembers what it was asked."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-very-secret"
WELL = {
    "choices": [{"message": {"role": "assistant", "content": "{}"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42},
}


def saying(content: str) -> dict[str, Any]:
    """A completion that says this."""
    return WELL | {"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}


class Endpoint(ThreadingHTTPServer):
    """Answers what is told it next, else what it is to answer usually."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[tuple[int, bytes]] = []
        self.usually: Callable[[Any], Any] = lambda body: WELL
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.over = threading.Event()
        self.hangs = False
        self.drips = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def asked(self) -> list[Any]:
        """The bodies of what was asked."""
        return [body for _, _, body in self.requests if body]

    def will_answer(self, answer: Any, status: int = 200) -> None:
        self.answers.append((status, answer if isinstance(answer, bytes) else json.dumps(answer).encode()))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: whoever asked was killed before he had said what."""

    def next_answer(self, body: Any) -> tuple[int, bytes]:
        return self.answers.pop(0) if self.answers else (200, json.dumps(self.usually(body)).encode())


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, body: Any) -> None:
        self.server.requests.append((self.path, dict(self.headers.items()), body))
        if self.server.hangs:
            self.server.over.wait(10)
        status, answer = self.server.next_answer(body)
        try:
            self.send_response(status)
            self.end_headers()
            if self.server.drips:
                self._drip()
            self.wfile.write(answer)
        except OSError:
            self.close_connection = True  # the other side has had enough

    def _drip(self) -> None:
        """A byte now and then, so that no single wait is long."""
        while not self.server.over.wait(0.02):
            self.wfile.write(b" ")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        return None


@contextmanager
def standing_in() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    threading.Thread(target=endpoint.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield endpoint
    finally:
        endpoint.over.set()
        endpoint.shutdown()
        endpoint.server_close()
