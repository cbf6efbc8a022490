"""Literal search: nothing in what is sought means anything but itself."""

import unicodedata
from collections.abc import Sequence
from typing import Any

from commonplace.domain.unicode import normalised
from commonplace.language.scripts import Script, runs
from commonplace.language.terms import Term

SHORTEST = 3
"""Of a passage that the index of letters can find: it knows every three letters that stand together."""
LONGEST = 200
"""A longer passage is looked up by its beginning and then compared."""

_BY_CHARACTER = frozenset({Script.HAN, Script.KANA, Script.HANGUL, Script.UNSPACED})


def phrase(passage: str) -> str:
    """A passage for the index of letters, composed and decomposed where that differs."""
    begin = passage[:LONGEST]
    forms = dict.fromkeys((begin, normalised("NFC", begin), normalised("NFD", begin)))
    return " OR ".join('"' + form.replace('"', '""') + '"' for form in forms if len(form) >= SHORTEST)


def has_marks(passage: str) -> bool:
    """Whether there is more than one way to write it."""
    return normalised("NFD", passage) != passage or normalised("NFC", passage) != passage


def characters(terms: Sequence[Term], passage: str) -> dict[str, str]:
    """One or two characters of a script without spaces, for the index of words; empty for anything else.

    The term as the index is asked for it, and as it stands among those that are kept.
    """
    if unicodedata.category(passage[0])[0] == "M":  # it may stand behind a letter of any script
        return {}
    if normalised("NFKC", passage) != passage:  # the index of words has another form, and joins parts of syllables
        return {}
    stretches = list(runs(passage, {Script.KANA: Script.HAN}))
    if [run for script, run in stretches if script in _BY_CHARACTER] != [passage] or len(terms) != 1:
        return {}
    sought = terms[0]
    return {"term": f'"{sought.text}"' + "*" * sought.prefix, "word": f" {sought.text}" + " " * (not sought.prefix)}


def patterns(passage: str) -> dict[str, Any]:
    """For LIKE, which itself knows upper and lower case in ASCII only."""
    return {"pattern": _pattern(passage.lower()), "other": _pattern(passage.upper())}


def patterns_mixed(passage: str) -> dict[str, Any]:
    """The same where upper and lower case stand side by side; empty where LIKE itself sees no difference."""
    mixed = [passage[0].upper() + passage[1:].lower(), passage[0].lower() + passage[1:].upper()]
    differs = not passage.isascii() and len(passage) > 1
    return {name: _pattern(one) if differs else "" for name, one in zip(("begun", "ended"), mixed, strict=True)}


def patterns_apart(passage: str) -> dict[str, Any]:
    """The same for texts that write letters and marks apart; empty where that makes no difference."""
    lower, upper = normalised("NFD", passage.lower()), normalised("NFD", passage.upper())
    differs = lower != passage.lower()
    return {"apart": _pattern(lower) if differs else "", "other_apart": _pattern(upper) if differs else ""}


def _pattern(passage: str) -> str:
    escaped = passage.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
