"""What a person sees when the server is ready: how to connect, and the owner's key, once."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

from commonplace.settings import Settings

LOOPBACK = ("127.0.0.1", "localhost", "::1")
SHORT_KEY = 16
_PATHS = {"http": "/mcp", "sse": "/sse"}


def welcome(settings: Settings, key: str | None) -> str:
    lines = [f"Commonplace is ready (dialect {settings.dialect}, memories in {settings.data_dir})."]
    shown = key or "YOUR_KEY"
    if key:
        lines.append(f"\n  Owner key, shown this once: {key}")
    elif settings.owner_key:
        lines.append("\n  Owner key: the one in COMMONPLACE_OWNER_KEY.")
    else:
        lines.append(f"\n  Use the owner key of the first start, or make one: {_keys_line(settings)}")
    hosts = {settings.listens_on(name)[0] for name in _PATHS if name in settings.transport}
    if not hosts <= set(LOOPBACK) and not settings.allowed_hosts:
        lines.append("\n  Only requests to localhost are answered: name your hosts with --allowed-hosts.")
    if 0 < len(settings.owner_key) < SHORT_KEY:
        lines.append("\n  The owner key is short: anyone who can reach this port may guess it.")
    for kind, url in _addresses(settings).items():
        lines += [f"\n  {url}", "", f"  {_claude_line(kind, url, shown)}", "", _indented(_snippet(kind, url, shown))]
    return "\n".join(lines) + "\n"


def _addresses(settings: Settings) -> dict[str, str]:
    return {name: settings.base_url(name) + path for name, path in _PATHS.items() if name in settings.transport}


def _keys_line(settings: Settings) -> str:
    """As it works from here: on the store of this server, and with a program that may not be on the path."""
    beside = str(Path(sys.argv[0]).with_name("commonplace"))
    program = "commonplace" if shutil.which("commonplace") else shlex.quote(beside)
    return f"{program} keys create NAME --data-dir {shlex.quote(settings.data_dir)}"


def _claude_line(kind: str, url: str, key: str) -> str:
    # For the user, in all his projects: by itself Claude Code would add it to the one in the current folder only.
    return f'claude mcp add --transport {kind} commonplace {url} -s user --header "Authorization: Bearer {key}"'


def _snippet(kind: str, url: str, key: str) -> str:
    entry = {"type": kind, "url": url, "headers": {"Authorization": f"Bearer {key}"}}
    return json.dumps({"mcpServers": {"commonplace": entry}}, indent=2)


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in text.split("\n"))
