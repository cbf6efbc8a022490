"""Backups of a store that is in use: whole, confined to their folder, and put back under everyone's eyes."""

import os
import shutil
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from commonplace.domain.backup import backup_name
from commonplace.domain.errors import (
    AlreadyExists,
    BackupBroken,
    Invalid,
    NotFound,
    StoreCorrupt,
    StoreFailed,
    StoreFull,
    StoreInUse,
    StoreTooNew,
)
from commonplace.storage.sqlite import migrations
from commonplace.storage.sqlite.backup import SqliteVault
from commonplace.storage.sqlite.copying import inspected
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore
from tests.fakes import Embedder
from tests.storage.disks import leave_free, small_disk
from tests.storage.keeping import NOW
from tests.storage.peer import peers
from tests.storage.samples import House, founded
from tests.storage.test_trouble import largest_file

pytestmark = pytest.mark.anyio

FINGERPRINT = Embedder().fingerprint


@pytest.fixture
def place(folder: Path) -> Path:
    return folder / "backups"


@pytest.fixture
def vault(folder: Path, place: Path) -> SqliteVault:
    return SqliteVault(folder, place)


async def contents(house: House) -> list[str]:
    page = await house.store.read(lambda tx: tx.page(house.all, 10_000))
    return sorted(memory.content for memory in page.memories)


async def kept_in(folder: Path, house: House) -> list[str]:
    """What a process that starts now finds; the file must be sound."""
    store = SqliteStore(folder, FINGERPRINT)
    try:
        assert await store.check() == ""
        return await contents(House(store, house.ada, house.ben, house.home, house.elsewhere, house.common))
    finally:
        await store.close()


def altered(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statement).fetchall()
    connection.close()


# Making


async def test_a_backup_is_one_private_file_that_says_what_it_holds(
    house: House, vault: SqliteVault, place: Path
) -> None:
    await house.keep_all(["one", "two"])
    made = await vault.create("first", NOW)
    assert sorted(file.name for file in place.iterdir()) == ["first.db", "first.json"]
    assert {file.stat().st_mode & 0o777 for file in place.iterdir()} == {0o600}
    assert place.stat().st_mode & 0o777 == 0o700
    assert made.contents
    assert (made.contents.memories, made.contents.events, made.contents.blocks) == (2, 2, 2)
    assert await vault.backups() == [made]
    assert await vault.verify("first") == made


async def test_a_backup_is_of_one_moment_while_several_processes_write(folder: Path, vault: SqliteVault) -> None:
    with peers(folder, "north", "south") as writers:
        for writer in writers:
            writer.tell("write", 150)
        for writer in writers:
            writer.answer()
        made = [await vault.create(f"during-{number}", NOW) for number in range(5)]
        for writer in writers:
            while writer.answer() != "done":
                pass
    held = [(await vault.verify(one.name)).contents for one in made]
    assert all(one and one.memories == one.events == one.blocks for one in held)
    assert sorted(one.events for one in held if one) == [one.events for one in held if one]


async def test_a_name_that_is_taken_is_refused_and_the_first_stays(house: House, vault: SqliteVault) -> None:
    first = await vault.create("same", NOW)
    await house.keep("later")
    with pytest.raises(AlreadyExists):
        await vault.create("same", NOW)
    assert await vault.backups() == [first]


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../out", "a/b", "a\\b", ".hidden", "a..b", "x" * 200, "a\0b", "a\nb", "C:x", "/etc/passwd"]
)
async def test_a_name_never_leads_out_of_the_folder(vault: SqliteVault, name: str) -> None:
    with pytest.raises(Invalid):
        backup_name(name)
    for verb in (vault.verify, vault.restore, vault.remove, vault.has):
        with pytest.raises(Invalid):
            await verb(name)


async def test_a_link_out_of_the_folder_is_not_followed(
    house: House, vault: SqliteVault, place: Path, tmp_path: Path
) -> None:
    await vault.create("real", NOW)
    shutil.move(place / "real.db", tmp_path / "elsewhere.db")
    (place / "linked.db").symlink_to(tmp_path / "elsewhere.db")
    (place / "dangling.db").symlink_to(tmp_path / "nowhere.db")
    assert await vault.backups() == []
    for verb in (vault.verify, vault.restore, vault.remove):
        with pytest.raises(NotFound):
            await verb("linked")
    with pytest.raises(AlreadyExists):
        await vault.create("dangling", NOW)
    assert not (tmp_path / "nowhere.db").exists()


async def test_on_a_full_disk_no_half_backup_is_left(house: House, vault: SqliteVault, place: Path) -> None:
    await house.keep_all([f"text {number} " + "x" * 9000 for number in range(50)])
    with largest_file(200_000), pytest.raises(StoreFailed):
        await vault.create("big", NOW)
    assert list(place.iterdir()) == []
    await house.keep("writing goes on")
    await vault.create("big", NOW)


