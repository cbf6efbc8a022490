"""The official conformance suite: what it found, and what of that is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.programs import SUITE, Programs
from tests.conformance.targets import KEY, Target

REVISIONS = ("2026-07-28", "2025-11-25")
CREDENTIAL = Path(__file__).with_name("credential.mjs")
GENERIC = frozenset(
    """server-initialize server-session-lifecycle server-stateless server-sse-multiple-streams server-sse-polling ping
    tools-list resources-list prompts-list sep-2164-resource-not-found caching dns-rebinding-protection
    http-header-validation input-required-result-unsupported-methods""".split()
)
"""The scenarios that ask for no fixture: every dialect must pass them."""
_EXTENSION = "tasks-"
_RESULT = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\dZ-]+")
_UNSCORED = re.compile(r"^  \S (?P<scenario>\S+) \([a-z-]+\)$", re.MULTILINE)


@dataclass(frozen=True)
class Divergence:
    """A check that does not succeed, with the reason; a divergence that is gone is an error too."""

    check: str
    reason: str
    says: str = ""


_NEVER_BREAKS_OFF = "it is tried with a tool that breaks off its own stream, and no dialect has one"
_LISTINGS_STAY = "the SDK announces listChanged wherever subscriptions/listen is served, but listings never change here"

FIXTURE_DIVERGENCES: tuple[Divergence, ...] = ()
DIALECT_DIVERGENCES = (
    *FIXTURE_DIVERGENCES,
    Divergence("server-sse-disconnect-resume", _NEVER_BREAKS_OFF),
    Divergence("sep-2575-server-sends-tools-list-changed-on-subscription", _LISTINGS_STAY),
    Divergence("sep-2575-server-sends-prompts-list-changed-on-subscription", _LISTINGS_STAY),
)


@dataclass(frozen=True)
class Check:
    """One finding of the suite."""

    scenario: str
    id: str
    status: str
    message: str
    details: dict[str, Any]

    @property
    def succeeded(self) -> bool:
        return self.status not in ("FAILURE", "WARNING")

    @property
    def lacks_fixture(self) -> bool:
        """The suite counts what it could not try as a failure; a real dialect has no fixture tools to try it on."""
        return bool(self.details.get("untestable"))

    def is_known(self, divergences: Iterable[Divergence]) -> bool:
        return any(one.check == self.id and self._only_says(one.says) for one in divergences)

    def _only_says(self, words: str) -> bool:
        violations = self.details.get("violations", [])
        return all(any(words in error for error in violation["errors"]) for violation in violations)

    def __str__(self) -> str:
        return f"{self.scenario}: {self.id}: {self.status}: {self.message[:400]}"


@dataclass(frozen=True)
class Findings:
    """What one run of a requirement set found on one server."""

    revision: str
    checks: Sequence[Check]
    unscored: Collection[str]

    def only(self, scenarios: Collection[str]) -> Findings:
        """Without what asks for fixtures: the other scenarios, and checks that could not be tried."""
        kept = [one for one in self.checks if one.scenario in scenarios and not one.lacks_fixture]
        return Findings(self.revision, kept, self.unscored)

    def problems(self, divergences: Sequence[Divergence]) -> list[str]:
        """Everything that is not as it should be, warnings and unscored scenarios included."""
        failed = [one for one in self.checks if not one.succeeded]
        return [str(one) for one in failed if not one.is_known(divergences)] or self._empty()

    def known(self, divergences: Sequence[Divergence]) -> list[str]:
        """What does not succeed and is known not to: a line for each, so that nobody takes it for success."""
        failed = [one for one in self.checks if not one.succeeded]
        met = [(check, one) for check in failed for one in divergences if check.is_known([one])]
        return [f"{check.scenario}: {check.id}: {check.status}, known: {one.reason}" for check, one in met]

    def _empty(self) -> list[str]:
        return [] if self.checks else ["the suite ran nothing"]

    def score(self) -> str:
        """As the suite counts: required scenarios, and the checks in them."""
        scored = [one for one in self.checks if one.scenario not in self.unscored]
        scenarios = {one.scenario for one in scored}
        failing = {one.scenario for one in scored if one.status == "FAILURE"}
        passed = sum(one.status == "SUCCESS" for one in scored)
        tried = sum(one.status in ("SUCCESS", "FAILURE") for one in scored)
        return f"{len(scenarios) - len(failing)}/{len(scenarios)} scenarios, {passed}/{tried} checks"


def examine(programs: Programs, target: Target, revision: str, output: Path) -> Findings:
    """Run a requirement set; the tasks extension, which nothing here offers, is left out of what was found."""
    arguments = ["server", "--url", target.url, "--requirements", revision, "--output-dir", str(output)]
    done = programs.run(target, SUITE, arguments, CREDENTIAL, CONFORMANCE_KEY=KEY)
    checks = [one for one in _checks(output) if not one.scenario.startswith(_EXTENSION)]
    return Findings(revision, checks, {found["scenario"] for found in _UNSCORED.finditer(done.stdout)})


def gone(divergences: Iterable[Divergence], findings: Sequence[Findings]) -> list[str]:
    """Divergences that no run met: they are history and must be taken out."""
    failed = {check.id for one in findings for check in one.checks if not check.succeeded}
    return [
        f"{one.check} succeeds now: take it out of the divergences" for one in divergences if one.check not in failed
    ]


def _checks(output: Path) -> Iterable[Check]:
    for file in sorted(output.glob("*/checks.json")):
        named = _RESULT.fullmatch(file.parent.name)
        assert named is not None, file.parent.name
        for one in json.loads(file.read_text()):
            message = one.get("errorMessage") or one["description"]
            yield Check(named["scenario"], one["id"], one["status"], message, one.get("details") or {})
