"""The SQL of the .sql files beside this one, by name."""

import re
from functools import cache
from importlib.resources import files

_HEADING = re.compile(r"^-- (name|fragment): (\w+)$", re.MULTILINE)


@cache
def queries() -> dict[str, str]:
    """Every named query, with the fragments it includes put in."""
    folder = [file for file in files(__package__).iterdir() if file.name.endswith(".sql")]
    _, *pieces = _HEADING.split("\n".join(file.read_text(encoding="utf-8") for file in folder))
    entries = list(zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True))
    fragments = {name: body.strip() for kind, name, body in entries if kind == "fragment"}
    return {name: _filled(body, fragments) for kind, name, body in entries if kind == "name"}


def _filled(body: str, fragments: dict[str, str]) -> str:
    for name, fragment in fragments.items():
        body = body.replace("{" + name + "}", fragment)
    return body.strip()