async def test_where_a_backup_finds_no_room_its_folder_is_named_and_the_cause(house: House, folder: Path) -> None:
    await house.keep_all([f"text {number} " + "x" * 9000 for number in range(50)])
    with small_disk() as disk:
        leave_free(disk, 100_000)
        with pytest.raises(StoreFull, match="No space left on device") as refusal:
            await SqliteVault(folder, disk / "backups").create("big", NOW)
        assert refusal.value.path == str(disk / "backups")


# Verifying


async def test_a_changed_byte_is_noticed(house: House, vault: SqliteVault, place: Path) -> None:
    await house.keep_all(["one", "two"])
    await vault.create("first", NOW)
    data = bytearray((place / "first.db").read_bytes())
    data[-100] ^= 1
    (place / "first.db").write_bytes(data)
    with pytest.raises(BackupBroken, match="checksum"):
        await vault.verify("first")
    with pytest.raises(BackupBroken):
        await vault.restore("first")
    assert await contents(house) == ["one", "two"]


async def test_an_altered_text_is_noticed_even_without_the_manifest(
    house: House, vault: SqliteVault, place: Path
) -> None:
    await house.keep_all(["one", "two"])
    await vault.create("first", NOW)
    (place / "first.json").unlink()
    assert (await vault.verify("first")).sha256 == ""
    altered(place / "first.db", "UPDATE memories SET content = 'three' WHERE number = 2")
    with pytest.raises(BackupBroken, match="altered"):
        await vault.verify("first")


@pytest.mark.parametrize("manifest", ["", "null", "[1]", '{"made_at": 3}', "\udcff"])
async def test_a_manifest_that_cannot_be_read_counts_as_missing(
    house: House, vault: SqliteVault, place: Path, manifest: str
) -> None:
    await vault.create("first", NOW)
    (place / "first.json").write_text(manifest, encoding="utf-8", errors="surrogateescape")
    (backup,) = await vault.backups()
    assert (backup.name, backup.sha256) == ("first", "")


# Putting back


async def test_a_restore_brings_back_what_was_and_takes_away_what_came(house: House, vault: SqliteVault) -> None:
    one = await house.keep("one")
    await house.keep("two")
    await vault.create("first", NOW)
    await house.forget(one)
    await house.keep("three")
    await vault.restore("first")
    assert await contents(house) == ["one", "two"]
    await house.keep("four")
    assert await contents(house) == ["four", "one", "two"]
    query = house.embedder.embed(["one"])[0]
    found = await house.store.read(lambda tx: dict(tx.scan(query, FINGERPRINT, house.ours).best(9)))
    page = await house.store.read(lambda tx: tx.page(house.all, 9))
    assert found.keys() == {memory.number for memory in page.memories}


async def test_a_number_given_away_before_a_restore_is_not_given_again(house: House, vault: SqliteVault) -> None:
    await vault.create("empty", NOW)
    lost = await house.keep("lost")
    await vault.restore("empty")
    assert (await house.keep("new")).number > lost.number


async def test_other_processes_go_on_with_the_restored_state(folder: Path, vault: SqliteVault) -> None:
    with peers(folder, "one", "other") as (one, other):
        for subject in ("lighthouse", "harbour"):
            one.ask("remember", f"the {subject} keeper")
        await vault.create("first", NOW)
        for number in range(5):
            other.ask("remember", f"a storm number {number}")
        assert (one.ask("count"), other.ask("count")) == (7, 7)
        assert "a storm number 3" in listed(one.ask("recall", "storm"))
        await vault.restore("first")
        for peer in (one, other):
            assert peer.ask("count") == 2
            assert all("storm" not in text for text in listed(peer.ask("recall", "storm number")))
            assert listed(peer.ask("recall", "lighthouse keeper"))[0] == "the lighthouse keeper"
        # In the new future the same numbers of events mean other memories.
        for number in range(5):
            one.ask("remember", f"a calm number {number}")
        for peer in (one, other):
            assert peer.ask("count") == 7
            assert listed(peer.ask("recall", "calm number 3"))[0].startswith("a calm")
        other.ask("remember", "both write again")
        assert one.ask("count") == 8


async def test_writers_lose_nothing_that_they_acknowledged_after_a_restore(folder: Path, vault: SqliteVault) -> None:
    with peers(folder, "north", "south") as writers:
        writers[0].ask("remember", "the beginning")
        await vault.create("first", NOW)
        for writer in writers:
            writer.tell("write", 120)
            writer.answer()
        await vault.restore("first")
        for writer in writers:
            while writer.answer() != "done":
                pass
        counts = {writer.ask("count") for writer in writers}
        assert len(counts) == 1
        last = [writer.ask("remember", "the end") for writer in writers]
        assert len(set(map(str, last))) == 2
    store = SqliteStore(folder, FINGERPRINT)
    assert await store.check() == ""
    events = await store.read(lambda tx: tx.events(0, 10_000))
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    await store.close()
    await vault.create("after", NOW)
    assert (await vault.verify("after")).contents


