"""A bucket for tests, in a process of its own, and the ways in which the path to it can fail.

`python -m tests.storage.buckets serve` is moto's own server. It answers one request at a time, because only then are
its conditional writes as atomic as those of a real bucket. The other words act on a folder of files or a bucket.
"""

import asyncio
import http.client
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from commonplace.domain.errors import AlreadyExists, Conflict
from commonplace.ports.files import NOTHING, Files
from commonplace.storage.files import Connection, files_at

ACCESS_KEY = "AKIDEXAMPLEOFTESTS"
SECRET_KEY = "wJalrXUtnFEMI-secret-of-the-tests"
SHELF = "shelf"
CROWD = "crowd"
CROWD_SIZE = 2500
ROOT = Path(__file__).parents[2]
SWIFT = timedelta(milliseconds=5)


def connection(endpoint: str, **changes: Any) -> Connection:
    defaults: dict[str, Any] = {
        "endpoint": endpoint,
        "access_key": ACCESS_KEY,
        "secret_key": SECRET_KEY,
        "pause": SWIFT,
    }
    return Connection(**defaults | changes)


def started(*words: object, **environment: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.storage.buckets", *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=os.environ | environment, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)


@contextmanager
def serving() -> Iterator[str]:
    """The endpoint of a server with an empty bucket and a crowded one."""
    with started("serve") as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def raw(endpoint: str, method: str, path: str, body: bytes = b"") -> str:
    """What another program asks."""
    server = http.client.HTTPConnection(endpoint.removeprefix("http://"), timeout=30)
    server.request(method, f"/{path}", body, {"Authorization": "AWS4-HMAC-SHA256 Credential=x/x/us-east-1/s3/x"})
    answer = server.getresponse().read().decode()
    server.close()
    return answer


# The way there


class Fault(Enum):
    NONE = auto()
    ERROR = auto()
    """500, and nothing was done."""
    LATE_ERROR = auto()
    """500, but it was done."""
    HANG = auto()
    LATE_HANG = auto()
    """It was done, and no answer comes."""
    BROKEN = auto()
    """The connection is closed before anything is done."""
    LOST = auto()
    """It was done, and the connection closes instead of an answer."""
    CUT = auto()
    """The answer breaks off in its midst."""
    BUSY = auto()
    """Another write of the same is under way: S3 then refuses, and wants to be asked again."""
    GOSSIP = auto()
    """A refusal that repeats what it was told, as S3 does when a signature is wrong."""


_BEFORE = {Fault.ERROR, Fault.HANG, Fault.BROKEN, Fault.BUSY, Fault.GOSSIP}
_SAID = {
    Fault.ERROR: (500, "<Error><Code>InternalError</Code></Error>"),
    Fault.LATE_ERROR: (500, "<Error><Code>InternalError</Code></Error>"),
    Fault.BUSY: (409, "<Error><Code>ConditionalRequestConflict</Code></Error>"),
    Fault.GOSSIP: (403, "<Error><Code>SignatureDoesNotMatch</Code><Told>{}</Told></Error>"),
}
Plan = Callable[[int], Fault]


class Proxy(ThreadingHTTPServer):
    """Passes requests on to a server, but for those that are planned to fail; they are numbered from 1."""

    daemon_threads = True

    def __init__(self, endpoint: str, plan: Plan) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.host = endpoint.removeprefix("http://")
        self.plan = plan
        self.asked = 0
        self._counting = threading.Lock()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def next_fault(self) -> Fault:
        with self._counting:
            self.asked += 1
            return self.plan(self.asked)


@contextmanager
def failing(endpoint: str, plan: Plan) -> Iterator[Proxy]:
    proxy = Proxy(endpoint, plan)
    thread = threading.Thread(target=proxy.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield proxy
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Proxy

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.server.next_fault()
        if fault in _BEFORE:
            self._fail(fault)
            return
        status, headers, answer = self._forwarded(body)
        if fault in (Fault.NONE, Fault.CUT):
            self._answer(status, headers, answer, cut=fault is Fault.CUT)
        else:
            self._fail(fault)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _pass  # noqa: N815

    def _forwarded(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        server = http.client.HTTPConnection(self.server.host, timeout=30)
        try:
            server.request(self.command, self.path, body, dict(self.headers.items()))
            answer = server.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            server.close()

    def _answer(self, status: int, headers: list[tuple[str, str]], answer: bytes, *, cut: bool = False) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer) + cut))
        self.end_headers()
        self.wfile.write(answer)
        self.close_connection = cut

    def _fail(self, fault: Fault) -> None:
        if fault in _SAID:
            status, told = _SAID[fault]
            self._answer(status, [], told.format(self.headers["Authorization"]).encode())
            return
        if fault in (Fault.HANG, Fault.LATE_HANG):
            self.connection.recv(1)  # returns when the other side has given up
        self.close_connection = True

    def log_message(self, *what: object) -> None:
        """Nothing: the tests say what happened."""


