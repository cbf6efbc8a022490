"""The log of what is committed but not yet in the file: brought over beside the calls, and never endless."""

from pathlib import Path

import pytest

from commonplace.ports import Transaction
from commonplace.storage.sqlite.store import FILE_NAME
from tests.storage.samples import House

pytestmark = pytest.mark.anyio

MEGABYTE = 2**20


async def test_a_long_log_is_brought_over_when_nobody_waits(house: House, folder: Path) -> None:
    await house.keep_all([f"memory {number} of many {'x' * 2000}" for number in range(1500)])
    assert b"memory 1499 of many" not in (folder / FILE_NAME).read_bytes()
    await house.store.settle()
    assert b"memory 1499 of many" in (folder / FILE_NAME).read_bytes()


async def test_a_short_log_is_left_alone(house: House, folder: Path) -> None:
    before = (folder / FILE_NAME).read_bytes()
    await house.keep("one of few")
    await house.store.settle()
    assert (folder / FILE_NAME).read_bytes() == before


async def test_the_log_is_bounded_even_if_nobody_brings_it_over(house: House, folder: Path) -> None:
    def fill(tx: Transaction) -> None:
        for number in range(34):
            tx.set_meta(f"filler {number}", "x" * MEGABYTE)

    log, sizes = folder / f"{FILE_NAME}-wal", []
    for _ in range(3):
        await house.store.write(fill)
        sizes.append(log.stat().st_size)
    assert sizes[-1] < 1.5 * sizes[0]
