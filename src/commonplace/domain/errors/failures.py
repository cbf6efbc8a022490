"""What the world did not do: the store, the files, the models."""

from dataclasses import dataclass, field
from typing import ClassVar

from commonplace.domain.errors.root import CommonplaceError


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
class TextRefused(EmbeddingFailed):
    """The embedder is well and takes others, but not this text: to ask again would change nothing."""

    @property
    def message(self) -> str:
        return f"embedder {self.embedder} refuses the text: {self.reason}"


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
class StoreFullAtStart(StoreFull):
    """No space was left when the store was opened, and since then it is only read."""

    @property
    def remedy(self) -> str:
        return "free some space on that disk and restart the server; nothing was lost and reading goes on"


@dataclass(eq=False)
class StoreUnopened(StoreFull):
    """No space is left to begin a store, or to bring one of an earlier release up to date."""

    @property
    def remedy(self) -> str:
        return (
            "free some space on that disk and start again, or choose another folder with --data-dir; "
            "until then nothing can be read or written here"
        )


@dataclass(eq=False)
class StoreGone(StoreFailed):
    """The file is no longer where it was."""

    @property
    def remedy(self) -> str:
        return "put the folder back, or restart the server to begin a new one there; this change was not kept"


@dataclass(eq=False)
class StoreNowhere(StoreFailed):
    """There can be no folder where the store is to be."""

    @property
    def remedy(self) -> str:
        return "choose another folder (--data-dir, --backup-dir): this one cannot be made; nothing was changed"


@dataclass(eq=False)
class StoreReadOnly(StoreFailed):
    """The store can be read but not written."""

    @property
    def remedy(self) -> str:
        return "make the folder writable for this user, or choose another with --data-dir; reading goes on"


@dataclass(eq=False)
class StoreCorrupt(StoreFailed):
    """The file is not a sound store."""

    backup: str = field(default="", kw_only=True)
    """The latest that can be put back, where it is known."""

    @property
    def remedy(self) -> str:
        if self.backup:
            restore = f"`commonplace restore {self.backup} --yes`, which keeps the damaged files"
            return f"stop all servers and put back the latest backup: {restore}; nothing was changed"
        return (
            "stop all servers and put back the latest backup: `commonplace backups` lists them, `commonplace restore "
            "NAME --yes` puts one back and keeps the damaged files; nothing was changed"
        )


@dataclass(eq=False)
class StoreForeign(StoreFailed):
    """The file is a database of another program."""

    @property
    def remedy(self) -> str:
        return "choose another folder with --data-dir, or move that file away; it was not changed"


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

    backup: str = field(default="", kw_only=True)
    """One that the key does open, so that it may be the file that is wrong."""

    @property
    def remedy(self) -> str:
        known = (
            "set COMMONPLACE_ENCRYPTION_KEY, or name a file with --encryption-key-file: the key it was encrypted with; "
            "nothing was changed"
        )
        if not self.backup:
            return known
        return (
            f"the key opens the backup {self.backup}: if the file was not given another key since, it is damaged; then "
            f"move it and the others commonplace.db* away and `commonplace restore {self.backup} --yes`. Else {known}"
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
class RekeyUnfinished(KeyNeeded):
    """A change of keys was interrupted: some files have the former key, some the new one."""

    way: str

    WAYS: ClassVar[dict[str, str]] = {
        "on": "`commonplace rekey` with the same new key in COMMONPLACE_NEW_ENCRYPTION_KEY (or --new-key-file), and "
        "none in COMMONPLACE_ENCRYPTION_KEY",
        "over": "`commonplace rekey` with the former key in COMMONPLACE_ENCRYPTION_KEY and the new one in "
        "COMMONPLACE_NEW_ENCRYPTION_KEY (or their files)",
        "off": "`commonplace rekey --remove` with the former key in COMMONPLACE_ENCRYPTION_KEY (or its file)",
    }
    """What finishes it, however far it has come."""

    @property
    def message(self) -> str:
        return f"a `rekey` was interrupted, and {self.path} cannot be relied on to have this key: {self.reason}"

    @property
    def remedy(self) -> str:
        return f"finish it: {self.WAYS[self.way]}; nothing was lost"


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
