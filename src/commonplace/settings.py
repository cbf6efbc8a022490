"""Every setting, once: a field here is an option of `serve`, an environment variable and a key of the settings file."""

from __future__ import annotations

import dataclasses
import difflib
import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from commonplace.domain.address import address
from commonplace.domain.errors import Invalid

PREFIX = "COMMONPLACE_"
_BORROWED = {
    "embedder_key": "OPENAI_API_KEY",
    "core_memory_uris": "CORE_MEMORY_URIS",
    "valid_domains": "VALID_DOMAINS",
}
"""Variables that users of other programs have set already; our own names come first."""
TRANSPORTS = ("stdio", "http", "sse")
EMBEDDERS = ("use", "openai", "ollama", "sentence-transformers", "fastembed")
_KINDS = {bool: "yes or no", int: "a whole number", float: "a number", str: "text"}
_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off", ""})


def _setting(default: Any, help_text: str, *, metavar: str = "", secret: bool = False) -> Any:
    return field(default=default, metadata={"help": help_text, "metavar": metavar, "secret": secret})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Frozen when the process starts. Nobody else reads the environment."""

    transport: tuple[str, ...] = _setting(
        ("stdio",), "how clients connect: stdio, http, sse; several separated by commas", metavar="NAMES"
    )
    dialect: str = _setting("greeum", "the dialect served on stdio, /mcp and /sse", metavar="NAME")
    data_dir: str = _setting(
        "", "the folder of the memories (default: the platform's data folder, commonplace in it)", metavar="DIR"
    )
    host: str = _setting("127.0.0.1", "the address to listen on; others than loopback need --allowed-hosts")
    http_port: int = _setting(8000, "the port for streamable HTTP", metavar="N")
    sse_port: int = _setting(8001, "the port for SSE", metavar="N")
    allowed_hosts: tuple[str, ...] = _setting(
        (), "Host headers to accept beside loopback, e.g. memory.example.org:8000", metavar="HOSTS"
    )
    allowed_origins: tuple[str, ...] = _setting(
        (), "Origin headers to accept beside loopback, e.g. https://example.org", metavar="ORIGINS"
    )
    owner_key: str = _setting("", "the owner's key, instead of a generated one", secret=True)
    read_only: bool = _setting(False, "offer only the tools that read")
    tools: tuple[str, ...] = _setting((), "offer only these tools", metavar="NAMES")
    exclude_tools: tuple[str, ...] = _setting((), "offer all tools but these", metavar="NAMES")
    timezone: str = _setting(
        "", "the time zone of phrases like 'yesterday', e.g. Asia/Seoul (default: this machine's)", metavar="ZONE"
    )
    embedder: str = _setting("use", f"what turns text into vectors: {', '.join(EMBEDDERS)}", metavar="NAME")
    embedder_model: str = _setting(
        "",
        "the model of that embedder; for sentence-transformers and fastembed also a folder that holds one, "
        "for fastembed as model.onnx or onnx/model.onnx (default: the embedder's usual one)",
        metavar="NAME",
    )
    embedder_url: str = _setting("", "the base URL of an OpenAI-compatible endpoint, up to /v1", metavar="URL")
    embedder_key: str = _setting("", "the key for that endpoint (OPENAI_API_KEY serves too)", secret=True)
    embedder_dimensions: int = _setting(0, "ask the endpoint for vectors of this length, at most 2048", metavar="N")
    embedder_timeout: float = _setting(20.0, "seconds to wait for the endpoint", metavar="S")
    ttl_short: int = _setting(3600, "greeum: seconds a short-term memory of type short lives", metavar="S")
    ttl_medium: int = _setting(86400, "greeum: the same for type medium", metavar="S")
    ttl_long: int = _setting(604800, "greeum: the same for type long", metavar="S")
    prompt_tokens: int = _setting(2000, "greeum: about how many tokens generate_prompt may add", metavar="N")
    core_memory_uris: tuple[str, ...] = _setting(
        (), "nocturne: the addresses that system://boot reads, e.g. core://agent,core://my_user", metavar="URIS"
    )
    valid_domains: tuple[str, ...] = _setting(
        ("core", "writer", "game", "notes"), "nocturne: the domains that addresses may begin with", metavar="NAMES"
    )
    boot_tokens: int = _setting(8000, "nocturne: about how many tokens system://boot may take", metavar="N")
    log_level: str = _setting("warning", "what goes to the log on stderr: debug, info, warning, error", metavar="LEVEL")

    @property
    def folder(self) -> Path:
        return Path(self.data_dir)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)


def settings_from(
    given: Mapping[str, Any], environment: Mapping[str, str] = os.environ, file: str | None = None
) -> Settings:
    """Options first, then the environment, then the file, then what is usual."""
    file = file or environment.get(f"{PREFIX}CONFIG")
    values: dict[str, Any] = {**_from_file(file), **_from_environment(environment)}
    values.update({name: value for name, value in given.items() if value is not None})
    hints = get_type_hints(Settings)
    read = {name: _read(name, value, hints[name]) for name, value in values.items()}
    read["data_dir"] = str(Path(read.get("data_dir") or _data_dir(environment)).expanduser().absolute())
    read["timezone"] = read.get("timezone") or _local_zone(environment)
    return _checked(Settings(**read))


def variable(name: str) -> str:
    """The environment twin of a setting."""
    return PREFIX + name.upper()


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    names = (f.name for f in dataclasses.fields(Settings))
    found = {name: environment[variable(name)] for name in names if variable(name) in environment}
    borrowed = {name: environment[other] for name, other in _BORROWED.items() if other in environment}
    return borrowed | found


def _from_file(file: str | None) -> dict[str, Any]:
    if not file:
        return {}
    path = Path(file).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
        entries = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise Invalid("config", f"{path} cannot be read as settings: {error}") from error
    known = {f.name for f in dataclasses.fields(Settings)}
    values = {key.replace("-", "_"): value for key, value in dict(entries).items()}
    for name in values.keys() - known:
        near = difflib.get_close_matches(name, known, 1)
        raise Invalid(
            "config", f"{path} has an unknown setting {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
        )
    return values


def _read(name: str, value: Any, kind: Any) -> Any:
    try:
        if kind is bool:
            return _read_switch(value)
        if kind in (int, float):
            return kind(value)
        if kind is str:
            return str(value)
        entries = value.split(",") if isinstance(value, str) else value
        return tuple(str(entry).strip() for entry in entries if str(entry).strip())
    except (ValueError, TypeError) as error:
        raise Invalid(name.replace("_", "-"), f"{value!r} is not {_KINDS.get(kind, 'a list')}") from error


def _read_switch(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() in _YES | _NO:
        return str(value).lower() in _YES
    raise ValueError(value)


def _checked(settings: Settings) -> Settings:
    _one_of("transport", settings.transport, TRANSPORTS)
    _one_of("embedder", (settings.embedder,), EMBEDDERS)
    _one_of("log-level", (settings.log_level,), ("debug", "info", "warning", "error"))
    for name in ("http_port", "sse_port"):
        _in_range(name, getattr(settings, name), 1, 65535)
    for name in ("ttl_short", "ttl_medium", "ttl_long"):
        _in_range(name, getattr(settings, name), 60, 2_592_000)
    _in_range("embedder_dimensions", settings.embedder_dimensions, 0, 2048)
    _in_range("prompt_tokens", settings.prompt_tokens, 100, 1_000_000)
    _in_range("boot_tokens", settings.boot_tokens, 500, 1_000_000)
    _check_domains(settings)
    if not settings.ttl_short < settings.ttl_medium < settings.ttl_long:
        raise Invalid("ttl-short", "the three TTLs must grow: short < medium < long")
    try:
        ZoneInfo(settings.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Invalid("timezone", f"{settings.timezone!r} is not a time zone; write it like Asia/Seoul") from error
    return settings


def _check_domains(settings: Settings) -> None:
    for name in settings.valid_domains:
        if not name.replace("_", "a").replace("-", "a").isalnum() or not name[:1].isalpha():
            raise Invalid("valid-domains", f"{name!r} cannot begin an address: use letters and digits")
    for uri in settings.core_memory_uris:
        address(uri, "core-memory-uris")


def _one_of(name: str, values: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    for value in values or ("",):
        if value not in allowed:
            raise Invalid(name, f"{value!r} is not one of {', '.join(allowed)}")


def _in_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise Invalid(name.replace("_", "-"), f"must be from {least} to {most}, not {value}")


def _data_dir(environment: Mapping[str, str]) -> str:
    """Where the platform wants the data of programs."""
    if os.name == "nt":
        base = environment.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif os.uname().sysname == "Darwin":
        base = str(Path.home() / "Library" / "Application Support")
    else:
        base = environment.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return str(Path(base) / "commonplace")


def _local_zone(environment: Mapping[str, str]) -> str:
    """This machine's time zone by name, UTC where it has none."""
    candidates = [environment.get("TZ", "").lstrip(":")]
    link = Path("/etc/localtime")
    if link.is_symlink():
        candidates.append(str(link.readlink()).partition("zoneinfo/")[2])
    for name in candidates:
        try:
            if name:
                ZoneInfo(name)
                return name
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return "UTC"