# The far end


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def serve() -> None:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
    from moto.s3.models import s3_backends
    from werkzeug.serving import make_server

    MotoRequestHandler.disable_nagle_algorithm = True  # or each answer waits for 40 ms
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto = DomainDispatcherApplication(create_backend_app)
    one_by_one = threading.Lock()

    def application(environ: Any, start_response: Any) -> list[bytes]:
        with one_by_one:
            return list(moto(environ, start_response))

    backend = s3_backends["123456789012"]["aws"]
    for bucket in (SHELF, CROWD):
        backend.create_bucket(bucket, "us-east-1")
    for number in range(CROWD_SIZE):
        backend.put_object(CROWD, f"many/{number:05}.md", b"x")
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=MotoRequestHandler)
    say(server.server_address[1])
    threading.Thread(target=_end_with_the_test, daemon=True).start()
    server.serve_forever()


def _end_with_the_test() -> None:
    sys.stdin.read()
    os._exit(0)


async def count(files: Files, times: int) -> None:
    """Add to a number that others add to as well."""
    for _ in range(times):
        added = False
        while not added:
            held = await files.read("count")
            with suppress(AlreadyExists, Conflict):
                number = int(held.data if held else b"0") + 1
                await files.write("count", str(number).encode(), over=held.tag if held else NOTHING)
                added = True


async def overwrite(files: Files) -> None:
    """Until killed; says which number was kept."""
    number = 0
    while True:
        number += 1
        await files.write("live/note.md", whole(number))
        say(number)


def whole(number: int) -> bytes:
    """Many bytes, from which one sees whether all of them are there."""
    return f"{number}\n".encode() * 20_000


def die(folder: Path) -> None:
    """In a folder for each step of a write, a process that was killed at that step; says how many there are."""
    step, survived = 0, False
    while not survived:
        step += 1
        child = os.fork()
        if not child:
            _die_at(step, files_at("", folder / f"{step:03}"))
        survived = os.waitpid(child, 0)[1] == 0
    say(step)


def _die_at(step: int, files: Files) -> None:
    asyncio.run(files.write("a/old.md", b"old"))
    left = step

    def heard(event: str, arguments: object) -> None:
        nonlocal left
        if event in {"open", "os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.utime", "fcntl.flock"}:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(heard)
    asyncio.run(_all_of_it(files))
    os._exit(0)


async def _all_of_it(files: Files) -> None:
    await files.write("a/old.md", b"new" * 50_000)
    await files.write("b/c/fresh.md", b"fresh" * 50_000, over=NOTHING)
    await files.remove("b/c/fresh.md")
    await files.write("b/d.md", b"kept")
    await files.remove_all("b")


async def read(files: Files) -> None:
    held = await files.read("note.md")
    say(held.data.decode() if held else "nothing")


def main(act: str, *words: str) -> None:
    if act == "serve":
        serve()
    elif act == "die":
        die(Path(words[0]))
    elif act == "count":
        asyncio.run(count(files_at("", Path(words[0])), int(words[1])))
    elif act == "overwrite":
        asyncio.run(overwrite(files_at("", Path(words[0]))))
    elif act == "read":
        asyncio.run(read(files_at(words[0], Path(), connection(words[1]))))


if __name__ == "__main__":
    main(*sys.argv[1:])
