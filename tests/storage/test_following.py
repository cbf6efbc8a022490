"""The index follows what is written before anybody asks it."""

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from commonplace.ports import Reading
from commonplace.storage.sqlite.connection import connect
from commonplace.storage.sqlite.following import Follower, sight
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore
from tests.fakes import Embedder
from tests.storage.samples import House, founded

pytestmark = pytest.mark.anyio

PATIENCE = 10.0


async def test_what_was_written_is_in_the_index_before_it_is_asked_for(house: House, folder: Path) -> None:
    await house.keep("the first")
    follower = Follower(None)
    with closing(connect(folder / FILE_NAME, writable=True)) as connection:
        with follower.index(connection, sight(connection, house.embedder.fingerprint)):
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


async def test_a_commit_is_followed_once_it_is_answered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = watched(monkeypatch)
    store = SqliteStore(folder, Embedder().fingerprint)
    house = await founded(store)
    await store.read(lambda tx: tx.count(house.ours))  # from here on there is an index
    followed.clear()
    await house.keep("the first")
    assert followed.wait(PATIENCE)
    await store.close()


async def test_writing_goes_on_where_following_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = watched(monkeypatch, fail)
    store = SqliteStore(folder, Embedder().fingerprint)
    house = await founded(store)

    def count(tx: Reading) -> int:
        return tx.count(house.ours)

    await store.read(count)
    await house.keep("the first")
    assert failed.wait(PATIENCE)
    await house.keep("the second")
    assert await store.read(count) == 2
    await store.close()


def watched(monkeypatch: pytest.MonkeyPatch, instead: Callable[[], None] = lambda: None) -> threading.Event:
    """Set each time that the index was to follow; then it does something else first."""
    following, plain = threading.Event(), Follower.follow

    def follow(self: Follower, connection: apsw.Connection) -> None:
        following.set()
        instead()
        plain(self, connection)

    monkeypatch.setattr(Follower, "follow", follow)
    return following


def fail() -> None:
    raise ValueError("an array of another length")
