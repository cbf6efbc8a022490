"""A space's notes, the bank of files they are consolidated into, and a change to that bank."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from commonplace.domain.errors import Invalid
from commonplace.domain.unicode import normalised

MAX_NOTE_CHARS = 100_000
MAX_RULES_CHARS = 50_000
MAX_SYNTHESIS_CHARS = 50_000
MAX_NOTES = 500
"""So many are consolidated at once; the rest waits for the next time."""
MAX_FILES = 100
MAX_FILE_BYTES = 1024 * 1024
MAX_NAME_CHARS = 128
MAX_NAME_BYTES = 240
"""Most file systems end a name at 255 bytes, and one that is being written needs room for a suffix."""

_JOINTS = frozenset("_-. ")
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))})


class Category(StrEnum):
    """What kind of thing a note says."""

    OBSERVATION = "observation"
    DECISION = "decision"
    TODO = "todo"
    INSIGHT = "insight"
    QUESTION = "question"
    PROGRESS = "progress"
    ISSUE = "issue"


class Action(StrEnum):
    """What is to become of a file."""

    CREATE = "create"
    UPDATE = "update"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that an agent wrote down while it worked."""

    filename: str
    agent: str
    category: Category
    tags: tuple[str, ...]
    timestamp: datetime
    content: str


@dataclass(frozen=True, slots=True)
class BankFile:
    """One file of the bank, whole."""

    filename: str
    content: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A file as it is proposed; what is kept needs no content."""

    filename: str
    content: str
    action: Action


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a model, or the filing without one, would make of the bank; not to be trusted before it is checked."""

    files: tuple[Draft, ...]
    synthesis: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A proposal that was checked as a whole: these files are to be written, every other one stays as it is."""

    created: tuple[BankFile, ...]
    updated: tuple[BankFile, ...]
    unchanged: int
    synthesis: str

    @property
    def writes(self) -> tuple[BankFile, ...]:
        return self.created + self.updated


def chronological(notes: Iterable[Note]) -> list[Note]:
    """Oldest first; of one instant, by name."""
    return sorted(notes, key=lambda note: (note.timestamp, note.filename))


def filename(value: str) -> str:
    """A plain name ending in `.md` in its kept form: letters and digits of any script, `_`, `-`, `.` and blanks."""
    name = normalised("NFC", value)
    reason = _shape_refused(name) or _letters_refused(name)
    if reason:
        raise Invalid("filename", reason, value[:MAX_NAME_CHARS])
    return name


def same(name: str) -> str:
    """Equal for names that some file system could take for one another."""
    return normalised("NFC", normalised("NFC", name).casefold())


def _shape_refused(name: str) -> str:
    stem = name.removesuffix(".md")
    if len(name) > MAX_NAME_CHARS or len(name.encode(errors="replace")) > MAX_NAME_BYTES:
        return f"is too long; at most {MAX_NAME_CHARS} characters and {MAX_NAME_BYTES} bytes are allowed"
    if stem == name:
        return "must end in .md"
    if not stem or stem != stem.strip() or stem.startswith("."):
        return "must begin and end with a letter, a digit, `_` or `-`"
    if stem.partition(".")[0].rstrip().casefold() in _DEVICES:
        return "is the name of a device on some systems"
    return ""


def _letters_refused(name: str) -> str:
    strange = next((char for char in name if not _is_allowed(char)), "")
    return f"must not contain {strange!a}; only letters, digits, `_`, `-`, `.` and blanks" if strange else ""


def _is_allowed(char: str) -> bool:
    return char in _JOINTS or unicodedata.category(char)[0] in "LM" or unicodedata.category(char) == "Nd"
