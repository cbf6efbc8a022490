"""What a caller asked for and does not get: his own doing, or another's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.domain.errors.root import CommonplaceError

_MOST_NAMED = 5


def _named(names: Sequence[str]) -> str:
    """The first of them; the others are counted."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(map(repr, names[:_MOST_NAMED])) + more


@dataclass(eq=False)
class NotFound(CommonplaceError):
    """There is no such thing, or the caller may not know that there is."""

    what: str
    name: str
    advice: str = ""

    @property
    def message(self) -> str:
        return f"no {self.what} {self.name!r}" + (f"; {self.advice}" if self.advice else "")


@dataclass(eq=False)
class NotCarried(NotFound):
    """The place that a memory from elsewhere belongs to is neither here nor among what was brought with it."""

    @property
    def remedy(self) -> str:
        known = "if it is here, ask its owner to let you in; if not, "
        return (
            f"{known}create it and put its id into the data, or import json, which brings projects and sessions along"
        )


@dataclass(eq=False)
class Invalid(CommonplaceError):
    """A value that cannot be accepted: which, and why."""

    field: str
    reason: str
    value: Any = None
    also: tuple["Invalid", ...] = ()
    """What else of the same call cannot be accepted."""

    @property
    def message(self) -> str:
        return "; ".join([f"{self.field}: {self.reason}", *(other.message for other in self.also)])


@dataclass(eq=False)
class NoField(Invalid):
    """A name that is no field of what is written here; and those that are."""

    known: Sequence[str] = ()

    @property
    def remedy(self) -> str:
        return f"the fields are {', '.join(self.known)}"


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one entry of what was brought; 0 stands for the whole."""

    line: int
    error: CommonplaceError
    element: int = 0
    """Of the whole: which of its ties or places, from 1; 0 where it is none of them."""


@dataclass(eq=False)
class BundleRefused(Invalid):
    """Memories from elsewhere of which none was taken, because of what is wrong with some."""

    faults: Sequence[Fault] = ()

    @property
    def denied(self) -> bool:
        """Whether it could be taken as it is from someone with more rights."""
        return all(isinstance(fault.error, Forbidden) for fault in self.faults)


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
        """What is needed is a permission of the credential, a right on a place, or the credential as a whole."""
        where, place, right = self.needs.partition(":")
        if where == "global":
            return "use a credential that has 'admin': what is everyone's is written by administrators"
        if place:
            return f"ask who owns that place for the right {right!r}"
        if self.needs == "account":
            return "use a key that is not limited to some places"
        return f"use a credential that has {self.needs!r}"


@dataclass(eq=False)
class NoneDeleted(CommonplaceError):
    """Several were to be deleted, and not one could be: which the caller does not see, which he may not delete."""

    missing: tuple[str, ...]
    denied: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        parts = (("not yours to delete", self.denied), ("not found", self.missing))
        return "nothing was deleted: " + "; ".join(f"{why}: {_named(ids)}" for why, ids in parts if ids)

    @property
    def remedy(self) -> str:
        parts = (("ask the author or the owner of that place", self.denied), ("search for the id", self.missing))
        return "; ".join(remedy for remedy, ids in parts if ids)


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
    """No credential, or one that was shown and is unknown, revoked or expired: which of these three is not told."""

    shown: bool = False

    @property
    def message(self) -> str:
        return "the credential is not valid" if self.shown else "a valid credential is needed"

    @property
    def remedy(self) -> str:
        if self.shown:
            return (
                "it is unknown, revoked or expired; `commonplace keys create NAME`, with the --data-dir of the server "
                "where it has one, makes a new one"
            )
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
    advice: str = ""

    @property
    def message(self) -> str:
        return f"{self.what} {self.name!r} exists already" + (f"; {self.advice}" if self.advice else "")


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

    open: tuple[tuple[str, str], ...] = ()
    """Those that the caller could choose: the id and the name of each."""

    @property
    def message(self) -> str:
        return "there is no current session"

    @property
    def remedy(self) -> str:
        return "make one with create_session, choose one with switch_session, or name one with session_id"


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
