"""Everything that can go wrong, as one tree. An error carries facts; dialects and transports phrase it, once."""

from dataclasses import dataclass
from typing import Any


class CommonplaceError(Exception):
    """The root: every refusal and failure a caller may be told about."""

    def __str__(self) -> str:
        return self.message

    @property
    def message(self) -> str:
        """What happened, in one sentence."""
        return type(self).__name__

    @property
    def remedy(self) -> str:
        """What the caller can do about it; empty where there is nothing to do."""
        return ""


@dataclass(eq=False)
class NotFound(CommonplaceError):
    """There is no such thing, or the caller may not know that there is."""

    what: str
    name: str

    @property
    def message(self) -> str:
        return f"no {self.what} {self.name!r}"


@dataclass(eq=False)
class Invalid(CommonplaceError):
    """A value that cannot be accepted: which, and why."""

    field: str
    reason: str
    value: Any = None

    @property
    def message(self) -> str:
        return f"{self.field}: {self.reason}"


@dataclass(eq=False)
class Forbidden(CommonplaceError):
    """The caller lacks a permission."""

    needs: str
    act: str

    @property
    def message(self) -> str:
        return f"{self.act} needs the permission {self.needs!r}"

    @property
    def remedy(self) -> str:
        return f"use a credential that has {self.needs!r}"


@dataclass(eq=False)
class NotTheAuthor(Forbidden):
    """Something that only the author of a memory, or who owns the place it is in, may do."""

    @property
    def message(self) -> str:
        return f"{self.act} is for its author and the owner of that place"

    @property
    def remedy(self) -> str:
        return "ask one of them"


@dataclass(eq=False)
class ReadOnly(Forbidden):
    """The server only reads, whoever asks."""

    @property
    def message(self) -> str:
        return f"{self.act} changes what is stored, and this server only reads"

    @property
    def remedy(self) -> str:
        return "ask a server that was not started with --read-only"


@dataclass(eq=False)
class Unauthenticated(CommonplaceError):
    """No credential, or one that is unknown, revoked or expired: which of these is not told."""

    @property
    def message(self) -> str:
        return "a valid credential is needed"

    @property
    def remedy(self) -> str:
        return "send it as `Authorization: Bearer KEY` or `X-API-Key: KEY`; `commonplace keys create NAME` makes one"


@dataclass(eq=False)
class Conflict(CommonplaceError):
    """The thing changed between reading and writing."""

    what: str
    name: str

    @property
    def message(self) -> str:
        return f"{self.what} {self.name!r} was changed by someone else"

    @property
    def remedy(self) -> str:
        return "read it again and repeat the change"


@dataclass(eq=False)
class AlreadyExists(CommonplaceError):
    """A name that must be unique is taken."""

    what: str
    name: str

    @property
    def message(self) -> str:
        return f"{self.what} {self.name!r} exists already"


@dataclass(eq=False)
class Unseen(CommonplaceError):
    """A change to something that the caller has not looked at, or not since it was changed."""

    what: str
    name: str
    changed: bool

    @property
    def message(self) -> str:
        why = "has changed since you read it" if self.changed else "was not read in this session"
        return f"{self.what} {self.name!r} {why}"

    @property
    def remedy(self) -> str:
        return "read it, then repeat the change"


@dataclass(eq=False)
class SessionRequired(CommonplaceError):
    """Something is to happen in a session, and there is none."""

    @property
    def message(self) -> str:
        return "there is no current session"

    @property
    def remedy(self) -> str:
        return "name one with session_id, or make one with create_session"


@dataclass(eq=False)
class Stranding(CommonplaceError):
    """A removal that would leave others without any path."""

    name: str
    stranded: tuple[str, ...]
    more: int = 0

    @property
    def message(self) -> str:
        more = f" and {self.more} more" if self.more else ""
        return f"{self.name!r} has children that would be left without any path: {', '.join(self.stranded)}{more}"

    @property
    def remedy(self) -> str:
        return "delete them first, or give them another path"


@dataclass(eq=False)
class Circular(CommonplaceError):
    """A path that would lead from a memory back to itself."""

    name: str
    target: str

    @property
    def message(self) -> str:
        return f"{self.name!r} would lie below {self.target!r} itself: the tree would run in a circle"

    @property
    def remedy(self) -> str:
        return "choose a place that is not below the target"


@dataclass(eq=False)
class ChainBroken(CommonplaceError):
    """The tamper-evident chain does not add up at a block."""

    index: int
    reason: str

    @property
    def message(self) -> str:
        return f"block {self.index}: {self.reason}"


@dataclass(eq=False)
class EmbeddingFailed(CommonplaceError):
    """The active embedder could not turn text into vectors."""

    embedder: str
    reason: str

    @property
    def message(self) -> str:
        return f"embedder {self.embedder} failed: {self.reason}"


