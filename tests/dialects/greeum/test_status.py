"""The first thing that is asked of a server which was started with another embedder."""

from pathlib import Path
from typing import Any

import pytest

from tests.transports.wire import INITIALIZE, INITIALIZED, Lines, lines, request

behaviour = pytest.mark.behaviour

OTHER = ("--embedder", "ollama", "--embedder-url", "http://127.0.0.1:9")
"""Nobody answers there, and nobody has to: what waits for it waits."""


def _filled(folder: Path) -> None:
    with lines(folder) as server:
        server.greet()
        added = server.ask(request("tools/call", 1, name="add_memory", arguments={"content": "remembered before"}))
        assert added["result"]["isError"] is False


def _asked_at_once(server: Lines, call: dict[str, Any], *, modern: bool) -> Any:
    """Without waiting for anything: in the later era there is no handshake to begin with."""
    for message in () if modern else (INITIALIZE, INITIALIZED):
        server.send(message)
    server.send(call)
    while (answer := server.receive())["id"] != call["id"]:
        pass
    return answer["result"]["structuredContent"]


@behaviour("greeum.server_status.new_embedder")
@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
def test_the_first_status_tells_what_waits_for_a_new_embedder(folder: Path, modern: bool) -> None:
    _filled(folder)
    with lines(folder, *OTHER) as server:
        call = request("tools/call", 7, modern=modern, name="server_status", arguments={})
        told = _asked_at_once(server, call, modern=modern)["embedding"]
        assert (told["pending"], told["total"], told["reason"]) == (1, 1, "the embedder is now ollama:bge-m3")


@behaviour("greeum.server_status.new_embedder")
def test_so_do_the_first_figures_of_the_other_dialects(folder: Path) -> None:
    _filled(folder)
    with lines(folder, *OTHER, "--dialect", "assoc") as server:
        call = request("tools/call", 7, modern=True, name="admin", arguments={"action": "system_stats"})
        told = _asked_at_once(server, call, modern=True)["data"]
        assert (told["unembedded"], told["unembedded_reason"]) == (1, "the embedder is now ollama:bge-m3")
