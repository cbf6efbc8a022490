"""With a key, nothing that was written can be read from any file; without it, nothing is opened and nothing changes."""

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import product
from pathlib import Path

import apsw
import pytest

from commonplace.domain.chain import check
from commonplace.domain.errors import (
    Invalid,
    KeyNeeded,
    KeyUnneeded,
    NotFound,
    RekeyUnfinished,
    StoreCorrupt,
    StoreFailed,
    StoreInUse,
)
from commonplace.storage.sqlite.backup import SqliteVault
from commonplace.storage.sqlite.changeover import interrupted
from commonplace.storage.sqlite.encryption import Form, form
from commonplace.storage.sqlite.exposure import exposed
from commonplace.storage.sqlite.rekeying import rekey
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore
from tests.fakes import Embedder
from tests.storage.keeping import NOW, acting, finished
from tests.storage.samples import House, founded
from tests.storage.test_trouble import shelf, unprivileged

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

__all__ = ["shelf"]

FINGERPRINT = Embedder().fingerprint
KEY = "ein Schlüssel mit 'Anführung' und 鍵"
OTHER = "another key, as good as the first"
SECRET = "PLUMBAGO-the-quick-brown-secret"


def opened(folder: Path, key: str = KEY) -> SqliteStore:
    return SqliteStore(folder, FINGERPRINT, key)


@pytest.fixture
async def sealed(folder: Path) -> AsyncIterator[House]:
    """A house with secrets in text, tag, category and history, whose store is encrypted."""
    house = await founded(opened(folder))
    await house.keep_all([f"{SECRET} {number}" for number in range(30)], tags=(f"{SECRET}-tag",))
    await house.forget(await house.keep(f"{SECRET} forgotten", category=f"{SECRET}-category"))
    yield house
    await house.store.close()


def files_with(folder: Path, words: str = SECRET) -> list[str]:
    """What grep would find, without regard to case, as text or as UTF-16."""
    needles = [words.lower().encode(), words.lower().encode("utf-16-le"), words.lower()[:8].encode()]
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [file.name for file in files if any(needle in file.read_bytes().lower() for needle in needles)]


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every byte of the store and its backups."""
    return {str(file): file.read_bytes() for file in folder.rglob("*.db*") if not file.name.endswith("-shm")}


async def contents(house: House) -> list[str]:
    page = await house.store.read(lambda tx: tx.page(house.all, 10_000))
    return sorted(memory.content for memory in page.memories)


async def contents_under(house: House, folder: Path, key: str) -> list[str]:
    store = opened(folder, key)
    try:
        assert await store.check() == ""
        await store.read(lambda tx: check(tx.witnesses(-1, 10_000)))
        return await contents(House(store, house.ada, house.ben, house.home, house.elsewhere, house.common))
    finally:
        await store.close()


# Nothing to be read


async def test_the_same_search_finds_the_text_in_files_without_a_key(folder: Path) -> None:
    """The test of the tests below."""
    house = await founded(opened(folder, ""))
    await house.keep(SECRET)
    assert files_with(folder)
    await house.store.close()


async def test_no_file_of_an_encrypted_store_holds_any_text(sealed: House, folder: Path) -> None:
    vault = SqliteVault(folder, folder / "backups", KEY)
    await vault.create("first", NOW)
    assert {f"{FILE_NAME}-wal", FILE_NAME, "first.db"} <= {file.name for file in folder.rglob("*")}
    assert files_with(folder) == []
    await vault.restore("first")
    await sealed.store.vacuum()
    assert files_with(folder) == []
    await sealed.store.close()
    assert files_with(folder) == []


async def test_no_copy_of_the_index_is_written_beside_an_encrypted_store(sealed: House, folder: Path) -> None:
    await sealed.keep_all([f"{SECRET} {number}" for number in range(600)])
    await sealed.store.read(lambda tx: tx.facts(()))
    await sealed.store.settle()
    await sealed.store.close()
    assert list(folder.glob("*index*")) == []


async def test_what_a_killed_process_leaves_holds_no_text(sealed: House, folder: Path) -> None:
    await SqliteVault(folder, folder / "backups", KEY).create("first", NOW)
    for act, step in (("create", 25), ("create", 35), ("restore", 40), ("restore", 60), ("restore", 75)):
        finished(acting(step, act, folder, "first" if act == "restore" else f"step-{step}", old=KEY))
        assert files_with(folder) == []


async def test_an_encrypted_store_answers_as_any_other(sealed: House) -> None:
    assert len(await contents(sealed)) == 30
    query = sealed.embedder.embed([f"{SECRET} 7"])[0]
    assert await sealed.store.read(lambda tx: dict(tx.scan(query, FINGERPRINT, sealed.ours).best(3)))


async def test_other_tools_open_the_file_with_the_passphrase(sealed: House, folder: Path) -> None:
    """It is the library's own format, so that nobody depends on this program to read what is theirs."""
    connection = apsw.Connection(str(folder / FILE_NAME))
    connection.pragma("hexkey", KEY.encode().hex())
    assert connection.execute("SELECT count(*) FROM memories").get == 30
    connection.close()


