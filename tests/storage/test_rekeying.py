"""A change of keys that was interrupted is finished by the same one and by no other."""

import shutil
from pathlib import Path

import pytest

from commonplace.domain.errors import RekeyUnfinished
from commonplace.storage.sqlite.backup import SqliteVault
from commonplace.storage.sqlite.changeover import noted, way_of
from commonplace.storage.sqlite.rekeying import rekey
from commonplace.storage.sqlite.store import SqliteStore
from tests.fakes import Embedder
from tests.storage.keeping import NOW
from tests.storage.samples import founded

pytestmark = pytest.mark.anyio

ONE, TWO, THREE = (f"the {which} of keys that are long enough" for which in ("first", "second", "third"))


def files(folder: Path) -> dict[str, bytes]:
    """All but the locks."""
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.suffix != ".lock"}


async def half_changed(folder: Path, old: str, new: str) -> Path:
    """A folder as a rekey that was killed leaves it: the first backup has the new key, all else the former one."""
    house = await founded(SqliteStore(folder, Embedder().fingerprint, old))
    await house.keep("one")
    await house.store.close()
    place = folder / "backups"
    for name in ("first", "second"):
        await SqliteVault(folder, place, old).create(name, NOW)
    changed = shutil.copytree(folder, folder.with_name("changed"))
    rekey(changed, changed / "backups", old, new)
    shutil.copy(changed / "backups" / "first.db", place)  # its manifest is still that of before
    with pytest.raises(KeyboardInterrupt), noted(folder, place, way_of(old, new), new):
        raise KeyboardInterrupt
    return place


@pytest.mark.parametrize(
    ("begun", "other"),
    [
        (("", ONE), ("", "")),
        (("", ONE), (ONE, "")),
        (("", ONE), ("", TWO)),
        (("", ONE), (ONE, TWO)),
        ((ONE, TWO), (ONE, "")),
        ((ONE, TWO), (ONE, THREE)),
        ((ONE, TWO), (TWO, ONE)),
        ((ONE, TWO), (ONE, ONE)),
        ((ONE, ""), ("", ONE)),
        ((ONE, ""), (ONE, TWO)),
    ],
)
async def test_another_change_than_the_interrupted_one_is_refused_before_anything_is_touched(
    folder: Path, begun: tuple[str, str], other: tuple[str, str]
) -> None:
    place = await half_changed(folder, *begun)
    before = files(folder)
    with pytest.raises(RekeyUnfinished) as refused:
        rekey(folder, place, *other)
    assert "finish it: `commonplace rekey" in refused.value.remedy
    assert files(folder) == before
    assert rekey(folder, place, *begun).left == {}
    assert not list(folder.rglob(".key-change"))
    for name in ("first", "second"):
        assert (await SqliteVault(folder, place, begun[1]).verify(name)).memories == 1


@pytest.mark.parametrize(("begun", "other"), [(("", ONE), (ONE, "")), ((ONE, ""), (ONE, TWO))])
async def test_a_note_that_knows_no_key_still_tells_the_way(
    folder: Path, begun: tuple[str, str], other: tuple[str, str]
) -> None:
    place = await half_changed(folder, *begun)
    for one in (folder, place):
        (one / ".key-change").write_text(f"{way_of(*begun)}\n")
    with pytest.raises(RekeyUnfinished):
        rekey(folder, place, *other)
    assert rekey(folder, place, *begun).left == {}
