"""A server as a child process, spoken to over its pipes by hand, so that what is measured is the server.

A real client library takes about as long for a call as the server does; here a call costs the asking side a line of
JSON. What the process uses is read from /proc.
"""

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.serving import environment

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Timed:
    """An answer, and when it was asked for and had."""

    answer: dict[str, Any]
    began: float
    ended: float

    @property
    def took(self) -> float:
        return self.ended - self.began


class Process:
    """One server on stdio."""

    def __init__(self, command: Sequence[str], **more: str) -> None:
        self.began = time.perf_counter()
        self._folder = TemporaryDirectory()
        self._log = Path(self._folder.name, "log")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, env=_environment(more), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        self._asked = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    def initialize(self) -> Timed:
        """The handshake."""
        client = {"name": "benchmarks", "version": "1"}
        answer = self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, **arguments: Any) -> Timed:
        """A tool's answer; a refusal is an error here."""
        timed = self.ask("tools/call", name=tool, arguments=arguments)
        if timed.answer.get("isError"):
            raise self._failed(f"{tool}: {timed.answer['content'][0]['text']}")
        return timed

    def ask(self, method: str, **params: Any) -> Timed:
        self._asked += 1
        request = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        began = time.perf_counter()
        self._send(request)
        while True:
            line = self._stdout.readline()
            ended = time.perf_counter()
            if not line:
                raise self._failed(f"the server ended before it answered {method}")
            message = json.loads(line)
            if message.get("id") == self._asked:
                break
        if "error" in message:
            raise self._failed(f"{method}: {message['error']}")
        return Timed(message["result"], began, ended)

    def _failed(self, reason: str) -> RuntimeError:
        return RuntimeError(f"{reason}\n{self._log.read_text(errors='replace')[-4000:]}")

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        self._process.stdin.flush()

    @property
    def _stdout(self) -> Any:
        return self._process.stdout

    def close(self) -> None:
        """Leave as a client leaves, and wait for the end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(60)
        finally:
            self._process.kill()
            self._process.wait()
            self._stdout.close()
            self._folder.cleanup()


@contextmanager
def started(command: Sequence[str], **more: str) -> Iterator[Process]:
    """The process, past its handshake, until the end of the block."""
    process = Process(command, **more)
    try:
        process.initialize()
        yield process
    finally:
        process.close()


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """The backup of the day would be counted to whatever is measured."""
    return environment(COMMONPLACE_BACKUP_DAILY="no") | dict(more)


def cpu_seconds(pid: int) -> float:
    """What all threads of the process have used so far, in user and kernel."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def exact_cpu_seconds(pid: int) -> float:
    """The same to the nanosecond, for what is too short for the kernel's ticks; of the threads that live on."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def memory_bytes(pid: int, name: str = "VmRSS") -> int:
    """A line of /proc/PID/status: VmRSS is what is resident, VmHWM the most there ever was."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))