@dataclass(eq=False)
class StoreFailed(CommonplaceError):
    """The store could not do its work; what was acknowledged before is safe."""

    path: str
    reason: str

    @property
    def message(self) -> str:
        return f"the store at {self.path} failed: {self.reason}"

    @property
    def remedy(self) -> str:
        return "see the server's log; nothing acknowledged was lost"


@dataclass(eq=False)
class StoreFull(StoreFailed):
    """No space is left for a write."""

    @property
    def remedy(self) -> str:
        return "free some space on that disk and repeat; nothing was lost and reading goes on"


@dataclass(eq=False)
class StoreGone(StoreFailed):
    """The file is no longer where it was."""

    @property
    def remedy(self) -> str:
        return "put the folder back, or restart the server to begin a new one there; this change was not kept"


@dataclass(eq=False)
class StoreReadOnly(StoreFailed):
    """The store can be read but not written."""

    @property
    def remedy(self) -> str:
        return "make the folder writable for this user, or choose another with --data-dir; reading goes on"


@dataclass(eq=False)
class StoreCorrupt(StoreFailed):
    """The file is not a sound store."""

    @property
    def remedy(self) -> str:
        return "stop all servers, keep a copy of the folder, and put back the latest backup; nothing was changed"


@dataclass(eq=False)
class StoreTooNew(StoreFailed):
    """The file was written by a later release."""

    @property
    def remedy(self) -> str:
        return "upgrade commonplace, or choose another folder with --data-dir; nothing was changed"


@dataclass(eq=False)
class StoreBusy(StoreFailed):
    """Another process held the store for longer than a caller should wait."""

    @property
    def remedy(self) -> str:
        return "repeat in a moment; nothing was written"


@dataclass(eq=False)
class StoreInUse(StoreFailed):
    """Another process has the folder open, and what was asked needs it alone."""

    @property
    def remedy(self) -> str:
        return "stop every server and command on this folder, then repeat; nothing was changed"


@dataclass(eq=False)
class KeyNeeded(StoreFailed):
    """The file is encrypted, and there is no key or a wrong one."""

    @property
    def remedy(self) -> str:
        return (
            "set COMMONPLACE_ENCRYPTION_KEY, or name a file with --encryption-key-file: the key it was encrypted with; "
            "nothing was changed"
        )


@dataclass(eq=False)
class KeyUnneeded(StoreFailed):
    """A key is set, and the file is not encrypted."""

    @property
    def remedy(self) -> str:
        return (
            "to encrypt it, move the key to COMMONPLACE_NEW_ENCRYPTION_KEY and run `commonplace rekey`; "
            "to leave it as it is, unset the key; nothing was changed"
        )


@dataclass(eq=False)
class BackupBroken(StoreFailed):
    """A backup is not what was written, or never was whole."""

    @property
    def message(self) -> str:
        return f"the backup {self.path} cannot be relied on: {self.reason}"

    @property
    def remedy(self) -> str:
        return "use another one (`commonplace backups`) and look at the disk it is on; the store was not changed"


@dataclass(eq=False)
class FilesFailed(CommonplaceError):
    """The folder or bucket where files are kept could not do its work; no file is half written."""

    location: str
    reason: str

    @property
    def message(self) -> str:
        return f"the files at {self.location} failed: {self.reason}"

    @property
    def remedy(self) -> str:
        return "see that the place can be reached and written with the credentials that are set, then repeat"


@dataclass(eq=False)
class PlanRefused(CommonplaceError):
    """What was proposed for a bank may not be written: why, so that the proposer can do better."""

    reason: str

    @property
    def message(self) -> str:
        return f"the plan for the bank was refused: {self.reason}"

    @property
    def remedy(self) -> str:
        return "consolidate again; notes and bank are as they were"


@dataclass(eq=False)
class ModelFailed(CommonplaceError):
    """A language model did not answer, or not with anything that can be used."""

    model: str
    reason: str

    @property
    def message(self) -> str:
        return f"the model {self.model} failed: {self.reason}"

    @property
    def remedy(self) -> str:
        return "see that its endpoint is up and the settings name it rightly, then repeat; nothing was changed"


@dataclass(eq=False)
class SpaceForbidden(Forbidden):
    """A credential that opens some spaces, and another one is named: whether there is such a space is not told."""

    space: str = ""

    @property
    def message(self) -> str:
        return f"this credential does not open the space {self.space!r}"

    @property
    def remedy(self) -> str:
        return "ask an administrator to add the space to it"


@dataclass(eq=False)
class Busy(CommonplaceError):
    """Something that happens once at a time is happening already."""

    what: str
    name: str

    @property
    def message(self) -> str:
        return f"{self.what} of {self.name!r} is under way already"

    @property
    def remedy(self) -> str:
        return "wait for its end and repeat"
