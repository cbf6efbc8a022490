"""What each session has seen, so that nobody changes a text without knowing it."""

from __future__ import annotations

from collections import OrderedDict

from commonplace.domain.access import Actor
from commonplace.domain.errors import Unseen
from commonplace.domain.memory import Memory

MOST_SESSIONS = 1000
MOST_MEMORIES = 10_000
"""A session that has read more than this is asked to read the oldest again."""

_Key = tuple[str, str, str]


class Sight:
    """The version of each memory that a session saw last.

    Kept by the process: after a restart a session is asked to read again, which costs a call and loses nothing.
    """

    def __init__(self) -> None:
        self._sessions: OrderedDict[_Key, OrderedDict[int, int]] = OrderedDict()

    def saw(self, actor: Actor, memory: Memory) -> None:
        seen = self._sessions.setdefault(_key(actor), OrderedDict())
        self._sessions.move_to_end(_key(actor))
        seen[memory.number] = memory.version
        seen.move_to_end(memory.number)
        if len(seen) > MOST_MEMORIES:
            seen.popitem(last=False)
        if len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)

    def require(self, actor: Actor, memory: Memory, name: str) -> None:
        """Unseen, unless the session has seen the memory as it is now."""
        seen = self._sessions.get(_key(actor))
        version = seen.get(memory.number) if seen else None
        if version != memory.version:
            raise Unseen("memory", name, changed=version is not None)


def _key(actor: Actor) -> _Key:
    return (actor.user, actor.credential_id or actor.credential, actor.session)
