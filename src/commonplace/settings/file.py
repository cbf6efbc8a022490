"""The settings file: flat keys of ours, or the chapters `transports` and `authentication`, as TOML or JSON."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from commonplace.domain.errors import Invalid
from commonplace.settings.kinds import FromEnvironment, check_written, kinds, read_switch

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_CHAPTERS = ("transports", "authentication")
_TRANSPORTS = ("stdio", "http", "sse")
_MEANS = {
    "transports.http.port": "http_port",
    "transports.http.host": "http_host",
    "transports.http.cors.allowed_origins": "cors_origins",
    "transports.http.cors.allowed_methods": "cors_methods",
    "transports.sse.port": "sse_port",
    "transports.sse.host": "sse_host",
    "transports.sse.max_connections": "sse_max_connections",
    "transports.sse.heartbeat_interval": "sse_heartbeat",
    "authentication.http.type": "auth",
    "authentication.http.header": "api_key_header",
    "authentication.http.jwt_secret": "jwt_secret",
    "authentication.sse.timeout": "session_timeout",
}
_SWITCHES = {f"transports.{name}.enabled": name for name in _TRANSPORTS}
_FIXED = {
    "authentication.stdio.type": ("none", "whoever can start the process is its owner"),
    "authentication.sse.type": ("session", "a credential opens a session, and every message to it shows it again"),
}
"""Keys with one value: saying it changes nothing, another one would promise what does not hold."""
_LEAVES = frozenset({*_MEANS, *_SWITCHES, *_FIXED})


def from_file(path: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """The values of a file by the names of the settings."""
    entries = _filled(_parsed(path), path, environment)
    flat = {key.replace("-", "_"): value for key, value in entries.items() if key not in _CHAPTERS}
    for name, value in flat.items():
        _check_known(path, name, {*kinds(), *_CHAPTERS})
        if name in kinds():
            check_written(path, name, name, value)
    chapters = _meant(path, {name: entries[name] for name in _CHAPTERS if name in entries})
    if twice := flat.keys() & chapters.keys():
        raise Invalid("config", f"{path} sets {sorted(twice)[0]!r} twice: by itself and in a chapter")
    return flat | chapters


def named_in(path: Path) -> frozenset[str]:
    """The variables that a file of settings takes values from."""
    return frozenset(_VARIABLE.findall(path.read_text(encoding="utf-8")))


def _parsed(path: Path) -> dict[str, Any]:
    import tomllib  # most starts read no file

    try:
        text = path.read_text(encoding="utf-8")
        parsed = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (FileNotFoundError, IsADirectoryError) as error:
        words = f"{path} is not there, or is no file: --config (or COMMONPLACE_CONFIG) names a file of settings"
        raise Invalid("config", words) from error
    except (OSError, ValueError, RecursionError) as error:
        raise Invalid("config", f"{path} cannot be read as settings: {error}") from error
    if not isinstance(parsed, dict):
        raise Invalid("config", f"{path} cannot be read as settings: it must be one object, {{...}}")
    return parsed


def _filled(value: Any, path: Path, environment: Mapping[str, str]) -> Any:
    """The same with every ${NAME} taken from the environment."""
    if isinstance(value, dict):
        return {key: _filled(entry, path, environment) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled(entry, path, environment) for entry in value]
    if not isinstance(value, str):
        return value

    def taken(found: re.Match[str]) -> str:
        if not environment.get(found[1]):  # empty as well: a secret of no characters would be none, without a word
            state = "empty" if found[1] in environment else "not set"
            raise Invalid("config", f"{path} needs the environment variable {found[1]}, which is {state}")
        return environment[found[1]]

    filled = _VARIABLE.sub(taken, value)
    return FromEnvironment(filled) if _VARIABLE.search(value) else filled


def _meant(path: Path, chapters: Mapping[str, Any]) -> dict[str, Any]:
    """What the chapters say, in settings of ours."""
    for chapter, entries in chapters.items():
        _check_transports(path, chapter, entries)
    leaves = dict(_leaves("", chapters))
    for name in leaves:
        _check_known(path, name, _LEAVES)
    for name, (only, why) in _FIXED.items():
        if leaves.get(name, only) != only:
            raise Invalid("config", f"{path}: {name} can only be {only!r}: {why}")
    for name in _MEANS.keys() & leaves.keys():
        check_written(path, name, _MEANS[name], leaves[name])
    meant = {_MEANS[name]: value for name, value in leaves.items() if name in _MEANS}
    if "transports" in chapters:
        meant["transport"] = _wanted(path, chapters["transports"])
    return meant


def _check_transports(path: Path, chapter: str, entries: Any) -> None:
    """Before its keys: one that is described by no key at all would otherwise go unnoticed."""
    for name in entries if isinstance(entries, dict) else ():
        if name not in _TRANSPORTS:
            raise Invalid("config", f"{path}: {chapter}.{name}: {name!r} is not one of {', '.join(_TRANSPORTS)}")


def _wanted(path: Path, chapter: Mapping[str, Any]) -> list[str]:
    wanted = [name for name in _TRANSPORTS if _enabled(path, name, chapter)]
    if not wanted:
        raise Invalid("config", f"{path}: transports enables none of {', '.join(_TRANSPORTS)}")
    return wanted


def _enabled(path: Path, transport: str, chapter: Mapping[str, Any]) -> bool:
    """A transport that is described is wanted, unless it says otherwise."""
    wanted = chapter[transport].get("enabled", True) if transport in chapter else False
    try:
        if isinstance(wanted, bool | FromEnvironment):
            return read_switch(wanted)
    except ValueError:
        pass
    raise Invalid("config", f"{path}: transports.{transport}.enabled must be true or false, not {wanted!r}")


def _leaves(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict) or prefix in _LEAVES:
        yield prefix, value
        return
    for key, entry in value.items():
        yield from _leaves(f"{prefix}.{key}" if prefix else key, entry)


def _check_known(path: Path, name: str, known: Collection[str]) -> None:
    if any(other.startswith(f"{name}.") for other in known):
        raise Invalid("config", f"{path}: {name} must be a table of further settings")
    if name not in known:
        near = difflib.get_close_matches(name, sorted(known), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise Invalid("config", f"{path} has an unknown setting {name!r}{hint}")
