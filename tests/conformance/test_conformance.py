"""The official suite and the inspector against running servers. `python -m tests.conformance.run` prints the same."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conformance import inspector, suite, targets
from tests.conformance.programs import Programs, Unavailable, installed
from tests.conformance.targets import Target

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def programs() -> Programs:
    try:
        return installed()
    except Unavailable as reason:
        if os.environ.get("CI") == "true":
            raise  # what builds a release must have looked
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("conformance")


@pytest.fixture(scope="module", params=inspector.QUESTIONS)
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def target(programs: Programs, scratch: Path, dialect: str) -> Iterator[Target]:
    with targets.dialect_server(scratch / dialect, dialect) as target:
        yield target


def test_every_scenario_passes_on_the_fixture_dialect(programs: Programs, scratch: Path) -> None:
    with targets.fixture_server(scratch / "fixture") as target:
        findings = [
            suite.examine(programs, target, revision, scratch / f"fixture-{revision}") for revision in suite.REVISIONS
        ]
    assert [problem for one in findings for problem in one.problems(suite.FIXTURE_DIVERGENCES)] == []
    assert suite.gone(suite.FIXTURE_DIVERGENCES, findings) == []


def test_generic_scenarios_pass_on_every_dialect(
    programs: Programs, dialect: str, target: Target, scratch: Path
) -> None:
    findings = [
        suite.examine(programs, target, revision, scratch / f"{dialect}-{revision}").only(suite.GENERIC)
        for revision in suite.REVISIONS
    ]
    assert [problem for one in findings for problem in one.problems(suite.DIALECT_DIVERGENCES)] == []
    assert suite.gone(suite.DIALECT_DIVERGENCES, findings) == []


@pytest.mark.parametrize("era", inspector.ERAS)
def test_the_inspector_gets_what_it_asks_for(programs: Programs, dialect: str, target: Target, era: str) -> None:
    questions = inspector.QUESTIONS[dialect]
    assert [problem for one in questions for problem in inspector.inspect(programs, target, era, one)] == []


def test_an_address_where_nothing_is_served_conforms_to_nothing(programs: Programs, scratch: Path) -> None:
    with targets.dialect_server(scratch / "somewhere", "greeum") as somewhere:
        nowhere = replace(somewhere, url=somewhere.url + "/nowhere")
        found = suite.examine(programs, nowhere, suite.REVISIONS[1], scratch / "nowhere").only(suite.GENERIC)
        assert found.problems(suite.DIALECT_DIVERGENCES) != []
