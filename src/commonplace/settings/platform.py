"""What this machine says where a setting does not: the folder of data, the time zone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def data_dir(environment: Mapping[str, str]) -> str:
    """Where the platform wants the data of programs."""
    if os.name == "nt":
        base = environment.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif os.uname().sysname == "Darwin":
        base = str(Path.home() / "Library" / "Application Support")
    else:
        base = environment.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return str(Path(base) / "commonplace")


def local_zone(environment: Mapping[str, str]) -> str:
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
