"""What stands in full text for a memory: the terms of its text, then those of its tags and categories."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import apsw

from commonplace.language.terms import terms
from commonplace.storage.sqlite.queries import queries

BATCH = 8
"""Memories that are written anew in one transaction. Whoever wants to write meanwhile waits for it: each takes a
millisecond or two, because every term of its text is taken out of the index and put back."""
_BREAK = "\n"
"""Between the two, so that either is written anew without the other. Full text takes it for a blank."""


def wording(text: str, labels: Iterable[str]) -> str:
    """The terms of a text with those that its labels have more.

    What stands in the text already is not repeated: a label says that a memory is about something, not how often.
    """
    named = dict.fromkeys(term for label in labels for term in terms(label))
    if not named:
        return text
    said = set(text.split(" "))
    more = [term for term in named if term not in said]
    return f"{text}{_BREAK}{' '.join(more)}" if more else text


def put_words(connection: apsw.Connection, number: int, text: str | None = None) -> None:
    """Write what full text has of a memory as its row, tags and categories are now; of its text these terms, if given.

    The terms of a text that is as it was are taken from where they stand: to make them again may take long.
    """
    new = _anew(connection, number, text)
    _put(connection, {} if new is None else {number: new})


def is_behind(connection: apsw.Connection) -> bool:
    """Whether there are memories whose tags and categories may be missing in full text."""
    return bool(connection.execute(queries()["is_behind"]).get)


def catch_up(connection: apsw.Connection) -> bool:
    """Some of them; whether there were any. In one transaction with the list: a kill leaves them to whoever is next."""
    waiting = sorted(row[0] for row in connection.execute(queries()["unworded"], {"limit": BATCH}))
    found = {number: _anew(connection, number) for number in waiting}
    _put(connection, {number: new for number, new in found.items() if new is not None})
    connection.executemany(queries()["clear_unworded"], ((number,) for number in waiting))
    return bool(waiting)


def _anew(connection: apsw.Connection, number: int, text: str | None = None) -> str | None:
    """What is to be written of a memory; None where it is written already, or the memory is gone."""
    row = connection.execute(queries()["wording"], {"number": number}).fetchone()
    if row is None:
        return None
    kept, content, category, labels = row
    if text is None:
        text = " ".join(terms(content)) if kept is None else kept.partition(_BREAK)[0]
    new = wording(text, (*json.loads(labels), category))
    return None if new == kept else new


def _put(connection: apsw.Connection, words: Mapping[int, str]) -> None:
    """First all are taken away, then all are put: for one after the other FTS5 would make a piece each."""
    connection.executemany(queries()["clear_words"], ({"number": number} for number in words))
    connection.executemany(queries()["add_words"], ({"number": n, "terms": new} for n, new in words.items()))