def listed(answer: object) -> list[str]:
    assert isinstance(answer, list)
    return answer


async def test_a_key_that_was_revoked_stays_revoked(house: House, vault: SqliteVault) -> None:
    from commonplace.domain.access import Permission
    from commonplace.domain.credential import Credential
    from commonplace.domain.identifiers import CredentialId

    key = Credential(CredentialId("c"), house.ada, "key", "hash", frozenset({Permission.READ}), NOW)
    await house.store.write(lambda tx: tx.add_credential(key))
    await vault.create("first", NOW)
    await house.store.write(lambda tx: tx.revoke_credential(key.id, NOW + timedelta(days=1)))
    await vault.restore("first")
    (found,) = await house.store.read(lambda tx: tx.credentials())
    assert found.revoked_at == NOW + timedelta(days=1)


async def test_where_what_was_cannot_be_kept_nothing_is_restored_and_writing_goes_on(
    house: House, vault: SqliteVault, place: Path
) -> None:
    await house.keep("one")
    await vault.create("first", NOW)
    await house.keep_all([f"text {number} " + "x" * 9000 for number in range(50)])
    with pytest.raises(AlreadyExists):
        await vault.restore("first", safety="first")
    with largest_file(300_000), pytest.raises(StoreFailed):
        await vault.restore("first", safety="safe")
    await house.keep("two")
    assert len(await contents(house)) == 52
    assert [backup.name for backup in await vault.backups()] == ["first"]


async def test_an_encrypted_store_is_kept_and_restored_under_its_key(folder: Path, place: Path) -> None:
    house = await founded(SqliteStore(folder, FINGERPRINT, "a long enough key"))
    vault = SqliteVault(folder, place, "a long enough key")
    await house.keep("one")
    await vault.create("first", NOW)
    await house.keep("two")
    await vault.restore("first", safety="safe")
    assert await contents(house) == ["one"]
    assert (await vault.verify("safe")).encrypted
    await vault.restore("safe")
    assert await contents(house) == ["one", "two"]
    await house.store.close()


async def test_a_backup_from_a_later_release_is_refused(house: House, vault: SqliteVault, place: Path) -> None:
    await house.keep("one")
    await vault.create("first", NOW)
    (place / "first.json").unlink()
    altered(place / "first.db", f"PRAGMA user_version = {len(migrations.steps()) + 1}")
    with pytest.raises(StoreTooNew):
        await vault.restore("first")
    assert await contents(house) == ["one"]


async def test_a_backup_from_an_earlier_release_is_migrated(house: House, vault: SqliteVault, place: Path) -> None:
    await house.keep("one")
    place.mkdir(mode=0o700)
    earlier = apsw.Connection(str(place / "earlier.db"))
    earlier.execute(migrations.steps()[0]).fetchall()
    earlier.pragma("user_version", 1)
    earlier.pragma("application_id", migrations.APPLICATION_ID)
    earlier.execute("INSERT INTO users VALUES ('u', 'eve', '', 0)")
    earlier.close()
    before = (place / "earlier.db").read_bytes()
    found = await vault.restore("earlier")
    assert found.schema == len(migrations.steps())
    assert (place / "earlier.db").read_bytes() == before
    eve = await house.store.read(lambda tx: tx.user_named("eve"))
    assert eve
    assert await house.store.read(lambda tx: tx.paths.count_orphans(1, house.all)) == 0


async def test_a_store_that_cannot_be_opened_is_replaced_and_its_files_are_set_aside(
    folder: Path, vault: SqliteVault, place: Path
) -> None:
    house = await founded(SqliteStore(folder, FINGERPRINT))
    await house.keep("one")
    await vault.create("first", NOW)
    with pytest.raises(StoreInUse):
        await vault.replace("first", NOW)
    await house.store.close()
    damaged = os.urandom(4096) + (folder / FILE_NAME).read_bytes()[4096:]
    (folder / FILE_NAME).write_bytes(damaged)
    with pytest.raises(StoreCorrupt):
        SqliteStore(folder, FINGERPRINT)
    done = await vault.replace("first", NOW)
    assert (done.aside / FILE_NAME).read_bytes() == damaged
    assert (done.before, done.backup.memories) == (None, 1)
    assert await kept_in(folder, house) == ["one"]


async def test_a_copy_that_is_no_database_is_called_broken(place: Path, vault: SqliteVault) -> None:
    place.mkdir(parents=True)
    (place / "odd.db").write_bytes(b"once upon a time " * 1000)
    with pytest.raises(BackupBroken):
        await vault.verify("odd")
    with pytest.raises(BackupBroken):
        inspected(place / "odd.db", "a key")
