"""What a store of the release before tells of ties is enough to take them back."""

from pathlib import Path
from zoneinfo import ZoneInfo

import apsw
import pytest

from commonplace.bootstrap import build
from commonplace.domain.history import Remedy
from commonplace.domain.link import LinkKind
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.settings import Settings
from commonplace.storage.sqlite.store import FILE_NAME
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio

_AS_BEFORE = """
UPDATE events SET detail = json_object('other', detail ->> '$.ties_after[0][1]') WHERE kind = 'linked';
UPDATE events
SET detail = json_object('other', detail ->> '$.ties[0][1]', 'ties', detail -> '$.ties')
WHERE kind = 'unlinked';
DROP TABLE unworded;
ALTER TABLE credentials DROP COLUMN made_with;
ALTER TABLE unembedded DROP COLUMN refused;
DROP INDEX tags_by_fold;
ALTER TABLE tags DROP COLUMN folded;
CREATE INDEX tags_by_tag ON tags (tag, memory);
PRAGMA user_version = 9;
"""


def opened(folder: Path) -> Engine:
    return build(Settings(data_dir=str(folder)), model=Embedder(), clock=Clock(), zone=ZoneInfo("UTC"))


async def test_ties_of_the_release_before_are_taken_back(tmp_path: Path) -> None:
    engine = opened(tmp_path)
    owner = (await engine.access.local_owner()).through("test", "before")
    kept = [await engine.memories.remember(owner, Draft(text)) for text in ("one", "two", "three")]
    one, two, three = [Reference(memory.id) for memory in kept]
    await engine.links.connect(owner, one, three, 0.4)
    await engine.links.connect(owner.through("test", "s"), one, two)
    await engine.links.disconnect(owner.through("test", "s"), one, three)
    await engine.close()
    connection = apsw.Connection(str(tmp_path / FILE_NAME))
    connection.execute(_AS_BEFORE).fetchall()
    connection.close()
    engine = opened(tmp_path)
    undone = await engine.undo.take_back(owner.through("test", "later"), "s")
    assert [(step.remedy, step.other) for step in undone.steps] == [(Remedy.TIED, "three"), (Remedy.UNTIED, "two")]
    links = await engine.store.read(lambda tx: tx.links.of(kept[0].id))
    assert [(link.target, link.kind, link.strength) for link in links] == [(kept[2].id, LinkKind.MANUAL, 0.4)]
    await engine.close()