async def test_many_processes_may_found_an_encrypted_folder_at_the_same_moment(folder: Path) -> None:
    folder.mkdir()
    made = [acting(0, "open", folder, old=KEY) for _ in range(5)]
    assert [finished(process) for process in made] == [True] * 5
    await opened(folder).close()


async def test_an_encrypted_store_in_a_folder_that_cannot_be_written_can_be_read(shelf: Path) -> None:
    house = await founded(opened(shelf / "live"))
    await house.keep("written before")
    (shelf / "data").mkdir()
    for suffix in ("", "-wal"):  # as a kill leaves them
        shutil.copy(shelf / "live" / f"{FILE_NAME}{suffix}", shelf / "data" / f"{FILE_NAME}{suffix}")
        (shelf / "data" / f"{FILE_NAME}{suffix}").chmod(0o444)
    await house.store.close()
    (shelf / "data").chmod(0o555)
    with unprivileged():
        store = opened(shelf / "data")
        assert not store.writable
        reader = House(store, house.ada, house.ben, house.home, house.elsewhere, house.common)
        assert await contents(reader) == ["written before"]
        await store.close()


# The wrong key


@pytest.mark.parametrize("key", ["", "wrong", KEY + " ", KEY[:-1]])
async def test_without_the_right_key_nothing_opens_and_nothing_changes(sealed: House, folder: Path, key: str) -> None:
    vault = SqliteVault(folder, folder / "backups", KEY)
    await vault.create("first", NOW)
    await sealed.store.close()
    before = snapshot(folder)
    with pytest.raises(KeyNeeded) as refusal:
        opened(folder, key)
    assert "COMMONPLACE_ENCRYPTION_KEY" in refusal.value.remedy
    stranger = SqliteVault(folder, folder / "backups", key)
    for attempt in (stranger.verify("first"), stranger.restore("first"), stranger.create("second", NOW)):
        with pytest.raises(KeyNeeded):
            await attempt
    with pytest.raises(StoreFailed):
        rekey(folder, folder / "backups", key, "new")
    assert snapshot(folder) == before


async def test_a_key_on_a_store_that_is_not_encrypted_is_refused_with_the_command_that_helps(folder: Path) -> None:
    house = await founded(opened(folder, ""))
    await house.keep("in the clear")
    await house.store.close()
    before = snapshot(folder)
    with pytest.raises(KeyUnneeded) as refusal:
        opened(folder, KEY)
    assert "commonplace rekey" in refusal.value.remedy
    assert snapshot(folder) == before


