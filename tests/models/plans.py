"""What a model that consolidates may answer: well, badly, and with bad intent."""

import json
from typing import Any

from tests.models.stand_in import saying


def plan(*files: tuple[str, str] | tuple[str, str, str], synthesis: str = "What is left.") -> str:
    """One JSON object; a file is to be updated unless it says otherwise."""
    named = [(*file, "update")[:3] for file in files]
    listed = [{"filename": name, "content": content, "action": action} for name, content, action in named]
    return json.dumps({"bank_files": listed, "synthesis": synthesis})


def filing(body: Any) -> Any:
    """A model that does as it is told: every note goes to the end of progress.md."""
    data = blocks(body)
    bank = {file["filename"]: file["content"] for file in data["bank"]}
    text = bank.get("progress.md", "# Progress\n") + "".join(f"- {note['content']}\n" for note in data["notes"])
    return saying(plan(("progress.md", text), synthesis=f"{len(data['notes'])} notes"))


def blocks(body: Any) -> dict[str, Any]:
    """What stands between the lines of a question, by name. Nothing but such blocks may be in it."""
    system, user = (message["content"] for message in body["messages"])
    boundary = user.partition(" ")[0]
    assert boundary in system
    lines, found = user.splitlines(), dict[str, Any]()
    while lines and lines[0].startswith(f"{boundary} "):
        begin, data, end = lines[:3]
        name = begin.split()[1]
        assert (begin, end) == (f"{boundary} {name} begins", f"{boundary} {name} ends")
        found[name] = json.loads(data)
        lines = lines[3:]
    assert not lines or "refusal" in found
    return found


LONG = "# Progress\n\n" + "A line that took a day to find out.\n" * 20
HOSTILE = {
    "above": plan(("../x.md", "out")),
    "absolute": plan(("/etc/passwd", "root")),
    "absolute markdown": plan(("/etc/passwd.md", "root")),
    "through": plan(("bank/../../y.md", "out")),
    "NUL in a name": plan(("a\x00.md", "out")),
    "backslash": plan(("..\\x.md", "out")),
    "no markdown": plan(("x.sh", "rm")),
    "hidden": plan((".md", "out")),
    "rules": plan(("../_rules.md", "mine")),
    "device": plan(("con.md", "out")),
    "emptied": plan(("progress.md", "")),
    "shrunk": plan(("progress.md", "# Progress\n")),
    "one of two hostile": plan(("fine.md", "fine"), ("../x.md", "out")),
    "twice": plan(("a.md", "one"), ("a.md", "two")),
    "twice by case": plan(("a.md", "one"), ("A.md", "two")),
    "NUL in a text": plan(("a.md", "a\x00b")),
    "huge": plan(("a.md", "x" * 3_000_000)),
    "nothing": plan(synthesis=""),
    "deletes": plan(("progress.md", "", "delete")),
    "broken": '{"bank_files": [',
    "no object": "[1, 2]",
    "prose": "I am sorry, I cannot do that.",
    "wrong kinds": '{"bank_files": {}, "synthesis": 3}',
    "two objects": plan(("a.md", "one")) + plan(("b.md", "two")),
    "half a character": plan(("a.md", "\ud800")),
}
"""Answers that must change nothing, by what is wrong with them; progress.md is LONG before."""
