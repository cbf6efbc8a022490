"""A bucket that fails now and then, or for good: every verb ends right or says that it failed; nothing is half done."""

import asyncio
import traceback
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.domain.errors import AlreadyExists, CommonplaceError, Conflict, FilesFailed
from commonplace.ports.files import NOTHING, Files
from commonplace.storage.files import files_at
from tests.storage.buckets import ACCESS_KEY, SECRET_KEY, SHELF, Fault, Plan, connection, failing, raw, serving

pytestmark = pytest.mark.anyio

LASTING = [Fault.ERROR, Fault.LATE_ERROR, Fault.HANG, Fault.LATE_HANG, Fault.BROKEN, Fault.LOST]
PASSING = [*LASTING, Fault.CUT, Fault.BUSY]
DONE = {Fault.LATE_ERROR, Fault.LATE_HANG, Fault.LOST}
SLOW = {Fault.HANG, Fault.LATE_HANG}
SOON = timedelta(milliseconds=300)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serving() as endpoint:
        yield endpoint


def every(nth: int, fault: Fault) -> Plan:
    return lambda number: Fault.NONE if number % nth else fault


def at(request: int, fault: Fault) -> Plan:
    return lambda number: fault if number == request else Fault.NONE


def always(fault: Fault) -> Plan:
    return lambda number: fault


def reached(endpoint: str, place: Path, *, retries: int = 2, timeout: timedelta = timedelta(seconds=20)) -> Files:
    way = connection(endpoint, retries=retries, request_timeout=timeout)
    return files_at(f"s3://{SHELF}/{place.parent.name}/{place.name}", Path(), way)


def patience(fault: Fault) -> timedelta:
    return SOON if fault in SLOW else timedelta(seconds=20)


async def contents(files: Files, path: str) -> bytes | None:
    held = await files.read(path)
    return held.data if held else None


async def outcome(files: Files, path: str, data: bytes, over: str | None) -> str | CommonplaceError:
    try:
        return await files.write(path, data, over=over)
    except (AlreadyExists, Conflict, FilesFailed) as refusal:
        return refusal


@pytest.mark.parametrize("fault", PASSING)
async def test_every_verb_ends_right_when_every_fifth_request_fails(
    endpoint: str, tmp_path: Path, fault: Fault
) -> None:
    rounds = range(2 if fault in SLOW else 4)
    with failing(endpoint, every(5, fault)) as proxy:
        files = reached(proxy.endpoint, tmp_path, timeout=patience(fault))
        for number in rounds:
            tag = await files.write(f"a/{number}", b"first", over=NOTHING)
            assert await contents(files, f"a/{number}") == b"first"
            assert await files.write(f"a/{number}", b"second", over=tag) != tag
            await files.write(f"b/{number}", b"third")
        assert [entry.path for entry in await files.listed("a")] == [f"a/{number}" for number in rounds]
        assert await files.folders() == ["a", "b"]
        await files.remove("b/0")
        await files.remove_all("a")
        assert [entry.path for entry in await files.listed()] == [f"b/{number}" for number in rounds[1:]]
        assert proxy.asked > 4 * len(rounds) + 5


@pytest.mark.parametrize("fault", PASSING)
async def test_a_creation_whose_answer_was_lost_is_no_refusal(endpoint: str, tmp_path: Path, fault: Fault) -> None:
    with failing(endpoint, at(1, fault)) as proxy:
        files = reached(proxy.endpoint, tmp_path, timeout=patience(fault))
        tag = await files.write("lock", b"mine", over=NOTHING)
        with pytest.raises(AlreadyExists):
            await files.write("lock", b"mine", over=NOTHING)
        proxy.plan = at(proxy.asked + 1, fault)
        assert await files.write("lock", b"still mine", over=tag) == (await files.listed())[0].tag


async def test_a_write_that_others_replaced_before_its_answer_came_is_not_said_to_be_refused(
    endpoint: str, tmp_path: Path
) -> None:
    near = reached(endpoint, tmp_path)
    tag = await near.write("a", b"old")

    def overtaken(number: int) -> Fault:
        if number == 2:
            raw(endpoint, "PUT", f"{near.location.removeprefix('s3://')}/a", b"theirs")
        return Fault.LOST if number == 1 else Fault.NONE

    with failing(endpoint, overtaken) as proxy, pytest.raises(FilesFailed, match="whether it was written is open"):
        await reached(proxy.endpoint, tmp_path).write("a", b"ours", over=tag)
    assert await contents(near, "a") == b"theirs"