async def test_a_changed_byte_on_any_page_is_noticed(sealed: House, folder: Path) -> None:
    await sealed.store.close()
    whole = (folder / FILE_NAME).read_bytes()
    for page in range(1, len(whole) // 4096, 7):
        damaged = bytearray(whole)
        damaged[page * 4096 + 100] ^= 1
        (folder / FILE_NAME).write_bytes(damaged)
        assert await is_damage_noticed(folder), page


async def is_damage_noticed(folder: Path) -> bool:
    """At the opening, or by the check; StoreCorrupt is what a caller would be told."""
    try:
        store = opened(folder)
    except StoreCorrupt:
        return True
    try:
        return await store.check() != ""
    except StoreCorrupt:
        return True
    finally:
        await store.close()


# Another key


async def test_rekeying_turns_plain_into_encrypted_and_back(folder: Path) -> None:
    house = await founded(opened(folder, ""))
    await house.keep_all([f"{SECRET} {number}" for number in range(600)])
    await house.store.read(lambda tx: tx.facts(()))
    await SqliteVault(folder, folder / "backups").create("first", NOW)
    await house.store.close()
    expected = sorted(f"{SECRET} {number}" for number in range(600))
    assert list(folder.glob("index-*"))
    for old, new, found in (("", KEY, Form.ENCRYPTED), (KEY, OTHER, Form.ENCRYPTED), (OTHER, "", Form.PLAIN)):
        done = rekey(folder, folder / "backups", old, new)
        assert (done.backups, done.left) == (["first"], {})
        assert form(folder / FILE_NAME) is found
        assert bool(files_with(folder)) == (found is Form.PLAIN)
        assert await contents_under(house, folder, new) == expected
        backup = await SqliteVault(folder, folder / "backups", new).verify("first")
        assert backup.encrypted == (found is Form.ENCRYPTED)
        assert (folder / FILE_NAME).stat().st_mode & 0o777 == 0o600
        assert (folder / "backups" / "first.db").stat().st_mode & 0o777 == 0o600


async def test_a_plain_backup_from_elsewhere_is_restored_into_an_encrypted_store(
    sealed: House, folder: Path, tmp_path: Path
) -> None:
    plain = await founded(SqliteStore(tmp_path / "plain", FINGERPRINT))
    await plain.keep(f"{SECRET} from elsewhere")
    await SqliteVault(tmp_path / "plain", tmp_path / "carried").create("carried", NOW)
    await plain.store.close()
    await SqliteVault(folder, tmp_path / "carried", KEY).restore("carried")
    assert files_with(folder) == []
    reader = House(sealed.store, plain.ada, plain.ben, plain.home, plain.elsewhere, plain.common)
    assert await contents(reader) == [f"{SECRET} from elsewhere"]


async def test_rekeying_is_refused_while_anyone_has_the_folder_open(sealed: House, folder: Path) -> None:
    before = snapshot(folder)
    with pytest.raises(StoreInUse) as refusal:
        rekey(folder, folder / "backups", KEY, OTHER)
    assert "stop every server" in refusal.value.remedy
    stranger = acting(0, "rekey", folder, old=KEY, new=OTHER)
    stranger.communicate(timeout=60)
    assert stranger.returncode == 1
    assert snapshot(folder) == before


async def test_rekeying_to_the_same_key_or_without_a_store_is_refused(folder: Path) -> None:
    with pytest.raises(NotFound):
        rekey(folder, folder / "backups", "", KEY)
    await opened(folder).close()
    with pytest.raises(Invalid):
        rekey(folder, folder / "backups", KEY, KEY)


async def test_a_backup_that_neither_key_opens_is_left_and_named(sealed: House, folder: Path) -> None:
    vault = SqliteVault(folder, folder / "backups", KEY)
    await vault.create("first", NOW)
    await vault.create("lost", NOW)
    await sealed.store.close()
    lost = folder / "backups" / "lost.db"
    lost.write_bytes(os.urandom(16) + lost.read_bytes()[16:])
    before = lost.read_bytes()
    done = rekey(folder, folder / "backups", KEY, OTHER)
    assert done.backups == ["first"]
    assert done.left.keys() == {"lost"}
    assert lost.read_bytes() == before


@pytest.mark.parametrize(("old", "new"), [("", KEY), (KEY, OTHER), (KEY, "")], ids=["on", "over", "off"])
async def test_a_rekeying_that_is_killed_at_any_step_leaves_the_old_key_or_the_new(
    folder: Path, tmp_path: Path, old: str, new: str
) -> None:
    house = await founded(opened(folder, old))
    await house.keep_all([f"{SECRET} {number}" for number in range(20)])
    await SqliteVault(folder, folder / "backups", old).create("first", NOW)
    await house.store.close()
    expected = sorted(f"{SECRET} {number}" for number in range(20))
    seen = set()
    for step in range(1, 400, 6):
        trial = tmp_path / f"trial-{step}"
        shutil.copytree(folder, trial)
        done = finished(acting(step, "rekey", trial, old=old, new=new))
        key = await key_of(trial, (old, new))
        seen.add(key)
        assert await contents_under(house, trial, key) == expected
        assert not list(trial.glob(".rekeying-*")), "the next start has removed what was left"
        await told_what_finishes_it(trial, (old, new))
        if not done or key != new:
            rekey(trial, trial / "backups", old, new)
        assert not [*trial.glob(".key-change"), *trial.glob("backups/.key-change")]
        assert (await SqliteVault(trial, trial / "backups", new).verify("first")).contents
        assert bool(files_with(trial)) == (not new)
        shutil.rmtree(trial)
        if done:
            break
    assert seen == {old, new}


async def told_what_finishes_it(folder: Path, keys: tuple[str, str]) -> None:
    """Whoever comes with the key that a file does not have, while the note of the change is there."""
    for act, key in product((open_and_close, verified), keys):
        refusal = await refused(act, folder, key)
        if refusal and interrupted(Path(refusal.path).parent):
            assert isinstance(refusal, RekeyUnfinished)
            assert "commonplace rekey" in refusal.remedy


async def refused(act: Callable[[Path, str], Awaitable[object]], folder: Path, key: str) -> StoreFailed | None:
    try:
        await act(folder, key)
    except StoreFailed as refusal:
        return refusal
    return None


async def open_and_close(folder: Path, key: str) -> None:
    await opened(folder, key).close()


async def verified(folder: Path, key: str) -> None:
    await SqliteVault(folder, folder / "backups", key).verify("first")


async def test_a_rekeying_that_is_repeated_after_its_end_changes_nothing(sealed: House, folder: Path) -> None:
    await SqliteVault(folder, folder / "backups", KEY).create("first", NOW)
    await sealed.store.close()
    rekey(folder, folder / "backups", KEY, OTHER)
    before = snapshot(folder)
    assert rekey(folder, folder / "backups", KEY, OTHER).left == {}
    assert rekey(folder, folder / "backups", "", OTHER).left == {}
    assert snapshot(folder) == before


async def test_what_a_killed_backup_left_in_the_clear_goes_with_the_encryption(folder: Path) -> None:
    house = await founded(opened(folder, ""))
    await house.keep_all([f"{SECRET} {number}" for number in range(20)])
    await house.store.close()
    assert not finished(acting(35, "create", folder, "killed"))
    assert files_with(folder / "backups")
    rekey(folder, folder / "backups", "", KEY)
    assert files_with(folder) == []


async def test_what_cannot_be_encrypted_is_named(folder: Path) -> None:
    await (await founded(opened(folder, ""))).store.close()
    vault = SqliteVault(folder, folder / "backups")
    await vault.create("first", NOW)
    await vault.replace("first", NOW)
    (folder / "spaces" / "team").mkdir(parents=True)
    (folder / "spaces" / "team" / "_rules.md").write_text(SECRET)
    shutil.copy(folder / FILE_NAME, folder / "copy.db")
    assert rekey(folder, folder / "backups", "", KEY).left == {}
    named = {one.path.name.partition("-")[0] for one in exposed(folder, folder / "backups")}
    assert named == {"spaces", "damaged", "copy.db"}
    assert {one.name for one in (folder / "backups").glob("*.db")} == {"first.db"}


async def key_of(folder: Path, keys: tuple[str, ...]) -> str:
    for key in keys:
        try:
            await opened(folder, key).close()
        except (KeyNeeded, KeyUnneeded):
            continue
        return key
    raise AssertionError("neither key opens it")
