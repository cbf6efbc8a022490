"""The servers under test, each a process of its own on loopback, each asking for its credential."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests import serving

ROOT = Path(__file__).parents[2]
KEY = serving.OWNER_KEY
_STACKS_WHEN_ABORTED = {"PYTHONFAULTHANDLER": "1"}


@dataclass(frozen=True)
class Target:
    """A server that listens."""

    url: str
    process: subprocess.Popen[bytes]

    def stacks(self) -> str:
        """Ends a server that no longer answers, and tells what each of its threads was at."""
        self.process.send_signal(signal.SIGABRT)
        self.process.wait(timeout=10)
        return self.process.stderr.read().decode(errors="replace") if self.process.stderr else ""


@contextmanager
def fixture_server(folder: Path) -> Iterator[Target]:
    """The test-only dialect."""
    port = serving.free_port()
    command = [sys.executable, "-m", "tests.conformance.server", "--http-port", str(port)]
    command += ["--data-dir", str(folder), "--owner-key", KEY]
    environment = serving.environment(**_STACKS_WHEN_ABORTED)
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stderr=subprocess.PIPE)
    try:
        serving.standing(process, port)
        yield Target(f"http://127.0.0.1:{port}/mcp", process)
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=10)
        process.kill()
        process.communicate()


@contextmanager
def dialect_server(folder: Path, dialect: str) -> Iterator[Target]:
    """The program as users start it."""
    with serving.served(folder, "--dialect", dialect, **_STACKS_WHEN_ABORTED) as server:
        yield Target(server.url(), server.process)
