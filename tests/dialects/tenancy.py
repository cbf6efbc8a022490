"""Who may see what of Ann's: a small model beside the program, which knows nothing of how the program decides it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Who(StrEnum):
    """Those who look at what is Ann's."""

    BEN = "ben"
    """Another user."""
    GUEST = "guest"
    """Whoever holds a key of Ann's that opens one atlas."""
    AGENT = "agent"
    """Whoever holds a token that opens some of Ann's spaces."""


@dataclass(eq=False)
class Team:
    """One of Ann's teams. Ben is in it, or not."""

    id: str
    name: str
    about: str
    has_ben: bool = False


@dataclass(eq=False)
class Place:
    """Where texts lie: Ann's own, an atlas, a project, a context, a session, a space."""

    kind: str
    id: str
    secrets: list[str] = field(default_factory=list)
    parent: Place | None = None
    shares: dict[Team, tuple[str, bool]] = field(default_factory=dict)
    """Of an atlas: the right of each team, and whether it goes further down."""
    right: str = ""
    """Of a project or a context: what Ben may do there."""
    guests: set[Team | Who] = field(default_factory=set)
    """Of a context: who may join it."""
    visited: bool = False
    """Of a context: whether Ben was ever in it, and so may have left something there."""
    backups: list[str] = field(default_factory=list)
    ends_at: datetime | None = None

    def line(self) -> Iterator[Place]:
        """It and what it lies in."""
        place: Place | None = self
        while place:
            yield place
            place = place.parent


@dataclass(eq=False)
class Text:
    """A memory of Ann's. Ben may search for the hook; the secrets nobody ever says."""

    id: str
    hook: str
    secrets: list[str]
    place: Place
    block: int | None = None
    tells: frozenset[str] = frozenset()
    """Ids that Ann has written into it, for all who see it."""
    lent_from: Place | None = None
    ends_at: datetime | None = None


@dataclass(eq=False)
class Private:
    """Something of Ann's account."""

    kind: str
    id: str
    secrets: list[str] = field(default_factory=list)


@dataclass
class Presence:
    """What Ann says that she is doing."""

    name: str
    about: str
    target: Text | None
    at: datetime


_RANK = ("", "read", "write", "admin")


