"""What users hold, kept at hand for as long as nobody's rights change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from commonplace.domain.access import Holding
from commonplace.domain.identifiers import UserId

MOST_USERS = 128


class Held:
    """Every call asks what its user holds, and may do so several times; to look it up takes long where that is much.

    What was found counts while the mark in the file is the one it was found under. The file itself changes the mark
    with every change to grants, teams and collections, whoever makes it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[UserId, tuple[int, Sequence[Holding]]] = OrderedDict()

    def of(self, user: UserId, mark: int, look: Callable[[], Sequence[Holding]]) -> Sequence[Holding]:
        """What a user holds under this mark; looked up in the same view of the file that the mark is from."""
        with self._lock:
            known = self._known.get(user)
            if known and known[0] == mark:
                self._known.move_to_end(user)
                return known[1]
        found = tuple(look())
        with self._lock:
            self._known[user] = (mark, found)
            self._known.move_to_end(user)
            if len(self._known) > MOST_USERS:
                self._known.popitem(last=False)
        return found
