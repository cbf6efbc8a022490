"""A file that was found outside, and what it says of a space."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from commonplace.domain import limits
from commonplace.domain import space as rule
from commonplace.domain.errors import Invalid
from commonplace.domain.front_matter import NoteText, note_text, plainly, split
from commonplace.domain.memory import MAX_CONTENT_BYTES, Change
from commonplace.domain.space import FileKind, Place, SpaceFile
from commonplace.ports import Prints
from commonplace.ports.files import Held

if TYPE_CHECKING:
    import yaml

BANK = "bank"
"""The category of what a bank's file says, among all other memories."""
SYNTHESIS = "synthesis"
LARGEST = MAX_CONTENT_BYTES + 64 * 1024
"""Bytes of a file that is worth reading: a text as large as a memory may be, and the head of a note."""
TOO_LARGE = "it is larger than 1 MB"
FINDABLE = (FileKind.NOTE, FileKind.BANK, FileKind.SYNTHESIS)
_NULL = "tag:yaml.org,2002:null"
_CATEGORIES = {FileKind.BANK: BANK, FileKind.SYNTHESIS: SYNTHESIS}


@dataclass(frozen=True, slots=True)
class Found:
    """A file that was read somewhere."""

    path: str
    held: Held

    @property
    def space(self) -> str:
        return self.path.partition("/")[0]

    @property
    def is_meta(self) -> bool:
        return self.path == f"{self.space}/{rule.META}"

    @property
    def digest(self) -> str:
        return digest(self.held.data)


@dataclass(frozen=True, slots=True)
class Understood:
    """A file of a space, taken apart; with what a search finds it by, once that is known."""

    found: Found
    place: Place
    note: NoteText
    prints: Prints | None = None

    @property
    def is_findable(self) -> bool:
        """Whether it says something, and so is a memory."""
        try:
            return self.place.kind in FINDABLE and bool(limits.content(self.note.content))
        except Invalid:
            return False

    def is_said_by(self, known: SpaceFile) -> bool:
        """Whether what is here is what the file says."""
        note = self.note
        if self.place.kind is not FileKind.NOTE:
            return known.content == note.content
        ours = (known.content, known.tags, known.category or note.category, known.agent, rule.stamp(known.at))
        return ours == (note.content, note.tags, note.category, note.agent, rule.stamp(note.at))

    def change_of(self, known: SpaceFile) -> Change:
        """What makes of the memory that is here what the file says."""
        note = self.note
        return Change(
            content=note.content if note.content != known.content else None,
            tags=note.tags if note.tags != known.tags else None,
            category=note.category if note.category != known.category else None,
        )


def understood(found: Found) -> Understood | str | None:
    """What a file says, or why that cannot be told; None where it is no file of a space."""
    place = rule.file_place(found.path)
    if place is None:
        return None
    try:
        text = limits.text("file", found.held.data.decode("utf-8-sig"))
    except (UnicodeDecodeError, Invalid):
        return f"{found.path}: it is no text in UTF-8"
    note = _note(place, text, found.held.modified)
    if len(note.content.encode()) > MAX_CONTENT_BYTES:
        return f"{found.path}: {TOO_LARGE}"
    return Understood(found, place, note)


def _note(place: Place, text: str, modified: datetime) -> NoteText:
    """A note has a head, anything else is all text."""
    if place.kind is not FileKind.NOTE:
        return NoteText("", _CATEGORIES.get(place.kind, ""), (), modified, text)
    head, content = split(text)
    return note_text(place.name, _head(head), content, modified)


def _head(text: str) -> Mapping[str, Any]:
    import yaml

    try:
        found = yaml.load(text, _loader())  # noqa: S506 -- it builds less than safe_load
    except (yaml.YAMLError, RecursionError):
        found = None
    return found if isinstance(found, dict) else plainly(text)


@cache
def _loader() -> type[yaml.BaseLoader]:
    """Makes texts, lists, mappings and None, and nothing else.

    Whoever wrote it may have called a value what it is not (`!!int ''`), and what looks like one may be a name (`no`).
    """
    import yaml

    class Plain(yaml.BaseLoader):  # type: ignore[misc]
        pass

    Plain.add_implicit_resolver(_NULL, re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""])
    Plain.add_constructor(_NULL, lambda loader, node: None)
    return Plain


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def json_object(data: bytes) -> dict[str, Any] | None:
    """None for what is none, or could not be written as JSON again."""
    try:
        found = json.loads(data, parse_constant=lambda _: None)
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def token_entries(data: bytes) -> list[dict[str, Any]] | None:
    """The entries of a registry of tokens; None for what is none."""
    entries = (json_object(data) or {}).get("tokens")
    return [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else None


def moment(value: object, otherwise: datetime) -> datetime:
    try:
        found = datetime.fromisoformat(str(value))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return otherwise
