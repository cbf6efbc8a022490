"""After a restore no key opens more than it did right before it."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.access import Permission
from commonplace.domain.credential import KEY_DELETED, Credential
from commonplace.domain.doing import Doing
from commonplace.domain.identifiers import CollectionId, CredentialId, UserId
from commonplace.domain.memory import Author
from commonplace.storage.sqlite.backup import SqliteVault
from commonplace.storage.sqlite.carryover import narrowed
from commonplace.storage.sqlite.store import SqliteStore
from tests.storage.keeping import NOW
from tests.storage.samples import House, founded
from tests.storage.test_backups import FINGERPRINT, place, vault

pytestmark = pytest.mark.anyio

__all__ = ["place", "vault"]

DAY = timedelta(days=1)
A, B, C = (CollectionId(name) for name in "abc")
READ, WRITE = frozenset({Permission.READ}), frozenset({Permission.WRITE})
KEY = Credential(CredentialId("k"), UserId("u"), "key", "hash", READ | WRITE, NOW)


async def restored(house: House, vault: SqliteVault, backup: Credential, before: Credential) -> Credential:
    """A key that was `backup` when the backup was made and is `before` when it is put back."""
    await house.store.write(lambda tx: tx.add_credential(replace(backup, user=house.ada)))
    await vault.create("first", NOW)
    await house.store.write(lambda tx: tx.remove_credential(backup.id))
    await house.store.write(lambda tx: tx.add_credential(replace(before, user=house.ada)))
    await vault.restore("first")
    (found,) = await house.store.read(lambda tx: tx.credentials())
    return replace(found, user=KEY.user)


async def test_what_was_taken_from_a_key_stays_taken(house: House, vault: SqliteVault) -> None:
    before = replace(KEY, permissions=READ, collections=(A,), expires_at=NOW + DAY)
    assert await restored(house, vault, KEY, before) == before


async def test_what_a_key_was_given_since_goes(house: House, vault: SqliteVault) -> None:
    backup = replace(KEY, permissions=READ, collections=(A, B), expires_at=NOW + DAY)
    assert await restored(house, vault, backup, KEY) == backup


async def test_a_key_opens_what_it_opened_both_times(house: House, vault: SqliteVault) -> None:
    backup = replace(KEY, collections=(A, B), expires_at=NOW + 3 * DAY)
    before = replace(KEY, collections=(B, C), expires_at=NOW + 2 * DAY)
    expected = replace(KEY, collections=(B,), expires_at=NOW + 2 * DAY)
    assert await restored(house, vault, backup, before) == expected


@pytest.mark.parametrize(
    ("backup", "before"),
    [
        (replace(KEY, permissions=READ), replace(KEY, permissions=WRITE)),
        (replace(KEY, collections=(A,)), replace(KEY, collections=(B,))),
    ],
)
async def test_a_key_that_opens_nothing_both_times_is_revoked(
    house: House, vault: SqliteVault, backup: Credential, before: Credential
) -> None:
    assert (await restored(house, vault, backup, before)).revoked_at == NOW


async def test_a_key_that_was_deleted_stays_closed(house: House, vault: SqliteVault) -> None:
    await house.store.write(lambda tx: tx.add_credential(replace(KEY, user=house.ada)))
    await vault.create("first", NOW)
    await house.store.write(lambda tx: tx.remove_credential(KEY.id))
    await house.store.write(lambda tx: tx.doings.add(Doing(NOW, Author(house.ada, "", "", ""), KEY_DELETED, KEY.id)))
    await vault.restore("first")
    (found,) = await house.store.read(lambda tx: tx.credentials())
    assert found.revoked_at == NOW


async def test_keys_that_a_restore_took_away_open_again_when_it_is_taken_back(house: House, vault: SqliteVault) -> None:
    await vault.create("first", NOW)
    await house.store.write(lambda tx: tx.add_credential(replace(KEY, user=house.ada)))
    await vault.create("second", NOW)
    await vault.restore("first")
    assert not await house.store.read(lambda tx: tx.credentials())
    await vault.restore("second")
    (found,) = await house.store.read(lambda tx: tx.credentials())
    assert found.is_valid(NOW)


async def test_in_a_new_store_the_keys_of_the_backup_open_what_they_did(
    house: House, vault: SqliteVault, place: Path, tmp_path: Path
) -> None:
    await house.store.write(lambda tx: tx.add_credential(replace(KEY, user=house.ada)))
    await house.store.write(lambda tx: tx.set_meta("store", "lost"))
    await vault.create("first", NOW)
    elsewhere = await founded(SqliteStore(tmp_path / "elsewhere", FINGERPRINT))
    await elsewhere.store.write(lambda tx: tx.set_meta("store", "new"))
    await SqliteVault(tmp_path / "elsewhere", place).restore("first")
    (found,) = await elsewhere.store.read(lambda tx: tx.credentials())
    assert found.is_valid(NOW)
    await elsewhere.store.close()


MOMENTS = st.none() | st.integers(0, 9).map(lambda days: NOW + days * DAY)
CREDENTIALS = st.builds(
    replace,
    st.just(KEY),
    permissions=st.frozensets(st.sampled_from(Permission), min_size=1),
    collections=st.none() | st.lists(st.sampled_from([A, B, C]), unique=True).map(tuple),
    expires_at=MOMENTS,
    revoked_at=MOMENTS,
)


def opens(credential: Credential, permission: Permission, collection: CollectionId, at: datetime) -> bool:
    within = credential.collections is None or collection in credential.collections
    return credential.is_valid(at) and permission in credential.permissions and within


@given(CREDENTIALS, CREDENTIALS, st.sampled_from(Permission), st.sampled_from([A, B, C]), st.integers(0, 9))
def test_whatever_it_was_it_opens_what_both_open(
    backup: Credential, before: Credential, permission: Permission, collection: CollectionId, days: int
) -> None:
    at = NOW + days * DAY
    both = opens(backup, permission, collection, at) and opens(before, permission, collection, at)
    found = narrowed(backup, before, NOW)
    assert opens(found, permission, collection, at) == both
    assert found.permissions  # a store cannot keep a key without any
    assert found.collections != () or () in (backup.collections, before.collections) or found.revoked_at
