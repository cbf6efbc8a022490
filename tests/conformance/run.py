"""The conformance suite and the inspector on the fixture and the real dialects: `python -m tests.conformance.run`."""

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


def dialect_problems(programs: Programs, scratch: Path, dialect: str) -> Iterator[str]:
    findings = []
    with targets.dialect_server(scratch / dialect, dialect) as target:
        for revision in suite.REVISIONS:
            found = suite.examine(programs, target, revision, scratch / f"{dialect}-{revision}").only(suite.GENERIC)
            _show(f"{dialect} {revision}: {found.score()} (generic)", found.known(suite.DIALECT_DIVERGENCES))
            findings.append(found)
            yield from found.problems(suite.DIALECT_DIVERGENCES)
        yield from suite.gone(suite.DIALECT_DIVERGENCES, findings)
        yield from inspector_problems(programs, target, dialect)


def inspector_problems(programs: Programs, target: Target, dialect: str) -> Iterator[str]:
    for era in inspector.ERAS:
        for question in inspector.QUESTIONS[dialect]:
            began = time.monotonic()
            problems = inspector.inspect(programs, target, era, question)
            verdict = "FAILED" if problems else "ok"
            print(f"inspector {dialect} {era} {question}: {verdict}, {time.monotonic() - began:.1f} s")
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
        problems = [*fixture_problems(programs, Path(folder))]
        for dialect in inspector.QUESTIONS:
            problems += dialect_problems(programs, Path(folder), dialect)
    for problem in problems:
        print(f"PROBLEM {problem}", file=sys.stderr)
    print(f"{len(problems)} problems" if problems else "all well")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
