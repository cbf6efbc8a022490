"""The official inspector on the command line: what it is asked, and what must be in its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.conformance.programs import INSPECTOR, Programs
from tests.conformance.targets import KEY, Target

ERAS = ("modern", "legacy")
CALLS, AT_ONCE = 300, 50
_LOAD = ["--load", "--load-requests", str(CALLS), "--load-concurrency", str(AT_ONCE)]
_REFUSED = 3
"""The inspector's exit code for a server that wants a credential."""


@dataclass(frozen=True)
class Question:
    """A question to a dialect, the words that must be in the answer, and how the inspector must end."""

    name: str
    arguments: Sequence[str]
    answer: str
    code: int = 0
    known: bool = True

    def __str__(self) -> str:
        return self.name


_NO_CREDENTIAL = Question(
    "no credential", ["--method", "tools/list", "--stored-auth-only"], "auth_required", code=_REFUSED, known=False
)
_GREEUM = (
    Question("tools/list", ["--method", "tools/list", "--strict"], '"name":"add_memory"'),
    Question(
        "tools/call",
        ["--method", "tools/call", "--tool-name", "add_memory", "--tool-arg", "content=Kept by the inspector"],
        '"isError":false',
    ),
    Question("resources/list", ["--method", "resources/list"], '"uri":"greeum://memory_chain"'),
    Question("resources/templates/list", ["--method", "resources/templates/list"], "memory_block://{block_id}"),
    Question("resources/read", ["--method", "resources/read", "--uri", "memory_chain://"], "Kept by the inspector"),
    Question(
        "load",
        ["--method", "tools/call", "--tool-name", "query_memory", "--tool-arg", "query=inspector", *_LOAD],
        f'"ok":{CALLS},"toolErrors":0,"errors":0',
    ),
    _NO_CREDENTIAL,
)
_NOCTURNE = (
    Question("tools/list", ["--method", "tools/list", "--strict"], '"name":"read_memory"'),
    Question(
        "tools/call",
        [
            *("--method", "tools/call", "--tool-name", "create_memory", "--tool-arg", "parent_uri=core://"),
            *("--tool-arg", "content=Kept by the inspector", "--tool-arg", "priority=1"),
        ],
        "Success: Memory created at 'core://",
    ),
    Question("resources/list", ["--method", "resources/list"], '"uri":"core://1"'),
    Question("resources/templates/list", ["--method", "resources/templates/list"], "core://{+path}"),
    Question("resources/read", ["--method", "resources/read", "--uri", "core://1"], "Kept by the inspector"),
    Question(
        "load",
        ["--method", "tools/call", "--tool-name", "read_memory", "--tool-arg", "uri=core://1", *_LOAD],
        f'"ok":{CALLS},"toolErrors":0,"errors":0',
    ),
    _NO_CREDENTIAL,
)
_CREO = (
    Question("tools/list", ["--method", "tools/list", "--strict"], '"name":"remember"'),
    Question(
        "tools/call",
        ["--method", "tools/call", "--tool-name", "remember", "--tool-arg", "content=Kept by the inspector"],
        '"isError":false',
    ),
    Question("resources/list", ["--method", "resources/list"], '"uri":"memory://context/session"'),
    Question(
        "resources/read", ["--method", "resources/read", "--uri", "memory://context/session"], "Kept by the inspector"
    ),
    _NO_CREDENTIAL,
)
_ASSOC = (
    Question("tools/list", ["--method", "tools/list", "--strict"], '"name":"memory_manage"'),
    Question(
        "tools/call",
        [
            *("--method", "tools/call", "--tool-name", "memory", "--tool-arg", "action=store"),
            *("--tool-arg", "content=Kept by the inspector", "--tool-arg", "domain=user"),
        ],
        '"isError":false',
    ),
    _NO_CREDENTIAL,
)
_LIVE = (
    Question("tools/list", ["--method", "tools/list", "--strict"], '"name":"live_note"'),
    Question(
        "tools/call",
        ["--method", "tools/call", "--tool-name", "system_health"],
        '"services"',
    ),
    Question("a stranger", ["--method", "tools/list", "--stored-auth-only"], '"name":"system_about"', known=False),
)
QUESTIONS = {"creo": _CREO, "assoc": _ASSOC, "greeum": _GREEUM, "nocturne": _NOCTURNE, "live": _LIVE}
"""Every dialect has questions of its own."""


def inspect(programs: Programs, target: Target, era: str, question: Question) -> list[str]:
    """Ask; what was wrong with the answer."""
    header = ["--header", f"Authorization: Bearer {KEY}"] if question.known else []
    arguments = ["--cli", target.url, "--transport", "http", "--protocol-era", era, "--format", "json"]
    done = programs.run(target, INSPECTOR, [*arguments, *header, *question.arguments])
    said = done.stdout + done.stderr
    if done.returncode != question.code:
        return [f"{question.name} ({era}): ended with {done.returncode}: {said.strip()[-400:]}"]
    if question.answer not in said:
        return [f"{question.name} ({era}): no {question.answer} in {said.strip()[:400]}"]
    return []
