"""A note as a file: what is known of it above, its text below."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from commonplace.domain.bank import Category
from commonplace.domain.memory import MAX_LABEL_CHARS, MAX_TAGS
from commonplace.domain.space import stamp
from commonplace.domain.unicode import normalised

FENCE = "---"
_NAME = re.compile(r"(\d{8}T\d{6})_(.*)_([a-z]+)_[0-9a-f]{8}\.md\Z", re.DOTALL)
_UNWRITABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_KEY = re.compile(r"\s*([A-Za-z_]+)\s*:(.*)\Z")


@dataclass(frozen=True, slots=True)
class NoteText:
    """A note as its file says it."""

    agent: str
    category: str
    tags: tuple[str, ...]
    at: datetime
    content: str


def written(note: NoteText, space: str) -> str:
    """The file of a note. JSON is YAML: whatever stands in a name or a tag is read back unchanged."""
    lines = {
        "timestamp": stamp(note.at),
        "agent": note.agent,
        "category": note.category,
        "tags": list(note.tags),
        "space_id": space,
    }
    head = "\n".join(f"{key}: {_scalar(value)}" for key, value in lines.items())
    return f"{FENCE}\n{head}\n{FENCE}\n\n{note.content}"


def split(text: str) -> tuple[str, str]:
    """What stands between the fences, and the text below; everything is text where there are none."""
    lines = text.split("\n")
    if lines[0].strip() != FENCE:
        return "", text
    end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == FENCE), 0)
    if not end:
        return "", text
    below = lines[end + 1 :]
    return "\n".join(lines[1:end]), "\n".join(below[1:] if below and not below[0].strip() else below)


def plainly(head: str) -> dict[str, Any]:
    """A head that is no YAML, as it is still understood: a line a value, the first colon after the name."""
    found: dict[str, Any] = {}
    for match in filter(None, map(_KEY.match, head.split("\n"))):
        key, value = match.group(1), match.group(2).strip()
        found[key] = _listed(value) if value.startswith("[") else value.strip("\"'")
    return found


def note_text(name: str, head: Mapping[str, Any], content: str, otherwise: datetime) -> NoteText:
    """What a file says of its note; what it does not say is taken from its name.

    A name or a tag that could not be written here is brought into a form that can: a note is never left out for it.
    """
    match = _NAME.match(name)
    at, agent, category = match.groups() if match else ("", "", "")
    told = _words(head.get("category")) or category
    tags = head.get("tags")
    return NoteText(
        agent=_words(head.get("agent")) or _words(agent),
        category=told if told in set(Category) else Category.OBSERVATION,
        tags=_tags(tags) if isinstance(tags, list) else (),
        at=_moment(head.get("timestamp")) or _moment(at) or otherwise,
        content=content,
    )


def file_name(agent: str, category: str, at: datetime, randomness: bytes) -> str:
    """A name that no other note has; of the agent's name what every file system can hold."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "", agent)[:64] or "agent"
    return f"{at:%Y%m%dT%H%M%S}_{plain}_{category}_{randomness[:4].hex()}.md"


def _scalar(value: object) -> str:
    written = json.dumps(value, ensure_ascii=False)
    # Readers that look for the next fence anywhere must not find one here.
    apart = written.replace("--", "-\\u002d") if FENCE in written else written
    return _UNWRITABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", apart)


def _tags(values: Iterable[object]) -> tuple[str, ...]:
    kept = dict.fromkeys(map(_words, values))
    kept.pop("", None)
    return tuple(kept)[:MAX_TAGS]


def _words(value: object) -> str:
    """A plain value as a label; of lists and objects nothing, for a few aliases in YAML can stand for gigabytes."""
    if value is None or isinstance(value, list | dict | set | tuple | bytes):
        return ""
    sound = str(value).replace("\x00", "").encode(errors="replace").decode()
    return normalised("NFC", sound[: 4 * MAX_LABEL_CHARS]).strip()[:MAX_LABEL_CHARS].strip()


def _listed(value: str) -> list[str]:
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return []
    return [str(one) for one in found] if isinstance(found, list) else []


def _moment(value: object) -> datetime | None:
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(_words(value))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