@pytest.mark.parametrize("fault", LASTING)
async def test_what_fails_for_good_is_said_and_whole_or_absent(endpoint: str, tmp_path: Path, fault: Fault) -> None:
    near = reached(endpoint, tmp_path)
    tag = await near.write("old", b"old")
    with failing(endpoint, always(fault)) as proxy:
        far = reached(proxy.endpoint, tmp_path, retries=1, timeout=patience(fault))
        writes = (far.write("new", b"n" * 100_000, over=NOTHING), far.write("old", b"o" * 100_000, over=tag))
        looks = (far.read("old"), far.listed(), far.folders(), far.check(), far.remove_all("old"))
        told = await asyncio.gather(*writes, *looks, return_exceptions=True)
    assert [type(one) for one in told] == [FilesFailed] * 7
    assert await contents(near, "new") == (b"n" * 100_000 if fault in DONE else None)
    assert await contents(near, "old") == (b"o" * 100_000 if fault in DONE else b"old")


async def test_an_answer_that_breaks_off_is_not_taken_for_the_whole(endpoint: str, tmp_path: Path) -> None:
    with failing(endpoint, always(Fault.CUT)) as proxy:
        files = reached(proxy.endpoint, tmp_path)
        await files.write("a", b"x" * 100_000)
        for look in (files.read("a"), files.listed(), files.folders()):
            with pytest.raises(FilesFailed, match="the connection broke"):
                await look


async def test_a_failure_says_of_which_kind_it_is(endpoint: str, tmp_path: Path) -> None:
    kinds = {
        Fault.ERROR: "it answered 500 InternalError",
        Fault.HANG: "it did not answer in time",
        Fault.LOST: "the connection broke",
        Fault.GOSSIP: "it answered 403 SignatureDoesNotMatch",
    }
    for fault, reason in kinds.items():
        with failing(endpoint, always(fault)) as proxy, pytest.raises(FilesFailed) as failure:
            await reached(proxy.endpoint, tmp_path, retries=0, timeout=patience(fault)).check()
        assert failure.value.reason == reason
    with pytest.raises(FilesFailed, match="it could not be reached"):
        await reached("http://127.0.0.1:9", tmp_path, retries=0).check()


async def test_what_cannot_pass_is_not_tried_again(endpoint: str, tmp_path: Path) -> None:
    with failing(endpoint, always(Fault.GOSSIP)) as proxy:
        files = reached(proxy.endpoint, tmp_path)
        for attempt in (files.read("a"), files.write("a", b"x"), files.check()):
            with pytest.raises(FilesFailed):
                await attempt
        assert proxy.asked == 3


@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.LOST])
async def test_of_twenty_who_create_one_path_at_most_one_is_told_so(
    endpoint: str, tmp_path: Path, fault: Fault
) -> None:
    with failing(endpoint, every(3, fault)) as proxy:
        files = reached(proxy.endpoint, tmp_path)
        told = await asyncio.gather(*(outcome(files, "lock", b"all the same", NOTHING) for _ in range(20)))
    winners = [one for one in told if isinstance(one, str)]
    assert len(winners) <= 1
    assert winners or any(isinstance(one, FilesFailed) for one in told)
    assert not any(isinstance(one, Conflict) for one in told)
    assert await contents(reached(endpoint, tmp_path), "lock") == b"all the same"


async def test_additions_are_counted_once_or_said_to_be_open(endpoint: str, tmp_path: Path) -> None:
    with failing(endpoint, every(4, Fault.LOST)) as proxy:
        files = reached(proxy.endpoint, tmp_path)
        await files.write("count", b"0")
        told = [one for part in await asyncio.gather(*(additions(files, 6) for _ in range(3))) for one in part]
    sure, open_ = told.count("sure"), told.count("open")
    held = await contents(reached(endpoint, tmp_path), "count")
    assert held is not None
    assert sure <= int(held) <= sure + open_


async def additions(files: Files, times: int) -> list[str]:
    told = []
    for _ in range(times):
        try:
            held = await files.read("count")
            assert held is not None
            await files.write("count", str(int(held.data) + 1).encode(), over=held.tag)
            told.append("sure")
        except Conflict:
            told.append("refused")
        except FilesFailed:
            told.append("open")
    return told


async def test_no_secret_is_in_a_message_or_a_picture_of_an_object(endpoint: str, tmp_path: Path) -> None:
    with failing(endpoint, always(Fault.GOSSIP)) as proxy:
        files = reached(proxy.endpoint, tmp_path, retries=0)
        with pytest.raises(FilesFailed) as failure:
            await files.write("a", b"x", over=NOTHING)
    told = [str(failure.value), repr(failure.value), repr(files), str(vars(files)), files.location]
    told += [failure.value.remedy, repr(connection(endpoint)), *traceback.format_exception(failure.value)]
    for secret in (ACCESS_KEY, SECRET_KEY, "Signature="):
        assert secret not in "".join(told)
