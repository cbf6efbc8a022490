"""A bucket that fails, processes that are killed, several at once: no note is lost, none doubled, the files agree."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from commonplace.engine.health import LASTING
from commonplace.engine.mirror import LOOK_AGAIN
from commonplace.ports.files import Files
from commonplace.storage.files import files_at
from tests.engine.outside import RULES, Neighbour, household
from tests.serving import Served, over_http, served
from tests.storage.buckets import ACCESS_KEY, ROOT, SECRET_KEY, SHELF, Fault, connection, failing, serving

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

FAULTS = [Fault.ERROR, Fault.LATE_ERROR, Fault.HANG, Fault.LATE_HANG, Fault.BROKEN, Fault.LOST, Fault.CUT]
SLOW = {Fault.HANG, Fault.LATE_HANG}
TEXTS = [f"note {number:02}" for number in range(12)]
LIVE = "/live/mcp"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serving() as endpoint:
        yield endpoint


def reached(endpoint: str, place: Path, fault: Fault = Fault.NONE) -> Files:
    timeout = timedelta(milliseconds=300) if fault in SLOW else timedelta(seconds=20)
    way = connection(endpoint, request_timeout=timeout)
    return files_at(f"s3://{SHELF}/{place.parent.name}/{place.name}", Path(), way)


@pytest.mark.parametrize("fault", FAULTS)
async def test_when_every_fifth_request_fails_everything_arrives_once(
    endpoint: str, tmp_path: Path, folder: Path, fault: Fault
) -> None:
    other = Neighbour(reached(endpoint, tmp_path))
    with failing(endpoint, lambda number: Fault.NONE if number % 5 else fault) as proxy:
        async with household(folder, reached(proxy.endpoint, tmp_path, fault)) as home:
            await home.space()
            for text in TEXTS[:6]:
                await home.note(text)
            await home.engine.mirror.keep_up()
            await other.write("alpha/live/20260115T030000_bob_issue_0123abcd.md", "---\nagent: bob\n---\n\nfrom bob")
            for text in TEXTS[6:]:
                await home.note(text)
            proxy.plan = lambda number: Fault.NONE if number % 5 else fault
            await home.settle()
            assert await home.notes() == await other.notes() == ["from bob", *TEXTS]
            page = await home.engine.notes.page(home.owner, "alpha", 50)
            assert {note.version for note in page.notes} == {1}


@pytest.mark.parametrize("fault", [*FAULTS, Fault.GOSSIP])
async def test_while_nothing_can_be_reached_notes_are_accepted_and_said_to_wait(
    endpoint: str, tmp_path: Path, folder: Path, fault: Fault
) -> None:
    other = Neighbour(reached(endpoint, tmp_path))
    with failing(endpoint, lambda number: Fault.NONE) as proxy:
        async with household(folder, reached(proxy.endpoint, tmp_path, fault)) as home:
            await home.space()
            await home.settle()
            proxy.plan = lambda number: fault
            for text in TEXTS:
                await home.note(text)
            await home.engine.mirror.keep_up()
            assert await home.notes() == TEXTS
            if fault is not Fault.CUT:  # what breaks off is written all the same
                assert await home.engine.mirror.waiting() >= len(TEXTS)
                conditions = await home.engine.health.conditions()
                assert f"s3://{SHELF}" in conditions.files.trouble
                assert SECRET_KEY not in conditions.files.trouble
            proxy.plan = lambda number: Fault.NONE
            await home.settle()
            home.clock.advance(LASTING)
            assert (await home.engine.health.conditions()).well
            assert await home.notes() == await other.notes() == TEXTS


async def test_a_mirror_says_that_all_is_well_again_when_another_process_has_written_it(
    endpoint: str, tmp_path: Path, folder: Path
) -> None:
    with failing(endpoint, lambda number: Fault.ERROR) as proxy:
        async with household(folder, reached(proxy.endpoint, tmp_path)) as home:
            await home.space()
            await home.engine.mirror.keep_up()
            assert home.engine.mirror.trouble
            home.clock.advance(LOOK_AGAIN)
            async with household(folder, reached(endpoint, tmp_path), clock=home.clock) as well:
                await well.engine.mirror.keep_up()
            await home.engine.mirror.keep_up()
            assert not home.engine.mirror.trouble


# Killed


def killed(*words: object) -> int:
    """How many processes were killed on the way, each at another step, all of them made up for."""
    command = [sys.executable, "-m", "tests.engine.mirroring", *map(str, words)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


def test_a_process_may_be_killed_at_any_step_over_a_folder(tmp_path: Path) -> None:
    assert killed(tmp_path / "days", 8) > 20


def test_a_process_may_be_killed_at_any_step_over_a_bucket(endpoint: str, tmp_path: Path) -> None:
    assert killed(tmp_path / "days", 16, f"s3://{SHELF}/{tmp_path.parent.name}/{tmp_path.name}", endpoint) > 10


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.structured_content
    return result.structured_content or {}


async def written(server: Served, who: str, kept: list[str]) -> None:
    """Notes until the server is gone; those that were acknowledged."""
    try:
        async with over_http(server, path=LIVE) as client:
            for number in range(1000):
                text = f"{who} {number}"
                await answer(client, "live_note", space_id="alpha", category="progress", content=text)
                kept.append(text)
    except* (MCPError, OSError, httpx2.HTTPError, anyio.ClosedResourceError, anyio.EndOfStream):
        pass


async def followed(client: Client, other: Neighbour) -> list[str]:
    """The notes in the files, once there are as many as the program has."""
    total, found = (await answer(client, "live_read", space_id="alpha", limit=1))["total"], list[str]()
    with anyio.fail_after(60):
        while len(found) != total:
            await anyio.sleep(0.5)
            found = await other.notes()
    return found


async def test_of_two_programs_on_one_folder_one_is_killed_and_nothing_is_lost(tmp_path: Path) -> None:
    folder, kept = tmp_path / "data", list[str]()
    other = Neighbour(files_at(str(folder / "spaces"), Path()))
    with served(folder) as staying:
        async with over_http(staying, path=LIVE) as client:
            await answer(client, "space_create", space_id="alpha", description="", rules=RULES)
            for life in range(2):
                with served(folder) as dying:
                    async with anyio.create_task_group() as work:
                        work.start_soon(written, dying, f"dying {life}", kept)
                        for number in range(30 + 20 * life):
                            text = f"staying {life} {number}"
                            await answer(client, "live_note", space_id="alpha", category="progress", content=text)
                            kept.append(text)
                        dying.process.kill()
            found = await followed(client, other)
            assert len(found) == len(set(found))
            assert set(kept) <= set(found)
            assert len(found) - len(kept) <= 2  # what was being written when it was killed


async def test_the_program_says_degraded_and_catches_up_when_its_bucket_is_back(endpoint: str, tmp_path: Path) -> None:
    other = Neighbour(reached(endpoint, tmp_path))
    with failing(endpoint, lambda number: Fault.ERROR) as proxy:
        bucket = {
            "COMMONPLACE_SPACES": other.files.location,
            "COMMONPLACE_S3_ENDPOINT": proxy.endpoint,
            "COMMONPLACE_S3_ACCESS_KEY": ACCESS_KEY,
            "COMMONPLACE_S3_SECRET_KEY": SECRET_KEY,
        }
        with served(tmp_path / "data", **bucket) as server:
            async with over_http(server, path=LIVE) as client:
                await answer(client, "space_create", space_id="alpha", description="", rules=RULES)
                for text in TEXTS:
                    await answer(client, "live_note", space_id="alpha", category="issue", content=text)
                health = await answer(client, "system_health")
                assert (health["status"], health["services"]["s3"]["status"]) == ("degraded", "error")
                proxy.plan = lambda number: Fault.NONE
                assert await followed(client, other) == TEXTS
