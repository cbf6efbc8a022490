"""A store of the release before knows which session a key works in, and not which of its clients that was."""

from pathlib import Path
from zoneinfo import ZoneInfo

import apsw
import pytest

from commonplace.bootstrap import build
from commonplace.domain.collection import SESSION_LENGTH, Kind
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.storage.sqlite.store import FILE_NAME
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio

_AS_BEFORE = """
DROP TABLE current_sessions;
CREATE TABLE current_sessions (
    user TEXT NOT NULL,
    credential TEXT NOT NULL,
    collection INTEGER NOT NULL REFERENCES collections (number) ON DELETE CASCADE,
    PRIMARY KEY (user, credential)
) STRICT, WITHOUT ROWID;
INSERT INTO current_sessions SELECT owner, 'local', number FROM collections WHERE kind = 'session';
DROP TABLE unworded;
ALTER TABLE credentials DROP COLUMN made_with;
ALTER TABLE unembedded DROP COLUMN refused;
DROP INDEX tags_by_fold;
ALTER TABLE tags DROP COLUMN folded;
CREATE INDEX tags_by_tag ON tags (tag, memory);
PRAGMA user_version = 11;
"""


def opened(folder: Path) -> Engine:
    return build(Settings(data_dir=str(folder)), model=Embedder(), clock=Clock(), zone=ZoneInfo("UTC"))


async def test_a_session_of_the_release_before_is_open_and_nobodys_current_one(tmp_path: Path) -> None:
    engine = opened(tmp_path)
    owner = (await engine.access.local_owner()).through("test", "a")
    session = (await engine.collections.found(owner, Kind.SESSION, "s", length=SESSION_LENGTH)).collection
    await engine.close()
    connection = apsw.Connection(str(tmp_path / FILE_NAME))
    connection.execute(_AS_BEFORE).fetchall()
    connection.close()
    engine = opened(tmp_path)
    assert await engine.collections.current_session(owner) is None
    assert [one.collection for one in await engine.collections.all(owner, Kind.SESSION)] == [session]
    await engine.collections.switch_session(owner, session.id)
    assert await engine.collections.current_session(owner) == session
    await engine.close()
