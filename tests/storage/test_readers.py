"""The threads that read: every job is answered, whatever it does, and none is waited for in vain."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from commonplace.storage.sqlite.readers import Readers

pytestmark = pytest.mark.anyio


@pytest.fixture
def readers() -> Iterator[Readers]:
    readers = Readers(2)
    yield readers
    readers.stop()


async def test_a_job_runs_on_another_thread_and_its_result_comes_back(readers: Readers) -> None:
    assert await readers.run(threading.get_ident) != threading.get_ident()


async def test_an_error_is_the_callers_and_the_next_job_is_answered(readers: Readers) -> None:
    with pytest.raises(ZeroDivisionError):
        await readers.run(lambda: 1 // 0)
    assert await readers.run(lambda: 7) == 7


async def test_many_jobs_share_the_threads(readers: Readers) -> None:
    names = await asyncio.gather(*(readers.run(lambda: threading.current_thread().name) for _ in range(50)))
    assert 1 <= len(set(names)) <= 2


async def test_two_jobs_run_at_the_same_time(readers: Readers) -> None:
    both = threading.Barrier(2, timeout=10)
    assert sorted(await asyncio.gather(readers.run(both.wait), readers.run(both.wait))) == [0, 1]


async def test_a_caller_that_has_gone_disturbs_nobody(readers: Readers) -> None:
    going = threading.Event()
    waiting = asyncio.ensure_future(readers.run(lambda: going.wait(10)))
    await asyncio.sleep(0)
    waiting.cancel()
    going.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await readers.run(lambda: 7) == 7
