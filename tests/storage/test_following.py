"""The index follows what is written before anybody asks it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from commonplace.storage.sqlite.connection import connect
from commonplace.storage.sqlite.following import Follower, vantage
from commonplace.storage.sqlite.store import FILE_NAME
from commonplace.storage.sqlite.writer import Writer
from commonplace.storage.sqlite.writing import SqliteTransaction
from tests.storage.samples import House

pytestmark = pytest.mark.anyio

PATIENCE = 10.0
Writing = Callable[[Callable[[apsw.Connection], None]], Writer]


async def test_what_was_written_is_in_the_index_before_it_is_asked_for(house: House, folder: Path) -> None:
    await house.keep("the first")
    follower = Follower(None)
    with closing(connect(folder / FILE_NAME, writable=True)) as connection:
        with follower.index(connection, vantage(connection, house.embedder.fingerprint)):
            assert follower.size == 1
        await house.keep("the second")
        follower.follow(connection)
    assert follower.size == 2


async def test_nothing_is_loaded_only_to_be_followed(house: House, folder: Path) -> None:
    await house.keep("the first")
    follower = Follower(None)
    with closing(connect(folder / FILE_NAME, writable=True)) as connection:
        follower.follow(connection)
    assert follower.size == 0


async def test_a_commit_is_followed_once_it_is_answered(writing: Writing) -> None:
    followed = threading.Event()
    writer = writing(lambda _: followed.set())
    await writer.submit(nothing)
    assert followed.wait(PATIENCE)


async def test_writing_goes_on_where_following_fails(writing: Writing) -> None:
    failed = threading.Event()

    def fail(_: apsw.Connection) -> None:
        failed.set()
        raise ValueError("an array of another length")

    writer = writing(fail)
    await writer.submit(nothing)
    assert failed.wait(PATIENCE)
    await writer.submit(nothing)


def nothing(_: SqliteTransaction) -> None:
    """What a job may do."""


@pytest.fixture
def writing(house: House, folder: Path) -> Iterator[Writing]:
    """A writer on the file, that does something after its commits."""
    path, fingerprint, writers = folder / FILE_NAME, house.embedder.fingerprint, list[Writer]()

    def made(afterwards: Callable[[apsw.Connection], None]) -> Writer:
        connection = connect(path, writable=True)
        transaction = SqliteTransaction(connection, lambda: Follower(None), path, fingerprint)
        writers.append(Writer(connection, transaction, path, afterwards))
        return writers[-1]

    yield made
    for writer in writers:
        writer.stop()
