"""Taking a credential away with all that was made with it: whoever stole one may have made himself others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.domain.access import Actor
from commonplace.domain.credential import Credential, made_with
from commonplace.domain.identifiers import CredentialId
from commonplace.domain.space import TOKENS
from commonplace.ports import Reading, Transaction

TOKEN = "token"  # noqa: S105  (what it is called is no secret)
"""What a credential is called that a registry of tokens lists."""
ALONG = "revoked with what it was made with"
"""In the audit trail, for each that goes along."""


@dataclass(frozen=True, slots=True)
class Revoked:
    """What opens nothing from now on."""

    credential: Credential
    along: tuple[Credential, ...] = ()
    """What was made with it, and with that, and was valid until now."""


def along_with(tx: Reading, credential: CredentialId, now: datetime) -> Sequence[Credential]:
    """What would go with it."""
    return [one for one in made_with(tx.credentials(), credential) if one.is_valid(now)]


def revoke_in(tx: Transaction, actor: Actor, credential: Credential, now: datetime, *, alone: bool = False) -> Revoked:
    """Its own end is for the caller to note; that of those that go along is noted here."""
    along = () if alone else along_with(tx, credential.id, now)
    for one in (credential, *along):
        tx.revoke_credential(one.id, now)
    for one in along:
        tx.doings.note(actor, now, ALONG, one.id)
    if any(one.kind == TOKEN for one in (credential, *along)):
        tx.spaces.mark(TOKENS)  # others read there which tokens hold
    return Revoked(credential, tuple(along))
