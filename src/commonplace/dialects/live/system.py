"""System : santé et identité."""

from __future__ import annotations

import time
from typing import Any

from commonplace import __version__
from commonplace.dialects._dialect import Call
from commonplace.dialects.live._live import live
from commonplace.domain.access import Permission
from commonplace.domain.errors import FilesFailed, ModelFailed
from commonplace.engine.consolidation import BUILT_IN

_BEGAN = time.monotonic()
_DOCUMENTATION = "docs/reference/live.md"


@live.tells
async def system_health(call: Call) -> dict[str, Any]:
    """Tell whether everything works; to strangers no more than that."""
    files, model = await _files(call), await _model(call)
    well = files["status"] in ("ok", "off") and model["status"] == "ok"
    answer: dict[str, Any] = {"status": "ok" if well else "degraded", "version": __version__}
    if Permission.READ not in call.actor.permissions:
        return answer
    return {
        **answer,
        "services": {"s3": files, "llmaas": model},
        "uptime_seconds": int(time.monotonic() - _BEGAN),
        "spaces_count": len(await call.engine.spaces.all(call.actor)),
    }


@live.tells
async def system_about(call: Call) -> dict[str, Any]:
    """Tell what this server is."""
    answer: dict[str, Any] = {"status": "ok", "name": "Live Memory MCP Server", "version": __version__}
    if Permission.READ not in call.actor.permissions:
        return answer
    return {
        **answer,
        "description": "Mémoire de travail partagée pour agents IA collaboratifs",
        "tools_count": len(live.tools),
        "author": "Commonplace",
        "documentation": _DOCUMENTATION,
    }


async def _files(call: Call) -> dict[str, Any]:
    """The place of the files, under the name the reference has for it."""
    mirror = call.engine.mirror
    if mirror.files is None:
        return {"status": "off", "location": "none"}
    try:
        latency = await mirror.files.check()
    except FilesFailed as failure:
        return {"status": "error", "location": mirror.files.location, "message": failure.message}
    waiting = await mirror.waiting()
    told = {"location": mirror.files.location, "latency_ms": round(latency * 1000, 1), "files_waiting": waiting}
    if mirror.trouble:
        return {"status": "error", **told, "message": mirror.trouble}
    return {"status": "ok", **told}


async def _model(call: Call) -> dict[str, Any]:
    """Who consolidates: the model of the settings, the client's, or nobody but the rules."""
    completer = call.engine.consolidation.completer
    if completer is None:
        return {"status": "ok", "model": call.model.name if call.model else BUILT_IN, "latency_ms": 0}
    try:
        latency = await completer.check()
    except ModelFailed as failure:
        return {"status": "error", "model": completer.name, "message": failure.message}
    return {"status": "ok", "model": completer.name, "latency_ms": round(latency * 1000, 1)}
