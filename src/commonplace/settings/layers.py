"""Where settings come from: options, the environment, a file, what is usual; and how they are read."""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections import ChainMap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from commonplace.domain.errors import Invalid
from commonplace.settings.checks import check_guards, checked
from commonplace.settings.fields import Settings
from commonplace.settings.file import from_file, named_in
from commonplace.settings.kinds import read
from commonplace.settings.platform import data_dir, local_zone

PREFIX = "COMMONPLACE_"
_BESIDE = frozenset({"NEW_ENCRYPTION_KEY", "KEY"})
"""What one command reads, and what clients send, as the docs call it."""
_BORROWED = {
    "embedder_key": "OPENAI_API_KEY",
    "core_memory_uris": "CORE_MEMORY_URIS",
    "valid_domains": "VALID_DOMAINS",
    "owner_key": "ADMIN_BOOTSTRAP_KEY",
    "s3_endpoint": "S3_ENDPOINT_URL",
    "s3_region": "S3_REGION_NAME",
    "s3_access_key": "S3_ACCESS_KEY_ID",
    "s3_secret_key": "S3_SECRET_ACCESS_KEY",
    "model": "LLMAAS_MODEL",
    "model_url": "LLMAAS_API_URL",
    "model_key": "LLMAAS_API_KEY",
    "model_tokens": "LLMAAS_MAX_TOKENS",
    "consolidation_timeout": "CONSOLIDATION_TIMEOUT",
}
"""Variables that users of other programs have set already; our own names come first."""


def settings_from(
    given: Mapping[str, Any],
    environment: Mapping[str, str] = os.environ,
    file: str | None = None,
    usual: Mapping[str, Any] | None = None,
) -> Settings:
    """Options first, then the environment, then the file, then what is usual."""
    file = file or environment.get(f"{PREFIX}CONFIG")
    written = from_file(Path(file).expanduser(), environment) if file else {}
    options = {name: value for name, value in given.items() if value is not None}
    ours = [dict(usual or {}), written, _from_environment(environment), options]
    layers = [*ours[:2], _borrowed(environment, ours), *ours[2:]]
    told = {name: value for layer in _with_ports(layers) for name, value in layer.items()}
    settled = {name: read(name, value) for name, value in told.items()}
    check_guards(settled)
    settled["data_dir"] = str(Path(settled.get("data_dir") or data_dir(environment)).expanduser().absolute())
    settled["timezone"] = settled.get("timezone") or local_zone(environment)
    return checked(Settings(**settled))


def new_encryption_key(environment: Mapping[str, str] = os.environ) -> str:
    """The key to change to: not a setting, because only one command ever looks at it."""
    return environment.get(f"{PREFIX}NEW_ENCRYPTION_KEY", "")


def misnamed(environment: Mapping[str, str] = os.environ, file: str | None = None) -> dict[str, str]:
    """Variables that look like ours and are none, each with the nearest that is one, if any."""
    ours = {"CONFIG", *(field.name.upper() for field in dataclasses.fields(Settings))}
    file = file or environment.get(f"{PREFIX}CONFIG")
    known = ours | _BESIDE
    taken = named_in(Path(file).expanduser()) if file else frozenset()
    named = sorted(name.removeprefix(PREFIX) for name in environment.keys() - taken if name.startswith(PREFIX))
    near = {name: difflib.get_close_matches(name, sorted(ours), 1) for name in named if name not in known}
    return {PREFIX + name: PREFIX + found[0] if found else "" for name, found in near.items()}


def variable(name: str) -> str:
    """The environment twin of a setting."""
    return PREFIX + name.upper()


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    names = (f.name for f in dataclasses.fields(Settings))
    return {name: environment[variable(name)] for name in names if variable(name) in environment}


def _borrowed(environment: Mapping[str, str], ours: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    found = {name: environment[other] for name, other in _BORROWED.items() if other in environment}
    if ChainMap(*map(dict, reversed(ours))).get("embedder") == "ollama":
        found.pop("embedder_key", None)  # it is OpenAI's, and no other's to be told
    return found


def _with_ports(layers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A port without a name belongs to the one transport that has one, and yields to a later layer as that one does."""
    told = next((layer["transport"] for layer in reversed(layers) if "transport" in layer), ())
    chosen = [name for name in read("transport", told) if name in ("http", "sse")]
    if len(chosen) > 1 and any(layer.get("port") for layer in layers):
        raise Invalid("port", "two transports need one each: use --http-port and --sse-port")
    return [{f"{name}_port": layer["port"] for name in chosen if layer.get("port")} | layer for layer in layers]
