"""What a setting is, a number or a text or a list, and what may be written for it."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from pathlib import Path
from typing import Any, get_type_hints

from commonplace.domain.errors import Invalid
from commonplace.settings.fields import Settings

_WORDS = {bool: "yes or no", int: "a whole number", float: "a number", str: "text"}
_IN_A_FILE = {bool: "true or false", int: "a whole number", float: "a number", str: "text in quotes"}
_LIST = "a list of texts"
_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off", ""})


class FromEnvironment(str):
    """Text that may stand for a number or a switch: an environment holds nothing else."""

    __slots__ = ()


@lru_cache(maxsize=1)
def kinds() -> dict[str, Any]:
    """By the names of the settings."""
    return get_type_hints(Settings)


def read(name: str, value: Any) -> Any:
    """What an option, a variable or a file says, as what the setting is."""
    kind = kinds()[name]
    try:
        if kind is bool:
            return read_switch(value)
        if kind in (int, float):
            return kind(value)
        if kind is str:
            return str(value)
        entries = value.split(",") if isinstance(value, str) else value
        return tuple(str(entry).strip() for entry in entries if str(entry).strip())
    except (ValueError, TypeError, OverflowError) as error:
        raise Invalid(name.replace("_", "-"), f"{value!r} is not {_WORDS.get(kind, 'a list')}") from error


def read_switch(value: bool | str) -> bool:
    if isinstance(value, bool):
        return value
    if value.lower() in _YES | _NO:
        return value.lower() in _YES
    raise ValueError(value)


def check_written(path: Path, key: str, name: str, value: Any) -> None:
    """A file can tell a number from a text, so that what is written as something else is a slip, not a wish."""
    kind = kinds()[name]
    if not isinstance(value, FromEnvironment) and not _fits(value, kind):
        expected = _IN_A_FILE.get(kind, _LIST)
        raise Invalid("config", f"{path}: {key} must be {expected}, not {_shown(value, hidden=name in _secrets())}")


def _fits(value: Any, kind: Any) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind in (bool, int, str):
        return type(value) is kind
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(entry, str) for entry in value))


def _secrets() -> set[str]:
    return {field.name for field in dataclasses.fields(Settings) if field.metadata["secret"]}


def _shown(value: Any, *, hidden: bool) -> str:
    """A secret is not shown: what is printed at a start is kept in logs."""
    if value is None:
        return "null; leave it out for what is usual"
    if isinstance(value, list | dict):
        return "a list of something else" if isinstance(value, list) else "a table"
    if isinstance(value, bool):
        return "true" if value else "false"
    kind = "text" if isinstance(value, str) else "number"
    return f"a {kind}" if hidden else f"the {kind} {value!r}"
