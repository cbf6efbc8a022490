"""The conformance suite and the inspector on the fixture dialect and on greeum: `python -m tests.conformance.run`."""

# ruff: noqa: T201  (it is here to print)

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.conformance import inspector, suite, targets
from tests.conformance.programs import Programs, Unavailable, installed
from tests.conformance.targets import Target


def fixture_problems(programs: Programs, scratch: Path) -> Iterator[str]:
    findings = []
    with targets.fixture_server(scratch / "fixture") as target:
        for revision in suite.REVISIONS:
            found = suite.examine(programs, target, revision, scratch / f"fixture-{revision}")
            _show(f"fixture {revision}: {found.score()}", found.known(suite.FIXTURE_DIVERGENCES))
            findings.append(found)
            yield from found.problems(suite.FIXTURE_DIVERGENCES)
    yield from suite.gone(suite.FIXTURE_DIVERGENCES, findings)


def greeum_problems(programs: Programs, scratch: Path) -> Iterator[str]:
    findings = []
    with targets.greeum_server(scratch / "greeum") as target:
        for revision in suite.REVISIONS:
            found = suite.examine(programs, target, revision, scratch / f"greeum-{revision}").only(suite.GENERIC)
            _show(f"greeum {revision}: {found.score()} (generic)", found.known(suite.GREEUM_DIVERGENCES))
            findings.append(found)
            yield from found.problems(suite.GREEUM_DIVERGENCES)
        yield from suite.gone(suite.GREEUM_DIVERGENCES, findings)
        yield from inspector_problems(programs, target)


def inspector_problems(programs: Programs, target: Target) -> Iterator[str]:
    for era in inspector.ERAS:
        for question in inspector.QUESTIONS:
            began = time.monotonic()
            problems = inspector.inspect(programs, target, era, question)
            verdict = "FAILED" if problems else "ok"
            print(f"inspector {era} {question}: {verdict}, {time.monotonic() - began:.1f} s")
            yield from problems


def _show(line: str, known: Iterable[str]) -> None:
    print("\n  - ".join([line, *known]))


def main() -> int:
    try:
        programs = installed()
    except Unavailable as reason:
        print(f"not run: {reason}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        problems = [*fixture_problems(programs, Path(folder)), *greeum_problems(programs, Path(folder))]
    for problem in problems:
        print(f"PROBLEM {problem}", file=sys.stderr)
    print(f"{len(problems)} problems" if problems else "all well")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
