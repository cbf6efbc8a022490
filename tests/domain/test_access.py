from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.access import ALL_PERMISSIONS, Actor, Holding, Permission, Right, reach, require
from commonplace.domain.errors import Forbidden
from commonplace.domain.identifiers import CollectionId, UserId

ANN, BOB = UserId("ann"), UserId("bob")
GLOBAL = Holding(1, CollectionId("g"), "global", None, None)
ANNS = Holding(2, CollectionId("a"), "user", ANN, None)
BOBS = Holding(3, CollectionId("b"), "user", BOB, None)


def actor(*permissions: Permission, limited_to: frozenset[CollectionId] | None = None) -> Actor:
    return Actor(ANN, "key", frozenset(permissions), ZoneInfo("UTC"), limited_to=limited_to)


def project(granted: Right | None) -> Holding:
    return Holding(4, CollectionId("p"), "project", BOB, granted)


def test_everyone_reads_what_is_global_and_administrators_write_it() -> None:
    assert reach(actor(Permission.READ), Right.READ, [GLOBAL]) == {1}
    assert reach(actor(Permission.READ, Permission.WRITE), Right.WRITE, [GLOBAL]) == frozenset()
    assert reach(actor(*ALL_PERMISSIONS), Right.WRITE, [GLOBAL]) == {1}


def test_a_user_reaches_his_own_and_nobody_elses() -> None:
    assert reach(actor(*ALL_PERMISSIONS), Right.READ, [ANNS, BOBS]) == {2}
    assert reach(actor(*ALL_PERMISSIONS), Right.WRITE, [ANNS, BOBS]) == {2}


def test_a_grant_includes_the_lesser_rights() -> None:
    everything = actor(*ALL_PERMISSIONS)
    assert reach(everything, Right.READ, [project(Right.WRITE)]) == {4}
    assert reach(everything, Right.WRITE, [project(Right.READ)]) == frozenset()
    assert reach(everything, Right.ADMIN, [project(Right.ADMIN)]) == {4}
    assert reach(everything, Right.READ, [project(None)]) == frozenset()


def test_a_credential_limited_to_collections_reaches_no_others() -> None:
    limited = actor(*ALL_PERMISSIONS, limited_to=frozenset({CollectionId("p")}))
    assert reach(limited, Right.READ, [GLOBAL, ANNS, project(Right.READ)]) == {4}


def test_a_missing_permission_is_named() -> None:
    with pytest.raises(Forbidden) as refusal:
        require(actor(Permission.READ).through("creo.forget"), Permission.WRITE)
    assert refusal.value.needs == "write"
    assert "creo.forget" in str(refusal.value)


@given(
    st.sets(st.sampled_from(Permission)),
    st.sampled_from(Right),
    st.sampled_from([None, *Right]),
    st.sampled_from(["user", "project", "session"]),
)
def test_without_the_permission_or_a_claim_nothing_is_reached(
    permissions: set[Permission], right: Right, granted: Right | None, domain: str
) -> None:
    theirs = Holding(9, CollectionId("x"), domain, BOB, granted)
    reached = reach(actor(*permissions), right, [theirs])
    if right.value not in permissions or granted is None:
        assert reached == frozenset()