@dataclass
class Ledger:
    """All of Ann's, and who may see it at this moment."""

    now: datetime
    home: Place
    teams: list[Team] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    hosted: list[Place] = field(default_factory=list)
    """Places of Ben's, in which Ann is: what she leaves there he sees."""
    texts: list[Text] = field(default_factory=list)
    privates: list[Private] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    """Words and ids that are no more."""
    ann: list[str] = field(default_factory=list)
    """Her id and her name, which those she works with know."""
    presence: Presence | None = None
    opened: Place | None = None
    """The atlas that the guest's key opens."""
    key: list[str] = field(default_factory=list)
    entered: set[Place] = field(default_factory=set)
    """The spaces that the agent's token opens."""
    tokens: dict[str, frozenset[Place]] = field(default_factory=dict)
    """Every token that was ever given, by name, with the spaces it was for; the agent's is the last."""
    governs: bool = False
    """Whether the agent may look at the tokens of its spaces."""
    knows: set[str] = field(default_factory=set)
    """Ids that Ben has written down himself, when he might see them."""
    met: dict[Who, set[str]] = field(default_factory=lambda: {who: set() for who in Who})
    """Everything that someone was allowed to see at some time."""

    # Rights

    def right(self, who: Who, place: Place) -> str:
        """What one may do in a place."""
        if place in self.hosted:
            return "admin" if who is Who.BEN else ""
        if place not in self.places or (place.ends_at and place.ends_at <= self.now):
            return ""
        if who is Who.GUEST:
            return "read" if self.opened and self.opened in place.line() else ""
        if who is Who.AGENT:
            return "write" if place in self.entered else ""
        if place.kind != "atlas":
            return place.right
        given = [
            right
            for above in place.line()
            for team, (right, inherited) in above.shares.items()
            if team.has_ben and (above is place or inherited)
        ]
        return max(given, key=_RANK.index, default="")

    def sees(self, who: Who, text: Text) -> bool:
        lives = text.ends_at is None or self.now < text.ends_at
        return lives and text in self.texts and bool(self.right(who, text.place))

    def seen(self, who: Who) -> list[Text]:
        return [text for text in self.texts if self.sees(who, text)]

    def open_places(self, who: Who) -> list[Place]:
        return [place for place in self.places if self.right(who, place)]

    def invited(self, place: Place) -> bool:
        """Whether Ben may join a context."""
        lasts = place.ends_at is None or self.now < place.ends_at
        named = any(guest is Who.BEN or (isinstance(guest, Team) and guest.has_ben) for guest in place.guests)
        return place.kind == "context" and lasts and named

    # What that comes to

    def granted(self, who: Who) -> set[str]:
        """The words and ids that one may see."""
        words = {word for place in self.open_places(who) for word in (place.id, *place.secrets, *place.backups)}
        words |= {word for text in self.seen(who) for word in (text.id, *text.secrets, *text.tells)}
        if who is Who.GUEST:
            return words | {*self.ann, *self.key}
        if who is Who.AGENT:
            words |= self._governed_tokens()
        if who is Who.BEN:
            words |= {word for place in self.places if self.invited(place) for word in (place.id, *place.secrets)}
            words |= {word for team in self.teams if team.has_ben for word in (team.id, team.name, team.about)}
            words |= {word for team in self.governed() for word in (team.id, team.name)}
            words |= {*self.present()}
        return words | {*self.ann} if words else words

    def _governed_tokens(self) -> set[str]:
        own = [*self.tokens][-1:]
        return {name for name, spaces in self.tokens.items() if self.governs and spaces <= self.entered}.union(own)

    def governed(self) -> set[Team]:
        """The teams of which Ben knows because he decides who shares an atlas."""
        atlases = [place for place in self.places if place.kind == "atlas" and self.right(Who.BEN, place) == "admin"]
        return {team for place in atlases for team in place.shares}

    def present(self) -> list[str]:
        """What Ben may see of what Ann is doing."""
        if self.presence is None or not self.is_near():
            return []
        target = self.presence.target
        shown = target is None or self.sees(Who.BEN, target)
        return [self.presence.name, *([self.presence.about] if shown else [])]

    def is_near(self) -> bool:
        """Whether Ann and Ben share a team or a place; what he has left in a context is such a place."""
        left = any(place.visited for place in self.places if place.ends_at is None or self.now < place.ends_at)
        return left or any(team.has_ben for team in self.teams) or bool(self.open_places(Who.BEN) or self.hosted)

    def everything(self) -> set[str]:
        words = {word for place in self.places for word in (place.id, *place.secrets, *place.backups)}
        words |= {word for text in self.texts for word in (text.id, *text.secrets)}
        words |= {word for team in self.teams for word in (team.id, team.name, team.about)}
        words |= {word for one in self.privates for word in (one.id, *one.secrets)}
        words |= {self.presence.name, self.presence.about} if self.presence else set()
        return words | {*self.retired, *self.ann, *self.key, *self.tokens}

    def forbidden(self, who: Who) -> set[str]:
        """What must stand in no answer."""
        known = self.met[who] if who is Who.BEN else set()
        return self.everything() - self.granted(who) - self.knows - (known & {*self.ann})

    def meet(self) -> None:
        """Note what may be seen now: who has seen it may find its id in the record of what he did and was told."""
        for who in Who:
            self.met[who] |= self.granted(who)

    # Changing

    def retire(self, *words: str) -> None:
        self.retired += words

    def move(self, text: Text, place: Place) -> None:
        text.place, text.lent_from = place, None

    def remove(self, place: Place, heir: Place) -> None:
        """A place is no more; what was lent from it will go home."""
        if place in self.hosted:
            self.hosted.remove(place)
        else:
            self.places.remove(place)
            self.retire(place.id, *place.secrets)
        for text in self.texts:
            if text.place is place:
                self.move(text, heir)
            if text.lent_from is place:
                text.lent_from = self.home

    def give_back(self, context: Place) -> None:
        """A context is over: everything goes where it came from."""
        for text in self.texts:
            if text.place is context:
                self.move(text, text.lent_from or self.home)
        self.remove(context, self.home)

    def ids(self, kind: str) -> list[str]:
        """Everything of a kind."""
        match kind:
            case "memory":
                return [text.id for text in self.texts]
            case "team":
                return [team.id for team in self.teams]
            case "backup":
                return [backup for place in self.places for backup in place.backups]
            case "place":
                return [place.id for place in self.places if place.kind == "session"]
        found = [place.id for place in self.places if place.kind == kind]
        return found or [one.id for one in self.privates if one.kind == kind]
